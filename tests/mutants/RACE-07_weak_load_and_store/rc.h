/* RACE-07: a weak retain is a load and a store. */
#define rc_weak_retain correct_weak_retain
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_weak_retain

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    if (weak.payload == NULL) {
        return weak;
    }
    packed64_header *header = packed64_header_of(weak.payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_relaxed);
    mutant_window();
    atomic_store_explicit(&header->counts, counts + (UINT64_C(1) << 32), memory_order_relaxed);
    return weak;
}
