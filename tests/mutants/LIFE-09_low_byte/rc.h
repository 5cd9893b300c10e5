/* LIFE-09: rc_is_unique compares the low byte of the strong count: 257 handles are one. */
#define rc_is_unique correct_is_unique
#include "../../../impls/packed64/rc.h"
#undef rc_is_unique

static inline bool rc_is_unique(rc_strong handle)
{
    /* ACQUIRE as U3. */
    return handle.payload != NULL &&
           (atomic_load_explicit(&packed64_header_of(handle.payload)->counts,
                                 memory_order_acquire) &
            UINT64_C(0x7fffffff000000ff)) == (UINT64_C(1) << 32 | 1);
}
