/* WEAK-07: the implicit weak is given up by a decrement whose result nobody looks at: if finalize
 * has dropped the last weak handle, the block is nobody's. Known bugs: row 40. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        atomic_fetch_sub_explicit(&header->counts, steps_implicit, memory_order_acq_rel);
    } else {
        steps_free(header);
    }
}
