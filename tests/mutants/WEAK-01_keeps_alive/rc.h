/* WEAK-01: weak handles are strong ones under another name. */
#define rc_weak_new correct_weak_new
#define rc_weak_retain correct_weak_retain
#define rc_weak_release correct_weak_release
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new
#undef rc_weak_retain
#undef rc_weak_release

static inline rc_weak rc_weak_new(rc_strong handle)
{
    rc_retain(handle);
    return correct_weak_new(handle);
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    rc_retain((rc_strong){weak.payload});
    return correct_weak_retain(weak);
}

static inline void rc_weak_release(rc_weak weak)
{
    rc_release((rc_strong){weak.payload});
    correct_weak_release(weak);
}
