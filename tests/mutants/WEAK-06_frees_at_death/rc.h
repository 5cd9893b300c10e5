/* WEAK-06: the block goes when the object dies, weak handles or not. */
#define STEPS_OWN_DIE
#include "../base/steps.h"

static inline void steps_die(steps_header *header, bool weak_handles_left)
{
    (void)weak_handles_left;
    steps_mark_finalizing(header);
    steps_finalize(header);
    steps_free(header);
}
