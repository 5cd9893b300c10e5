/* MEM-02: when the second of two allocations is refused, the first is freed by the failing path and
 * by its guard. Known bugs: row 97. */
#define rc_new correct_new
#include "../../../impls/control_block/rc.h"
#undef rc_new

static inline rc_strong rc_new(const rc_class *class)
{
    rc_strong made = {rc_mem_alloc(class->payload_size), NULL};
    if (made.payload == NULL) {
        return rc_null();
    }
    made.block = rc_mem_alloc(sizeof(control_block));
    if (made.block == NULL) {
        rc_mem_free(made.payload, class->payload_size);
        rc_mem_free(made.payload, class->payload_size);
        return rc_null();
    }
    atomic_init(&made.block->counts, UINT64_C(1) << 32 | 1);
    made.block->class = class;
    return made;
}
