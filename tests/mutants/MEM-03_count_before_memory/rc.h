/* MEM-03: rc_weak_new counts, then asks for memory; refused, it gives null and the count stays. */
#define rc_weak_new correct_weak_new
#include "../../../impls/packed64/rc.h"
#undef rc_weak_new

static inline rc_weak rc_weak_new(rc_strong handle)
{
    enum { NODE_BYTES = 16 };
    rc_weak weak = correct_weak_new(handle);
    void *node = handle.payload == NULL ? NULL : rc_mem_alloc(NODE_BYTES);
    if (node == NULL) {
        return rc_weak_null();
    }
    rc_mem_free(node, NODE_BYTES);
    return weak;
}
