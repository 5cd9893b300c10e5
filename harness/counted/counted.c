/* counted: one function for each operation whose instructions are counted.
 *
 * Compiled once per implementation, unchecked, at the flags of the benchmark. rclab cost runs it under
 * callgrind, which collects only between the first instruction of a counted_ function and its return;
 * rclab asm shows these functions. So what is counted can be read, instruction by instruction.
 *
 * A counted_ function takes its handles in registers, does its operation once and returns. Everything
 * else (making the objects, undoing what was done) is the driver's and lies outside. op_X does ROUND
 * operations and has the counts written down, then twice as many: the difference is exact, whatever
 * happens once.
 *
 * Parameter: RC_IMPL_HEADER, the implementation's rc.h.
 */
#ifndef RC_IMPL_HEADER
#error "counted.c needs RC_IMPL_HEADER"
#endif

#include "contract.h"
#include "workload.h"
#include "tensor.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* rclab asm needs no valgrind. */
#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif
#ifndef CALLGRIND_ZERO_STATS
#define CALLGRIND_ZERO_STATS ((void)0)
#define CALLGRIND_DUMP_STATS_AT(text) ((void)(text))
#endif

#define ROUND 512 /* rclab cost has the same number */

/* noipa, where the compiler has it: each function must be there whole, under its own name. A clobber
 * stands behind each operation: it keeps calls of an empty one, and keeps the last call inside from
 * becoming a jump, which would hide its return. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define OPAQUE __attribute__((noinline, noipa))
#endif
#endif
#ifndef OPAQUE
#define OPAQUE __attribute__((noinline))
#endif
/* Declared, then defined: COUNTED(name, result, parameters) { ... } */
#define COUNTED(name, result, ...)                                                                 \
    OPAQUE result counted_##name(__VA_ARGS__);                                                     \
    OPAQUE result counted_##name(__VA_ARGS__)

static const rc_class plain_class = {.name = "counted", .payload_size = 32};

/* What the operations need. One for the whole program; the driver owns all of it. */
typedef struct bench {
    const char *operation;
    unsigned count; /* operations in this round */
    rc_strong object;
    rc_strong handles[2 * ROUND], copies[2 * ROUND];
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weaks[2 * ROUND], weak_copies[2 * ROUND];
#endif
    tensor base, other;
    tensor_storage storages[2];
} bench;

/* ---- The counts ---- */

static void begin(void)
{
    CALLGRIND_ZERO_STATS;
}

static void end(const bench *self)
{
    char label[64];
    snprintf(label, sizeof label, "%s %u", self->operation, self->count);
    CALLGRIND_DUMP_STATS_AT(label);
}

/* ---- Setting up and undoing: not counted ---- */

/* Between begin and end only counted functions may be called: the allocator and the hooks switch
 * collecting off and on again, wherever they are called from. */

_Noreturn static void refuse(const bench *self)
{
    fprintf(stderr, "%s: the implementation refused memory\n", self->operation);
    exit(3);
}

static void make_object(bench *self)
{
    self->object = rc_new(&plain_class);
    if (rc_is_null(self->object)) {
        refuse(self);
    }
}

static void make_objects(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        self->handles[i] = rc_new(&plain_class);
        if (rc_is_null(self->handles[i])) {
            refuse(self);
        }
    }
}

static void release_handles(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        rc_release(self->handles[i]);
    }
}

static void release_copies(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        rc_release(self->copies[i]);
    }
}

/* Each object has one more handle, as copies[i]. */
static void retain_copies(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = rc_retain(self->handles[i]);
    }
}

/* ---- Handles and objects ---- */

/* What calling and returning costs. Taken off every other figure. */
COUNTED(nothing, void, void)
{
    rcl_clobber();
}

static void op_nothing(bench *self)
{
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_nothing();
    }
    end(self);
}

COUNTED(retain, rc_strong, rc_strong object)
{
    rc_strong copy = rc_retain(object);
    rcl_clobber();
    return copy;
}

static void op_retain(bench *self)
{
    make_objects(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = counted_retain(self->handles[i]);
    }
    end(self);
    release_copies(self);
    release_handles(self);
}

COUNTED(release_shared, void, rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

static void op_release_shared(bench *self)
{
    make_objects(self);
    retain_copies(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_release_shared(self->copies[i]);
    }
    end(self);
    release_handles(self);
}

COUNTED(release_unique, void, rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

static void op_release_unique(bench *self)
{
    make_objects(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_release_unique(self->handles[i]);
    }
    end(self);
}

COUNTED(new, rc_strong, void)
{
    rc_strong object = rc_new(&plain_class);
    rcl_clobber();
    return object;
}

static void op_new(bench *self)
{
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->handles[i] = counted_new();
    }
    end(self);
    release_handles(self);
}

COUNTED(new_release, void, void)
{
    rc_strong object = rc_new(&plain_class);
    rcl_escape(rc_payload(object));
    rc_release(object);
    rcl_clobber();
}

static void op_new_release(bench *self)
{
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_new_release();
    }
    end(self);
}

