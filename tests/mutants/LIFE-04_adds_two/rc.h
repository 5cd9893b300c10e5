/* LIFE-04: a retain adds two references: one for the handle, one to be sure. Known bugs: row 31. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    return correct_retain(correct_retain(handle));
}
