/* packed64 with a release that takes a known number of instructions more: what `rclab compare` has to
 * find. Not a strategy; RCL_SLOWED_STEPS is given by the rc.h that includes this file.
 *
 * Each step is an addition that depends on the one before; the first depends on the count as the retain
 * left it, and the address of the locked decrement depends on the last. The first ones are hidden while
 * the retain's locked instruction retires; from then on each takes a cycle. How much that is of a
 * retain and release is measured beside packed64 in the same run, on every machine anew. The decrement
 * and what follows it are packed64's.
 */
#ifndef RCL_SLOWED_STEPS
#error "RCL_SLOWED_STEPS: how many instructions a release takes more"
#endif

#define rc_release packed64_fast_release
#include "packed64/rc.h"
#undef rc_release

/* A zero that is known only when the count is, RCL_SLOWED_STEPS steps later. */
static inline __attribute__((always_inline)) uintptr_t slowed_zero(packed64_header *header)
{
    /* U1 ACQUIRE: as packed64's. */
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    uintptr_t steps = (uintptr_t)counts;
    for (unsigned i = 0; i < RCL_SLOWED_STEPS; i++) {
        steps += 1;
        /* Opaque to the compiler: it may neither drop the steps nor add them up. */
        __asm__ volatile("" : "+r"(steps));
    }
    return steps - RCL_SLOWED_STEPS - (uintptr_t)counts;
}

static inline __attribute__((always_inline)) void rc_release(rc_strong handle)
{
    if (RCL_SLOWED_STEPS > 0 && handle.payload != NULL) {
        packed64_header *header = packed64_header_of(handle.payload);
        handle.payload = (char *)handle.payload + slowed_zero(header);
    }
    packed64_fast_release(handle);
}