COUNTED(is_unique, bool, rc_strong object)
{
    bool unique = rc_is_unique(object);
    rcl_clobber();
    return unique;
}

static void op_is_unique(bench *self)
{
    make_object(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        rcl_escape((const void *)(uintptr_t)counted_is_unique(self->object));
    }
    end(self);
    rc_release(self->object);
}

COUNTED(use_count, uint64_t, rc_strong object)
{
    uint64_t count = rc_use_count(object);
    rcl_clobber();
    return count;
}

static void op_use_count(bench *self)
{
    make_object(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        rcl_escape((const void *)(uintptr_t)counted_use_count(self->object));
    }
    end(self);
    rc_release(self->object);
}

/* ---- Weak handles ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* Objects with one strong and one weak handle each. */
static void make_objects_with_weaks(bench *self)
{
    make_objects(self);
    for (unsigned i = 0; i < self->count; i++) {
        self->weaks[i] = rc_weak_new(self->handles[i]);
        if (rc_weak_is_null(self->weaks[i])) {
            refuse(self);
        }
    }
}

static void release_weaks(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        rc_weak_release(self->weaks[i]);
    }
}

COUNTED(weak_new, rc_weak, rc_strong object)
{
    rc_weak weak = rc_weak_new(object);
    rcl_clobber();
    return weak;
}

static void op_weak_new(bench *self)
{
    make_objects(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->weaks[i] = counted_weak_new(self->handles[i]);
    }
    end(self);
    release_weaks(self);
    release_handles(self);
}

COUNTED(weak_retain, rc_weak, rc_weak weak)
{
    rc_weak copy = rc_weak_retain(weak);
    rcl_clobber();
    return copy;
}

static void op_weak_retain(bench *self)
{
    make_objects_with_weaks(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->weak_copies[i] = counted_weak_retain(self->weaks[i]);
    }
    end(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_weak_release(self->weak_copies[i]);
    }
    release_weaks(self);
    release_handles(self);
}

COUNTED(weak_release, void, rc_weak weak)
{
    rc_weak_release(weak);
    rcl_clobber();
}

static void op_weak_release(bench *self)
{
    make_objects_with_weaks(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_weak_release(self->weaks[i]);
    }
    end(self);
    release_handles(self);
}

COUNTED(weak_lock_alive, rc_strong, rc_weak weak)
{
    rc_strong locked = rc_weak_lock(weak);
    rcl_clobber();
    return locked;
}

static void op_weak_lock_alive(bench *self)
{
    make_objects_with_weaks(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = counted_weak_lock_alive(self->weaks[i]);
    }
    end(self);
    release_copies(self);
    release_weaks(self);
    release_handles(self);
}

#ifndef RCL_IMPL_IS_NULL
COUNTED(weak_lock_expired, rc_strong, rc_weak weak)
{
    rc_strong locked = rc_weak_lock(weak);
    rcl_clobber();
    return locked;
}

static void op_weak_lock_expired(bench *self)
{
    make_objects_with_weaks(self);
    release_handles(self);
    rc_quiesce();
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = counted_weak_lock_expired(self->weaks[i]);
    }
    end(self);
    release_weaks(self);
}

COUNTED(release_weak_left, void, rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

static void op_release_weak_left(bench *self)
{
    make_objects_with_weaks(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_release_weak_left(self->handles[i]);
    }
    end(self);
    rc_quiesce();
    release_weaks(self);
}

COUNTED(weak_release_last, void, rc_weak weak)
{
    rc_weak_release(weak);
    rcl_clobber();
}

static void op_weak_release_last(bench *self)
{
    make_objects_with_weaks(self);
    release_handles(self);
    rc_quiesce();
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_weak_release_last(self->weaks[i]);
    }
    end(self);
}
#endif
#endif

/* ---- A unit as a bare pointer ---- */
#if (RC_IMPL_CAPS) & RC_CAP_RAW

COUNTED(raw_roundtrip, rc_strong, rc_strong object)
{
    rc_strong back = rc_from_raw(rcl_opaque(rc_into_raw(object)));
    rcl_clobber();
    return back;
}

static void op_raw_roundtrip(bench *self)
{
    make_object(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->object = counted_raw_roundtrip(self->object);
    }
    end(self);
    rc_release(self->object);
}

