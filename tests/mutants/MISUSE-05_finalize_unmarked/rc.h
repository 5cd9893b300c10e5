/* MISUSE-05: nothing tells that finalize runs: a weak release too many in there takes the implicit
 * weak, unnoticed. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_one_weak);
    } else {
        steps_free(header);
    }
}
