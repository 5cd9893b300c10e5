/* NULL-04: the empty weak handle has not expired. */
#define rc_weak_expired correct_weak_expired
#include "../../../impls/packed64/rc.h"
#undef rc_weak_expired

static inline bool rc_weak_expired(rc_weak weak)
{
    return weak.payload != NULL && correct_weak_expired(weak);
}
