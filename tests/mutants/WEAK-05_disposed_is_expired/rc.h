/* WEAK-05: an object whose wrapper was detached counts as gone, although it lives. Known bugs: row
 * 80. */
#define rc_wrapper_detach correct_wrapper_detach
#define rc_weak_retain correct_weak_retain
#define rc_weak_expired correct_weak_expired
#include "../../../impls/packed64/rc.h"
#undef rc_wrapper_detach
#undef rc_weak_retain
#undef rc_weak_expired

static _Thread_local const void *mutant_disposed;

static inline void rc_wrapper_detach(rc_strong handle)
{
    correct_wrapper_detach(handle);
    mutant_disposed = handle.payload;
}

static inline rc_weak rc_weak_retain(rc_weak weak)
{
    mutant_disposed = weak.payload;
    return correct_weak_retain(weak);
}

static inline bool rc_weak_expired(rc_weak weak)
{
    return correct_weak_expired(weak) || weak.payload == mutant_disposed;
}
