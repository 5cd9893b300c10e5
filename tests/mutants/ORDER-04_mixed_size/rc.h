/* explorer: ORDER-04: rc_is_unique reads both 32-bit counts by one 64-bit load, which C11 does not
 * know: fine on one machine, undefined on paper. Known bugs: row 61. */
#define rc_is_unique correct_is_unique
#include "../../../impls/split32/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    if (handle.payload == NULL) {
        return false;
    }
    union {
        _Atomic(uint32_t) *half;
        _Atomic(uint64_t) *whole;
    } counts = {.half = &split32_header_of(handle.payload)->strong};
    return atomic_load_explicit(counts.whole, memory_order_acquire) == (UINT64_C(1) << 32 | 1);
}
