/* LIMIT-10: the strong count carries into the weak one at its limit: the last reference of the
 * range adds a weak unit. Known bugs: row 62. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    rc_strong made = correct_retain(handle);
    if (rc_use_count(handle) == RC_IMPL_STRONG_MAX) {
        atomic_fetch_add_explicit(&packed64_header_of(handle.payload)->counts, UINT64_C(1) << 32,
                                  memory_order_relaxed);
    }
    return made;
}
