/* RACE-04: whether a weak release is the last is decided by a load before the decrement. Known
 * bugs: row 13. */
#define STEPS_OWN_DROP_WEAK
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    mutant_window();
    atomic_fetch_sub_explicit(&header->counts, unit, memory_order_acq_rel);
    if (steps_weak(counts) == 1) {
        steps_free(header);
    }
}
