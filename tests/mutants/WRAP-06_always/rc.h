/* WRAP-06: attaching calls wrapper_retain, also at one reference. */
#define rc_wrapper_attach correct_wrapper_attach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_attach

static inline void rc_wrapper_attach(rc_strong handle)
{
    bool alone = rc_use_count(handle) == 1;
    if (alone && packed64_header_of(handle.payload)->class->wrapper_retain != NULL) {
        packed64_header_of(handle.payload)->class->wrapper_retain(handle.payload);
    }
    correct_wrapper_attach(handle);
}
