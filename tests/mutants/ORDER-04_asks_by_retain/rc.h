/* explorer: ORDER-04: rc_is_unique retains, RELAXED as retains are, and answers from the value that it
 * found: right as a number, and no permission to write. Known bugs: row 108. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    _Atomic(uint64_t) *counts = &packed64_header_of(handle.payload)->counts;
    uint64_t before = atomic_fetch_add_explicit(counts, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(counts, 1, memory_order_release);
    return (before & ~(UINT64_C(1) << 63)) == (UINT64_C(1) << 32 | 1);
}
