/* ORDER-01: the word is changed by an exchange that is RELEASE on success, although its result
 * decides who finalizes. Known bugs: row 7. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    uint64_t before = atomic_load_explicit(&header->counts, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&header->counts, &before,
                                                  before - steps_one_strong, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}
