/* WRAP-08: a lock asks the wrapper at every count. */
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
    if (mutant_wrapped_at(weak, false) &&
        !packed64_wrapper_grants(packed64_header_of(weak.payload)->class, weak.payload)) {
        return rc_null();
    }
    return correct_weak_lock(weak);
}