COUNTED(retain_raw, rc_strong, void *payload)
{
    rc_strong copy = rc_retain_raw(payload);
    rcl_clobber();
    return copy;
}

static void op_retain_raw(bench *self)
{
    make_objects(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = counted_retain_raw(rc_payload(self->handles[i]));
    }
    end(self);
    release_copies(self);
    release_handles(self);
}
#endif

/* ---- A wrapper ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER

/* The hooks. Calling them counts, they themselves do not. */
OPAQUE void uncounted_wrapper_retain(void *payload);
OPAQUE void uncounted_wrapper_retain(void *payload)
{
    rcl_escape(payload);
}

OPAQUE void uncounted_wrapper_release(void *payload);
OPAQUE void uncounted_wrapper_release(void *payload)
{
    rcl_escape(payload);
}

static const rc_class wrapped_class = {.name = "wrapped",
                                       .payload_size = 32,
                                       .wrapper_retain = uncounted_wrapper_retain,
                                       .wrapper_release = uncounted_wrapper_release};

static void make_wrapped(bench *self)
{
    for (unsigned i = 0; i < self->count; i++) {
        self->handles[i] = rc_new(&wrapped_class);
        if (rc_is_null(self->handles[i])) {
            refuse(self);
        }
    }
}

COUNTED(wrapper_attach, void, rc_strong object)
{
    rc_wrapper_attach(object);
    rcl_clobber();
}

static void op_wrapper_attach(bench *self)
{
    make_wrapped(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_wrapper_attach(self->handles[i]);
    }
    end(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_detach(self->handles[i]);
    }
    release_handles(self);
}

COUNTED(wrapper_detach, void, rc_strong object)
{
    rc_wrapper_detach(object);
    rcl_clobber();
}

static void op_wrapper_detach(bench *self)
{
    make_wrapped(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_attach(self->handles[i]);
    }
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_wrapper_detach(self->handles[i]);
    }
    end(self);
    release_handles(self);
}

COUNTED(wrapper_retain, rc_strong, rc_strong object)
{
    rc_strong copy = rc_retain(object);
    rcl_clobber();
    return copy;
}

static void op_wrapper_retain(bench *self)
{
    make_wrapped(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_attach(self->handles[i]);
    }
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        self->copies[i] = counted_wrapper_retain(self->handles[i]);
    }
    end(self);
    release_copies(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_detach(self->handles[i]);
    }
    release_handles(self);
}

COUNTED(wrapper_release, void, rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

static void op_wrapper_release(bench *self)
{
    make_wrapped(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_attach(self->handles[i]);
        self->copies[i] = rc_retain(self->handles[i]);
    }
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_wrapper_release(self->copies[i]);
    }
    end(self);
    for (unsigned i = 0; i < self->count; i++) {
        rc_wrapper_detach(self->handles[i]);
    }
    release_handles(self);
}
#endif

/* ---- Tensors: no bytes, so that neither memory nor copying is in the figures ---- */

static const tensor_shape base_shape = {2, {8, 8}};

static tensor new_base(const bench *self)
{
    tensor base = tensor_new_empty(&base_shape, TENSOR_FLOAT32, TENSOR_DEVICE_META, NULL);
    if (!tensor_is_defined(base)) {
        refuse(self);
    }
    return base;
}

COUNTED(view, void, tensor base)
{
    const tensor_shape shape = {2, {4, 16}};
    tensor view = tensor_new_view(base, &shape, NULL);
    rcl_escape(tensor_get(view));
    tensor_release(view);
    rcl_clobber();
}

static void op_view(bench *self)
{
    self->base = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_view(self->base);
    }
    end(self);
    tensor_release(self->base);
}

COUNTED(narrow, void, tensor base)
{
    tensor view = tensor_new_narrow(base, 0, 2, 4, NULL);
    rcl_escape(tensor_get(view));
    tensor_release(view);
    rcl_clobber();
}

static void op_narrow(bench *self)
{
    self->base = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_narrow(self->base);
    }
    end(self);
    tensor_release(self->base);
}

COUNTED(empty, void, void)
{
    tensor made = tensor_new_empty(&base_shape, TENSOR_FLOAT32, TENSOR_DEVICE_META, NULL);
    rcl_escape(tensor_get(made));
    tensor_release(made);
    rcl_clobber();
}

static void op_empty(bench *self)
{
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_empty();
    }
    end(self);
}

COUNTED(clone, void, tensor base)
{
    tensor copy = tensor_new_clone(base, NULL);
    rcl_escape(tensor_get(copy));
    tensor_release(copy);
    rcl_clobber();
}

static void op_clone(bench *self)
{
    self->base = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_clone(self->base);
    }
    end(self);
    tensor_release(self->base);
}

