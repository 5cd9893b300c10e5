/* RACE-05: a release reads the class, for its hooks, when it has given up its reference. Known
 * bugs: row 19. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
        return;
    }
    mutant_window();
    if (header->class->wrapper_release != NULL && steps_wrapped(before) &&
        steps_strong(before) == 2) {
        header->class->wrapper_release(payload);
    }
}
