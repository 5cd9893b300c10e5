/* RACE-06: a retain is a load and a store: what others count in between is lost. Known bugs: row
 * 15. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    mutant_window();
    atomic_store_explicit(&header->counts, counts + 1, memory_order_relaxed);
    return handle;
}
