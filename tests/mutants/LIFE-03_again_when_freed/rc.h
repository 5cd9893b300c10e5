/* LIFE-03: the object is finalized once more when its memory goes. */
#define STEPS_OWN_FREE
#include "../base/steps.h"

static inline void steps_free(steps_header *header)
{
    steps_finalize(header);
    rc_mem_free(header, sizeof *header + header->class->payload_size);
}
