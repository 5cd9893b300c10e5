/* MISUSE-08: a second attach does nothing. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (!rc_has_wrapper(handle)) {
        correct_wrapper_attach(handle);
    }
}
