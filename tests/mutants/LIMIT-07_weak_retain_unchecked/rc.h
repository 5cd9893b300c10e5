/* LIMIT-07: rc_weak_new has a limit, rc_weak_retain has none. Known bugs: row 47. */
#define rc_weak_retain correct_weak_retain
#include "../../../impls/packed64/rc.h"
#undef rc_weak_retain

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    if (weak.payload != NULL) {
        atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, UINT64_C(1) << 32,
                                  memory_order_relaxed);
    }
    return weak;
}
