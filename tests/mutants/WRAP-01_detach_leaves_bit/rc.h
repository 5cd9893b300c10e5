/* WRAP-01: a detach at one reference leaves the bit set. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (rc_use_count(handle) > 1) {
        correct_wrapper_detach(handle);
    }
}
