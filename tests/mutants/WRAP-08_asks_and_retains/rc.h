/* WRAP-08: a lock asks the wrapper, and when it has granted calls wrapper_retain as well. */
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
    bool edge = mutant_wrapped_at(weak, true);
    rc_strong locked = correct_weak_lock(weak);
    if (edge && !rc_is_null(locked)) {
        const rc_class *class = packed64_header_of(weak.payload)->class;
        if (class->wrapper_try_retain != NULL && class->wrapper_retain != NULL) {
            class->wrapper_retain(weak.payload);
        }
    }
    return locked;
}
