/* MISUSE-10: an implementation for one thread does not look which thread retains. */
#define rc_retain correct_retain
#include "../../../impls/nonatomic/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.header != NULL) {
        handle.header->strong++;
    }
    return handle;
}
