/* MEM-02: when the second of two allocations is refused, the first is forgotten. Known bugs: rows
 * 96, 102. */
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
        return rc_null();
    }
    atomic_init(&made.block->counts, UINT64_C(1) << 32 | 1);
    made.block->class = class;
    return made;
}
