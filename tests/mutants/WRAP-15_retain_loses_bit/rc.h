/* WRAP-15: a retain writes the word anew from its counts, without the bit. Known bugs: row 65. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    rc_strong made = correct_retain(handle);
    if (rc_use_count(handle) == 3) {
        atomic_fetch_and_explicit(&packed64_header_of(handle.payload)->counts, ~(UINT64_C(1) << 63),
                                  memory_order_relaxed);
    }
    return made;
}
