/* tensor_test: the tensor layer over one implementation.
 *
 * Every case runs in a process of its own with counting on, and ends with no block alive. What
 * depends on the moment of death is left out for null, which has none.
 */
#include "memory.h"
#include "contract.h"
#include "tensor.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#define STRING2(a) #a
#define STRING(a) STRING2(a)

#ifdef RCL_IMPL_IS_NULL
#define DIES_AT_LAST_RELEASE false
#else
#define DIES_AT_LAST_RELEASE (((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) != 0)
#endif
#define COUNTS_EXACTLY (((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0)

#define CHAIN_LENGTH 1000000
#define CHAIN_STACK_BYTES (64 * 1024)

static const tensor_shape shape_4x6 = {2, {4, 6}};

static bool skipped(const char *name, bool met, const char *what)
{
    if (!met) {
        printf("skipped: %s: %s %s\n", name, STRING(RCL_IMPL_NAME), what);
    }
    return !met;
}

static bool skipped_without_death(const char *name)
{
    return skipped(name, DIES_AT_LAST_RELEASE, "does not claim RC_CAP_IMMEDIATE");
}

static void begin(void)
{
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    rc_thread_attach();
}

static void end(void)
{
    rc_thread_detach();
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
    ck_assert_uint_eq(rcl_memory_read().live_bytes, 0);
}

/* A tensor of int64, element i of the storage being i. */
static tensor new_counted_up(const tensor_shape *shape)
{
    tensor_error error = {""};
    tensor self = tensor_new_empty(shape, TENSOR_INT64, TENSOR_DEVICE_CPU, &error);
    ck_assert_msg(tensor_is_defined(self), "%s", error.text);
    int64_t *elements = tensor_data_of(self, NULL);
    for (int64_t i = 0; i < tensor_get(self)->layout.numel; i++) {
        elements[i] = i;
    }
    return self;
}

static tensor new_meta(void)
{
    tensor self = tensor_new_empty(&shape_4x6, TENSOR_FLOAT32, TENSOR_DEVICE_META, NULL);
    ck_assert(tensor_is_defined(self));
    return self;
}

static tensor new_floats(float first, float second)
{
    tensor self =
        tensor_new_empty(&(tensor_shape){1, {2}}, TENSOR_FLOAT32, TENSOR_DEVICE_CPU, NULL);
    float *elements = tensor_data_of(self, NULL);
    elements[0] = first;
    elements[1] = second;
    return self;
}

static uint64_t use_count(rc_strong handle, uint64_t expected)
{
    return COUNTS_EXACTLY ? rc_use_count(handle) : expected;
}

/* The message is there, is one line, and names what it should. */
static void expect_error(tensor_error *error, const char *part)
{
    ck_assert_msg(strstr(error->text, part) != NULL, "expected \"%s\" in \"%s\"", part,
                  error->text);
    ck_assert_ptr_null(strchr(error->text, '\n'));
    ck_assert_uint_lt(strlen(error->text), sizeof error->text - 1); /* nothing was cut off */
    error->text[0] = '\0';
}

/* ---- What died, in which order ---- */

static struct {
    int order[16];
    unsigned count;
} deaths;

static void log_death(void *data, void *context, size_t size_bytes)
{
    (void)data;
    ck_assert_uint_eq(size_bytes, 7);
    ck_assert_uint_lt(deaths.count, 16);
    deaths.order[deaths.count++] = *(const int *)context;
}

static int labels[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

/* A tensor whose storage logs `label` when it goes. */
static tensor new_logging(int label)
{
    tensor_data data = {&labels[label], &labels[label], log_death, TENSOR_DEVICE_CPU};
    tensor_storage storage = tensor_new_storage_over(data, 7, NULL);
    tensor self = tensor_new_over_storage(storage, &(tensor_shape){1, {7}}, TENSOR_UINT8, 0, NULL);
    ck_assert(tensor_is_defined(self));
    return self;
}

static void expect_deaths(const int *order, unsigned count)
{
    ck_assert_uint_eq(deaths.count, count);
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_eq(deaths.order[i], order[i]);
    }
}

/* ---- Undefined, devices, shapes ---- */

