/* tensor_work: what several workloads do with tensors: a base to look at, an Adam step.
 *
 * Included by the workloads that use it, after tensor.h and workload.h.
 */
#ifndef RCL_TENSOR_WORK_H
#define RCL_TENSOR_WORK_H

#include <math.h>

#include "tensor.h"
#include "workload.h"

/* A float32 tensor of `numel` elements on the CPU, filled with `value`. The caller owns it;
 * undefined if memory was refused. */
static inline tensor tensor_new_filled(int64_t numel, float value)
{
    tensor self =
        tensor_new_empty(&(tensor_shape){1, {numel}}, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    float *elements = tensor_data_of(self, NULL);
    for (int64_t i = 0; elements != NULL && i < numel; i++) {
        elements[i] = value;
    }
    return self;
}

/* ---- A base of 64 floats: each thread's own, or one for all ---- */

#define BASE_TENSOR_NUMEL 64

/* Both the shared and the thread's part of a workload that needs no more. */
typedef struct base_tensor {
    tensor base;
} base_tensor;

static inline bool base_tensor_shared_setup(rcl_team *team)
{
    base_tensor *shared = team->shared;
    if (team->sharing == RCL_PRIVATE) {
        return true;
    }
    shared->base = tensor_new_filled(BASE_TENSOR_NUMEL, 1.0f);
    tensor_share(shared->base);
    return tensor_is_defined(shared->base);
}

static inline void base_tensor_shared_teardown(rcl_team *team)
{
    tensor_reset(&((base_tensor *)team->shared)->base);
}

/* A handle of its own for each thread, either way. */
static inline bool base_tensor_thread_setup(rcl_thread *thread)
{
    base_tensor *state = thread->state;
    const base_tensor *shared = thread->team->shared;
    state->base = thread->team->sharing == RCL_SHARED ? tensor_new_retained(shared->base)
                                                      : tensor_new_filled(BASE_TENSOR_NUMEL, 1.0f);
    rcl_escape(tensor_get(state->base));
    return tensor_is_defined(state->base);
}

static inline void base_tensor_thread_teardown(rcl_thread *thread)
{
    tensor_reset(&((base_tensor *)thread->state)->base);
}

/* ---- Adam ---- */

/* One step of Adam on one parameter, whose gradient is set. As a library's optimizer does it:
 * each of the four tensors is held by a reference of the step's own, and two temporaries are
 * made and dropped. The bias correction is left out; late in training it is 1. All must be
 * contiguous float32 and of one size. False if memory was refused; nothing has changed then. */
static inline bool adam_step(tensor parameter_loan, tensor mean_loan, tensor variance_loan)
{
    const float rate = 1e-3f;
    const float beta1 = 0.9f;
    const float beta2 = 0.999f;
    const float epsilon = 1e-8f;

    tensor parameter = tensor_new_retained(parameter_loan);
    tensor grad = tensor_new_retained(tensor_grad(parameter));
    tensor mean = tensor_new_retained(mean_loan);
    tensor variance = tensor_new_retained(variance_loan);
    const tensor_shape shape = {1, {tensor_get(parameter)->layout.numel}};
    tensor root = tensor_new_empty(&shape, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    tensor update = tensor_new_empty(&shape, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    float *p = tensor_data_of(parameter, NULL);
    const float *g = tensor_data_of(grad, NULL);
    float *m = tensor_data_of(mean, NULL);
    float *v = tensor_data_of(variance, NULL);
    float *r = tensor_data_of(root, NULL);
    float *u = tensor_data_of(update, NULL);
    const bool ready = g != NULL && r != NULL && u != NULL;
    for (int64_t i = 0; ready && i < shape.sizes[0]; i++) {
        m[i] = beta1 * m[i] + (1.0f - beta1) * g[i];
        v[i] = beta2 * v[i] + (1.0f - beta2) * g[i] * g[i];
    }
    for (int64_t i = 0; ready && i < shape.sizes[0]; i++) {
        r[i] = sqrtf(v[i]) + epsilon;
    }
    for (int64_t i = 0; ready && i < shape.sizes[0]; i++) {
        u[i] = m[i] / r[i];
    }
    for (int64_t i = 0; ready && i < shape.sizes[0]; i++) {
        p[i] -= rate * u[i];
    }
    tensor_release(update);
    tensor_release(root);
    tensor_release(variance);
    tensor_release(mean);
    tensor_release(grad);
    tensor_release(parameter);
    return ready;
}

#endif
