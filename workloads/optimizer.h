/* optimizer: what does counting cost in an optimizer's step?
 *
 * Variants: tiny, parameters of 8 floats, where the counting shows; n256, of 256 floats, where the
 * arithmetic begins to hide it.
 * One operation: one step of Adam on one of 16 parameters: parameter, gradient and both moments are
 * retained for the step and released, two temporaries are made and dropped (two tensor objects, two
 * storages, their bytes).
 * Left out: fused and vectorised optimizers, which handle many parameters in one call.
 */
#include "tensor_work.h"

#define OPTIMIZER_PARAMETERS 16

typedef struct optimizer_state {
    tensor parameters[OPTIMIZER_PARAMETERS]; /* each holds its gradient */
    tensor means[OPTIMIZER_PARAMETERS];
    tensor variances[OPTIMIZER_PARAMETERS];
    unsigned next;
} optimizer_state;

static bool optimizer_thread_setup(rcl_thread *thread)
{
    optimizer_state *state = thread->state;
    const int64_t numel = thread->team->variant->parameter;
    for (unsigned i = 0; i < OPTIMIZER_PARAMETERS; i++) {
        state->parameters[i] = tensor_new_filled(numel, 0.5f);
        state->means[i] = tensor_new_filled(numel, 0.0f);
        state->variances[i] = tensor_new_filled(numel, 0.0f);
        tensor grad = tensor_new_filled(numel, 0.01f * (float)(i + 1));
        if (!tensor_is_defined(state->means[i]) || !tensor_is_defined(state->variances[i]) ||
            !tensor_is_defined(grad) || !tensor_set_grad(state->parameters[i], grad, NULL)) {
            tensor_release(grad);
            return false;
        }
    }
    return true;
}

static void optimizer_thread_teardown(rcl_thread *thread)
{
    optimizer_state *state = thread->state;
    for (unsigned i = OPTIMIZER_PARAMETERS; i > 0; i--) {
        tensor_reset(&state->variances[i - 1]);
        tensor_reset(&state->means[i - 1]);
        tensor_reset(&state->parameters[i - 1]);
    }
}

static uint64_t optimizer_run(rcl_thread *thread, uint64_t operations)
{
    optimizer_state *state = thread->state;
    for (uint64_t i = 0; i < operations; i++) {
        const unsigned k = state->next;
        if (!adam_step(state->parameters[k], state->means[k], state->variances[k])) {
            return i;
        }
        state->next = (k + 1) % OPTIMIZER_PARAMETERS;
        rcl_clobber();
        rcl_objects_are_dead();
    }
    return operations;
}

static const rcl_variant optimizer_variants[] = {
    {.name = "tiny", .parameter = 8},
    {.name = "n256", .parameter = 256, .threads = 1},
};

static const rcl_workload optimizer_workload = {
    .name = "optimizer",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .allocates = true,
    .variants = optimizer_variants,
    .variant_count = 2,
    .thread_size = sizeof(optimizer_state),
    .thread_setup = optimizer_thread_setup,
    .run = optimizer_run,
    .thread_teardown = optimizer_thread_teardown,
};

#undef OPTIMIZER_PARAMETERS
