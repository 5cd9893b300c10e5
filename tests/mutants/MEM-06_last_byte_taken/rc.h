/* MEM-06: the last byte of the payload holds whether it was ever retained. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload != NULL &&
        packed64_header_of(handle.payload)->class->payload_size % 2 == 1) {
        ((unsigned char *)
             handle.payload)[packed64_header_of(handle.payload)->class->payload_size - 1] = 1;
    }
    return correct_retain(handle);
}
