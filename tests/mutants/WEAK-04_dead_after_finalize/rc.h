/* WEAK-04: the count is raised to 1 again while finalize runs, so that it may hold the object, and
 * becomes zero for good afterwards: until then locks succeed. Known bugs: rows 26, 27, 28, 34. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    atomic_fetch_add_explicit(&header->counts, steps_one_strong, memory_order_relaxed);
    steps_finalize(header);
    atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_one_weak);
    } else {
        steps_free(header);
    }
}
