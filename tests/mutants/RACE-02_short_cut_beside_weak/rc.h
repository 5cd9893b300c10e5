/* RACE-02: the look that spares the last release its decrement forgets that a weak handle could be
 * locked meanwhile. Known bugs: rows 11, 114. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if (steps_strong(counts) == 1) {
        mutant_window();
        atomic_store_explicit(&header->counts, counts - steps_one_strong, memory_order_release);
        steps_die(header, steps_weak(counts) > 1);
        return;
    }
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    }
}
