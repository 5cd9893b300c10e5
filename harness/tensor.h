/* tensor: what a tensor library hangs on reference counts, over whichever implementation is
 * compiled in.
 *
 * Included by one translation unit per implementation, after contract.h. Everything is static
 * inline: the operations of the implementation are inlined here as in any other user of it.
 *
 * WHO HOLDS WHAT
 *
 *     tensor (handle) ------> tensor_impl (counted)
 *                               | layout: sizes, strides, offset, type
 *                               | autograd (a block, made when first needed)
 *                               |   grad ------------> tensor_impl
 *                               |   grad_fn ---------> tensor_node_impl (counted)
 *                               |   accumulator - - -> tensor_node_impl   (weak, leaves only)
 *                               | storage (handle) --> storage_impl (counted)
 *                                                        | data (unique owner) --> bytes
 *
 *   The bytes come from an allocator that tensor_allocator_of finds by device; allocators are
 *   static and nobody owns them. A tensor of its own storage is two objects and its bytes.
 *
 *   A graph node holds the tensors that it saved and its edges (the next nodes of backward), all
 *   strongly. A gradient accumulator is a node that saves its leaf; the leaf knows it weakly only,
 *   or the two would hold each other for ever. What keeps an accumulator alive is the graph's
 *   edges: when the graph goes, so do the accumulators, and the next forward finds the weak handle
 *   expired.
 *
 * RULES
 *   1. A function whose name begins with tensor_new_ returns a handle that the caller owns. No
 *      other function does: what others return is a loan, valid while the handle it was asked of is
 *      held.
 *   2. A parameter whose name ends in _taken passes to the callee if the call succeeds. If it fails
 *      it is still the caller's. All other parameters are borrowed; who wants to keep one retains.
 *   3. A function that can fail takes a tensor_error, which may be NULL, and returns the null
 *      handle, NULL or false. A failed call leaks nothing and has changed nothing that can be asked
 *      for.
 *   4. The undefined tensor is the null handle: never counted, legal to retain, release and assign.
 *      Everything else refuses it with an error.
 *   5. Members are let go in the reverse order of their declaration.
 *   6. Two threads may use one tensor as the contract lets them use one object (each with a handle
 *      of its own, or one that is held for both). The functions that change a tensor
 *      (tensor_set_..., tensor_require_grad, tensor_accumulate_grad, tensor_new_accumulator,
 *      tensor_forget_accumulator, tensor_node_release_saved) exclude every other use of it.
 *
 * RELEASING LONG CHAINS
 *   A graph may be a million nodes deep. If each finalizer released the next node from inside
 *   itself, the stack would be as deep. So the strong handles of a node, and those of a tensor's
 *   autograd part, live in a block of their own, made while the owner lives. A finalizer does not
 *   release them: it links the block into this thread's list (tensor_let_go). The outermost one
 *   works the list off. The stack stays flat, and since the blocks are there already, nothing is
 *   allocated on the way: a release cannot fail. The order between objects is then not that of
 *   nested destructors; within one object it is rule 5.
 */
#ifndef RCL_TENSOR_H
#define RCL_TENSOR_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef RC_IMPL_HEADER
#error "tensor.h needs an implementation: include contract.h with RC_IMPL_HEADER first"
#endif

#define TENSOR_DIMENSIONS_MAX 5

/* ---- Errors ---- */

/* What was asked for, what was expected, what to do. One line, no newline. Owned by the caller;
 * written only by calls that fail. */
typedef struct tensor_error {
    char text[200];
} tensor_error;

/* Writes the message, if anybody wants it. Returns false, so that a caller can return the call. */
__attribute__((noinline, cold, unused, format(printf, 2, 3))) static bool
tensor_fail(tensor_error *error, const char *format, ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return false;
}

/* ---- Devices, bytes, allocators ---- */

typedef enum tensor_device {
    TENSOR_DEVICE_CPU,
    TENSOR_DEVICE_META /* sizes but no bytes: for replaying, and to measure all but the bytes */
} tensor_device;

/* Gives bytes back. `size_bytes` is the size of the storage that owned them. Any thread. */
typedef void (*tensor_deleter)(void *data, void *context, size_t size_bytes);

/* The unique owner of bytes: moved, never copied. */
typedef struct tensor_data {
    void *data;             /* NULL: no bytes */
    void *context;          /* the deleter's own */
    tensor_deleter deleter; /* or NULL: nothing to give back */
    tensor_device device;
} tensor_data;

typedef struct tensor_allocator {
    const char *name;
    /* Makes `size_bytes` (not 0) bytes, aligned for any object; false if refused. Any thread. */
    bool (*allocate)(size_t size_bytes, tensor_data *data);
} tensor_allocator;

static inline void tensor_cpu_delete(void *data, void *context, size_t size_bytes)
{
    (void)context;
    rc_mem_free(data, size_bytes);
}

static inline bool tensor_cpu_allocate(size_t size_bytes, tensor_data *data)
{
    void *block = rc_mem_alloc(size_bytes);
    if (block == NULL) {
        return false;
    }
    *data = (tensor_data){block, NULL, tensor_cpu_delete, TENSOR_DEVICE_CPU};
    return true;
}

static inline bool tensor_meta_allocate(size_t size_bytes, tensor_data *data)
{
    (void)size_bytes;
    *data = (tensor_data){NULL, NULL, NULL, TENSOR_DEVICE_META};
    return true;
}

