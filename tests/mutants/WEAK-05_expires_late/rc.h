/* WEAK-05: a weak handle expires when finalize has returned. */
#define STEPS_OWN_DIE
#define rc_weak_expired correct_weak_expired
#include "../base/steps.h"
#undef rc_weak_expired

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

static inline bool rc_weak_expired(rc_weak weak)
{
    return correct_weak_expired(weak) && (weak.payload == NULL || weak.payload != mutant_dying);
}
