/* SHM-02: claims to work across processes, and finalizes only in the one that made the object. */
#include <unistd.h>
#define STEPS_OWN_DIE
#define rc_new correct_new
#include "../base/steps.h"
#undef rc_new

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_SHM)

static pid_t mutant_maker;

static inline rc_strong rc_new(const rc_class *class)
{
    mutant_maker = getpid();
    return correct_new(class);
}

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    if (getpid() != mutant_maker) {
        return;
    }
    steps_mark_finalizing(header);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
