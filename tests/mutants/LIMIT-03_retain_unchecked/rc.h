/* LIMIT-03: a retain has no limit: the count wraps to zero. Known bugs: rows 46, 50. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (rc_use_count(handle) == RC_IMPL_STRONG_MAX) {
        atomic_fetch_add_explicit(&packed64_header_of(handle.payload)->counts, 1,
                                  memory_order_relaxed);
        return handle;
    }
    return correct_retain(handle);
}
