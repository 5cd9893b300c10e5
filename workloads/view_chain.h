/* view_chain: what does a chain of views cost, as indexing and reshaping code makes them?
 *
 * One operation: eight views, each of the one before (view, transpose, narrow, in a mixture), all
 * alive together, then released in reverse. Eight tensor objects, the storage's count up and down
 * eight times. A view holds the storage and not the tensor it was made from, so no release
 * cascades.
 * Left out: the copies that such code makes when a view cannot be had.
 */
#include "tensor_work.h"

#define VIEW_CHAIN_DEPTH 8

/* The i-th link: made from `base`, which fits. */
static inline tensor view_chain_new_link(tensor base, unsigned i)
{
    switch (i) {
    case 0:
        return tensor_new_view(base, &(tensor_shape){2, {8, 8}}, NULL);
    case 1:
    case 2: /* there and back: contiguous again */
        return tensor_new_transposed(base, 0, 1, NULL);
    case 3:
        return tensor_new_narrow(base, 0, 2, 4, NULL);
    case 4:
        return tensor_new_view(base, &(tensor_shape){1, {32}}, NULL);
    case 5:
        return tensor_new_narrow(base, 0, 8, 16, NULL);
    case 6:
        return tensor_new_view(base, &(tensor_shape){2, {4, 4}}, NULL);
    default:
        return tensor_new_transposed(base, 0, 1, NULL);
    }
}

static uint64_t view_chain_run(rcl_thread *thread, uint64_t operations)
{
    const tensor base = ((const base_tensor *)thread->state)->base;
    for (uint64_t i = 0; i < operations; i++) {
        tensor views[VIEW_CHAIN_DEPTH];
        unsigned made = 0;
        tensor last = base;
        while (made < VIEW_CHAIN_DEPTH) {
            last = view_chain_new_link(last, made);
            if (!tensor_is_defined(last)) {
                break;
            }
            views[made++] = last;
        }
        rcl_escape(views);
        for (unsigned d = made; d > 0; d--) {
            tensor_release(views[d - 1]);
        }
        rcl_clobber();
        rcl_objects_are_dead();
        if (made < VIEW_CHAIN_DEPTH) {
            return i;
        }
    }
    return operations;
}

static const rcl_variant view_chain_variants[] = {{.name = "-"}};

static const rcl_workload view_chain_workload = {
    .name = "view_chain",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .allocates = true,
    .variants = view_chain_variants,
    .variant_count = 1,
    .thread_size = sizeof(base_tensor),
    .thread_setup = base_tensor_thread_setup,
    .run = view_chain_run,
    .thread_teardown = base_tensor_thread_teardown,
};

#undef VIEW_CHAIN_DEPTH
