/* LIFE-12: a retain of the only handle moves it: two handles, one unit. A slot assigned to itself
 * loses its object. Known bugs: rows 87, 91. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    return rc_use_count(handle) == 1 ? handle : correct_retain(handle);
}
