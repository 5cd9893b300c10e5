/* RACE-02: a lock asks whether the object is alive, then raises the count: it may have died in
 * between. Known bugs: row 24. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    if (weak.payload == NULL || rc_use_count((rc_strong){weak.payload}) == 0) {
        return rc_null();
    }
    mutant_window();
    atomic_fetch_add_explicit(&packed64_header_of(weak.payload)->counts, 1, memory_order_acquire);
    return (rc_strong){weak.payload};
}
