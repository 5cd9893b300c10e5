/* THREAD-04: sharing changes to the counts of a shared object, which begin at 1. Known bugs: row
 * 120. */
#define rc_share correct_share
#include "../../../impls/packed64/rc.h"
#undef rc_share

static inline void rc_share(rc_strong handle)
{
    if (handle.payload != NULL) {
        atomic_store_explicit(&packed64_header_of(handle.payload)->counts, UINT64_C(1) << 32 | 1,
                              memory_order_relaxed);
    }
}
