/* MISUSE-11: a retain of the dying object in its own finalize is taken for a temporary one, and
 * goes unnoticed. Known bugs: row 34. */
#define STEPS_OWN_DIE
#define rc_retain correct_retain
#include "../base/steps.h"
#undef rc_retain

static _Thread_local const void *mutant_dying;

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    const void *outer = mutant_dying;
    mutant_dying = header + 1;
    steps_mark_finalizing(header);
    steps_finalize(header);
    mutant_dying = outer;
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}

static inline rc_strong rc_retain(rc_strong handle)
{
    return handle.payload != NULL && handle.payload == mutant_dying ? handle
                                                                    : correct_retain(handle);
}
