/* TENSOR-02: the second reference to an object is not counted: a view's storage dies with its base. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    return rc_use_count(handle) == 1 ? handle : correct_retain(handle);
}
