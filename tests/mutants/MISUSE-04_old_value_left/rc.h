/* MISUSE-04: the last release of an object with weak handles leaves 1 in the count, so that one
 * more looks right. Known bugs: row 146. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if (steps_strong(counts) == 1) {
        steps_die(header, steps_weak(counts) > 1);
        return;
    }
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (RC_CHECKED && steps_strong(before) == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, payload);
    }
}
