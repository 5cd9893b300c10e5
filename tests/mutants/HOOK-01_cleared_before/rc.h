/* HOOK-01: the payload is cleared before finalize gets it. */
#include <string.h>
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    steps_mark_finalizing(header);
    memset(header + 1, 0, header->class->payload_size);
    steps_finalize(header);
    if (weak_handles_left) {
        steps_drop_weak(header, steps_implicit);
    } else {
        steps_free(header);
    }
}
