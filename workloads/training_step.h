/* training_step: what does counting cost in a whole training step?
 *
 * A small multilayer perceptron: three linear layers (8 to 8 to 8 to 4) with leaky rectifiers
 * between them, mean square error, minibatches of 4 samples. Private: each thread trains a model of
 * its own. Shared: the threads use one model's weights, read-only; their gradients stay private and
 * are dropped, and there is no optimizer.
 * One operation: one step. A minibatch is narrowed out of the data set. Forward makes a transposed
 * view and an output for each layer, and a node that saves what backward needs. Backward makes the
 * gradients, lets go of what was saved, and adds into the leaves through their accumulators. Adam
 * updates six parameters. Gradients and graph are dropped.
 * Left out: real sizes. At these, counting and allocating weigh as much as they ever can. The
 * accumulators of null never expire; it forgets them after each operation, so that it makes as many.
 */
#include "tensor_work.h"

#if !((RC_IMPL_CAPS)&RC_CAP_WEAK)
static const rcl_workload training_step_workload = {.name = "training_step", .needs = RC_CAP_WEAK};
#else

#define TRAINING_STEP_LAYERS 3
#define TRAINING_STEP_PARAMETERS (2 * TRAINING_STEP_LAYERS) /* weight and bias of each layer */
#define TRAINING_STEP_ROWS 4
#define TRAINING_STEP_BATCHES 16
#define TRAINING_STEP_SLOPE 0.01f

static const int64_t training_step_widths[TRAINING_STEP_LAYERS + 1] = {8, 8, 8, 4};

/* What a node's backward is; a linear layer's number is added. */
enum { TRAINING_STEP_LOSS, TRAINING_STEP_RECTIFIER, TRAINING_STEP_LINEAR };

typedef struct training_step_shared {
    tensor parameters[TRAINING_STEP_PARAMETERS];
} training_step_shared;

typedef struct training_step_state {
    bool shared_weights;
    tensor parameters[TRAINING_STEP_PARAMETERS]; /* weight of layer l at 2 l, its bias behind it */
    tensor grads[TRAINING_STEP_PARAMETERS];      /* with shared weights: this thread's, in a step */
    tensor means[TRAINING_STEP_PARAMETERS];
    tensor variances[TRAINING_STEP_PARAMETERS];
    tensor inputs; /* the data set: all minibatches */
    tensor targets;
    int64_t batch; /* the next minibatch */
} training_step_state;

