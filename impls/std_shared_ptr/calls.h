/* calls: what std_shared_ptr.cc exports. Included by rc.h (C) and by std_shared_ptr.cc (C++), each
 * after contract.h or within it. */
#ifndef STD_SHARED_PTR_CALLS_H
#define STD_SHARED_PTR_CALLS_H

#ifdef __cplusplus
extern "C" {
#endif

/* A std::shared_ptr, or a std::weak_ptr, bit for bit. Owns what that one would own. */
typedef struct std_shared_ptr_handle {
    void *object; /* what get() returns: the class pointer in front of the payload; or NULL */
    void *block;  /* libstdc++'s control block; or NULL */
} std_shared_ptr_handle;

std_shared_ptr_handle std_shared_ptr_new(const rc_class *rc_class);
std_shared_ptr_handle std_shared_ptr_retain(std_shared_ptr_handle strong);
void std_shared_ptr_release(std_shared_ptr_handle strong);
bool std_shared_ptr_is_unique(std_shared_ptr_handle strong);
uint64_t std_shared_ptr_use_count(std_shared_ptr_handle strong);

std_shared_ptr_handle std_shared_ptr_weak_new(std_shared_ptr_handle strong);
std_shared_ptr_handle std_shared_ptr_weak_retain(std_shared_ptr_handle weak);
void std_shared_ptr_weak_release(std_shared_ptr_handle weak);
std_shared_ptr_handle std_shared_ptr_weak_lock(std_shared_ptr_handle weak);
bool std_shared_ptr_weak_expired(std_shared_ptr_handle weak);
uint64_t std_shared_ptr_weak_count(std_shared_ptr_handle strong);

/* NULL if the library's objects look as this implementation assumes, else what does not. Makes and
 * destroys a few objects; any thread. */
const char *std_shared_ptr_layout_fault(void);

#if RC_PRESET
void std_shared_ptr_test_preset(std_shared_ptr_handle strong, uint64_t use, uint64_t weak);
#endif

/* From the object to its payload: the class pointer, and in checked builds a mark. */
#define STD_SHARED_PTR_HEAD_BYTES (sizeof(const rc_class *) + (RC_CHECKED ? 16u : 0u))

#ifdef __cplusplus
}
#endif
#endif
