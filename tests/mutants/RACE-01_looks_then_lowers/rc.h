/* RACE-01: whether this release is the last is decided by a load; the decrement is a step of its
 * own, whose result nobody looks at. Known bugs: row 13. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    mutant_window();
    atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(counts) == 1) {
        steps_die(header, steps_weak(counts) > 1);
    }
}
