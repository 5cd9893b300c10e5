/* explorer: LIMIT-08: a release lowers a saturated count like any other, and puts the unit back when it
 * sees what it did: another thread may look in between. Known bugs: row 56. */
#define rc_release correct_release
#define NARROW_WORD uint64_t
#define NARROW_STRONG_BITS 31
#define NARROW_OVERFLOW RC_OVERFLOW_SATURATE
#include "../base/narrow.h"
#undef rc_release

static inline void rc_release(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    if (narrow_strong(narrow_snapshot(handle.payload)) != narrow_strong_full()) {
        correct_release(handle);
        return;
    }
    _Atomic(narrow_word) *counts = &narrow_header_of(handle.payload)->counts;
    /* Two steps below what pins, so that it shows; RELAXED: nobody dies of it. */
    atomic_fetch_sub_explicit(counts, 2, memory_order_relaxed);
    atomic_fetch_add_explicit(counts, 2, memory_order_relaxed);
}
