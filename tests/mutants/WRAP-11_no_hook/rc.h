/* WRAP-11: rc_retain_raw from 1 to 2 calls no hook. Known bugs: row 83. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    if (payload != NULL) {
        atomic_fetch_add_explicit(&packed64_header_of(payload)->counts, 1, memory_order_relaxed);
    }
    return (rc_strong){payload};
}
