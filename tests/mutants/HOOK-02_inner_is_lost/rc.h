/* HOOK-02: a release inside finalize counts down, but its death is left to somebody who never
 * comes. Known bugs: row 127. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static _Thread_local unsigned mutant_depth;

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    if (mutant_depth > 0) {
        return;
    }
    mutant_depth++;
    steps_mark_finalizing(header);
    steps_finalize(header);
    mutant_depth--;
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
