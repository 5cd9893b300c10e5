/* WRAP-14: a retain at the edge calls wrapper_retain of a class that has none. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    uint64_t before = atomic_fetch_add_explicit(&header->counts, 1, memory_order_relaxed);
    if (packed64_wrapped(before) && packed64_strong(before) == 1) {
        header->class->wrapper_retain(handle.payload);
    }
    return handle;
}
