/* WEAK-04: a lock still succeeds while finalize of that object runs, for its own good. Known bugs:
 * row 76. */
#define STEPS_OWN_DIE
#define rc_weak_lock correct_weak_lock
#include "../base/steps.h"
#undef rc_weak_lock

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

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload != NULL && weak.payload == mutant_dying) {
        return (rc_strong){weak.payload};
    }
    return correct_weak_lock(weak);
}