START_TEST(undefined_tensor)
{
    tensor none = tensor_undefined();
    tensor_error error = {""};
    ck_assert(!tensor_is_defined(none));
    ck_assert(!tensor_is_defined(tensor_new_retained(none)));
    tensor_release(none);
    tensor_assign(&none, tensor_undefined());
    tensor_reset(&none);
    tensor_share(none);
    ck_assert_ptr_null(tensor_get(none));
    ck_assert(rc_is_null(tensor_storage_of(none).impl));
    ck_assert(!tensor_is_defined(tensor_grad(none)));
    ck_assert(rc_is_null(tensor_grad_fn(none).impl));
    ck_assert(!tensor_requires_grad(none));

    ck_assert(!tensor_is_defined(tensor_new_view(none, &shape_4x6, &error)));
    expect_error(&error, "tensor_new_view: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_narrow(none, 0, 0, 0, &error)));
    expect_error(&error, "tensor_new_narrow: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_transposed(none, 0, 0, &error)));
    expect_error(&error, "tensor_new_transposed: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_contiguous(none, &error)));
    expect_error(&error, "tensor_new_contiguous: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_clone(none, &error)));
    expect_error(&error, "tensor_new_clone: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_detached(none, &error)));
    expect_error(&error, "tensor_new_detached: the tensor is undefined");
    ck_assert_ptr_null(tensor_data_of(none, &error));
    expect_error(&error, "tensor_data_of: the tensor is undefined");
    ck_assert(!tensor_set_storage(none, (tensor_storage){rc_null()}, &shape_4x6, 0, &error));
    expect_error(&error, "tensor_set_storage: the tensor is undefined");
    ck_assert(!tensor_require_grad(none, &error));
    expect_error(&error, "tensor_require_grad: the tensor is undefined");
    ck_assert(!tensor_set_grad(none, none, &error));
    expect_error(&error, "tensor_set_grad: the tensor is undefined");
    ck_assert(!tensor_set_grad_fn(none, (tensor_node){rc_null()}, &error));
    expect_error(&error, "tensor_set_grad_fn: the tensor is undefined");
    ck_assert(!tensor_accumulate_grad(none, none, &error));
    expect_error(&error, "tensor_accumulate_grad: the tensor is undefined");
    ck_assert(!tensor_is_defined(tensor_new_clone(none, NULL))); /* nobody wants the message */
}
END_TEST

START_TEST(devices)
{
    tensor_error error = {""};
    ck_assert_str_eq(tensor_allocator_of(TENSOR_DEVICE_CPU, &error)->name, "cpu");
    ck_assert_str_eq(tensor_allocator_of(TENSOR_DEVICE_META, &error)->name, "meta");
    ck_assert_str_eq(error.text, "");
    ck_assert_ptr_null(tensor_allocator_of((tensor_device)7, &error));
    expect_error(&error, "device 7 has no allocator");
    ck_assert(
        !tensor_is_defined(tensor_new_empty(&shape_4x6, TENSOR_FLOAT32, (tensor_device)7, &error)));
    expect_error(&error, "device 7 has no allocator");

    tensor meta = new_meta();
    ck_assert_uint_eq(tensor_storage_get(tensor_storage_of(meta))->size_bytes, 4 * 6 * 4);
    ck_assert_ptr_null(tensor_data_of(meta, &error));
    expect_error(&error, "no bytes");
    tensor copy = tensor_new_clone(meta, &error);
    ck_assert(tensor_is_defined(copy));
    ck_assert_int_eq(tensor_storage_get(tensor_storage_of(copy))->data.device, TENSOR_DEVICE_META);
    tensor_release(copy);
    tensor_release(meta);
}
END_TEST

START_TEST(shapes_refused)
{
    tensor_error error = {""};
    ck_assert(!tensor_is_defined(
        tensor_new_empty(&(tensor_shape){6, {1}}, TENSOR_UINT8, TENSOR_DEVICE_CPU, &error)));
    expect_error(&error, "6 dimensions asked for: at most 5");
    ck_assert(!tensor_is_defined(
        tensor_new_empty(&(tensor_shape){2, {1, -3}}, TENSOR_UINT8, TENSOR_DEVICE_CPU, &error)));
    expect_error(&error, "size of dimension 1 is -3");
    /* 2^31 * 2^31 * 4 elements do not fit into 63 bits, and an empty dimension does not hide it. */
    const int64_t big = INT64_C(1) << 31;
    ck_assert(!tensor_is_defined(tensor_new_empty(&(tensor_shape){3, {big, big, 4}}, TENSOR_UINT8,
                                                  TENSOR_DEVICE_META, &error)));
    expect_error(&error, "exceeds 2^63 - 1");
    ck_assert(!tensor_is_defined(tensor_new_empty(&(tensor_shape){4, {big, big, 4, 0}},
                                                  TENSOR_UINT8, TENSOR_DEVICE_META, &error)));
    expect_error(&error, "exceeds 2^63 - 1");
    ck_assert(!tensor_is_defined(tensor_new_empty(&(tensor_shape){2, {big, big}}, TENSOR_FLOAT64,
                                                  TENSOR_DEVICE_META, &error)));
    expect_error(&error, "do not fit into the address space");
    rcl_memory_refuse(1); /* the bytes come first */
    ck_assert(!tensor_is_defined(
        tensor_new_empty(&shape_4x6, TENSOR_FLOAT64, TENSOR_DEVICE_CPU, &error)));
    expect_error(&error, "no memory for 192 bytes of storage on device cpu");
}
END_TEST

/* ---- What a tensor costs ---- */

START_TEST(allocations)
{
    static const rc_class plain = {.name = "plain", .payload_size = 8};
    if (skipped("allocations", DIES_AT_LAST_RELEASE, "cuts its objects from slabs")) {
        return;
    }
    uint64_t before = rcl_memory_read().total_blocks;
    rc_strong object = rc_new(&plain);
    const uint64_t each = rcl_memory_read().total_blocks - before;
    rc_release(object);
    ck_assert_uint_ge(each, 1);
    ck_assert_uint_le(each, sizeof(rc_strong) == sizeof(void *) ? 1 : 2);

    before = rcl_memory_read().total_blocks;
    tensor self = new_counted_up(&shape_4x6);
    ck_assert_uint_eq(rcl_memory_read().total_blocks - before, 2 * each + 1);
    const tensor_layout *layout = &tensor_get(self)->layout;
    ck_assert_int_eq(layout->numel, 24);
    ck_assert_uint_eq(layout->dimensions, 2);
    ck_assert_int_eq(layout->strides[0], 6);
    ck_assert_int_eq(layout->strides[1], 1);
    ck_assert_uint_eq(tensor_storage_get(tensor_storage_of(self))->size_bytes, 24 * 8);

    before = rcl_memory_read().total_blocks;
    tensor view = tensor_new_view(self, &(tensor_shape){1, {24}}, NULL);
    ck_assert_uint_eq(rcl_memory_read().total_blocks - before, each);

    before = rcl_memory_read().total_blocks;
    tensor meta = new_meta();
    tensor empty = tensor_new_empty(&(tensor_shape){1, {0}}, TENSOR_INT64, TENSOR_DEVICE_CPU, NULL);
    ck_assert(tensor_is_defined(empty));
    ck_assert_uint_eq(rcl_memory_read().total_blocks - before, 4 * each);
    tensor clone_of_empty = tensor_new_clone(empty, NULL);
    ck_assert(tensor_is_defined(clone_of_empty));
    ck_assert_ptr_null(tensor_data_of(empty, NULL));

    before = rcl_memory_read().total_blocks;
    tensor same = tensor_new_contiguous(self, NULL);
    ck_assert_uint_eq(rcl_memory_read().total_blocks, before);
    tensor_release(same);
    tensor_release(clone_of_empty);
    tensor_release(empty);
    tensor_release(meta);
    tensor_release(view);
    tensor_release(self);
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
}
END_TEST

/* ---- Views ---- */

START_TEST(view_shares_the_storage)
{
    tensor_error error = {""};
    tensor base = new_counted_up(&shape_4x6);
    tensor view = tensor_new_view(base, &(tensor_shape){3, {2, 3, 4}}, &error);
    ck_assert_msg(tensor_is_defined(view), "%s", error.text);
    ck_assert_ptr_ne(tensor_get(view), tensor_get(base));
    ck_assert_ptr_eq(tensor_storage_get(tensor_storage_of(view)),
                     tensor_storage_get(tensor_storage_of(base)));
    ck_assert_uint_eq(use_count(base.impl, 1), 1);
    ck_assert_uint_eq(use_count(tensor_storage_of(base).impl, 2), 2);

    ck_assert(!tensor_is_defined(tensor_new_view(base, &(tensor_shape){1, {23}}, &error)));
    expect_error(&error, "the shape has 23 elements, the tensor 24");
    tensor across = tensor_new_transposed(base, 0, 1, &error);
    ck_assert(!tensor_is_defined(tensor_new_view(across, &(tensor_shape){1, {24}}, &error)));
    expect_error(&error, "not contiguous: use tensor_new_contiguous");
    ck_assert(!tensor_is_defined(tensor_new_transposed(base, 0, 2, &error)));
    expect_error(&error, "dimensions 0 and 2 of a tensor that has 2");
    tensor_release(across);

    tensor_release(base); /* the view still has the bytes */
    ck_assert_int_eq(((int64_t *)tensor_data_of(view, NULL))[23], 23);
    ck_assert_uint_eq(use_count(tensor_storage_of(view).impl, 1), 1);
    tensor_release(view);
}
END_TEST

START_TEST(narrow_bounds)
{
    tensor_error error = {""};
    tensor base = new_counted_up(&shape_4x6);
    tensor part = tensor_new_narrow(base, 1, 2, 3, &error);
    ck_assert(tensor_is_defined(part));
    ck_assert_int_eq(tensor_get(part)->layout.numel, 12);
    ck_assert_int_eq(*(int64_t *)tensor_data_of(part, NULL), 2);
    tensor last = tensor_new_narrow(base, 0, 4, 0, &error); /* empty, at the very end */
    ck_assert(tensor_is_defined(last));
    ck_assert_ptr_null(tensor_data_of(last, &error));
    expect_error(&error, "no bytes");

    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 2, 0, 1, &error)));
    expect_error(&error, "dimension 2 of a tensor that has 2");
    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 1, 4, 3, &error)));
    expect_error(&error, "3 elements from 4 on of dimension 1, which has 6");
    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 1, -1, 3, &error)));
    expect_error(&error, "3 elements from -1 on");
    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 1, 1, -1, &error)));
    expect_error(&error, "-1 elements from 1 on");
    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 1, 1, INT64_MAX, &error)));
    expect_error(&error, "of dimension 1, which has 6");
    ck_assert(!tensor_is_defined(tensor_new_narrow(base, 1, INT64_MAX, 1, &error)));
    expect_error(&error, "of dimension 1, which has 6");
    ck_assert_uint_eq(use_count(tensor_storage_of(base).impl, 3), 3);
    tensor_release(last);
    tensor_release(part);
    tensor_release(base);
}
END_TEST

