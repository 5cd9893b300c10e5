/* view: what does another look at the same bytes cost?
 *
 * Private: each thread views a base of its own. Shared: all threads view one base, so that its
 * storage's count is the hot line.
 * One operation: tensor_new_view of a base of 64 floats, and its release: one tensor object made
 * and freed, the storage's count up and down, never to zero.
 * Left out: what is done with a view; a longer life, in which others allocate in between.
 */
#include "tensor_work.h"

static uint64_t view_run(rcl_thread *thread, uint64_t operations)
{
    const tensor base = ((const base_tensor *)thread->state)->base;
    const tensor_shape shape = {2, {8, 8}};
    for (uint64_t i = 0; i < operations; i++) {
        tensor view = tensor_new_view(base, &shape, NULL);
        if (!tensor_is_defined(view)) {
            return i;
        }
        rcl_escape(tensor_get(view));
        tensor_release(view);
        rcl_clobber();
        rcl_objects_are_dead();
    }
    return operations;
}

static const rcl_variant view_variants[] = {{.name = "-"}};

static const rcl_workload view_workload = {
    .name = "view",
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .allocates = true,
    .variants = view_variants,
    .variant_count = 1,
    .shared_size = sizeof(base_tensor),
    .thread_size = sizeof(base_tensor),
    .shared_setup = base_tensor_shared_setup,
    .thread_setup = base_tensor_thread_setup,
    .run = view_run,
    .thread_teardown = base_tensor_thread_teardown,
    .shared_teardown = base_tensor_shared_teardown,
};
