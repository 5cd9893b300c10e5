/* MEM-01: the block of an object that died before its last weak handle went is forgotten. Known
 * bugs: row 40. */
#define STEPS_OWN_DROP_WEAK
#include "../base/steps.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    atomic_fetch_sub_explicit(&header->counts, unit, memory_order_acq_rel);
}
