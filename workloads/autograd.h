/* autograd: what does counting cost in recording a graph and going back through it?
 *
 * One operation: one forward through eight layers and one backward.
 *   Forward, a layer: an output tensor with its autograd part, a node that saves the layer's input
 *   and its weight, an edge to the node before, and an edge to the weight's accumulator, found by a
 *   weak lock. Four weights serve two layers each: the first lock of a step finds the accumulator
 *   expired and makes one, the second finds it alive.
 *   Backward, a layer: two gradients made, one passed on, one given to the accumulator; the saved
 *   tensors let go; the next node retained, as an engine's queue does.
 *   At the end the output is released, the graph goes with it, and the gradients are dropped.
 * Left out: bytes and arithmetic (the tensors are on the meta device), a backward on other threads.
 * The accumulators of null never expire; it forgets them after each operation, so that it makes as
 * many.
 */
#include "tensor_work.h"

#if !((RC_IMPL_CAPS)&RC_CAP_WEAK)
static const rcl_workload autograd_workload = {.name = "autograd", .needs = RC_CAP_WEAK};
#else

#define AUTOGRAD_LAYERS 8
#define AUTOGRAD_WEIGHTS 4

typedef struct autograd_state {
    tensor input;
    tensor weights[AUTOGRAD_WEIGHTS]; /* leaves */
} autograd_state;

static inline tensor autograd_new_tensor(void)
{
    return tensor_new_empty(&(tensor_shape){1, {16}}, TENSOR_FLOAT32, TENSOR_DEVICE_META, NULL);
}

static bool autograd_thread_setup(rcl_thread *thread)
{
    autograd_state *state = thread->state;
    state->input = autograd_new_tensor();
    for (unsigned i = 0; i < AUTOGRAD_WEIGHTS; i++) {
        state->weights[i] = autograd_new_tensor();
        if (!tensor_require_grad(state->weights[i], NULL)) {
            return false;
        }
    }
    return tensor_is_defined(state->input);
}

static void autograd_thread_teardown(rcl_thread *thread)
{
    autograd_state *state = thread->state;
    for (unsigned i = AUTOGRAD_WEIGHTS; i > 0; i--) {
        tensor_reset(&state->weights[i - 1]);
    }
    tensor_reset(&state->input);
}

/* The output of one layer, which the caller owns; its graph holds `input` and `weight`. Undefined
 * if memory was refused. */
static inline tensor autograd_new_output(tensor input, tensor weight)
{
    tensor output = autograd_new_tensor();
    tensor_node accumulator = tensor_new_accumulator(weight, NULL);
    tensor_node node = {rc_null()};
    if (!rc_is_null(accumulator.impl)) {
        node = tensor_new_node(0, (const tensor[]){input, weight}, 2,
                               (const tensor_node[]){tensor_grad_fn(input), accumulator}, 2, NULL);
    }
    tensor_node_release(accumulator);
    if (rc_is_null(node.impl) || !tensor_set_grad_fn(output, node, NULL)) {
        tensor_node_release(node);
        tensor_reset(&output);
    }
    return output;
}

/* From the node that made the output back to the first. False if memory was refused. */
static inline bool autograd_backward(tensor output)
{
    tensor_node node = tensor_new_node_retained(tensor_grad_fn(output));
    tensor grad = autograd_new_tensor();
    bool ready = tensor_is_defined(grad);
    while (ready && !rc_is_null(node.impl)) {
        tensor weight = tensor_node_saved(tensor_node_edge(node, 1), 0);
        tensor weight_grad = autograd_new_tensor();
        if (!tensor_accumulate_grad(weight, weight_grad, NULL)) {
            tensor_release(weight_grad);
            ready = false;
        }
        tensor_assign(&grad, autograd_new_tensor());
        ready = ready && tensor_is_defined(grad);
        tensor_node_release_saved(node);
        tensor_node next = tensor_new_node_retained(tensor_node_edge(node, 0));
        tensor_node_release(node);
        node = next;
    }
    tensor_release(grad);
    tensor_node_release(node);
    return ready;
}

/* What was made in a batch goes with it. */
static void autograd_forget_accumulators(autograd_state *state)
{
    for (unsigned i = 0; i < AUTOGRAD_WEIGHTS; i++) {
        tensor_forget_accumulator(state->weights[i]);
    }
}

static uint64_t autograd_run(rcl_thread *thread, uint64_t operations)
{
    autograd_state *state = thread->state;
    uint64_t done = 0;
    bool ready = true;
    while (ready && done < operations) {
        tensor output = tensor_new_retained(state->input);
        for (unsigned layer = 0; ready && layer < AUTOGRAD_LAYERS; layer++) {
            tensor_assign(&output,
                          autograd_new_output(output, state->weights[layer % AUTOGRAD_WEIGHTS]));
            ready = tensor_is_defined(output);
        }
        ready = ready && autograd_backward(output);
        for (unsigned i = 0; i < AUTOGRAD_WEIGHTS; i++) {
            tensor_set_grad(state->weights[i], tensor_undefined(), NULL); /* cannot fail */
        }
        tensor_release(output);
        rcl_clobber();
        done += ready ? 1 : 0;
#ifdef RCL_IMPL_IS_NULL
        autograd_forget_accumulators(state); /* they have died with the graph, elsewhere */
#endif
        rcl_objects_are_dead();
    }
    autograd_forget_accumulators(state);
    return done;
}

static const rcl_variant autograd_variants[] = {{.name = "-"}};

static const rcl_workload autograd_workload = {
    .name = "autograd",
    .needs = RC_CAP_WEAK,
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .allocates = true,
    .variants = autograd_variants,
    .variant_count = 1,
    .thread_size = sizeof(autograd_state),
    .thread_setup = autograd_thread_setup,
    .run = autograd_run,
    .thread_teardown = autograd_thread_teardown,
};

#undef AUTOGRAD_LAYERS
#undef AUTOGRAD_WEIGHTS
#endif
