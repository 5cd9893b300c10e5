/* THREAD-04: sharing takes a reference for the other thread. */
#define rc_share correct_share
#include "../../../impls/packed64/rc.h"
#undef rc_share

static inline void rc_share(rc_strong handle)
{
    rc_retain(handle);
}
