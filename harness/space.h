/* space: what an implementation makes objects and tensors weigh. Measured (space_measure.h), never
 * declared. */
#ifndef RCL_SPACE_H
#define RCL_SPACE_H

#include <stddef.h>

/* Means over many live objects of the same kind. Exact for implementations that ask for each object
 * by itself; null cuts its objects from slabs, and its figures contain the rest of the last one. */
typedef struct rcl_space {
    size_t handle_bytes;
    size_t weak_handle_bytes; /* 0 without RC_CAP_WEAK */
    size_t header_bytes; /* what rc_new asks for beyond the payload, all its requests together */
    size_t tensor_impl_bytes; /* payloads: the same for every handle of this size */
    size_t storage_impl_bytes;
    double allocations_per_object;
    double allocations_per_tensor;            /* a tensor of its own storage, without its bytes */
    double allocations_per_tensor_with_bytes; /* the same on the CPU */

    /* Without the tensor's bytes. Requested: as asked for. Taken: what the selected allocator spent
     * on it, rounding and its own headers included; glibc may fill a few holes that are some bytes
     * too large, which shows behind the decimal point. */
    double requested_bytes_per_tensor;
    double taken_bytes_per_tensor;
    double gigabytes_400m_tensors; /* taken, for 400 million live tensors; 1 GB is 10^9 bytes */
} rcl_space;

#endif
