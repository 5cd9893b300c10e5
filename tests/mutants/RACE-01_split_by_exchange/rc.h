/* explorer: RACE-01: the release of one of several owners swaps a zero in, lowers what it got and puts it
 * back: between the two another owner finds zero. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t before = atomic_exchange_explicit(&header->counts, 0, memory_order_acq_rel);
    /* A zero is somebody else's: the count is added, not stored. */
    uint64_t after = atomic_fetch_add_explicit(&header->counts, before - steps_one_strong,
                                               memory_order_acq_rel);
    if (steps_strong(before) == 1 && after == 0) {
        steps_die(header, steps_weak(before) > 1);
    }
}