/* The registry, in the order of tensor_device. Nobody changes it. */
static const tensor_allocator tensor_allocators[] = {
    {"cpu", tensor_cpu_allocate},
    {"meta", tensor_meta_allocate},
};

/* The allocator of a device, which is static; NULL and an error for a device without one. */
static inline const tensor_allocator *tensor_allocator_of(tensor_device device, tensor_error *error)
{
    const size_t count = sizeof tensor_allocators / sizeof tensor_allocators[0];
    if ((size_t)device >= count) {
        tensor_fail(
            error, "device %u has no allocator: expected one below %zu (cpu is %u, meta is %u)",
            (unsigned)device, count, (unsigned)TENSOR_DEVICE_CPU, (unsigned)TENSOR_DEVICE_META);
        return NULL;
    }
    return &tensor_allocators[device];
}

/* ---- Letting go of many handles on a flat stack ---- */

/* Strong handles that one object owns, in a block that outlives the object's payload. */
typedef struct tensor_owned {
    struct tensor_owned *next; /* while it waits */
    size_t size_bytes;         /* of the whole block, for rc_mem_free */
    size_t count;
    rc_strong *handles; /* inside the block */
} tensor_owned;

/* This thread's list, in the order in which the owners died. Empty and not running except inside
 * the outermost tensor_let_go. */
static _Thread_local struct {
    tensor_owned *first;
    tensor_owned *last; /* if there is a first */
    bool running;
} tensor_drain;

/* Releases the handles of a block and frees it: now, or, when called from a finalizer that such a
 * release runs, as soon as that release is done. Called by finalizers; NULL is ignored. Takes the
 * block. Cost: the releases; constant stack; allocates nothing. */
static inline void tensor_let_go(tensor_owned *owned)
{
    if (owned == NULL) {
        return;
    }
    owned->next = NULL;
    if (tensor_drain.first == NULL) {
        tensor_drain.first = owned;
    } else {
        tensor_drain.last->next = owned;
    }
    tensor_drain.last = owned;
    if (tensor_drain.running) {
        return;
    }
    tensor_drain.running = true;
    while (tensor_drain.first != NULL) {
        tensor_owned *block = tensor_drain.first;
        tensor_drain.first = block->next;
        for (size_t i = block->count; i > 0; i--) {
            rc_release(block->handles[i - 1]);
        }
        rc_mem_free(block, block->size_bytes);
    }
    tensor_drain.running = false;
}

/* ---- Handles and payloads ---- */

/* Handles are values: copying the struct makes no reference. */
typedef struct tensor {
    rc_strong impl; /* of a tensor_impl; null: undefined */
} tensor;

typedef struct tensor_storage {
    rc_strong impl; /* of a tensor_storage_impl */
} tensor_storage;

typedef struct tensor_node {
    rc_strong impl; /* of a tensor_node_impl */
} tensor_node;

typedef enum tensor_dtype {
    TENSOR_FLOAT32,
    TENSOR_FLOAT64,
    TENSOR_INT64,
    TENSOR_UINT8
} tensor_dtype;

typedef struct tensor_shape {
    unsigned dimensions; /* up to TENSOR_DIMENSIONS_MAX; 0: one element */
    int64_t sizes[TENSOR_DIMENSIONS_MAX];
} tensor_shape;

/* Where the elements of a tensor lie in its storage. All but sizes in elements, not bytes. */
typedef struct tensor_layout {
    int64_t sizes[TENSOR_DIMENSIONS_MAX];
    int64_t strides[TENSOR_DIMENSIONS_MAX];
    int64_t offset; /* of the first element */
    int64_t numel;  /* product of the sizes */
    unsigned dimensions;
    tensor_dtype dtype;
} tensor_layout;

typedef struct tensor_storage_impl {
    tensor_data data;
    size_t size_bytes; /* of the data; on the meta device, of the data it would have */
} tensor_storage_impl;

enum { TENSOR_GRAD, TENSOR_GRAD_FN, TENSOR_AUTOGRAD_HANDLES };

/* The part of a tensor that only autograd needs; one block, owned by the tensor_impl. */
typedef struct tensor_autograd {
    tensor_owned owned; /* first: the block is freed through it */
    rc_strong handles[TENSOR_AUTOGRAD_HANDLES];
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak accumulator; /* leaves: the node that adds to grad, while a graph holds it */
#endif
    bool requires_grad;
} tensor_autograd;

typedef struct tensor_impl {
    tensor_layout layout;
    tensor_storage storage;
    tensor_autograd *autograd; /* or NULL */
} tensor_impl;

/* tensor_node_impl.operation of a gradient accumulator; all others are the caller's numbering. */
#define TENSOR_ACCUMULATE (-1)

typedef struct tensor_node_impl {
    int operation;
    size_t saved_count;
    size_t edge_count;
    tensor_owned *owned; /* saved tensors, then edges; NULL if there are none */
} tensor_node_impl;

static inline void tensor_storage_finalize(void *payload)
{
    tensor_storage_impl *impl = payload;
    if (impl->data.deleter != NULL) {
        impl->data.deleter(impl->data.data, impl->data.context, impl->size_bytes);
    }
}

