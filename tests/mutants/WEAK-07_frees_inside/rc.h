/* WEAK-07: an object that holds the last weak handle to itself is freed when finalize drops it, and
 * again by the release that called finalize. Known bugs: row 37. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    if (weak_handles_left) {
        atomic_fetch_sub_explicit(&header->counts, steps_one_weak, memory_order_acq_rel);
    }
    steps_finalize(header);
    if (!weak_handles_left ||
        steps_weak(atomic_load_explicit(&header->counts, memory_order_acquire)) == 0) {
        steps_free(header);
    }
}
