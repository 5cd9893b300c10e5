/* WRAP-04: a weak handle made beside the only reference calls wrapper_retain. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    rc_weak made = correct_weak_new(handle);
    if (handle.payload != NULL && rc_has_wrapper(handle) && rc_use_count(handle) == 1 &&
        packed64_header_of(handle.payload)->class->wrapper_retain != NULL) {
        packed64_header_of(handle.payload)->class->wrapper_retain(handle.payload);
    }
    return made;
}