COUNTED(set_storage, bool, tensor self, tensor_storage storage)
{
    bool good =
        tensor_set_storage(self, tensor_new_storage_retained(storage), &base_shape, 0, NULL);
    rcl_clobber();
    return good;
}

static void op_set_storage(bench *self)
{
    self->base = new_base(self);
    self->other = new_base(self);
    self->storages[0] = tensor_new_storage_retained(tensor_storage_of(self->base));
    self->storages[1] = tensor_storage_of(self->other);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        if (!counted_set_storage(self->base, self->storages[(i + 1) % 2])) {
            refuse(self);
        }
    }
    end(self);
    tensor_storage_release(self->storages[0]);
    tensor_release(self->other);
    tensor_release(self->base);
}

#define DEPTH 4

/* Each level owns its argument, as a by-value parameter does. The clobber stands between the call and
 * the return, so that the recursion does not become a loop. */
OPAQUE static int64_t by_value(tensor self, int64_t depth)
{
    int64_t below = depth > 1 ? by_value(tensor_new_retained(self), depth - 1) : 0;
    rcl_clobber();
    int64_t numel = tensor_get(self)->layout.numel;
    tensor_release(self);
    return below + numel;
}

OPAQUE static int64_t borrowed(tensor self, int64_t depth)
{
    int64_t below = depth > 1 ? borrowed(self, depth - 1) : 0;
    rcl_clobber();
    return below + tensor_get(self)->layout.numel;
}

COUNTED(dispatch_value, int64_t, tensor base)
{
    int64_t sum = by_value(tensor_new_retained(base), DEPTH);
    rcl_clobber();
    return sum;
}

static void op_dispatch_value(bench *self)
{
    self->base = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        rcl_escape((const void *)(uintptr_t)counted_dispatch_value(self->base));
    }
    end(self);
    tensor_release(self->base);
}

COUNTED(dispatch_borrowed, int64_t, tensor base)
{
    int64_t sum = borrowed(base, DEPTH);
    rcl_clobber();
    return sum;
}

static void op_dispatch_borrowed(bench *self)
{
    self->base = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        rcl_escape((const void *)(uintptr_t)counted_dispatch_borrowed(self->base));
    }
    end(self);
    tensor_release(self->base);
}

COUNTED(graph_node, void, tensor a, tensor b)
{
    const tensor saved[] = {a, b};
    tensor_node node = tensor_new_node(0, saved, 2, NULL, 0, NULL);
    rcl_escape(tensor_node_get(node));
    tensor_node_release(node);
    rcl_clobber();
}

static void op_graph_node(bench *self)
{
    self->base = new_base(self);
    self->other = new_base(self);
    begin();
    for (unsigned i = 0; i < self->count; i++) {
        counted_graph_node(self->base, self->other);
    }
    end(self);
    tensor_release(self->other);
    tensor_release(self->base);
}

/* ---- The program ---- */

typedef struct operation {
    const char *name;
    void (*run)(bench *self);
} operation;

static const operation operations[] = {
    {"nothing", op_nothing},
#define RCL_COUNTED(name, needs, text) {#name, op_##name},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
#define RCL_COUNTED_WEAK RCL_COUNTED
#else
#define RCL_COUNTED_WEAK(name, needs, text)
#endif
#if ((RC_IMPL_CAPS)&RC_CAP_WEAK) && !defined(RCL_IMPL_IS_NULL)
#define RCL_COUNTED_DEATH RCL_COUNTED
#else
#define RCL_COUNTED_DEATH(name, needs, text)
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
#define RCL_COUNTED_RAW RCL_COUNTED
#else
#define RCL_COUNTED_RAW(name, needs, text)
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
#define RCL_COUNTED_WRAPPER RCL_COUNTED
#else
#define RCL_COUNTED_WRAPPER(name, needs, text)
#endif
#include "counted/operations.def"
};

static void run(bench *self, unsigned count)
{
    self->count = count;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        self->operation = operations[i].name;
        operations[i].run(self);
        rc_quiesce();
    }
}

static void print_compiler(void)
{
#ifdef __clang__
    printf("compiler clang-%d.%d.%d\n", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    printf("compiler gcc-%d.%d.%d\n", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

static void *no_work(void *nothing)
{
    return nothing;
}

int main(void)
{
    static bench one;
    /* Once a thread has run, no library counts more cheaply because the process has just one. */
    pthread_t thread;
    if (pthread_create(&thread, NULL, no_work, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 3;
    }
    print_compiler();
    rc_thread_attach();
    /* The first round warms up: its counts are overwritten by the next of its label. */
    run(&one, 2 * ROUND);
    run(&one, ROUND);
    run(&one, 2 * ROUND);
    rc_thread_detach();
    return 0;
}
