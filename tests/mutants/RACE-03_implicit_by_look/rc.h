/* RACE-03: whether the implicit weak is the last is decided by a load; a weak release in between
 * sees another left, and so does this one. Known bugs: row 40. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    (void)weak_handles_left;
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (steps_weak(atomic_load_explicit(&header->counts, memory_order_acquire)) == 1) {
        steps_free(header);
        return;
    }
    mutant_window();
    atomic_fetch_sub_explicit(&header->counts, steps_implicit, memory_order_acq_rel);
}
