/* WEAK-13: a weak retain of the only weak handle moves it: a weak slot assigned to itself loses its
 * block. Known bugs: row 45. */
#define rc_weak_retain correct_weak_retain
#include "../../../impls/packed64/rc.h"
#undef rc_weak_retain

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    const uint64_t only = 2; /* this one and the implicit one */
    if (weak.payload != NULL && !rc_weak_expired(weak) &&
        packed64_weak(atomic_load_explicit(&packed64_header_of(weak.payload)->counts,
                                           memory_order_relaxed)) == only) {
        return weak;
    }
    return correct_weak_retain(weak);
}