static inline void tensor_impl_finalize(void *payload)
{
    tensor_impl *impl = payload;
    tensor_autograd *autograd = impl->autograd;
    if (autograd != NULL) {
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rc_weak_release(autograd->accumulator);
#endif
        tensor_let_go(&autograd->owned);
    }
    rc_release(impl->storage.impl);
}

static inline void tensor_node_finalize(void *payload)
{
    tensor_let_go(((tensor_node_impl *)payload)->owned);
}

static const rc_class tensor_storage_class = {
    .name = "storage",
    .payload_size = sizeof(tensor_storage_impl),
    .finalize = tensor_storage_finalize,
};

static const rc_class tensor_impl_class = {
    .name = "tensor",
    .payload_size = sizeof(tensor_impl),
    .finalize = tensor_impl_finalize,
};

static const rc_class tensor_node_class = {
    .name = "node",
    .payload_size = sizeof(tensor_node_impl),
    .finalize = tensor_node_finalize,
};

/* ---- Storages ---- */

/* Loan; NULL for the null handle. */
static inline tensor_storage_impl *tensor_storage_get(tensor_storage storage)
{
    return rc_payload(storage.impl);
}

/* A storage that owns `data_taken`, whose deleter will be told `size_bytes`. Cost: one object. */
static inline tensor_storage tensor_new_storage_over(tensor_data data_taken, size_t size_bytes,
                                                     tensor_error *error)
{
    tensor_storage storage = {rc_new(&tensor_storage_class)};
    if (rc_is_null(storage.impl)) {
        tensor_fail(error, "no memory for a storage object of %zu bytes",
                    sizeof(tensor_storage_impl));
        return storage;
    }
    *tensor_storage_get(storage) = (tensor_storage_impl){data_taken, size_bytes};
    return storage;
}

/* A storage of `size_bytes` bytes, not initialised, from the device's allocator. Cost: one
 * object and the bytes; no bytes if `size_bytes` is 0 or the device has none. */
static inline tensor_storage tensor_new_storage(size_t size_bytes, tensor_device device,
                                                tensor_error *error)
{
    const tensor_allocator *allocator = tensor_allocator_of(device, error);
    if (allocator == NULL) {
        return (tensor_storage){rc_null()};
    }
    tensor_data data = {NULL, NULL, NULL, device};
    if (size_bytes > 0 && !allocator->allocate(size_bytes, &data)) {
        tensor_fail(error, "no memory for %zu bytes of storage on device %s", size_bytes,
                    allocator->name);
        return (tensor_storage){rc_null()};
    }
    tensor_storage storage = tensor_new_storage_over(data, size_bytes, error);
    if (rc_is_null(storage.impl) && data.deleter != NULL) {
        data.deleter(data.data, data.context, size_bytes);
    }
    return storage;
}

/* One more reference to the same storage. */
static inline tensor_storage tensor_new_storage_retained(tensor_storage storage)
{
    return (tensor_storage){rc_retain(storage.impl)};
}

/* Gives up a reference; the last one gives the bytes back. */
static inline void tensor_storage_release(tensor_storage storage)
{
    rc_release(storage.impl);
}

/* ---- Tensors: handles ---- */

static inline tensor tensor_undefined(void)
{
    return (tensor){rc_null()};
}

static inline bool tensor_is_defined(tensor self)
{
    return !rc_is_null(self.impl);
}

/* Loan; NULL for the undefined tensor. */
static inline tensor_impl *tensor_get(tensor self)
{
    return rc_payload(self.impl);
}

/* One more reference to the same tensor; undefined for undefined. */
static inline tensor tensor_new_retained(tensor self)
{
    return (tensor){rc_retain(self.impl)};
}

static inline void tensor_release(tensor self)
{
    rc_release(self.impl);
}

/* Puts `value_taken` into the slot, then lets go of what it held. Cannot fail. */
static inline void tensor_assign(tensor *slot, tensor value_taken)
{
    rc_assign(&slot->impl, value_taken.impl);
}

static inline void tensor_reset(tensor *slot)
{
    rc_reset(&slot->impl);
}

/* Announces that another thread is about to be able to reach the tensor and its storage. Its
 * gradient and its graph are objects of their own: share those that the other thread will use. */
static inline void tensor_share(tensor self)
{
    if (tensor_is_defined(self)) {
        rc_share(self.impl);
        rc_share(tensor_get(self)->storage.impl);
    }
}

/* ---- Layouts ---- */

static inline size_t tensor_item_bytes(tensor_dtype dtype)
{
    switch (dtype) {
    case TENSOR_FLOAT32:
        return 4;
    case TENSOR_FLOAT64:
    case TENSOR_INT64:
        return 8;
    case TENSOR_UINT8:
        return 1;
    }
    return 1;
}

