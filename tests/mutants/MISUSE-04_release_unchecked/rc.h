/* MISUSE-04: a release below zero goes unnoticed. Known bugs: row 148. */
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_release

static inline void rc_release(rc_strong handle)
{
    if (handle.payload != NULL && rc_use_count(handle) == 0) {
        return;
    }
    correct_release(handle);
}
