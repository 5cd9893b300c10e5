/* LIFE-04: a retain copies the handle and counts nothing. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    return handle;
}
