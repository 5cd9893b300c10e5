/* LIFE-14: in finalize the count is still 1, that of the release under way. */
#define STEPS_OWN_DIE
#define rc_use_count correct_use_count
#include "../base/steps.h"
#undef rc_use_count

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

static inline uint64_t rc_use_count(rc_strong handle)
{
    return handle.payload != NULL && handle.payload == mutant_dying ? 1 : correct_use_count(handle);
}
