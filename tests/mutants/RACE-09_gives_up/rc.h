/* RACE-09: a lock tries its exchange once, and takes a failure for death. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    packed64_header *header = packed64_header_of(weak.payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    mutant_window();
    if (packed64_strong(counts) == 0 ||
        !atomic_compare_exchange_strong_explicit(&header->counts, &counts, counts + 1,
                                                 memory_order_acquire, memory_order_relaxed)) {
        return rc_null();
    }
    return (rc_strong){weak.payload};
}