/* The row-major layout of a shape, at `offset`. `caller` names the operation in the error. */
static inline bool tensor_layout_of(tensor_layout *layout, const tensor_shape *shape,
                                    tensor_dtype dtype, int64_t offset, const char *caller,
                                    tensor_error *error)
{
    if (shape->dimensions > TENSOR_DIMENSIONS_MAX) {
        return tensor_fail(error, "%s: %u dimensions asked for: at most %d fit", caller,
                           shape->dimensions, TENSOR_DIMENSIONS_MAX);
    }
    if (offset < 0) {
        return tensor_fail(error, "%s: offset is %" PRId64 ": it must be 0 or more", caller,
                           offset);
    }
    *layout = (tensor_layout){.offset = offset, .dimensions = shape->dimensions, .dtype = dtype};
    int64_t numel = 1;
    int64_t stride = 1; /* as numel, but an empty dimension counts as 1 */
    for (unsigned d = shape->dimensions; d > 0; d--) {
        int64_t size = shape->sizes[d - 1];
        if (size < 0) {
            return tensor_fail(error,
                               "%s: size of dimension %u is %" PRId64 ": it must be 0 or more",
                               caller, d - 1, size);
        }
        layout->sizes[d - 1] = size;
        layout->strides[d - 1] = stride;
        if (__builtin_mul_overflow(numel, size, &numel) ||
            __builtin_mul_overflow(stride, size > 0 ? size : 1, &stride)) {
            return tensor_fail(
                error, "%s: the number of elements exceeds 2^63 - 1: make it smaller", caller);
        }
    }
    int64_t end;
    if (__builtin_add_overflow(offset, stride, &end)) {
        return tensor_fail(error,
                           "%s: offset %" PRId64 " leaves no room for the elements: lower it",
                           caller, offset);
    }
    layout->numel = numel;
    return true;
}

/* True if the elements lie in row-major order without gaps. */
static inline bool tensor_layout_is_contiguous(const tensor_layout *layout)
{
    int64_t stride = 1;
    for (unsigned d = layout->dimensions; d > 0 && layout->numel > 0; d--) {
        if (layout->sizes[d - 1] != 1 && layout->strides[d - 1] != stride) {
            return false;
        }
        stride *= layout->sizes[d - 1];
    }
    return true;
}

/* Whether every element lies inside the storage. A storage without bytes has nothing to overrun. */
static inline bool tensor_layout_fits(const tensor_layout *layout,
                                      const tensor_storage_impl *storage, const char *caller,
                                      tensor_error *error)
{
    if (storage->data.device == TENSOR_DEVICE_META || layout->numel == 0) {
        return true;
    }
    int64_t end = layout->offset; /* index of the last element, then one more */
    bool wraps = false;
    for (unsigned d = 0; d < layout->dimensions; d++) {
        int64_t span;
        wraps |= __builtin_mul_overflow(layout->sizes[d] - 1, layout->strides[d], &span);
        wraps |= __builtin_add_overflow(end, span, &end);
    }
    wraps |= __builtin_add_overflow(end, 1, &end);
    size_t capacity = storage->size_bytes / tensor_item_bytes(layout->dtype);
    if (wraps || (uint64_t)end > capacity) {
        return tensor_fail(error,
                           "%s: element %" PRId64
                           " would be needed, but the storage holds %zu: use a larger storage or a "
                           "smaller shape",
                           caller, end - 1, capacity);
    }
    return true;
}

/* Bytes of the elements of a contiguous layout. */
static inline bool tensor_layout_bytes(const tensor_layout *layout, size_t *size_bytes,
                                       const char *caller, tensor_error *error)
{
    if (__builtin_mul_overflow((uint64_t)layout->numel, tensor_item_bytes(layout->dtype),
                               size_bytes) ||
        *size_bytes > PTRDIFF_MAX) {
        return tensor_fail(
            error, "%s: %" PRId64 " elements do not fit into the address space: make it smaller",
            caller, layout->numel);
    }
    return true;
}

/* ---- Tensors ---- */

static inline bool tensor_check_defined(tensor self, const char *caller, tensor_error *error)
{
    if (__builtin_expect(!tensor_is_defined(self), 0)) {
        return tensor_fail(error, "%s: the tensor is undefined: give it a value first", caller);
    }
    return true;
}

/* A tensor with this layout over `storage_taken`. Cost: one object. */
static inline tensor tensor_new_with_layout(tensor_storage storage_taken,
                                            const tensor_layout *layout, const char *caller,
                                            tensor_error *error)
{
    tensor self = {rc_new(&tensor_impl_class)};
    if (__builtin_expect(!tensor_is_defined(self), 0)) {
        tensor_fail(error, "%s: no memory for a tensor object of %zu bytes", caller,
                    sizeof(tensor_impl));
        return self;
    }
    tensor_impl *impl = tensor_get(self);
    impl->layout = *layout;
    impl->storage = storage_taken;
    impl->autograd = NULL;
    return self;
}

/* The same, over a storage that stays its owner's: one reference more. */
static inline tensor tensor_new_sharing(tensor_storage storage, const tensor_layout *layout,
                                        const char *caller, tensor_error *error)
{
    tensor_storage retained = tensor_new_storage_retained(storage);
    tensor self = tensor_new_with_layout(retained, layout, caller, error);
    if (!tensor_is_defined(self)) {
        tensor_storage_release(retained);
    }
    return self;
}

/* A row-major tensor over `storage_taken`, whose one reference it adopts. `offset` in elements.
 * Cost: one object, no change of the storage's count. */
static inline tensor tensor_new_over_storage(tensor_storage storage_taken,
                                             const tensor_shape *shape, tensor_dtype dtype,
                                             int64_t offset, tensor_error *error)
{
    tensor_layout layout = {0};
    if (rc_is_null(storage_taken.impl)) {
        tensor_fail(error, "%s: the storage is null: make one with tensor_new_storage", __func__);
        return tensor_undefined();
    }
    if (!tensor_layout_of(&layout, shape, dtype, offset, __func__, error) ||
        !tensor_layout_fits(&layout, tensor_storage_get(storage_taken), __func__, error)) {
        return tensor_undefined();
    }
    return tensor_new_with_layout(storage_taken, &layout, __func__, error);
}

