/* LIMIT-02: the last weak reference of the range is refused. Known bugs: row 69. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    if (rc_weak_count(handle) == RC_IMPL_WEAK_MAX - 1) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, handle.payload);
    }
    return correct_weak_new(handle);
}
