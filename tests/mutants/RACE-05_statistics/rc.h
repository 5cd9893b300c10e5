/* RACE-05: a release that is not the last writes to the header afterwards, which the last one may
 * have freed. Known bugs: rows 18, 21. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

#include "../base/window.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
        return;
    }
    mutant_window();
    header->class = class;
}
