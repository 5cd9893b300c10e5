/* RACE-06: the drain lowers each count by a load and a store, as if only the drain could change it.
 * Known bugs: row 125. */
#define DEFERRED_OWN_DRAIN
#include "../../controls/deferred/rc.h"

#include "../base/window.h"

static inline void deferred_drain(void)
{
    while (deferred_mine.count > 0) {
        rc_strong handle = deferred_mine.handles[--deferred_mine.count];
        _Atomic(uint64_t) *counts = &steps_header_of(handle.payload)->counts;
        uint64_t before = atomic_load_explicit(counts, memory_order_acquire);
        mutant_window();
        if (steps_strong(before) > 1) {
            atomic_store_explicit(counts, before - 1, memory_order_release);
        } else {
            deferred_release_now(handle);
        }
    }
}
