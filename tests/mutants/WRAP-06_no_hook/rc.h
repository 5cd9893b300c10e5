/* WRAP-06: attaching sets the bit and calls no hook, however many references there are. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (handle.payload != NULL) {
        /* ACQ_REL as A1. */
        atomic_fetch_or_explicit(&packed64_header_of(handle.payload)->counts, UINT64_C(1) << 63,
                                 memory_order_acq_rel);
    }
}
