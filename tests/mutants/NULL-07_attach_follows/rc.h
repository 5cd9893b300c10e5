/* NULL-07: rc_wrapper_attach follows the null pointer. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    if (rc_use_count(handle) == 0) {
        packed64_retain(handle.payload);
    }
    correct_wrapper_attach(handle);
}
