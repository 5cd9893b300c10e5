/* MEM-08: a payload of no bytes is refused as if memory were. */
#define rc_new correct_new
#include "../../../impls/packed64/rc.h"
#undef rc_new

static inline rc_strong rc_new(const rc_class *class)
{
    return class->payload_size == 0 ? rc_null() : correct_new(class);
}
