/* WEAK-03: a lock raises the count whatever it was, and so brings dead objects back. Known bugs:
 * rows 24, 32. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload != NULL) {
        /* ACQUIRE as L1. */
        atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, 1,
                                  memory_order_acquire);
    }
    return (rc_strong){weak.payload};
}
