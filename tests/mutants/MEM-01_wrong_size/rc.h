/* MEM-01: the block comes back with the payload's size. */
#define STEPS_OWN_FREE
#include "../base/steps.h"

static inline void steps_free(steps_header *header)
{
    rc_mem_free(header, header->class->payload_size);
}
