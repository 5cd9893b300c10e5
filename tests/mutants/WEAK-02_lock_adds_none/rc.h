/* WEAK-02: a lock gives a handle and no reference. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    return (rc_strong){rc_weak_expired(weak) ? NULL : weak.payload};
}
