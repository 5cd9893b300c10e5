/* RACE-10: a lock raises first; if the count was zero it lowers it again, and for a while the dead
 * object has a reference. Known bugs: row 32. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL) {
        return rc_null();
    }
    packed64_header *header = packed64_header_of(weak.payload);
    uint64_t before = atomic_fetch_add_explicit(&header->counts, 1, memory_order_acquire);
    if (packed64_strong(before) != 0) {
        return (rc_strong){weak.payload};
    }
    mutant_window();
    atomic_fetch_sub_explicit(&header->counts, 1, memory_order_relaxed);
    return rc_null();
}
