/* MEM-09: claims that the payload goes at death, and has it in one block with the counts. */
#include "../../../impls/packed64/rc.h"

#undef RC_IMPL_CAPS
#define RC_IMPL_CAPS                                                                               \
    (RC_CAP_THREADS | RC_CAP_WEAK | RC_CAP_RAW | RC_CAP_WRAPPER | RC_CAP_IMMEDIATE |               \
     RC_CAP_EXACT_COUNT | RC_CAP_PRESET | RC_CAP_EARLY_FREE)
