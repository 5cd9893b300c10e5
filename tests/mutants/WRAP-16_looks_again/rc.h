/* WRAP-16: whether a retain crossed the edge is decided by a second look at the count, which others
 * have moved meanwhile. Known bugs: row 83. */
#define rc_retain correct_retain
#include "../../../impls/packed64/rc.h"

#include "../base/window.h"
#undef rc_retain

static inline rc_strong rc_retain(rc_strong handle)
{
    if (handle.payload == NULL) {
        return handle;
    }
    packed64_header *header = packed64_header_of(handle.payload);
    atomic_fetch_add_explicit(&header->counts, 1, memory_order_relaxed);
    mutant_window();
    uint64_t now = atomic_load_explicit(&header->counts, memory_order_relaxed);
    if (packed64_wrapped(now) && packed64_strong(now) == 2 &&
        header->class->wrapper_retain != NULL) {
        header->class->wrapper_retain(handle.payload);
    }
    return handle;
}
