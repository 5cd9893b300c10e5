/* WEAK-10: a weak handle of a dead object gives null when it is retained. */
#define rc_weak_retain correct_weak_retain
#include "../../../impls/packed64/rc.h"
#undef rc_weak_retain

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return rc_weak_expired(weak) ? rc_weak_null() : correct_weak_retain(weak);
}
