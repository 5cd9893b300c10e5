/* ORDER-01: the decrement is RELEASE without ACQUIRE: the last one finalizes what it does not see
 * whole. Known bugs: row 3. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_release);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}
