/* clone: what does a small tensor's whole life cost, its bytes included?
 *
 * Private: each thread clones a base of its own. Shared: all clone one base, which they only read:
 * the clones are private, so no count is contended.
 * One operation: tensor_new_clone of 64 floats, and its release: a tensor object, a storage object
 * and 256 bytes made, copied, and freed.
 * Left out: large tensors, where copying hides the rest; reuse is the allocator's best case.
 */
#include "tensor_work.h"

static uint64_t clone_run(rcl_thread *thread, uint64_t operations)
{
    const tensor base = ((const base_tensor *)thread->state)->base;
    for (uint64_t i = 0; i < operations; i++) {
        tensor copy = tensor_new_clone(base, NULL);
        if (!tensor_is_defined(copy)) {
            return i;
        }
        rcl_escape(tensor_data_of(copy, NULL));
        tensor_release(copy);
        rcl_clobber();
        rcl_objects_are_dead();
    }
    return operations;
}

static const rcl_variant clone_variants[] = {{.name = "-"}};

static const rcl_workload clone_workload = {
    .name = "clone",
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .allocates = true,
    .variants = clone_variants,
    .variant_count = 1,
    .shared_size = sizeof(base_tensor),
    .thread_size = sizeof(base_tensor),
    .shared_setup = base_tensor_shared_setup,
    .thread_setup = base_tensor_thread_setup,
    .run = clone_run,
    .thread_teardown = base_tensor_thread_teardown,
    .shared_teardown = base_tensor_shared_teardown,
};
