/* WEAK-08: a weak retain in finalize is thought impossible, and ends the process. Known bugs: row
 * 52. */
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
    if (weak.payload != NULL && weak.payload == mutant_dying) {
        rc_trap(RC_TRAP_WEAK_OVERFLOW, weak.payload);
    }
    return correct_weak_retain(weak);
}
