/* fence: RELEASE decrements, and an ACQUIRE fence for the one that reaches zero. Correct: what
 * std::sync::Arc and boost::shared_ptr do. A ThreadSanitizer that models no fences accuses it, unless
 * the fence is RC_ACQUIRE_AFTER_ZERO. Known bugs: row 159, a control there too. */
#define STEPS_OWN_DROP_WEAK
#define STEPS_OWN_RELEASE
#include "../../mutants/base/steps.h"

static inline void steps_drop_weak(steps_header *header, uint64_t unit)
{
    /* D3 RELEASE: our uses come before. Pairs with F3, and with U3 of a unique owner. */
    uint64_t before = atomic_fetch_sub_explicit(&header->counts, unit, memory_order_release);
    if (RC_CHECKED && unit == steps_one_weak && steps_weak(before) <= steps_implicit_of(before)) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, header + 1);
    }
    if (steps_weak(before) == 1) {
        /* F3 ACQUIRE: the memory returns after everybody's uses. Pairs with D3. */
        RC_ACQUIRE_AFTER_ZERO(&header->counts);
        steps_free(header);
    }
}

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    const rc_class *class = header->class;
    /* D1 RELEASE: our uses come before the decrement. Pairs with F1 and U3. */
    uint64_t before =
        atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_release);
    if (RC_CHECKED && steps_strong(before) == 0) {
        rc_trap(RC_TRAP_RELEASE_DEAD, payload);
    }
    if (steps_strong(before) == 1) {
        /* F1 ACQUIRE: finalize sees what all owners did. Pairs with D1. */
        RC_ACQUIRE_AFTER_ZERO(&header->counts);
        steps_die(header, true);
    } else if (steps_wrapped(before) && steps_strong(before) == 2 &&
               class->wrapper_release != NULL) {
        /* F2 ACQUIRE: the hook sees what attach published, and those that left did. Pairs with A1, D1.
         */
        RC_ACQUIRE_AFTER_ZERO(&header->counts);
        class->wrapper_release(payload);
    }
}
