/* WEAK-11: a lock raises first and looks afterwards; when it fails, the unit stays. Known bugs: row
 * 58. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    /* ACQUIRE as L1. */
    uint64_t before = atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, 1,
                                                memory_order_acquire);
    return (rc_strong){packed64_strong(before) == 0 ? NULL : weak.payload};
}
