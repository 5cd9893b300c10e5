/* WRAP-12: a release from 2 to 1 calls the hook, then gives up its reference: the wrapper cannot
 * let go in there. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    if (steps_wrapped(counts) && steps_strong(counts) == 2) {
        if (header->class->wrapper_release != NULL) {
            header->class->wrapper_release(payload);
        }
    }
    /* ACQ_REL as D1. */
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    }
}