/* A row-major tensor of its own storage; elements not initialised. Cost: two objects and the
 * bytes. */
static inline tensor tensor_new_empty(const tensor_shape *shape, tensor_dtype dtype,
                                      tensor_device device, tensor_error *error)
{
    tensor_layout layout = {0};
    size_t size_bytes;
    if (!tensor_layout_of(&layout, shape, dtype, 0, __func__, error) ||
        !tensor_layout_bytes(&layout, &size_bytes, __func__, error)) {
        return tensor_undefined();
    }
    tensor_storage storage = tensor_new_storage(size_bytes, device, error);
    if (rc_is_null(storage.impl)) {
        return tensor_undefined();
    }
    tensor self = tensor_new_with_layout(storage, &layout, __func__, error);
    if (!tensor_is_defined(self)) {
        tensor_storage_release(storage);
    }
    return self;
}

/* The same elements with no autograd part: a new tensor over the same storage. What a node saves of
 * its own output, so that the two do not hold each other. Cost: one object, one retain. */
static inline tensor tensor_new_detached(tensor base, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    const tensor_impl *impl = tensor_get(base);
    return tensor_new_sharing(impl->storage, &impl->layout, __func__, error);
}

/* The same elements under another shape of as many; `base` must be contiguous. Cost: one object,
 * one retain of the storage. */
static inline tensor tensor_new_view(tensor base, const tensor_shape *shape, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    const tensor_impl *impl = tensor_get(base);
    tensor_layout layout = {0};
    if (!tensor_layout_of(&layout, shape, impl->layout.dtype, impl->layout.offset, __func__,
                          error)) {
        return tensor_undefined();
    }
    if (layout.numel != impl->layout.numel) {
        tensor_fail(error,
                    "%s: the shape has %" PRId64 " elements, the tensor %" PRId64
                    ": they must be equal",
                    __func__, layout.numel, impl->layout.numel);
        return tensor_undefined();
    }
    if (!tensor_layout_is_contiguous(&impl->layout)) {
        tensor_fail(error, "%s: the tensor is not contiguous: use tensor_new_contiguous first",
                    __func__);
        return tensor_undefined();
    }
    return tensor_new_sharing(impl->storage, &layout, __func__, error);
}

/* `length` elements of one dimension, from `start` on. Cost: one object, one retain of the
 * storage. */
static inline tensor tensor_new_narrow(tensor base, unsigned dimension, int64_t start,
                                       int64_t length, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    const tensor_impl *impl = tensor_get(base);
    tensor_layout layout = impl->layout;
    if (dimension >= layout.dimensions) {
        tensor_fail(error, "%s: dimension %u of a tensor that has %u: the first is 0", __func__,
                    dimension, layout.dimensions);
        return tensor_undefined();
    }
    const int64_t size = layout.sizes[dimension];
    if (start < 0 || length < 0 || start > size || length > size - start) {
        tensor_fail(error,
                    "%s: %" PRId64 " elements from %" PRId64
                    " on of dimension %u, which has %" PRId64,
                    __func__, length, start, dimension, size);
        return tensor_undefined();
    }
    layout.sizes[dimension] = length;
    layout.offset += start * layout.strides[dimension];
    layout.numel = 1;
    for (unsigned d = 0; d < layout.dimensions; d++) {
        layout.numel *= layout.sizes[d]; /* no overflow: none is larger than base's */
    }
    return tensor_new_sharing(impl->storage, &layout, __func__, error);
}

/* Two dimensions exchanged. Cost: one object, one retain of the storage. */
static inline tensor tensor_new_transposed(tensor base, unsigned a, unsigned b, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    const tensor_impl *impl = tensor_get(base);
    tensor_layout layout = impl->layout;
    if (a >= layout.dimensions || b >= layout.dimensions) {
        tensor_fail(error, "%s: dimensions %u and %u of a tensor that has %u: the first is 0",
                    __func__, a, b, layout.dimensions);
        return tensor_undefined();
    }
    layout.sizes[a] = impl->layout.sizes[b];
    layout.sizes[b] = impl->layout.sizes[a];
    layout.strides[a] = impl->layout.strides[b];
    layout.strides[b] = impl->layout.strides[a];
    return tensor_new_sharing(impl->storage, &layout, __func__, error);
}

/* Copies the elements of `from`, in row-major order, to where a contiguous layout wants them. */
static inline void tensor_copy_elements(unsigned char *to, const unsigned char *from,
                                        const tensor_layout *layout)
{
    const size_t item_bytes = tensor_item_bytes(layout->dtype);
    from += (size_t)layout->offset * item_bytes;
    if (tensor_layout_is_contiguous(layout)) {
        memcpy(to, from, (size_t)layout->numel * item_bytes);
        return;
    }
    int64_t index[TENSOR_DIMENSIONS_MAX] = {0};
    int64_t position = 0;
    for (int64_t n = 0; n < layout->numel; n++) {
        memcpy(to, from + (size_t)position * item_bytes, item_bytes);
        to += item_bytes;
        /* The next index, last dimension first. */
        for (unsigned d = layout->dimensions; d > 0; d--) {
            position += layout->strides[d - 1];
            if (++index[d - 1] < layout->sizes[d - 1]) {
                break;
            }
            position -= layout->sizes[d - 1] * layout->strides[d - 1];
            index[d - 1] = 0;
        }
    }
}

