/* NULL-04: a lock of the empty weak handle follows its pointer. Known bugs: row 92. */
#define rc_weak_lock correct_weak_lock
#include "../../../impls/packed64/rc.h"
#undef rc_weak_lock

static inline rc_strong rc_weak_lock(rc_weak weak)
{
    return rc_weak_expired((rc_weak){weak.payload}) && weak.payload != NULL
               ? rc_null()
               : packed64_retain(weak.payload);
}
