/* WEAK-12: the last weak handle frees the block, although the object lives and never had another.
 * Known bugs: row 39. */
#define STEPS_OWN_DROP_WEAK
#include "../base/steps.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, memory_order_acq_rel);
    if (steps_weak(before) <= 1 + steps_implicit_of(before)) {
        steps_free(header);
    }
}
