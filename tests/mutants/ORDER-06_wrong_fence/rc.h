/* explorer: ORDER-06: the last weak release has a fence, and it is RELEASE where ACQUIRE is needed: it
 * frees what others may still use. Known bugs: row 3. */
#define STEPS_OWN_DROP_WEAK
#include "../base/steps.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, memory_order_release);
    if (steps_weak(before) == 1) {
        atomic_thread_fence(memory_order_release); /* of the wrong kind */
        steps_free(header);
    }
}
