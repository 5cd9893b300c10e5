/* space_measure: weighs the objects and tensors of the implementation that is compiled in.
 *
 * Included after contract.h and tensor.h. Makes many of a kind, keeps them alive, and looks at what
 * the memory front was asked for and what the allocator spent.
 */
#ifndef RCL_SPACE_MEASURE_H
#define RCL_SPACE_MEASURE_H

#include <stdlib.h>

#include "memory.h"
#include "space.h"
#include "tensor.h"

#define SPACE_PAYLOAD_BYTES 48
#ifdef RCL_IMPL_IS_NULL
#define SPACE_OBJECTS 100000 /* so that the rest of the last slab weighs little */
#define SPACE_FIRST 0
#else
#define SPACE_OBJECTS 10000
#define SPACE_FIRST 64 /* made before: they use up what the allocator has cached from earlier */
#endif

static const rc_class space_object_class = {.name = "space", .payload_size = SPACE_PAYLOAD_BYTES};

static inline rc_strong space_new_object(void)
{
    return rc_new(&space_object_class);
}

/* A tensor of 64 floats that has no bytes. */
static inline rc_strong space_new_tensor(void)
{
    return tensor_new_empty(&(tensor_shape){1, {64}}, TENSOR_FLOAT32, TENSOR_DEVICE_META, NULL)
        .impl;
}

static inline rc_strong space_new_tensor_with_bytes(void)
{
    return tensor_new_empty(&(tensor_shape){1, {64}}, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL).impl;
}

/* For one object of a kind. */
typedef struct space_sample {
    double allocations;
    double requested_bytes;
    double taken_bytes;
} space_sample;

/* Makes SPACE_OBJECTS with `make`, weighs them, releases them. False if memory was refused. */
static inline bool space_weigh(rc_strong (*make)(void), space_sample *sample)
{
    const size_t count = SPACE_FIRST + SPACE_OBJECTS;
    rc_strong *objects = malloc(count * sizeof *objects);
    if (objects == NULL) {
        return false;
    }
    rcl_memory_count(true);
    rc_thread_attach();
    rcl_memory_counts before = rcl_memory_read();
    uint64_t taken_before = rcl_memory_taken_bytes();
    size_t made = 0;
    while (made < count) {
        if (made == SPACE_FIRST) {
            before = rcl_memory_read();
            taken_before = rcl_memory_taken_bytes();
        }
        objects[made] = make();
        if (rc_is_null(objects[made])) {
            break;
        }
        made++;
    }
    const rcl_memory_counts after = rcl_memory_read();
    const uint64_t taken_after = rcl_memory_taken_bytes();
    for (size_t i = made; i > 0; i--) {
        rc_release(objects[i - 1]);
    }
    rc_thread_detach();
    rcl_memory_count(false);
    free(objects);
    *sample = (space_sample){
        .allocations = (double)(after.total_blocks - before.total_blocks) / SPACE_OBJECTS,
        .requested_bytes = (double)(after.total_bytes - before.total_bytes) / SPACE_OBJECTS,
        .taken_bytes = (double)(taken_after - taken_before) / SPACE_OBJECTS,
    };
    return made == count;
}

/* Weighs with the selected allocator. The calling thread must not be attached, no other thread may
 * allocate meanwhile, and counting is off before and after. False if memory was refused. Takes some
 * ten milliseconds. */
static inline bool rcl_measure_space(rcl_space *space)
{
    space_sample object;
    space_sample bare;
    space_sample full;
    if (!space_weigh(space_new_object, &object) || !space_weigh(space_new_tensor, &bare) ||
        !space_weigh(space_new_tensor_with_bytes, &full)) {
        return false;
    }
    *space = (rcl_space)
    {
        .handle_bytes = sizeof(rc_strong),
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        .weak_handle_bytes = sizeof(rc_weak),
#endif
        .header_bytes = (size_t)(object.requested_bytes - SPACE_PAYLOAD_BYTES + 0.5),
        .tensor_impl_bytes = sizeof(tensor_impl), .storage_impl_bytes = sizeof(tensor_storage_impl),
        .allocations_per_object = object.allocations, .allocations_per_tensor = bare.allocations,
        .allocations_per_tensor_with_bytes = full.allocations,
        .requested_bytes_per_tensor = bare.requested_bytes,
        .taken_bytes_per_tensor = bare.taken_bytes,
        .gigabytes_400m_tensors = bare.taken_bytes * 400e6 / 1e9,
    };
    return true;
}

#undef SPACE_PAYLOAD_BYTES
#undef SPACE_OBJECTS
#undef SPACE_FIRST

#endif
