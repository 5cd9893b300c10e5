/* RACE-06: plain counters, that claim to be for several threads. Known bugs: rows 15, 120, 153,
 * 155. */
#define rc_retain correct_retain
#include "../../../impls/nonatomic/rc.h"

#include "../base/window.h"
#undef rc_retain

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET)

/* The base's own check, which would tell. */
static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.header != NULL) {
        uint32_t strong = handle.header->strong;
        mutant_window();
        handle.header->strong = strong + 1;
    }
    return handle;
}
