/* WRAP-07: detaching calls wrapper_release, also at one reference. */
#define rc_wrapper_detach correct_wrapper_detach
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach

static inline void rc_wrapper_detach(rc_strong handle)
{
    bool alone = rc_use_count(handle) == 1;
    correct_wrapper_detach(handle);
    if (alone && packed64_header_of(handle.payload)->class->wrapper_release != NULL) {
        packed64_header_of(handle.payload)->class->wrapper_release(handle.payload);
    }
}