START_TEST(contiguous_and_clone)
{
    tensor base = new_counted_up(&shape_4x6);
    tensor same = tensor_new_contiguous(base, NULL);
    ck_assert_ptr_eq(tensor_get(same), tensor_get(base));
    ck_assert_uint_eq(use_count(base.impl, 2), 2);
    ck_assert_uint_eq(use_count(tensor_storage_of(base).impl, 1), 1);

    tensor across = tensor_new_transposed(base, 0, 1, NULL);
    tensor copy = tensor_new_contiguous(across, NULL);
    ck_assert_ptr_ne(tensor_get(copy), tensor_get(across));
    ck_assert_ptr_ne(tensor_storage_get(tensor_storage_of(copy)),
                     tensor_storage_get(tensor_storage_of(base)));
    const int64_t *elements = tensor_data_of(copy, NULL);
    for (int64_t i = 0; i < 24; i++) {
        ck_assert_int_eq(elements[i], i % 4 * 6 + i / 4);
    }
    /* One column of one row is contiguous whatever its stride. */
    tensor column = tensor_new_narrow(base, 0, 1, 1, NULL);
    tensor again = tensor_new_contiguous(column, NULL);
    ck_assert_ptr_eq(tensor_get(again), tensor_get(column));

    tensor clone = tensor_new_clone(base, NULL);
    ((int64_t *)tensor_data_of(base, NULL))[5] = -1;
    ck_assert_int_eq(((int64_t *)tensor_data_of(clone, NULL))[5], 5);
    ck_assert_ptr_null(tensor_get(clone)->autograd);
    tensor_release(clone);
    tensor_release(again);
    tensor_release(column);
    tensor_release(copy);
    tensor_release(across);
    tensor_release(same);
    tensor_release(base);
}
END_TEST

/* A dense model of a tensor: its elements written out in row-major order. */
typedef struct model {
    unsigned dimensions;
    int64_t sizes[TENSOR_DIMENSIONS_MAX];
    int64_t elements[1024];
} model;

static int64_t model_numel(const model *m)
{
    int64_t numel = 1;
    for (unsigned d = 0; d < m->dimensions; d++) {
        numel *= m->sizes[d];
    }
    return numel;
}

static int64_t model_at(const model *m, const int64_t *index)
{
    int64_t position = 0;
    for (unsigned d = 0; d < m->dimensions; d++) {
        position = position * m->sizes[d] + index[d];
    }
    return m->elements[position];
}

