/* RAW-04: a unit is given up when it becomes a pointer, if others hold the object, and taken anew
 * when it comes back: meanwhile it holds nothing. */
#define rc_into_raw correct_into_raw
#define rc_from_raw correct_from_raw
#include "../../../impls/packed64/rc.h"
#undef rc_into_raw
#undef rc_from_raw

static _Thread_local const void *mutant_travels;

static inline void *rc_into_raw(rc_strong handle)
{
    if (rc_use_count(handle) > 1) {
        mutant_travels = handle.payload;
        rc_release(handle);
    }
    return handle.payload;
}

static inline rc_strong rc_from_raw(void *payload)
{
    bool again = payload != NULL && mutant_travels == payload;
    mutant_travels = NULL;
    return again ? rc_retain((rc_strong){payload}) : correct_from_raw(payload);
}
