/* LIFE-02: the decrement returns the value before, and is read as the value after: nobody is ever
 * the last. Known bugs: row 156. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 0) {
        steps_die(header, steps_weak(before) > 1);
    }
}
