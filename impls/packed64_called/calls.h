/* calls: the operations of packed64 that touch counts, as a compiled library would export them.
 * Included by rc.h, which calls them, and by calls.c, which defines them; each has defined
 * rc_strong and rc_weak before. */
rc_strong packed64_called_new(const rc_class *class);
rc_strong packed64_called_retain(rc_strong handle);
void packed64_called_release(rc_strong handle);
bool packed64_called_is_unique(rc_strong handle);
uint64_t packed64_called_use_count(rc_strong handle);

rc_weak packed64_called_weak_new(rc_strong handle);
rc_weak packed64_called_weak_retain(rc_weak weak);
void packed64_called_weak_release(rc_weak weak);
rc_strong packed64_called_weak_lock(rc_weak weak);
bool packed64_called_weak_expired(rc_weak weak);
uint64_t packed64_called_weak_count(rc_strong handle);

rc_strong packed64_called_from_raw(void *payload);
rc_strong packed64_called_retain_raw(void *payload);

void packed64_called_wrapper_attach(rc_strong handle);
void packed64_called_wrapper_detach(rc_strong handle);
bool packed64_called_has_wrapper(rc_strong handle);

#if RC_PRESET
void packed64_called_test_preset(rc_strong handle, uint64_t strong, uint64_t weak);
#endif
