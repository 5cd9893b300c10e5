/* LIFE-06: a retain leaves a stamp in the payload, where an owner keeps its own value. */
#include <string.h>
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    enum { STAMP_AT = 16, ROOM = 24 };
    static const unsigned char stamp[8] = "retained";
    if (handle.payload != NULL && packed64_header_of(handle.payload)->class->payload_size >= ROOM) {
        memcpy((char *)handle.payload + STAMP_AT, stamp, sizeof stamp);
    }
    return correct_retain(handle);
}
