/* WRAP-15: a detach clears the weak count with the bit: the mask is one field too wide. Known bugs:
 * row 65. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    correct_wrapper_detach(handle);
    if (handle.payload != NULL) {
        atomic_fetch_and_explicit(&packed64_header_of(handle.payload)->counts,
                                  UINT64_C(0x1ffffffff), memory_order_acq_rel);
    }
}
