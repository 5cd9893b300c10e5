/* RACE-01: the count is lowered, then read again, and the second value decides: two releases may
 * both read zero. Known bugs: row 14. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    mutant_window();
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if (steps_strong(counts) == 0) {
        steps_die(header, steps_weak(counts) > 1);
    }
}
