/* WRAP-10: a lock from 1 to 2 calls no hook if the class cannot be asked. Known bugs: row 83. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline bool mutant_wrapped_at(rc_weak weak, bool alone)
{
    if (weak.payload == NULL) {
        return false;
    }
    uint64_t counts =
        atomic_load_explicit(&packed64_header_of(weak.payload)->counts, memory_order_relaxed);
    return packed64_wrapped(counts) &&
           (alone ? packed64_strong(counts) == 1 : packed64_strong(counts) > 1);
}

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (mutant_wrapped_at(weak, true) &&
        packed64_header_of(weak.payload)->class->wrapper_try_retain == NULL) {
        /* ACQUIRE as L1. */
        atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, 1,
                                  memory_order_acquire);
        return (rc_strong){weak.payload};
    }
    return correct_weak_lock(weak);
}
