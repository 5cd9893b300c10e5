/* WEAK-05: a weak handle expires when the memory goes, so that its owner never sees it expired. */
#define rc_weak_expired correct_weak_expired
#include "../../../impls/packed64/rc.h"
#undef rc_weak_expired

static inline bool rc_weak_expired(rc_weak weak)
{
    return weak.payload == NULL ||
           packed64_weak(atomic_load_explicit(&packed64_header_of(weak.payload)->counts,
                                              memory_order_relaxed)) == 0;
}
