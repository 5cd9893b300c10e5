/* NULL-02: a release follows the null pointer. */
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_release

static inline void rc_release(rc_strong handle)
{
    packed64_release_shared(handle.payload);
}
