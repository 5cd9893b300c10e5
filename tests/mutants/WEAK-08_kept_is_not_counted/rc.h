/* WEAK-08: a weak retain of the dying object, in its finalize, counts nothing: the block goes under
 * the handle that was kept. */
#define STEPS_OWN_DIE
#define rc_weak_retain correct_weak_retain
#include "../base/steps.h"
#undef rc_weak_retain

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

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    return weak.payload != NULL && weak.payload == mutant_dying ? weak : correct_weak_retain(weak);
}
