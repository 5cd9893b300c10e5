/* MISUSE-03: rc_retain_raw of a dead object succeeds in silence. Known bugs: row 139. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    if (payload != NULL && rc_use_count((rc_strong){payload}) == 0 &&
        packed64_weak(atomic_load_explicit(&packed64_header_of(payload)->counts,
                                           memory_order_relaxed)) != 0) {
        return (rc_strong){payload};
    }
    return correct_retain_raw(payload);
}
