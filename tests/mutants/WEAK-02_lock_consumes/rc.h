/* WEAK-02: a lock takes the weak handle away from its owner. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    rc_strong locked = correct_weak_lock(weak);
    if (!rc_is_null(locked)) {
        rc_weak_release(weak);
    }
    return locked;
}
