/* calls: packed64 once more, compiled on its own. RC_CHECKED and RC_PRESET must be those of the
 * translation unit that calls. Allocation goes through the external rc_mem_alloc and
 * rc_mem_free. */
#undef RC_IMPL_HEADER
#define RC_IMPL_HEADER "packed64/rc.h"
#include "contract.h"

#include "calls.h"

rc_strong packed64_called_new(const rc_class *class)
{
    return rc_new(class);
}

rc_strong packed64_called_retain(rc_strong handle)
{
    return rc_retain(handle);
}

void packed64_called_release(rc_strong handle)
{
    rc_release(handle);
}

bool packed64_called_is_unique(rc_strong handle)
{
    return rc_is_unique(handle);
}

uint64_t packed64_called_use_count(rc_strong handle)
{
    return rc_use_count(handle);
}

rc_weak packed64_called_weak_new(rc_strong handle)
{
    return rc_weak_new(handle);
}

rc_weak packed64_called_weak_retain(rc_weak weak)
{
    return rc_weak_retain(weak);
}

void packed64_called_weak_release(rc_weak weak)
{
    rc_weak_release(weak);
}

rc_strong packed64_called_weak_lock(rc_weak weak)
{
    return rc_weak_lock(weak);
}

bool packed64_called_weak_expired(rc_weak weak)
{
    return rc_weak_expired(weak);
}

uint64_t packed64_called_weak_count(rc_strong handle)
{
    return rc_weak_count(handle);
}

rc_strong packed64_called_from_raw(void *payload)
{
    return rc_from_raw(payload);
}

rc_strong packed64_called_retain_raw(void *payload)
{
    return rc_retain_raw(payload);
}

void packed64_called_wrapper_attach(rc_strong handle)
{
    rc_wrapper_attach(handle);
}

void packed64_called_wrapper_detach(rc_strong handle)
{
    rc_wrapper_detach(handle);
}

bool packed64_called_has_wrapper(rc_strong handle)
{
    return rc_has_wrapper(handle);
}

#if RC_PRESET
void packed64_called_test_preset(rc_strong handle, uint64_t strong, uint64_t weak)
{
    rc_test_preset(handle, strong, weak);
}
#endif