/* A contiguous copy with a storage of its own, on the same device; no autograd part. Cost: two
 * objects, the bytes and their copying. */
static inline tensor tensor_new_clone(tensor base, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    const tensor_impl *impl = tensor_get(base);
    const tensor_data *from = &tensor_storage_get(impl->storage)->data;
    tensor_shape shape = {.dimensions = impl->layout.dimensions};
    memcpy(shape.sizes, impl->layout.sizes, sizeof shape.sizes);
    tensor copy = tensor_new_empty(&shape, impl->layout.dtype, from->device, error);
    if (tensor_is_defined(copy) && from->data != NULL && impl->layout.numel > 0) {
        tensor_copy_elements(tensor_storage_get(tensor_get(copy)->storage)->data.data, from->data,
                             &impl->layout);
    }
    return copy;
}

/* The same tensor, once more retained, if it is contiguous; else a clone. Cost: one retain, or
 * that of a clone. */
static inline tensor tensor_new_contiguous(tensor base, tensor_error *error)
{
    if (!tensor_check_defined(base, __func__, error)) {
        return tensor_undefined();
    }
    return tensor_layout_is_contiguous(&tensor_get(base)->layout) ? tensor_new_retained(base)
                                                                  : tensor_new_clone(base, error);
}

/* Loan of the storage; null for the undefined tensor. */
static inline tensor_storage tensor_storage_of(tensor self)
{
    return tensor_is_defined(self) ? tensor_get(self)->storage : (tensor_storage){rc_null()};
}

/* Loan of the first element's address; NULL and an error if there are no bytes. */
static inline void *tensor_data_of(tensor self, tensor_error *error)
{
    if (!tensor_check_defined(self, __func__, error)) {
        return NULL;
    }
    const tensor_impl *impl = tensor_get(self);
    unsigned char *data = tensor_storage_get(impl->storage)->data.data;
    if (data == NULL || impl->layout.numel == 0) {
        tensor_fail(error, "%s: the tensor has no bytes: it is empty or on the meta device",
                    __func__);
        return NULL;
    }
    return data + (size_t)impl->layout.offset * tensor_item_bytes(impl->layout.dtype);
}

/* Lets the tensor look at `storage_taken` with a row-major layout, then lets go of its old
 * storage. The other views of that one are not touched. */
static inline bool tensor_set_storage(tensor self, tensor_storage storage_taken,
                                      const tensor_shape *shape, int64_t offset,
                                      tensor_error *error)
{
    tensor_layout layout = {0};
    if (!tensor_check_defined(self, __func__, error)) {
        return false;
    }
    if (rc_is_null(storage_taken.impl)) {
        return tensor_fail(error, "%s: the storage is null: make one with tensor_new_storage",
                           __func__);
    }
    tensor_impl *impl = tensor_get(self);
    if (!tensor_layout_of(&layout, shape, impl->layout.dtype, offset, __func__, error) ||
        !tensor_layout_fits(&layout, tensor_storage_get(storage_taken), __func__, error)) {
        return false;
    }
    impl->layout = layout;
    rc_assign(&impl->storage.impl, storage_taken.impl);
    return true;
}

/* ---- Weak tensor handles ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

typedef struct tensor_weak {
    rc_weak impl;
} tensor_weak;

/* A weak handle to a defined tensor; the caller owns it. It keeps the tensor's block but not its
 * storage, which goes with the last strong handle. */
static inline tensor_weak tensor_new_weak(tensor self, tensor_error *error)
{
    if (!tensor_check_defined(self, __func__, error)) {
        return (tensor_weak){rc_weak_null()};
    }
    tensor_weak weak = {rc_weak_new(self.impl)};
    if (rc_weak_is_null(weak.impl)) {
        tensor_fail(error, "%s: no memory for a weak handle", __func__);
    }
    return weak;
}

static inline tensor_weak tensor_new_weak_retained(tensor_weak weak)
{
    return (tensor_weak){rc_weak_retain(weak.impl)};
}

static inline void tensor_weak_release(tensor_weak weak)
{
    rc_weak_release(weak.impl);
}

static inline bool tensor_weak_expired(tensor_weak weak)
{
    return rc_weak_expired(weak.impl);
}

/* A strong handle if the tensor lives, else undefined, which is no error. */
static inline tensor tensor_new_locked(tensor_weak weak)
{
    return (tensor){rc_weak_lock(weak.impl)};
}
#endif

/* ---- Autograd: nodes ---- */

/* Loan; NULL for the null handle. */
static inline tensor_node_impl *tensor_node_get(tensor_node node)
{
    return rc_payload(node.impl);
}

/* A node that saves the given tensors and leads to the given nodes: it retains each. Undefined
 * tensors and null edges (an input without gradient) are legal. Cost: one object, one block
 * unless it owns nothing, a retain for each. */