/* The model of `from` with dimensions a and b exchanged and dimension a (then) cut to [start,
 * start + length): rebuilt element by element. */
static void model_rebuild(model *to, const model *from, unsigned a, unsigned b, int64_t start,
                          int64_t length)
{
    to->dimensions = from->dimensions;
    memcpy(to->sizes, from->sizes, sizeof to->sizes);
    to->sizes[a] = from->sizes[b];
    to->sizes[b] = from->sizes[a];
    to->sizes[a] = length;
    int64_t numel = model_numel(to);
    for (int64_t n = 0; n < numel; n++) {
        int64_t index[TENSOR_DIMENSIONS_MAX];
        int64_t rest = n;
        for (unsigned d = to->dimensions; d > 0; d--) {
            index[d - 1] = rest % to->sizes[d - 1];
            rest /= to->sizes[d - 1];
        }
        index[a] += start;
        int64_t held = index[a];
        index[a] = index[b];
        index[b] = held;
        to->elements[n] = model_at(from, index);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

START_TEST(random_views_against_a_model)
{
    const char *given = getenv("RCLAB_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : 20260101;
    printf("random_views_against_a_model: RCLAB_SEED=%llu\n", (unsigned long long)seed);
    static model models[2];
    for (unsigned round = 0; round < 300; round++) {
        model *now = &models[0];
        model *next = &models[1];
        tensor_shape shape = {.dimensions = 1 + (unsigned)(next_random(&seed) % 5)};
        for (unsigned d = 0; d < shape.dimensions; d++) {
            shape.sizes[d] = 1 + (int64_t)(next_random(&seed) % 4);
        }
        tensor self = new_counted_up(&shape);
        now->dimensions = shape.dimensions;
        memcpy(now->sizes, shape.sizes, sizeof now->sizes);
        for (int64_t i = 0; i < model_numel(now); i++) {
            now->elements[i] = i;
        }
        for (unsigned step = 0; step < 4; step++) {
            unsigned a = (unsigned)(next_random(&seed) % shape.dimensions);
            unsigned b = (unsigned)(next_random(&seed) % shape.dimensions);
            int64_t size = now->sizes[b]; /* of dimension a, once exchanged */
            int64_t start = (int64_t)(next_random(&seed) % (uint64_t)size);
            int64_t length = 1 + (int64_t)(next_random(&seed) % (uint64_t)(size - start));
            tensor across = tensor_new_transposed(self, a, b, NULL);
            tensor_assign(&self, tensor_new_narrow(across, a, start, length, NULL));
            tensor_release(across);
            model_rebuild(next, now, a, b, start, length);
            model *held = now;
            now = next;
            next = held;
        }
        tensor copy = tensor_new_clone(self, NULL);
        const int64_t *elements = tensor_data_of(copy, NULL);
        ck_assert_int_eq(tensor_get(copy)->layout.numel, model_numel(now));
        for (int64_t i = 0; i < model_numel(now); i++) {
            ck_assert_int_eq(elements[i], now->elements[i]);
        }
        tensor_release(copy);
        tensor_release(self);
    }
}
END_TEST

/* ---- Storages ---- */

START_TEST(storage_with_a_deleter)
{
    if (skipped_without_death("storage_with_a_deleter")) {
        return;
    }
    tensor first = new_logging(3);
    tensor second = tensor_new_narrow(first, 0, 2, 3, NULL);
    tensor_release(first);
    ck_assert_uint_eq(deaths.count, 0);
    tensor_release(second);
    expect_deaths((const int[]){3}, 1);
}
END_TEST

START_TEST(over_storage_adopts)
{
    tensor_error error = {""};
    tensor_storage storage = tensor_new_storage(96, TENSOR_DEVICE_CPU, &error);
    ck_assert(!rc_is_null(storage.impl));
    /* Refused: the reference is still ours. */
    ck_assert(
        !tensor_is_defined(tensor_new_over_storage(storage, &shape_4x6, TENSOR_INT64, 0, &error)));
    expect_error(&error, "element 23 would be needed, but the storage holds 12");
    ck_assert(!tensor_is_defined(
        tensor_new_over_storage(storage, &shape_4x6, TENSOR_FLOAT32, 1, &error)));
    expect_error(&error, "element 24 would be needed, but the storage holds 24");
    ck_assert(!tensor_is_defined(
        tensor_new_over_storage(storage, &shape_4x6, TENSOR_FLOAT32, -1, &error)));
    expect_error(&error, "offset is -1");
    ck_assert(!tensor_is_defined(
        tensor_new_over_storage(storage, &shape_4x6, TENSOR_FLOAT32, INT64_MAX, &error)));
    expect_error(&error, "leaves no room");
    ck_assert(!tensor_is_defined(tensor_new_over_storage((tensor_storage){rc_null()}, &shape_4x6,
                                                         TENSOR_FLOAT32, 0, &error)));
    expect_error(&error, "the storage is null");
    ck_assert_uint_eq(use_count(storage.impl, 1), 1);

    tensor self = tensor_new_over_storage(storage, &shape_4x6, TENSOR_FLOAT32, 0, &error);
    ck_assert_msg(tensor_is_defined(self), "%s", error.text);
    ck_assert_uint_eq(use_count(tensor_storage_of(self).impl, 1), 1); /* moved, not retained */
    tensor_release(self);

    /* Without bytes there is nothing to overrun. */
    storage = tensor_new_storage(8, TENSOR_DEVICE_META, &error);
    self = tensor_new_over_storage(storage, &shape_4x6, TENSOR_FLOAT32, 100, &error);
    ck_assert_msg(tensor_is_defined(self), "%s", error.text);
    tensor_release(self);
}
END_TEST

START_TEST(set_storage)
{
    tensor_error error = {""};
    tensor self = new_logging(1);
    tensor view = tensor_new_detached(self, NULL);
    tensor_storage small = tensor_new_storage(5, TENSOR_DEVICE_CPU, NULL);
    ck_assert(!tensor_set_storage(self, small, &(tensor_shape){1, {6}}, 0, &error));
    expect_error(&error, "element 5 would be needed, but the storage holds 5");
    ck_assert(
        !tensor_set_storage(self, (tensor_storage){rc_null()}, &(tensor_shape){0}, 0, &error));
    expect_error(&error, "the storage is null");
    ck_assert_int_eq(tensor_get(self)->layout.numel, 7);
    ck_assert_uint_eq(use_count(tensor_storage_of(self).impl, 2), 2);
    ck_assert_uint_eq(use_count(small.impl, 1), 1);

    ck_assert(tensor_set_storage(self, small, &(tensor_shape){2, {2, 2}}, 1, &error));
    ck_assert_int_eq(tensor_get(self)->layout.numel, 4);
    ck_assert_ptr_eq(tensor_storage_get(tensor_storage_of(self)), tensor_storage_get(small));
    ck_assert_uint_eq(deaths.count, 0); /* the view holds the old one */
    ck_assert_int_eq(tensor_get(view)->layout.numel, 7);
    ck_assert(tensor_set_storage(view, tensor_new_storage_retained(small), &(tensor_shape){1, {5}},
                                 0, &error));
    if (DIES_AT_LAST_RELEASE) {
        expect_deaths((const int[]){1}, 1);
    }
    ck_assert(tensor_set_storage(view, tensor_new_storage_retained(tensor_storage_of(view)),
                                 &(tensor_shape){1, {5}}, 0, &error)); /* itself */
    ck_assert_uint_eq(use_count(small.impl, 2), 2);
    tensor_release(view);
    tensor_release(self);
}
END_TEST

/* ---- Order of destruction ---- */

START_TEST(members_go_in_reverse_order)
{
    if (skipped_without_death("members_go_in_reverse_order")) {
        return;
    }
    tensor saved[2] = {new_logging(3), new_logging(4)};
    tensor behind = new_logging(5);
    tensor_node edges[2] = {tensor_new_node(1, &behind, 1, NULL, 0, NULL), {rc_null()}};
    tensor after = new_logging(6);
    edges[1] = tensor_new_node(1, &after, 1, NULL, 0, NULL);
    tensor_node node = tensor_new_node(2, saved, 2, edges, 2, NULL);
    tensor_release(saved[0]);
    tensor_release(saved[1]);
    tensor_release(behind);
    tensor_release(after);
    tensor_node_release(edges[0]);
    tensor_node_release(edges[1]);

    tensor self = new_logging(1);
    ck_assert(tensor_set_grad(self, new_logging(2), NULL));
    ck_assert(tensor_set_grad_fn(self, node, NULL));
    ck_assert_uint_eq(deaths.count, 0);
    tensor_release(self);
    /* Of the tensor: its autograd part, then its storage (1). Of the autograd part: grad_fn,
     * then grad (2). The node's own handles wait for that, and go from the last to the first:
     * edges (6, 5), whose handles wait again, then saved tensors (4, 3). */
    expect_deaths((const int[]){2, 4, 3, 6, 5, 1}, 6);
}
END_TEST

/* ---- Weak handles, autograd ---- */

START_TEST(node_holds_what_it_saved)
{
    tensor_error error = {""};
    tensor a = new_meta();
    tensor b = new_meta();
    tensor_node nothing = tensor_new_node(9, NULL, 0, NULL, 0, &error);
    ck_assert(!rc_is_null(nothing.impl));
    const tensor saved[] = {a, tensor_undefined(), b};
    const tensor_node edges[] = {nothing, {rc_null()}};
    tensor_node node = tensor_new_node(4, saved, 3, edges, 2, &error);
    ck_assert_msg(!rc_is_null(node.impl), "%s", error.text);
    ck_assert_int_eq(tensor_node_get(node)->operation, 4);
    ck_assert_ptr_eq(tensor_get(tensor_node_saved(node, 0)), tensor_get(a));
    ck_assert(!tensor_is_defined(tensor_node_saved(node, 1)));
    ck_assert_ptr_eq(tensor_get(tensor_node_saved(node, 2)), tensor_get(b));
    ck_assert(!tensor_is_defined(tensor_node_saved(node, 3)));
    ck_assert_ptr_eq(tensor_node_get(tensor_node_edge(node, 0)), tensor_node_get(nothing));
    ck_assert(rc_is_null(tensor_node_edge(node, 1).impl));
    ck_assert(rc_is_null(tensor_node_edge(node, 2).impl));
    ck_assert(rc_is_null(tensor_node_edge(nothing, 0).impl));
    ck_assert_uint_eq(use_count(a.impl, 2), 2);
    ck_assert_uint_eq(use_count(nothing.impl, 2), 2);

    tensor_node_release_saved(node);
    ck_assert_uint_eq(use_count(a.impl, 1), 1);
    ck_assert_uint_eq(use_count(b.impl, 1), 1);
    ck_assert_uint_eq(use_count(nothing.impl, 2), 2); /* the edges stay */
    ck_assert(!tensor_is_defined(tensor_node_saved(node, 0)));
    tensor_node_release_saved(node);
    tensor_node_release_saved((tensor_node){rc_null()});

    volatile size_t many =
        SIZE_MAX / 4; /* a constant would let the compiler see the loops behind */
    ck_assert(rc_is_null(tensor_new_node(0, NULL, many, NULL, many, &error).impl));
    expect_error(&error, "do not fit into the address space");
    tensor_node_release(node);
    ck_assert_uint_eq(use_count(nothing.impl, 1), 1);
    tensor_node_release(nothing);
    tensor_release(b);
    tensor_release(a);
}
END_TEST

START_TEST(cycles_refused)
{
    tensor_error error = {""};
    tensor self = new_meta();
    ck_assert(!tensor_set_grad(self, self, &error));
    expect_error(&error, "cannot be its own gradient");
    tensor_node node = tensor_new_node(0, &self, 1, NULL, 0, NULL);
    ck_assert(!tensor_set_grad_fn(self, node, &error));
    expect_error(&error, "would close a cycle");
    ck_assert(rc_is_null(tensor_grad_fn(self).impl));
    tensor_node_release(node);

    tensor detached = tensor_new_detached(self, NULL); /* what the message recommends */
    node = tensor_new_node(0, &detached, 1, NULL, 0, NULL);
    tensor_release(detached);
    ck_assert(tensor_set_grad_fn(self, node, &error));
    ck_assert_ptr_eq(tensor_node_get(tensor_grad_fn(self)), tensor_node_get(node));
    ck_assert(tensor_requires_grad(self));
    tensor_release(self);
}
END_TEST

START_TEST(gradients)
{
    tensor_error error = {""};
    tensor leaf = new_floats(0, 0);
    ck_assert(!tensor_requires_grad(leaf));
    ck_assert(tensor_set_grad(leaf, tensor_undefined(), &error));
    ck_assert_ptr_null(tensor_get(leaf)->autograd); /* nothing was made for nothing */
    ck_assert(tensor_require_grad(leaf, &error));
    ck_assert(tensor_requires_grad(leaf));

    tensor first = new_floats(1, 2);
    const tensor_impl *first_impl = tensor_get(first);
    ck_assert(tensor_accumulate_grad(leaf, first, &error)); /* sole: taken over */
    if (COUNTS_EXACTLY) {
        ck_assert_ptr_eq(tensor_get(tensor_grad(leaf)), first_impl);
        ck_assert_uint_eq(rc_use_count(tensor_grad(leaf).impl), 1);
    }
    ck_assert(tensor_accumulate_grad(leaf, new_floats(10, 20), &error)); /* added in place */
    const float *sums = tensor_data_of(tensor_grad(leaf), NULL);
    ck_assert(sums[0] == 11.0f && sums[1] == 22.0f);

    tensor wrong = new_meta();
    ck_assert(!tensor_accumulate_grad(leaf, wrong, &error));
    expect_error(&error, "24 elements cannot be added to 2");
    tensor_release(wrong); /* refused, so still ours */
    ck_assert(tensor_set_grad(leaf, tensor_undefined(), &error));
    ck_assert(!tensor_is_defined(tensor_grad(leaf)));

    /* Somebody else holds it: taking it over would let the sum change under them. */
    tensor held = new_floats(5, 6);
    ck_assert(tensor_accumulate_grad(leaf, tensor_new_retained(held), &error));
    if (COUNTS_EXACTLY) {
        ck_assert_ptr_ne(tensor_get(tensor_grad(leaf)), tensor_get(held));
        ck_assert_uint_eq(rc_use_count(held.impl), 1);
        ck_assert(tensor_accumulate_grad(leaf, new_floats(1, 1), &error));
        ck_assert(((const float *)tensor_data_of(held, NULL))[0] == 5.0f);
    }
    tensor_release(held);
    tensor_release(leaf);
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
START_TEST(weak_tensor)
{
    tensor_error error = {""};
    ck_assert(rc_weak_is_null(tensor_new_weak(tensor_undefined(), &error).impl));
    expect_error(&error, "tensor_new_weak: the tensor is undefined");
    if (skipped_without_death("weak_tensor")) {
        return;
    }
    tensor self = new_logging(1);
    ck_assert(tensor_set_grad(self, new_logging(2), NULL));
    tensor_weak weak = tensor_new_weak(self, &error);
    tensor_weak other = tensor_new_weak_retained(weak);
    tensor locked = tensor_new_locked(weak);
    ck_assert_ptr_eq(tensor_get(locked), tensor_get(self));
    tensor_release(self);
    ck_assert(!tensor_weak_expired(weak));
    ck_assert_uint_eq(deaths.count, 0);
    tensor_release(locked);
    expect_deaths((const int[]){2, 1}, 2); /* the weak handles keep the block, not what it held */
    ck_assert(tensor_weak_expired(weak));
    ck_assert(!tensor_is_defined(tensor_new_locked(weak)));
    tensor_weak_release(weak);
    ck_assert(!tensor_is_defined(tensor_new_locked(other)));
    tensor_weak_release(other);
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
}
END_TEST

START_TEST(accumulator_is_held_by_the_graph)
{
    tensor_error error = {""};
    if (skipped_without_death("accumulator_is_held_by_the_graph")) {
        return;
    }
    tensor leaf = new_logging(1);
    tensor_node accumulator = tensor_new_accumulator(leaf, &error);
    ck_assert_msg(!rc_is_null(accumulator.impl), "%s", error.text);
    ck_assert_int_eq(tensor_node_get(accumulator)->operation, TENSOR_ACCUMULATE);
    ck_assert_ptr_eq(tensor_get(tensor_node_saved(accumulator, 0)), tensor_get(leaf));
    tensor_node again = tensor_new_accumulator(leaf, &error);
    ck_assert_ptr_eq(tensor_node_get(again), tensor_node_get(accumulator));
    tensor_node_release(again);

    tensor output = new_logging(2);
    ck_assert(tensor_set_grad_fn(output, tensor_new_node(0, NULL, 0, &accumulator, 1, NULL), NULL));
    ck_assert(rc_is_null(tensor_new_accumulator(output, &error).impl));
    expect_error(&error, "only leaves accumulate");
    const tensor_node_impl *held = tensor_node_get(accumulator);
    tensor_node_release(accumulator);
    again = tensor_new_accumulator(leaf, &error); /* the graph alone keeps it */
    ck_assert_ptr_eq(tensor_node_get(again), held);
    ck_assert_uint_eq(use_count(again.impl, 2), 2);
    tensor_node_release(again);

    tensor_release(output); /* the graph goes, the accumulator with it */
    expect_deaths((const int[]){2}, 1);
    ck_assert(rc_weak_expired(tensor_get(leaf)->autograd->accumulator));
    ck_assert_uint_eq(use_count(leaf.impl, 1), 1);
    again = tensor_new_accumulator(leaf, &error); /* and a new one is made */
    ck_assert(!rc_is_null(again.impl));
    tensor_release(leaf);
    ck_assert_uint_eq(deaths.count, 1); /* the accumulator holds the leaf */
    tensor_node_release(again);
    expect_deaths((const int[]){2, 1}, 2); /* and nothing holds the accumulator: no cycle */
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);

    leaf = new_logging(3);
    again = tensor_new_accumulator(leaf, NULL);
    tensor_forget_accumulator(leaf);
    tensor_node other = tensor_new_accumulator(leaf, NULL);
    ck_assert_ptr_ne(tensor_node_get(other), tensor_node_get(again));
    tensor_node_release(other);
    tensor_node_release(again);
    tensor_release(leaf);
    tensor_forget_accumulator(tensor_undefined());
}
END_TEST
#endif

/* ---- Long chains on a small stack ---- */

/* Makes something long and returns the only handle to it. */
typedef rc_strong (*chain_maker)(void);

/* node -> node -> ... */
static rc_strong new_chain_of_nodes(void)
{
    tensor_node last = tensor_new_node(0, NULL, 0, NULL, 0, NULL);
    for (int i = 1; i < CHAIN_LENGTH; i++) {
        tensor_node node = tensor_new_node(0, NULL, 0, &last, 1, NULL);
        tensor_node_release(last);
        last = node;
    }
    return last.impl;
}

/* One node -> a million nodes, each with a tensor. */
static rc_strong new_fan(void)
{
    tensor_node *nodes = malloc(CHAIN_LENGTH * sizeof *nodes);
    tensor saved = new_meta();
    for (int i = 0; i < CHAIN_LENGTH; i++) {
        nodes[i] = tensor_new_node(0, &saved, 1, NULL, 0, NULL);
    }
    tensor_release(saved);
    tensor_node root = tensor_new_node(0, NULL, 0, nodes, CHAIN_LENGTH, NULL);
    for (int i = 0; i < CHAIN_LENGTH; i++) {
        tensor_node_release(nodes[i]);
    }
    free(nodes);
    return root.impl;
}

/* tensor -> grad_fn -> saved tensor -> grad_fn -> ... */
static rc_strong new_alternation(void)
{
    tensor last = new_meta();
    for (int i = 0; i < CHAIN_LENGTH / 2; i++) {
        tensor_node node = tensor_new_node(0, &last, 1, NULL, 0, NULL);
        tensor_assign(&last, tensor_new_view(last, &shape_4x6, NULL));
        if (!tensor_set_grad_fn(last, node, NULL)) {
            return rc_null();
        }
    }
    return last.impl;
}

/* tensor -> gradient -> its gradient -> ... */
static rc_strong new_chain_of_gradients(void)
{
    tensor last = new_meta();
    for (int i = 1; i < CHAIN_LENGTH / 2; i++) {
        tensor next = tensor_new_detached(last, NULL);
        if (!tensor_set_grad(next, last, NULL)) {
            return rc_null();
        }
        last = next;
    }
    return last.impl;
}

static const struct {
    const char *name;
    chain_maker make;
} chains[] = {
    {"chain of nodes", new_chain_of_nodes},
    {"fan", new_fan},
    {"alternation of tensors and nodes", new_alternation},
    {"chain of gradients", new_chain_of_gradients},
};

typedef struct chain_outcome {
    chain_maker make;
    bool made;
    uint64_t asked_while_releasing, alive_before, alive_after;
} chain_outcome;

static void *chain_thread(void *argument)
{
    chain_outcome *outcome = argument;
    rc_thread_attach();
    rc_strong root = outcome->make();
    outcome->made = !rc_is_null(root);
    rcl_memory_counts before = rcl_memory_read();
    rc_release(root);
    rcl_memory_counts after = rcl_memory_read();
    outcome->asked_while_releasing = after.total_blocks - before.total_blocks;
    outcome->alive_before = before.live_blocks;
    outcome->alive_after = after.live_blocks;
    rc_thread_detach();
    return NULL;
}

START_TEST(long_chains)
{
    chain_outcome outcome = {.make = chains[_i].make};
    pthread_attr_t attributes;
    pthread_t thread;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, CHAIN_STACK_BYTES), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, chain_thread, &outcome), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    ck_assert_msg(outcome.made, "%s", chains[_i].name);
    if (!skipped_without_death(chains[_i].name)) {
        ck_assert_uint_ge(outcome.alive_before, CHAIN_LENGTH / 2);
        ck_assert_uint_eq(outcome.asked_while_releasing, 0);
        ck_assert_uint_eq(outcome.alive_after, 0);
    }
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
}
END_TEST

/* ---- Refused memory ---- */

/* A life that uses every operation that allocates. False as soon as one fails; everything that
 * it made is released either way. The error says why. */
static bool life(tensor_error *error)
{
    tensor t[7] = {{rc_null()}};
    tensor_node node = {rc_null()};
    tensor_node accumulator = {rc_null()};
    tensor_storage storage = {rc_null()};
    bool good = tensor_is_defined(t[0] = tensor_new_empty(&shape_4x6, TENSOR_FLOAT32,
                                                          TENSOR_DEVICE_CPU, error)) &&
                tensor_is_defined(t[1] = tensor_new_view(t[0], &shape_4x6, error)) &&
                tensor_is_defined(t[2] = tensor_new_narrow(t[0], 1, 1, 3, error)) &&
                tensor_is_defined(t[3] = tensor_new_contiguous(t[2], error)) &&
                tensor_is_defined(t[4] = tensor_new_transposed(t[0], 0, 1, error)) &&
                tensor_is_defined(t[5] = tensor_new_clone(t[4], error)) &&
                tensor_is_defined(t[6] = tensor_new_detached(t[0], error));
    good = good && !rc_is_null((storage = tensor_new_storage(96, TENSOR_DEVICE_CPU, error)).impl);
    if (good) {
        if (tensor_set_storage(t[6], storage, &shape_4x6, 0, error)) {
            storage.impl = rc_null();
        } else {
            good = false;
        }
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tensor_weak weak = {rc_weak_null()};
    good = good && !rc_weak_is_null((weak = tensor_new_weak(t[1], error)).impl);
    good = good && tensor_require_grad(t[0], error);
    good = good && !rc_is_null((accumulator = tensor_new_accumulator(t[0], error)).impl);
    tensor_weak_release(weak);
#endif
    good = good && !rc_is_null((node = tensor_new_node(0, t, 3, &accumulator, 1, error)).impl);
    if (good) {
        if (tensor_set_grad_fn(t[5], node, error)) {
            node.impl = rc_null();
        } else {
            good = false;
        }
    }
    if (good) {
        if (tensor_accumulate_grad(t[0], t[6], error)) { /* taken over */
            t[6] = tensor_undefined();
        } else {
            good = false;
        }
    }
    if (good) {
        tensor held = tensor_new_retained(t[3]); /* cloned */
        if (!tensor_accumulate_grad(t[1], held, error)) {
            tensor_release(held);
            good = false;
        }
    }
    if (good) {
        tensor_storage bare = tensor_new_storage(4, TENSOR_DEVICE_META, error);
        tensor over = rc_is_null(bare.impl) ? tensor_undefined()
                                            : tensor_new_over_storage(bare, &(tensor_shape){0},
                                                                      TENSOR_FLOAT32, 0, error);
        if (!tensor_is_defined(over)) {
            tensor_storage_release(bare);
            good = false;
        }
        tensor_release(over);
    }
    tensor_storage_release(storage);
    tensor_node_release(node);
    tensor_node_release(accumulator);
    for (unsigned i = 7; i > 0; i--) {
        tensor_release(t[i - 1]);
    }
    return good;
}

START_TEST(memory_refused)
{
    tensor_error error = {""};
    ck_assert_msg(life(&error), "%s", error.text);
    unsigned refusals = 0;
    for (uint64_t k = 1;; k++) {
        rc_thread_detach();
        rc_thread_attach(); /* null then has no slab in store */
        ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
        const uint64_t before = rcl_memory_read().refused_blocks;
        error.text[0] = '\0';
        rcl_memory_refuse(k);
        const bool good = life(&error);
        rcl_memory_refuse(0);
        if (rcl_memory_read().refused_blocks == before) {
            ck_assert_msg(good, "%s", error.text);
            break;
        }
        refusals++;
        ck_assert_msg(!good, "request %llu was refused and nobody noticed", (unsigned long long)k);
        expect_error(&error, "no memory for");
        if (DIES_AT_LAST_RELEASE) {
            ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
        }
    }
    ck_assert_uint_ge(refusals, DIES_AT_LAST_RELEASE ? 25 : 1);
}
END_TEST

/* ---- Threads ---- */

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
#define SHARED_ROUNDS 2000

static void *share_thread(void *argument)
{
    tensor base = *(const tensor *)argument; /* a handle of our own */
    uintptr_t failures = 0;
    rc_thread_attach();
    for (int i = 0; i < SHARED_ROUNDS; i++) {
        tensor view = tensor_new_view(base, &(tensor_shape){1, {24}}, NULL);
        tensor copy = tensor_new_clone(view, NULL);
        tensor_release(view);
        failures += ((const int64_t *)tensor_data_of(copy, NULL))[23] != 23;
        tensor_node node = tensor_new_node(0, &copy, 1, NULL, 0, NULL);
        tensor_release(copy);
        tensor_node_release(node); /* each thread drains its own */
    }
    tensor_release(base);
    rc_thread_detach();
    return (void *)failures;
}

START_TEST(views_from_two_threads)
{
    tensor base = new_counted_up(&shape_4x6);
    tensor_share(base);
    tensor handles[2] = {tensor_new_retained(base), tensor_new_retained(base)};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share_thread, &handles[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *failures = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failures), 0);
        ck_assert_ptr_null(failures);
    }
    ck_assert_uint_eq(use_count(base.impl, 1), 1);
    ck_assert_uint_eq(use_count(tensor_storage_of(base).impl, 1), 1);
    tensor_release(base);
}
END_TEST
#endif

