/* dispatch: what does passing a tensor down a chain of calls by value cost, against lending it?
 *
 * Variants: value_dN, each of N levels receives a handle of its own and releases it (+1 -1 a
 * level); borrowed_dN, the same calls with a loan, no count moves.
 * One operation: one call of the chain, N levels deep; each level reads one field of the tensor.
 * The calls themselves are in both numbers: the difference is what passing by value costs.
 * Left out: moves, which a compiler or a careful caller puts in the place of the last copy.
 */
#include "tensor_work.h"

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define DISPATCH_OPAQUE __attribute__((noinline, noipa))
#endif
#endif
#ifndef DISPATCH_OPAQUE
#define DISPATCH_OPAQUE __attribute__((noinline))
#endif

#define DISPATCH_BORROWED 0x100 /* in a variant's parameter, beside the depth */

/* Owns its argument, as a by-value parameter does. The clobber stands between the call and the
 * return, so that the recursion does not become a loop. */
DISPATCH_OPAQUE static int64_t dispatch_by_value(tensor self, int64_t depth)
{
    int64_t below = depth > 1 ? dispatch_by_value(tensor_new_retained(self), depth - 1) : 0;
    rcl_clobber();
    int64_t numel = tensor_get(self)->layout.numel;
    tensor_release(self);
    return below + numel;
}

/* Borrows its argument. */
DISPATCH_OPAQUE static int64_t dispatch_borrowed(tensor self, int64_t depth)
{
    int64_t below = depth > 1 ? dispatch_borrowed(self, depth - 1) : 0;
    rcl_clobber();
    return below + tensor_get(self)->layout.numel;
}

static uint64_t dispatch_run(rcl_thread *thread, uint64_t operations)
{
    const tensor base = ((const base_tensor *)thread->state)->base;
    const int64_t parameter = thread->team->variant->parameter;
    const int64_t depth = parameter & (DISPATCH_BORROWED - 1);
    int64_t sum = 0;
    if ((parameter & DISPATCH_BORROWED) != 0) {
        for (uint64_t i = 0; i < operations; i++) {
            sum += dispatch_borrowed(base, depth);
        }
    } else {
        for (uint64_t i = 0; i < operations; i++) {
            sum += dispatch_by_value(tensor_new_retained(base), depth);
        }
    }
    rcl_escape(&sum);
    return operations;
}

static const rcl_variant dispatch_variants[] = {
    {.name = "value_d1", .parameter = 1},
    {.name = "value_d4", .parameter = 4},
    {.name = "value_d16", .parameter = 16},
    {.name = "borrowed_d1", .parameter = DISPATCH_BORROWED | 1},
    {.name = "borrowed_d4", .parameter = DISPATCH_BORROWED | 4},
    {.name = "borrowed_d16", .parameter = DISPATCH_BORROWED | 16},
};

static const rcl_workload dispatch_workload = {
    .name = "dispatch",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .variants = dispatch_variants,
    .variant_count = sizeof dispatch_variants / sizeof dispatch_variants[0],
    .thread_size = sizeof(base_tensor),
    .thread_setup = base_tensor_thread_setup,
    .run = dispatch_run,
    .thread_teardown = base_tensor_thread_teardown,
};

#undef DISPATCH_OPAQUE
#undef DISPATCH_BORROWED
