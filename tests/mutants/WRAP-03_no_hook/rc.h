/* WRAP-03: a release from 2 to 1 calls no hook. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    }
}
