/* MISUSE-01: a retain of a dead object is checked by an assertion that optimised builds drop. Known
 * bugs: row 147. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
#ifdef __OPTIMIZE__
    if (handle.payload != NULL && rc_use_count(handle) == 0) {
        return handle;
    }
#endif
    return correct_retain(handle);
}
