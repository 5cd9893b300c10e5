/* ORDER-03: a release beside weak handles does not ACQUIRE: the path was thought to be the weak
 * handles' affair. Known bugs: row 3. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    /* U1 ACQUIRE: nobody else is left. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if ((counts & ~steps_wrapper) == steps_unique && steps_take_last(header, counts)) {
        steps_die(header, false);
        return;
    }
    uint64_t before =
        steps_weak(counts) > 1
            ? atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_relaxed)
            : atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
    if (steps_strong(before) == 1) {
        steps_die(header, steps_weak(before) > 1);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        class->wrapper_release(payload);
    }
}
