/* MISUSE-09: a detach without a wrapper does nothing. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    if (rc_has_wrapper(handle)) {
        correct_wrapper_detach(handle);
    }
}
