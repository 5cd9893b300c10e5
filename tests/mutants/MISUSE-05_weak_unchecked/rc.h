/* MISUSE-05: a weak release too many goes unnoticed, and frees a living object. */
#define STEPS_OWN_DROP_WEAK
#include "../base/steps.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    /* ACQ_REL as D3. */
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, memory_order_acq_rel);
    if (steps_weak(before) == 1) {
        steps_free(header);
    }
}
