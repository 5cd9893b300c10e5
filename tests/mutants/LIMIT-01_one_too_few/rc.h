/* LIMIT-01: the last strong reference of the range is refused: the limit is off by one. Known bugs:
 * row 69. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (rc_use_count(handle) == RC_IMPL_STRONG_MAX - 1) {
        rc_trap(RC_TRAP_STRONG_OVERFLOW, handle.payload);
    }
    return correct_retain(handle);
}
