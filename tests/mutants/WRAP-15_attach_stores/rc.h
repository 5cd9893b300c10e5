/* WRAP-15: an attach stores the count that it knows, and the bit, over what is there. Known bugs:
 * row 65. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    uint64_t strong = rc_use_count(handle);
    correct_wrapper_attach(handle);
    if (handle.payload != NULL) {
        atomic_store_explicit(&packed64_header_of(handle.payload)->counts,
                              UINT64_C(1) << 63 | UINT64_C(1) << 32 | strong, memory_order_release);
    }
}
