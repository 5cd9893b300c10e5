/* WRAP-01: attaching takes a reference for the wrapper, beside the handle's. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    correct_wrapper_attach(handle);
    if (handle.payload != NULL) {
        atomic_fetch_add_explicit(&packed64_header_of(handle.payload)->counts, 1,
                                  memory_order_relaxed);
    }
}