/* Random floats in [-0.5, 0.5). Undefined if memory was refused. */
static tensor training_step_new_random(const tensor_shape *shape, uint64_t *random)
{
    tensor self = tensor_new_empty(shape, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    float *elements = tensor_data_of(self, NULL);
    for (int64_t i = 0; elements != NULL && i < tensor_get(self)->layout.numel; i++) {
        elements[i] = (float)(rcl_random(random) >> 40) / 16777216.0f - 0.5f;
    }
    return self;
}

static bool training_step_make_parameters(tensor *parameters, uint64_t seed)
{
    bool ready = true;
    for (unsigned l = 0; l < TRAINING_STEP_LAYERS; l++) {
        const int64_t ins = training_step_widths[l];
        const int64_t outs = training_step_widths[l + 1];
        parameters[2 * l] = training_step_new_random(&(tensor_shape){2, {outs, ins}}, &seed);
        parameters[2 * l + 1] = training_step_new_random(&(tensor_shape){1, {outs}}, &seed);
        ready = ready && tensor_is_defined(parameters[2 * l]) &&
                tensor_is_defined(parameters[2 * l + 1]);
    }
    return ready;
}

static bool training_step_shared_setup(rcl_team *team)
{
    training_step_shared *shared = team->shared;
    if (team->sharing == RCL_PRIVATE) {
        return true;
    }
    bool ready = training_step_make_parameters(shared->parameters, 1);
    for (unsigned i = 0; i < TRAINING_STEP_PARAMETERS; i++) {
        tensor_share(shared->parameters[i]);
    }
    return ready;
}

static void training_step_shared_teardown(rcl_team *team)
{
    training_step_shared *shared = team->shared;
    for (unsigned i = TRAINING_STEP_PARAMETERS; i > 0; i--) {
        tensor_reset(&shared->parameters[i - 1]);
    }
}

static bool training_step_thread_setup(rcl_thread *thread)
{
    training_step_state *state = thread->state;
    const training_step_shared *shared = thread->team->shared;
    uint64_t seed = thread->index + 1;
    const int64_t rows = TRAINING_STEP_ROWS * TRAINING_STEP_BATCHES;
    state->inputs =
        training_step_new_random(&(tensor_shape){2, {rows, training_step_widths[0]}}, &seed);
    state->targets = training_step_new_random(
        &(tensor_shape){2, {rows, training_step_widths[TRAINING_STEP_LAYERS]}}, &seed);
    bool ready = tensor_is_defined(state->inputs) && tensor_is_defined(state->targets);
    state->shared_weights = thread->team->sharing == RCL_SHARED;
    if (state->shared_weights) {
        for (unsigned i = 0; i < TRAINING_STEP_PARAMETERS; i++) {
            state->parameters[i] = tensor_new_retained(shared->parameters[i]);
        }
        return ready;
    }
    ready = ready && training_step_make_parameters(state->parameters, seed);
    for (unsigned i = 0; ready && i < TRAINING_STEP_PARAMETERS; i++) {
        const int64_t numel = tensor_get(state->parameters[i])->layout.numel;
        state->means[i] = tensor_new_filled(numel, 0.0f);
        state->variances[i] = tensor_new_filled(numel, 0.0f);
        ready = tensor_is_defined(state->means[i]) && tensor_is_defined(state->variances[i]) &&
                tensor_require_grad(state->parameters[i], NULL);
    }
    return ready;
}

static void training_step_thread_teardown(rcl_thread *thread)
{
    training_step_state *state = thread->state;
    tensor_reset(&state->targets);
    tensor_reset(&state->inputs);
    for (unsigned i = TRAINING_STEP_PARAMETERS; i > 0; i--) {
        tensor_reset(&state->variances[i - 1]);
        tensor_reset(&state->means[i - 1]);
        tensor_reset(&state->parameters[i - 1]);
    }
}

/* ---- Forward ---- */

/* A tensor of the minibatch's rows, `columns` wide. */
static inline tensor training_step_new_rows(int64_t columns)
{
    return tensor_new_empty(&(tensor_shape){2, {TRAINING_STEP_ROWS, columns}}, TENSOR_FLOAT32,
                            TENSOR_DEVICE_CPU, NULL);
}

/* Records that `operation` made `output` from what it saved, with `edges` behind it. */
static inline bool training_step_record(tensor output, int operation, const tensor *saved,
                                        size_t saved_count, const tensor_node *edges,
                                        size_t edge_count)
{
    tensor_node node = tensor_new_node(operation, saved, saved_count, edges, edge_count, NULL);
    if (rc_is_null(node.impl) || !tensor_set_grad_fn(output, node, NULL)) {
        tensor_node_release(node);
        return false;
    }
    return true;
}

/* output = input x weight^T + bias. The caller owns it; undefined if memory was refused. */
static inline tensor training_step_new_linear(training_step_state *state, unsigned layer,
                                              tensor input)
{
    const tensor bias = state->parameters[2 * layer + 1];
    const int64_t ins = training_step_widths[layer];
    const int64_t outs = training_step_widths[layer + 1];
    tensor weight = tensor_new_transposed(state->parameters[2 * layer], 0, 1, NULL);
    tensor output = training_step_new_rows(outs);
    tensor_node edges[3] = {tensor_grad_fn(input), {rc_null()}, {rc_null()}};
    bool ready = tensor_is_defined(weight) && tensor_is_defined(output);
    if (!state->shared_weights) {
        edges[1] = tensor_new_accumulator(state->parameters[2 * layer], NULL);
        edges[2] = tensor_new_accumulator(bias, NULL);
        ready = ready && !rc_is_null(edges[1].impl) && !rc_is_null(edges[2].impl);
    }
    ready = ready && training_step_record(output, TRAINING_STEP_LINEAR + (int)layer,
                                          (const tensor[]){input, weight}, 2, edges, 3);
    if (ready) {
        const float *x = tensor_data_of(input, NULL);
        const float *w = tensor_data_of(weight, NULL);
        const float *b = tensor_data_of(bias, NULL);
        float *y = tensor_data_of(output, NULL);
        for (int64_t r = 0; r < TRAINING_STEP_ROWS; r++) {
            for (int64_t o = 0; o < outs; o++) {
                float sum = b[o];
                for (int64_t i = 0; i < ins; i++) {
                    sum += x[r * ins + i] * w[o * ins + i]; /* w^T, as it lies in the storage */
                }
                y[r * outs + o] = sum;
            }
        }
    } else {
        tensor_reset(&output);
    }
    tensor_node_release(edges[2]);
    tensor_node_release(edges[1]);
    tensor_release(weight);
    return output;
}

/* The leaky rectifier; it saves its output, detached, for the output holds the node. */
static inline tensor training_step_new_rectified(tensor input)
{
    const int64_t numel = tensor_get(input)->layout.numel;
    tensor output = training_step_new_rows(numel / TRAINING_STEP_ROWS);
    tensor saved = tensor_new_detached(output, NULL);
    const tensor_node edge = tensor_grad_fn(input);
    if (tensor_is_defined(saved) &&
        training_step_record(output, TRAINING_STEP_RECTIFIER, &saved, 1, &edge, 1)) {
        const float *x = tensor_data_of(input, NULL);
        float *y = tensor_data_of(output, NULL);
        for (int64_t i = 0; i < numel; i++) {
            y[i] = x[i] > 0.0f ? x[i] : TRAINING_STEP_SLOPE * x[i];
        }
    } else {
        tensor_reset(&output);
    }
    tensor_release(saved);
    return output;
}

/* Mean square error, one float. */
static inline tensor training_step_new_loss(tensor output, tensor target)
{
    const int64_t numel = tensor_get(output)->layout.numel;
    tensor loss = tensor_new_filled(1, 0.0f);
    const tensor_node edge = tensor_grad_fn(output);
    if (tensor_is_defined(loss) &&
        training_step_record(loss, TRAINING_STEP_LOSS, (const tensor[]){output, target}, 2, &edge,
                             1)) {
        const float *y = tensor_data_of(output, NULL);
        const float *t = tensor_data_of(target, NULL);
        float *sum = tensor_data_of(loss, NULL);
        for (int64_t i = 0; i < numel; i++) {
            *sum += (y[i] - t[i]) * (y[i] - t[i]) / (float)numel;
        }
    } else {
        tensor_reset(&loss);
    }
    return loss;
}

/* The loss of one minibatch with its graph. The activations live on in the graph only. */
static tensor training_step_new_forward(training_step_state *state)
{
    const int64_t first = state->batch * TRAINING_STEP_ROWS;
    state->batch = (state->batch + 1) % TRAINING_STEP_BATCHES;
    tensor target = tensor_new_narrow(state->targets, 0, first, TRAINING_STEP_ROWS, NULL);
    tensor value = tensor_new_narrow(state->inputs, 0, first, TRAINING_STEP_ROWS, NULL);
    for (unsigned l = 0; l < TRAINING_STEP_LAYERS && tensor_is_defined(value); l++) {
        tensor_assign(&value, training_step_new_linear(state, l, value));
        if (l + 1 < TRAINING_STEP_LAYERS && tensor_is_defined(value)) {
            tensor_assign(&value, training_step_new_rectified(value));
        }
    }
    if (tensor_is_defined(value)) {
        tensor_assign(&value, tensor_is_defined(target) ? training_step_new_loss(value, target)
                                                        : tensor_undefined());
    }
    tensor_release(target);
    return value;
}

/* ---- Backward ---- */

/* Hands a parameter's gradient over, whether or not it can be kept. */
static inline bool training_step_give_grad(training_step_state *state, tensor_node accumulator,
                                           unsigned parameter, tensor grad_taken)
{
    if (state->shared_weights) {
        tensor_assign(&state->grads[parameter], grad_taken);
        return true;
    }
    if (!tensor_accumulate_grad(tensor_node_saved(accumulator, 0), grad_taken, NULL)) {
        tensor_release(grad_taken);
        return false;
    }
    return true;
}

/* Backward of a linear layer: gives the parameters theirs, returns the input's, which the caller
 * owns. */
static inline tensor training_step_new_linear_grad(training_step_state *state, tensor_node node,
                                                   unsigned layer, tensor grad)
{
    const int64_t ins = training_step_widths[layer];
    const int64_t outs = training_step_widths[layer + 1];
    tensor weight_grad =
        tensor_new_empty(&(tensor_shape){2, {outs, ins}}, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    tensor bias_grad = tensor_new_filled(outs, 0.0f);
    tensor input_grad = training_step_new_rows(ins);
    if (!tensor_is_defined(weight_grad) || !tensor_is_defined(bias_grad) ||
        !tensor_is_defined(input_grad)) {
        tensor_release(input_grad);
        tensor_release(bias_grad);
        tensor_release(weight_grad);
        return tensor_undefined();
    }
    const float *g = tensor_data_of(grad, NULL);
    const float *x = tensor_data_of(tensor_node_saved(node, 0), NULL);
    const float *w = tensor_data_of(tensor_node_saved(node, 1), NULL);
    float *gw = tensor_data_of(weight_grad, NULL);
    float *gb = tensor_data_of(bias_grad, NULL);
    float *gx = tensor_data_of(input_grad, NULL);
    memset(gw, 0, (size_t)(outs * ins) * sizeof *gw);
    memset(gx, 0, (size_t)(TRAINING_STEP_ROWS * ins) * sizeof *gx);
    for (int64_t r = 0; r < TRAINING_STEP_ROWS; r++) {
        for (int64_t o = 0; o < outs; o++) {
            const float slope = g[r * outs + o];
            gb[o] += slope;
            for (int64_t i = 0; i < ins; i++) {
                gw[o * ins + i] += slope * x[r * ins + i];
                gx[r * ins + i] += slope * w[o * ins + i];
            }
        }
    }
    bool given = training_step_give_grad(state, tensor_node_edge(node, 1), 2 * layer, weight_grad);
    given &= training_step_give_grad(state, tensor_node_edge(node, 2), 2 * layer + 1, bias_grad);
    if (!given) {
        tensor_reset(&input_grad);
    }
    return input_grad;
}

/* Backward of the rectifier (from its output) and of the loss (from what it compared). */
static inline tensor training_step_new_pointwise_grad(tensor_node node, tensor grad)
{
    const bool is_loss = tensor_node_get(node)->operation == TRAINING_STEP_LOSS;
    const tensor saved = tensor_node_saved(node, 0);
    const int64_t numel = tensor_get(saved)->layout.numel;
    tensor input_grad = training_step_new_rows(numel / TRAINING_STEP_ROWS);
    float *gx = tensor_data_of(input_grad, NULL);
    const float *y = tensor_data_of(saved, NULL);
    const float *other = tensor_data_of(is_loss ? tensor_node_saved(node, 1) : grad, NULL);
    for (int64_t i = 0; gx != NULL && i < numel; i++) {
        gx[i] = is_loss ? 2.0f * (y[i] - other[i]) / (float)numel
                        : other[i] * (y[i] > 0.0f ? 1.0f : TRAINING_STEP_SLOPE);
    }
    return input_grad;
}

/* From the loss back to the first layer. False if memory was refused. */
static bool training_step_backward(training_step_state *state, tensor loss)
{
    tensor_node node = tensor_new_node_retained(tensor_grad_fn(loss));
    tensor grad = tensor_new_filled(1, 1.0f);
    while (tensor_is_defined(grad) && !rc_is_null(node.impl)) {
        const int operation = tensor_node_get(node)->operation;
        tensor_assign(&grad,
                      operation >= TRAINING_STEP_LINEAR
                          ? training_step_new_linear_grad(
                                state, node, (unsigned)(operation - TRAINING_STEP_LINEAR), grad)
                          : training_step_new_pointwise_grad(node, grad));
        tensor_node_release_saved(node);
        tensor_node next = tensor_new_node_retained(tensor_node_edge(node, 0));
        tensor_node_release(node);
        node = next;
    }
    const bool ready = tensor_is_defined(grad);
    tensor_node_release(node);
    tensor_release(grad);
    return ready;
}

/* ---- The step ---- */

/* Drops the gradients of this step. */
static inline void training_step_zero_grads(training_step_state *state)
{
    for (unsigned i = 0; i < TRAINING_STEP_PARAMETERS; i++) {
        if (state->shared_weights) {
            tensor_reset(&state->grads[i]);
        } else {
            tensor_set_grad(state->parameters[i], tensor_undefined(), NULL); /* cannot fail */
        }
    }
}

/* False if memory was refused; then the parameters may be partly updated. */
static bool training_step_once(training_step_state *state)
{
    tensor loss = training_step_new_forward(state);
    bool ready = tensor_is_defined(loss) && training_step_backward(state, loss);
    for (unsigned i = 0; ready && !state->shared_weights && i < TRAINING_STEP_PARAMETERS; i++) {
        ready = adam_step(state->parameters[i], state->means[i], state->variances[i]);
    }
    training_step_zero_grads(state);
    tensor_release(loss);
    return ready;
}

/* What was made in a batch goes with it. */
static void training_step_forget_accumulators(training_step_state *state)
{
    for (unsigned i = 0; !state->shared_weights && i < TRAINING_STEP_PARAMETERS; i++) {
        tensor_forget_accumulator(state->parameters[i]);
    }
}

static uint64_t training_step_run(rcl_thread *thread, uint64_t operations)
{
    training_step_state *state = thread->state;
    uint64_t done = 0;
    while (done < operations && training_step_once(state)) {
        done++;
        rcl_clobber();
#ifdef RCL_IMPL_IS_NULL
        training_step_forget_accumulators(state); /* they have died with the graph, elsewhere */
#endif
        rcl_objects_are_dead();
    }
    training_step_forget_accumulators(state);
    return done;
}

static const rcl_variant training_step_variants[] = {{.name = "-"}};

static const rcl_workload training_step_workload = {
    .name = "training_step",
    .needs = RC_CAP_WEAK,
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .allocates = true,
    .variants = training_step_variants,
    .variant_count = 1,
    .shared_size = sizeof(training_step_shared),
    .thread_size = sizeof(training_step_state),
    .shared_setup = training_step_shared_setup,
    .thread_setup = training_step_thread_setup,
    .run = training_step_run,
    .thread_teardown = training_step_thread_teardown,
    .shared_teardown = training_step_shared_teardown,
};

#undef TRAINING_STEP_LAYERS
#undef TRAINING_STEP_PARAMETERS
#undef TRAINING_STEP_ROWS
#undef TRAINING_STEP_BATCHES
#undef TRAINING_STEP_SLOPE
#endif
