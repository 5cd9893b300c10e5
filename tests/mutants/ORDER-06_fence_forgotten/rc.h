/* ORDER-06: split counts: the weak decrement is RELEASE, and nobody ACQUIREs before the memory
 * goes. Known bugs: row 3. */
#define rc_weak_release correct_weak_release
#include "../../../impls/split32/rc.h"
#undef rc_weak_release

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload == NULL) {
        return;
    }
    split32_header *header = split32_header_of(weak.payload);
    uint32_t before = atomic_fetch_sub_explicit(&header->weak, 1, memory_order_release);
    if (RC_CHECKED && split32_weak_count(before) <= 1 &&
        atomic_load_explicit(&header->strong, memory_order_relaxed) != 0) {
        rc_trap(RC_TRAP_WEAK_RELEASE_DEAD, weak.payload);
    }
    if (before == 1) {
        rc_mem_free(header, sizeof *header + header->class->payload_size);
    }
}
