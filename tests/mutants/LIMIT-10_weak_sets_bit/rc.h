/* LIMIT-10: the weak count reaches into the wrapper's bit at its limit. Known bugs: row 62. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    rc_weak made = correct_weak_new(handle);
    if (rc_weak_count(handle) == RC_IMPL_WEAK_MAX) {
        atomic_fetch_xor_explicit(&packed64_header_of(handle.payload)->counts, UINT64_C(1) << 63,
                                  memory_order_relaxed);
    }
    return made;
}
