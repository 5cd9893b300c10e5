/* WRAP-18: detach clears the bit by a load and a store: a retain or a release between them is lost. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    uint64_t counts = atomic_load_explicit(&header->counts, memory_order_acquire);
    mutant_window();
    atomic_store_explicit(&header->counts, counts & ~(UINT64_C(1) << 63), memory_order_release);
    if (packed64_strong(counts) > 1 && header->class->wrapper_release != NULL) {
        header->class->wrapper_release(handle.payload);
    }
}