/* ---- All ---- */

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* cases fork: nothing may wait in a buffer */
    Suite *suite = suite_create("tensor over " STRING(RCL_IMPL_NAME));
    TCase *cases = tcase_create("tensor");
    tcase_set_timeout(cases, 300);
    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, undefined_tensor);
    tcase_add_test(cases, devices);
    tcase_add_test(cases, shapes_refused);
    tcase_add_test(cases, allocations);
    tcase_add_test(cases, view_shares_the_storage);
    tcase_add_test(cases, narrow_bounds);
    tcase_add_test(cases, contiguous_and_clone);
    tcase_add_test(cases, random_views_against_a_model);
    tcase_add_test(cases, storage_with_a_deleter);
    tcase_add_test(cases, over_storage_adopts);
    tcase_add_test(cases, set_storage);
    tcase_add_test(cases, members_go_in_reverse_order);
    tcase_add_test(cases, node_holds_what_it_saved);
    tcase_add_test(cases, cycles_refused);
    tcase_add_test(cases, gradients);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(cases, weak_tensor);
    tcase_add_test(cases, accumulator_is_held_by_the_graph);
#else
    skipped("weak_tensor, accumulator_is_held_by_the_graph", false, "does not claim RC_CAP_WEAK");
#endif
    tcase_add_loop_test(cases, long_chains, 0, (int)(sizeof chains / sizeof chains[0]));
    tcase_add_test(cases, memory_refused);
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    tcase_add_test(cases, views_from_two_threads);
#else
    skipped("views_from_two_threads", false, "does not claim RC_CAP_THREADS");
#endif
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
