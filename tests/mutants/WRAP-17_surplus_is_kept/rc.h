/* WRAP-17: a lock asks the wrapper, then raises from whatever the count is by now; what was granted
 * for no edge is not given back. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
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
    if (!mutant_wrapped_at(weak, true)) {
        return correct_weak_lock(weak);
    }
    packed64_header *header = packed64_header_of(weak.payload);
    if (!packed64_wrapper_grants(header->class, weak.payload)) {
        return rc_null();
    }
    mutant_window();
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    while (packed64_strong(counts) != 0) {
        /* ACQUIRE as L1. */
        if (atomic_compare_exchange_weak_explicit(&header->counts, &counts, counts + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {
            return (rc_strong){weak.payload};
        }
    }
    return rc_null();
}
