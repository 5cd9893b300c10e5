/* WRAP-07: detaching clears the bit and calls no hook. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (handle.payload != NULL) {
        /* ACQ_REL as A2. */
        atomic_fetch_and_explicit(&packed64_header_of(handle.payload)->counts, ~(UINT64_C(1) << 63),
                                  memory_order_acq_rel);
    }
}
