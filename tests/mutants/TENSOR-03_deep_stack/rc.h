/* TENSOR-03: each release takes 40 KiB of stack: two, one inside the other, are too many for a
 * small one. Known bugs: row 129. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    volatile unsigned char scratch[40 << 10];
    scratch[0] = 1;
    steps_mark_finalizing(header);
    steps_finalize(header);
    scratch[sizeof scratch - 1] = scratch[0];
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
