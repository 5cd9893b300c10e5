/* ORDER-01: the ACQUIRE fence stands before the decrement: it orders nothing that the decrement
 * learns. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    RC_ACQUIRE_AFTER_ZERO(&header->counts);
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_release);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}
