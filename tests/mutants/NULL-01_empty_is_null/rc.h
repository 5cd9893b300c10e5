/* NULL-01: a handle of an object with an empty payload is taken for null. Known bugs: rows 93, 95. */
#define rc_is_null correct_is_null
#include "../../../impls/packed64/rc.h"
#undef rc_is_null

static inline bool rc_is_null(rc_strong handle)
{
    return handle.payload == NULL || packed64_header_of(handle.payload)->class->payload_size == 0;
}
