/* LIMIT-05: retain has a limit, rc_retain_raw has none. Known bugs: row 47. */
#define rc_retain_raw correct_retain_raw
#include "../../../impls/packed64/rc.h"
#undef rc_retain_raw

static inline rc_strong rc_retain_raw(void *payload)
{
    if (rc_use_count((rc_strong){payload}) == RC_IMPL_STRONG_MAX) {
        atomic_fetch_add_explicit(&packed64_header_of(payload)->counts, 1, memory_order_relaxed);
        return (rc_strong){payload};
    }
    return correct_retain_raw(payload);
}