static inline tensor_node tensor_new_node(int operation, const tensor *saved, size_t saved_count,
                                          const tensor_node *edges, size_t edge_count,
                                          tensor_error *error)
{
    size_t count;
    size_t size_bytes;
    if (__builtin_add_overflow(saved_count, edge_count, &count) ||
        __builtin_mul_overflow(count, sizeof(rc_strong), &size_bytes) ||
        __builtin_add_overflow(size_bytes, sizeof(tensor_owned), &size_bytes)) {
        tensor_fail(error, "%s: %zu saved tensors and %zu edges do not fit into the address space",
                    __func__, saved_count, edge_count);
        return (tensor_node){rc_null()};
    }
    tensor_owned *owned = count > 0 ? rc_mem_alloc(size_bytes) : NULL;
    tensor_node node = {owned != NULL || count == 0 ? rc_new(&tensor_node_class) : rc_null()};
    if (rc_is_null(node.impl)) {
        rc_mem_free(owned, size_bytes);
        tensor_fail(error, "%s: no memory for a node that owns %zu handles", __func__, count);
        return node;
    }
    if (owned != NULL) {
        rc_strong *handles = (rc_strong *)(owned + 1);
        *owned = (tensor_owned){NULL, size_bytes, count, handles};
        for (size_t i = 0; i < saved_count; i++) {
            handles[i] = rc_retain(saved[i].impl);
        }
        for (size_t i = 0; i < edge_count; i++) {
            handles[saved_count + i] = rc_retain(edges[i].impl);
        }
    }
    *tensor_node_get(node) = (tensor_node_impl){operation, saved_count, edge_count, owned};
    return node;
}

static inline tensor_node tensor_new_node_retained(tensor_node node)
{
    return (tensor_node){rc_retain(node.impl)};
}

/* Gives up a reference. The last one takes down everything that only this node still held, however
 * deep, on a flat stack. */
static inline void tensor_node_release(tensor_node node)
{
    rc_release(node.impl);
}

/* Loan of the i-th saved tensor; undefined if there is none, or it was let go. */
static inline tensor tensor_node_saved(tensor_node node, size_t i)
{
    const tensor_node_impl *impl = tensor_node_get(node);
    return impl != NULL && i < impl->saved_count ? (tensor){impl->owned->handles[i]}
                                                 : tensor_undefined();
}

/* Loan of the i-th edge; null if there is none. */
static inline tensor_node tensor_node_edge(tensor_node node, size_t i)
{
    const tensor_node_impl *impl = tensor_node_get(node);
    return (tensor_node){impl != NULL && i < impl->edge_count
                             ? impl->owned->handles[impl->saved_count + i]
                             : rc_null()};
}

/* Lets go of the saved tensors once backward has used them; the edges stay. */
static inline void tensor_node_release_saved(tensor_node node)
{
    const tensor_node_impl *impl = tensor_node_get(node);
    for (size_t i = impl == NULL ? 0 : impl->saved_count; i > 0; i--) {
        rc_reset(&impl->owned->handles[i - 1]);
    }
}

/* ---- Autograd: the part inside a tensor ---- */

/* Loan of the autograd part, made if there is none yet. Cost: one block the first time. */
static inline tensor_autograd *tensor_autograd_of(tensor self, const char *caller,
                                                  tensor_error *error)
{
    if (!tensor_check_defined(self, caller, error)) {
        return NULL;
    }
    tensor_impl *impl = tensor_get(self);
    if (impl->autograd == NULL) {
        tensor_autograd *autograd = rc_mem_alloc(sizeof *autograd);
        if (autograd == NULL) {
            tensor_fail(error, "%s: no memory for the autograd part of a tensor, %zu bytes", caller,
                        sizeof *autograd);
            return NULL;
        }
        *autograd = (tensor_autograd)
        {
            .owned = {NULL, sizeof *autograd, TENSOR_AUTOGRAD_HANDLES, autograd->handles},
            .handles = {rc_null(), rc_null()},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
            .accumulator = rc_weak_null(),
#endif
        };
        impl->autograd = autograd;
    }
    return impl->autograd;
}

/* From now on backward has to give this tensor a gradient. */
static inline bool tensor_require_grad(tensor self, tensor_error *error)
{
    tensor_autograd *autograd = tensor_autograd_of(self, __func__, error);
    if (autograd == NULL) {
        return false;
    }
    autograd->requires_grad = true;
    return true;
}

static inline bool tensor_requires_grad(tensor self)
{
    const tensor_impl *impl = tensor_get(self);
    return impl != NULL && impl->autograd != NULL && impl->autograd->requires_grad;
}

/* Loan of the gradient; undefined if there is none. */
static inline tensor tensor_grad(tensor self)
{
    const tensor_impl *impl = tensor_get(self);
    return impl != NULL && impl->autograd != NULL ? (tensor){impl->autograd->handles[TENSOR_GRAD]}
                                                  : tensor_undefined();
}

/* Puts a gradient, or undefined, in the place of the old one. The tensor's own would be a cycle
 * and is refused; longer cycles are the caller's to avoid. */
static inline bool tensor_set_grad(tensor self, tensor grad_taken, tensor_error *error)
{
    if (!tensor_check_defined(self, __func__, error)) {
        return false;
    }
    if (!tensor_is_defined(grad_taken) && tensor_get(self)->autograd == NULL) {
        return true; /* nothing there, nothing to put */
    }
    if (tensor_get(self) == tensor_get(grad_taken)) {
        return tensor_fail(error, "%s: a tensor cannot be its own gradient: give it a clone",
                           __func__);
    }
    tensor_autograd *autograd = tensor_autograd_of(self, __func__, error);
    if (autograd == NULL) {
        return false;
    }
    rc_assign(&autograd->handles[TENSOR_GRAD], grad_taken.impl);
    return true;
}

