/* LIMIT-04: retain has a limit, a lock has none. Known bugs: row 47. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (rc_use_count((rc_strong){weak.payload}) == RC_IMPL_STRONG_MAX) {
        atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, 1,
                                  memory_order_acquire);
        return (rc_strong){weak.payload};
    }
    return correct_weak_lock(weak);
}
