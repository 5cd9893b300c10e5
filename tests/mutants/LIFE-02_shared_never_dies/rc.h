/* LIFE-02: only the short cut for unique objects finalizes; the decrement that reaches zero does
 * not. */
#define STEPS_OWN_RELEASE
#include "../base/steps.h"

static inline void steps_release(void *payload)
{
    steps_header *header = steps_header_of(payload);
    /* U1 ACQUIRE: nobody else is left. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    if ((counts & ~steps_wrapper) == steps_unique && steps_take_last(header, counts)) {
        steps_die(header, false);
        return;
    }
    atomic_fetch_sub_explicit(&header->counts, steps_one_strong, memory_order_acq_rel);
}
