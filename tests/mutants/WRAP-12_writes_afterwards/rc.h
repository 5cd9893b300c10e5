/* WRAP-12: a release writes to the header when wrapper_release has returned, and may have taken the
 * object along. Known bugs: row 21. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    const rc_class *class = header->class;
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
        header->class = class;
    }
}
