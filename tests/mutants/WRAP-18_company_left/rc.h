/* WRAP-18: an attach with company that leaves before the bit is set keeps what it took from the
 * wrapper. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (handle.payload == NULL) {
        return;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    if (rc_use_count(handle) > 1 && header->class->wrapper_retain != NULL) {
        header->class->wrapper_retain(handle.payload);
    }
    mutant_window();
    /* ACQ_REL as A1. */
    atomic_fetch_or_explicit(&header->counts, UINT64_C(1) << 63, memory_order_acq_rel);
}
