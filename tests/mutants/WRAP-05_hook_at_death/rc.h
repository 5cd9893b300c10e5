/* WRAP-05: the last release tells the wrapper, which is being torn down already. Known bugs: row
 * 82. */
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_release

static inline void rc_release(rc_strong handle)
{
    if (rc_has_wrapper(handle) && rc_use_count(handle) == 1 &&
        packed64_header_of(handle.payload)->class->wrapper_release != NULL) {
        packed64_header_of(handle.payload)->class->wrapper_release(handle.payload);
    }
    correct_release(handle);
}
