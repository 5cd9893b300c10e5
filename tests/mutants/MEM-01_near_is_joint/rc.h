/* MEM-01: whether payload and block are one allocation is guessed from their distance: two that lie
 * side by side are taken for one. Known bugs: row 44. */
#define rc_release correct_release
#include "../../../impls/control_block/rc.h"
#undef rc_release

static inline void rc_release(rc_strong handle)
{
    enum { SLACK = 128 }; /* what an allocator may put between two blocks */
    /* Of neighbours only the block goes: as if the payload were a part of it. */
    bool near = handle.block != NULL && (uintptr_t)handle.block - (uintptr_t)handle.payload <
                                            handle.block->class->payload_size + SLACK;
    if (near && control_block_strong(
                    atomic_load_explicit(&handle.block->counts, memory_order_acquire)) == 1) {
        control_block *block = handle.block;
        atomic_fetch_sub_explicit(&block->counts, 1, memory_order_acq_rel);
        if (block->class->finalize != NULL) {
            block->class->finalize(handle.payload);
        }
        control_block_drop_weak(block, UINT64_C(1) << 32, handle.payload);
        return;
    }
    correct_release(handle);
}