/* Loan of the node that made this tensor; null for a leaf. */
static inline tensor_node tensor_grad_fn(tensor self)
{
    const tensor_impl *impl = tensor_get(self);
    return (tensor_node){impl != NULL && impl->autograd != NULL
                             ? impl->autograd->handles[TENSOR_GRAD_FN]
                             : rc_null()};
}

/* Says which node made this tensor. A node that saved this very tensor would hold it and be held
 * by it for ever: that is refused. */
static inline bool tensor_set_grad_fn(tensor self, tensor_node node_taken, tensor_error *error)
{
    if (!tensor_check_defined(self, __func__, error)) {
        return false;
    }
    const tensor_node_impl *node = tensor_node_get(node_taken);
    for (size_t i = 0; node != NULL && i < node->saved_count; i++) {
        if (rc_payload(node->owned->handles[i]) == tensor_get(self)) {
            return tensor_fail(error,
                               "%s: the node has saved this tensor, which would close a cycle: let "
                               "it save tensor_new_detached of it",
                               __func__);
        }
    }
    tensor_autograd *autograd = tensor_autograd_of(self, __func__, error);
    if (autograd == NULL) {
        return false;
    }
    autograd->requires_grad |= node != NULL;
    rc_assign(&autograd->handles[TENSOR_GRAD_FN], node_taken.impl);
    return true;
}

/* Whether nobody but the caller holds this tensor. null cannot tell; it says yes, so that it
 * takes the same path as an implementation that counts. */
static inline bool tensor_is_sole(tensor self)
{
#ifdef RCL_IMPL_IS_NULL
    return tensor_is_defined(self);
#else
    return rc_is_unique(self.impl);
#endif
}

/* Adds `grad_taken` to the gradient: takes it over if there is none yet and nobody else holds
 * it, clones it if there is none and somebody does, adds in place otherwise. Both must be
 * contiguous and float32; on the meta device nothing is added. */
static inline bool tensor_accumulate_grad(tensor self, tensor grad_taken, tensor_error *error)
{
    if (!tensor_check_defined(self, __func__, error) ||
        !tensor_check_defined(grad_taken, __func__, error)) {
        return false;
    }
    tensor sum = tensor_grad(self);
    if (!tensor_is_defined(sum)) {
        if (tensor_is_sole(grad_taken)) {
            return tensor_set_grad(self, grad_taken, error);
        }
        tensor copy = tensor_new_clone(grad_taken, error);
        if (!tensor_is_defined(copy)) {
            return false;
        }
        if (!tensor_set_grad(self, copy, error)) {
            tensor_release(copy);
            return false;
        }
        tensor_release(grad_taken);
        return true;
    }
    const tensor_layout *to = &tensor_get(sum)->layout;
    const tensor_layout *from = &tensor_get(grad_taken)->layout;
    if (to->numel != from->numel || to->dtype != TENSOR_FLOAT32 || from->dtype != TENSOR_FLOAT32 ||
        !tensor_layout_is_contiguous(to) || !tensor_layout_is_contiguous(from)) {
        return tensor_fail(error,
                           "%s: %" PRId64 " elements cannot be added to %" PRId64
                           ": both must be contiguous float32 and as many",
                           __func__, from->numel, to->numel);
    }
    float *sums = tensor_data_of(sum, NULL);
    const float *terms = tensor_data_of(grad_taken, NULL);
    for (int64_t i = 0; sums != NULL && terms != NULL && i < to->numel; i++) {
        sums[i] += terms[i];
    }
    tensor_release(grad_taken);
    return true;
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The node that adds to a leaf's gradient: the one that a graph still holds, else a new one. It
 * holds the leaf, the leaf knows it weakly. Cost: a lock; for a new one also a node and a weak
 * handle. */
static inline tensor_node tensor_new_accumulator(tensor leaf, tensor_error *error)
{
    tensor_autograd *autograd = tensor_autograd_of(leaf, __func__, error);
    if (autograd == NULL) {
        return (tensor_node){rc_null()};
    }
    if (!rc_is_null(autograd->handles[TENSOR_GRAD_FN])) {
        tensor_fail(error, "%s: the tensor was made by a node: only leaves accumulate", __func__);
        return (tensor_node){rc_null()};
    }
    tensor_node node = {rc_weak_lock(autograd->accumulator)};
    if (!rc_is_null(node.impl)) {
        return node;
    }
    node = tensor_new_node(TENSOR_ACCUMULATE, &leaf, 1, NULL, 0, error);
    if (rc_is_null(node.impl)) {
        return node;
    }
    rc_weak weak = rc_weak_new(node.impl);
    if (rc_weak_is_null(weak)) {
        tensor_fail(error, "%s: no memory for the leaf's weak handle", __func__);
        tensor_node_release(node);
        return (tensor_node){rc_null()};
    }
    rc_weak_assign(&autograd->accumulator, weak);
    return node;
}

/* Drops the leaf's weak handle, alive or expired: its block returns, and the next
 * tensor_new_accumulator makes a new one. */
static inline void tensor_forget_accumulator(tensor leaf)
{
    const tensor_impl *impl = tensor_get(leaf);
    if (impl != NULL && impl->autograd != NULL) {
        rc_weak_reset(&impl->autograd->accumulator);
    }
}
#endif

#endif
