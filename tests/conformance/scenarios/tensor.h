/* TENSOR: the tensor layer over the implementation. Uses the checks of life.h.
 *
 * The layer's bytes, blocks and objects all come from rc_mem_alloc, so the heap's counts cover it.
 */
#include <tensor.h> /* harness/tensor.h; in quotes it would be this file */

/* ---- Bytes that know where they came from ---- */

enum { SOURCE_BYTES = 24 };

typedef struct tensor_source {
    unsigned char bytes[SOURCE_BYTES];
    uint64_t given_back;
} tensor_source;

static void tensor_source_take_back(void *data, void *context, size_t size_bytes)
{
    tensor_source *source = context;
    RCB_EXPECT(data == source->bytes, "bytes go back to the allocator they came from",
               "another's came");
    RCB_EXPECT_EQ(size_bytes, SOURCE_BYTES, "bytes that come back");
    source->given_back++;
}

static inline tensor_storage tensor_new_source_storage(tensor_source *source)
{
    for (unsigned i = 0; i < SOURCE_BYTES; i++) {
        source->bytes[i] = (unsigned char)(i + 1);
    }
    tensor_data data = {source->bytes, source, tensor_source_take_back, TENSOR_DEVICE_CPU};
    tensor_storage storage = tensor_new_storage_over(data, SOURCE_BYTES, NULL);
    RCB_EXPECT_FALSE(rc_is_null(storage.impl), "a storage is made when memory is granted");
    return storage;
}

static const tensor_shape tensor_source_shape = {2, {4, 6}};

/* A tensor of 4 x 6 bytes over a storage of its own. */
static inline tensor tensor_new_of_source(tensor_source *source)
{
    tensor self = tensor_new_over_storage(tensor_new_source_storage(source), &tensor_source_shape,
                                          TENSOR_UINT8, 0, NULL);
    RCB_EXPECT_TRUE(tensor_is_defined(self), "a tensor is made when memory is granted");
    return self;
}

static inline void tensor_expect_given_back(const tensor_source *source, uint64_t wanted,
                                            const char *what)
{
    rcb_settle();
    RCB_EXPECT_EQ(source->given_back, wanted, what);
}

/* ---- TENSOR-01 ---- */

/* A tensor with two handles, then one whose storage somebody else holds: shows bytes that go
 * with the wrong release, or not at all, or twice. */
static void tensor_gives_bytes_back(rcb_world *world)
{
    (void)world;
    tensor_source source = {.given_back = 0};
    tensor self = tensor_new_of_source(&source);
    tensor copy = tensor_new_retained(self);
    life_expect_strong(tensor_storage_of(self).impl, 1, "strong references of the storage");
    tensor_release(self);
    tensor_expect_given_back(&source, 0, "bytes given back while a handle is held");
    tensor_release(copy);
    tensor_expect_given_back(&source, 1, "bytes given back after the last handle");

    source = (tensor_source){.given_back = 0};
    self = tensor_new_of_source(&source);
    tensor_storage storage = tensor_new_storage_retained(tensor_storage_of(self));
    tensor_release(self);
    tensor_expect_given_back(&source, 0, "bytes given back while the storage is held");
    life_expect_strong(storage.impl, 1, "strong references of a storage that outlived its tensor");
    RCB_EXPECT(tensor_storage_get(storage)->data.data == source.bytes, "its bytes are there",
               "others");
    tensor_storage_release(storage);
    tensor_expect_given_back(&source, 1, "bytes given back after the storage");
    life_expect_no_memory("tensors and storages leave no memory");
}

/* Two sources change places, one tensor moves from its storage to another: shows bytes that go
 * back to the wrong source, and a storage that a tensor forgets. */
static void tensor_gives_to_owner(rcb_world *world)
{
    (void)world;
    tensor_source first = {.given_back = 0};
    tensor_source second = {.given_back = 0};
    tensor a = tensor_new_of_source(&first);
    tensor b = tensor_new_of_source(&second);
    RCB_EXPECT_TRUE(tensor_set_storage(a, tensor_new_storage_retained(tensor_storage_of(b)),
                                       &tensor_source_shape, 0, NULL),
                    "a tensor takes another storage");
    tensor_expect_given_back(&first, 1, "bytes of the storage that was let go");
    tensor_expect_given_back(&second, 0, "bytes of the storage that both use");
    tensor_release(b);
    tensor_expect_given_back(&second, 0, "bytes of the storage that the first still uses");
    RCB_EXPECT(tensor_data_of(a, NULL) == second.bytes, "its bytes are there", "others");
    tensor_release(a);
    tensor_expect_given_back(&second, 1, "bytes of the second storage in the end");
    tensor_expect_given_back(&first, 1, "bytes of the first storage in the end");
    life_expect_no_memory("tensors and storages leave no memory");
}

/* Bytes of the two devices, one of which has none: shows bytes that are left, or not the
 * device's. */
static void tensor_gives_to_device(rcb_world *world)
{
    (void)world;
    const tensor_shape shape = {1, {1000}};
    tensor meta = tensor_new_empty(&shape, TENSOR_INT64, TENSOR_DEVICE_META, NULL);
    tensor cpu = tensor_new_empty(&shape, TENSOR_INT64, TENSOR_DEVICE_CPU, NULL);
    RCB_EXPECT_TRUE(tensor_is_defined(meta) && tensor_is_defined(cpu), "tensors are made");
    RCB_EXPECT(rcb_heap_live_bytes() >= 8000, "a live tensor has its bytes",
               "%" PRIu64 " bytes are live", rcb_heap_live_bytes());
    int64_t *elements = tensor_data_of(cpu, NULL);
    for (int64_t i = 0; i < 1000; i++) {
        elements[i] = i;
    }
    tensor clone = tensor_new_clone(cpu, NULL);
    tensor_reset(&cpu);
    rcb_settle();
    elements = tensor_data_of(clone, NULL);
    for (int64_t i = 0; i < 1000; i++) {
        RCB_EXPECT_EQ(elements[i], i, "element of a clone whose original is gone");
    }
    tensor_release(clone);
    rcb_settle();
    RCB_EXPECT(rcb_heap_live_bytes() < 8000, "a dead tensor's bytes are gone",
               "%" PRIu64 " bytes are live", rcb_heap_live_bytes());
    tensor_release(meta);
    life_expect_no_memory("tensors of both devices leave no memory");
}

/* ---- TENSOR-02 ---- */

/* The base of a view and of a view of that goes first: shows a view that holds the tensor, and one
 * that holds nothing. */
static void tensor_view_keeps_storage(rcb_world *world)
{
    (void)world;
    tensor_source source = {.given_back = 0};
    tensor base = tensor_new_of_source(&source);
    tensor view = tensor_new_narrow(base, 0, 1, 2, NULL);
    RCB_EXPECT_TRUE(tensor_is_defined(view), "a view is made");
    life_expect_strong(base.impl, 1, "strong references of the base beside its view");
    life_expect_strong(tensor_storage_of(base).impl, 2, "strong references of the storage");
    uint64_t blocks = rcb_heap_live_blocks();
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tensor_weak weak = tensor_new_weak(base, NULL);
    tensor_reset(&base);
    rcb_settle();
    RCB_EXPECT_TRUE(tensor_weak_expired(weak), "the base has died although a view lives");
    RCB_EXPECT_FALSE(tensor_is_defined(tensor_new_locked(weak)), "it cannot be locked");
    tensor_weak_release(weak);
#else
    tensor_reset(&base);
#endif
    tensor_expect_given_back(&source, 0, "bytes given back while a view lives");
    RCB_EXPECT(rcb_heap_live_blocks() < blocks, "the base's memory is gone although a view lives",
               "%" PRIu64 " blocks are live, as before", rcb_heap_live_blocks());
    life_expect_strong(tensor_storage_of(view).impl, 1, "strong references of the storage");

    tensor second = tensor_new_transposed(view, 0, 1, NULL);
    RCB_EXPECT_TRUE(tensor_is_defined(second), "a view of a view is made");
    tensor_release(view);
    tensor_expect_given_back(&source, 0, "bytes given back while a view of the view lives");
    const unsigned char *first = tensor_data_of(second, NULL);
    RCB_EXPECT(first == source.bytes + 6, "the view begins in the base's second row", "elsewhere");
    for (unsigned i = 0; i < 12; i++) {
        RCB_EXPECT_EQ(first[i], i + 7, "bytes seen through the view");
    }
    tensor_release(second);
    tensor_expect_given_back(&source, 1, "bytes given back after the last view");
    life_expect_no_memory("views leave no memory");
}

/* The view goes first: shows a view that gives the base's bytes back. */
static void tensor_view_goes_first(rcb_world *world)
{
    (void)world;
    tensor_source source = {.given_back = 0};
    tensor base = tensor_new_of_source(&source);
    for (unsigned i = 0; i < 3; i++) {
        tensor_release(tensor_new_view(base, &(tensor_shape){1, {24}}, NULL));
        tensor_expect_given_back(&source, 0, "bytes given back while the base lives");
        life_expect_strong(tensor_storage_of(base).impl, 1, "strong references of the storage");
    }
    tensor_release(base);
    tensor_expect_given_back(&source, 1, "bytes given back after the base");
}

/* ---- TENSOR-03, TENSOR-04 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE

enum { TENSOR_MANY = 1000000, TENSOR_STACK_BYTES = 64 * 1024 };

/* A graph is made and released by a thread of its own, whose stack is small. */
typedef struct tensor_long {
    tensor_node (*make)(void);
    bool made;
    uint64_t blocks_before, blocks_after; /* around the release */
    uint64_t requests;                    /* during it */
} tensor_long;

static void *tensor_long_thread(void *argument)
{
    tensor_long *graph = argument;
    rc_thread_attach();
    tensor_node root = graph->make();
    graph->made = !rc_is_null(root.impl);
    graph->blocks_before = rcb_heap_live_blocks();
    uint64_t requests = rcb_heap_requests();
    rcb_heap_refuse(1);
    tensor_node_release(root);
    graph->requests = rcb_heap_requests() - requests;
    rcb_heap_refuse(0);
    graph->blocks_after = rcb_heap_live_blocks();
    rc_quiesce();
    rc_thread_detach();
    return NULL;
}

static inline tensor_long tensor_run_long(tensor_node (*make)(void))
{
    tensor_long graph = {.make = make};
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int failed = pthread_attr_setstacksize(&attributes, TENSOR_STACK_BYTES);
    failed |= pthread_create(&thread, &attributes, tensor_long_thread, &graph);
    RCB_EXPECT(failed == 0, "a thread with 64 KiB of stack can be started", "error %d", failed);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    RCB_EXPECT_TRUE(graph.made, "the graph is made when memory is granted");
    RCB_EXPECT(graph.blocks_before >= TENSOR_MANY, "a million nodes are live before the release",
               "%" PRIu64 " blocks", graph.blocks_before);
    RCB_EXPECT_EQ(graph.blocks_after, 0, "live blocks when the release has returned");
    return graph;
}

/* node -> node -> ... */
static tensor_node tensor_new_chain(void)
{
    tensor_node last = tensor_new_node(0, NULL, 0, NULL, 0, NULL);
    for (int i = 1; i < TENSOR_MANY; i++) {
        tensor_node node = tensor_new_node(0, NULL, 0, &last, 1, NULL);
        tensor_node_release(last);
        last = node;
    }
    return last;
}

/* One node -> a million nodes. */
static tensor_node tensor_new_fan(void)
{
    tensor_node none = {rc_null()};
    tensor_node *children = calloc(TENSOR_MANY, sizeof *children);
    if (children == NULL) {
        return none;
    }
    for (int i = 0; i < TENSOR_MANY; i++) {
        children[i] = tensor_new_node(0, NULL, 0, NULL, 0, NULL);
    }
    tensor_node root = tensor_new_node(0, NULL, 0, children, TENSOR_MANY, NULL);
    for (int i = 0; i < TENSOR_MANY; i++) {
        tensor_node_release(children[i]);
    }
    free(children);
    return root;
}

/* A chain of a million nodes goes by one release: shows a stack that grows with the chain (the
 * process dies) and a queue of deaths that loses some. */
static void tensor_long_chain(rcb_world *world)
{
    (void)world;
    tensor_run_long(tensor_new_chain);
}

/* A node with a million children goes by one release, with memory refused: shows a list of
 * deaths that grows, on the stack or by request. */
static void tensor_wide_fan(rcb_world *world)
{
    (void)world;
    tensor_long graph = tensor_run_long(tensor_new_fan);
    RCB_EXPECT_EQ(graph.requests, 0, "requests for memory during the release");
}
#endif

/* ---- TENSOR-05 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* Leaf and accumulator, the leaf's handle goes first, then last: shows a leaf that holds its
 * accumulator, and an accumulator that does not hold its leaf. */
static void tensor_no_cycle(rcb_world *world)
{
    (void)world;
    for (unsigned leaf_first = 0; leaf_first < 2; leaf_first++) {
        tensor_source source = {.given_back = 0};
        tensor leaf = tensor_new_of_source(&source);
        tensor_require_grad(leaf, NULL);
        tensor_node accumulator = tensor_new_accumulator(leaf, NULL);
        RCB_EXPECT_FALSE(rc_is_null(accumulator.impl), "a leaf has an accumulator");
        life_expect_strong(accumulator.impl, 1, "strong references of the accumulator");
        life_expect_weak(accumulator.impl, 1, "weak references of the accumulator");
        life_expect_strong(leaf.impl, 2, "strong references of the leaf");
        rc_weak weak = rc_weak_new(accumulator.impl);
        if (leaf_first != 0) {
            tensor_release(leaf);
            tensor_expect_given_back(&source, 0, "bytes given back while the accumulator lives");
            tensor_node_release(accumulator);
        } else {
            tensor_node_release(accumulator);
            rcb_settle();
            RCB_EXPECT_TRUE(rc_weak_expired(weak), "the accumulator dies although its leaf lives");
            tensor_expect_given_back(&source, 0, "bytes given back while the leaf lives");
            life_expect_strong(leaf.impl, 1, "strong references of the leaf");
            tensor_release(leaf);
        }
        tensor_expect_given_back(&source, 1, "bytes given back after both handles");
        RCB_EXPECT_TRUE(rc_weak_expired(weak), "the accumulator has died");
        rc_weak_release(weak);
        life_expect_no_memory("leaf and accumulator leave no memory");
    }
}

/* A graph holds the accumulator; while it lives a second forward finds it again, later one finds
 * a new one: shows a weak handle that keeps it, and a lock that brings it back. */
static void tensor_graph_keeps_accumulator(rcb_world *world)
{
    (void)world;
    tensor_source source = {.given_back = 0};
    tensor leaf = tensor_new_of_source(&source);
    tensor_require_grad(leaf, NULL);
    tensor_node accumulator = tensor_new_accumulator(leaf, NULL);
    tensor_node graph = tensor_new_node(1, &leaf, 1, &accumulator, 1, NULL);
    RCB_EXPECT_FALSE(rc_is_null(graph.impl), "a node is made when memory is granted");
    tensor_node_release(accumulator);
    rcb_settle();
    tensor_node again = tensor_new_accumulator(leaf, NULL);
    RCB_EXPECT(tensor_node_get(again) == tensor_node_get(tensor_node_edge(graph, 0)),
               "a leaf finds the accumulator that a graph holds", "another");
    rc_weak weak = rc_weak_new(again.impl);
    tensor_node_release(again);
    RCB_EXPECT_FALSE(rc_weak_expired(weak), "the graph keeps the accumulator");
    tensor_node_release(graph);
    rcb_settle();
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "the accumulator dies with the graph");
    tensor_node next = tensor_new_accumulator(leaf, NULL);
    RCB_EXPECT_FALSE(rc_is_null(next.impl), "then the leaf gets a new accumulator");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "and the old one stays dead");
    life_expect_strong(next.impl, 1, "strong references of the new accumulator");
    rc_weak_release(weak);
    tensor_release(leaf);
    tensor_expect_given_back(&source, 0, "bytes given back while an accumulator lives");
    tensor_node_release(next);
    tensor_expect_given_back(&source, 1, "bytes given back after the last of them");
    life_expect_no_memory("leaf, graph and accumulators leave no memory");
}
#endif

static const rcb_scenario rcb_tensor[] = {
    {.clause = "TENSOR-01", .name = "gives_bytes_back", .thread = {tensor_gives_bytes_back}},
    {.clause = "TENSOR-01", .name = "gives_to_owner", .thread = {tensor_gives_to_owner}},
    {.clause = "TENSOR-01", .name = "gives_to_device", .thread = {tensor_gives_to_device}},
    {.clause = "TENSOR-02", .name = "view_keeps_storage", .thread = {tensor_view_keeps_storage}},
    {.clause = "TENSOR-02", .name = "view_goes_first", .thread = {tensor_view_goes_first}},
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE
    {.clause = "TENSOR-03",
     .name = "long_chain",
     .flags = RCB_HEAVY,
     .thread = {tensor_long_chain}},
    {.clause = "TENSOR-04", .name = "wide_fan", .flags = RCB_HEAVY, .thread = {tensor_wide_fan}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "TENSOR-05", .name = "no_cycle", .thread = {tensor_no_cycle}},
    {.clause = "TENSOR-05",
     .name = "graph_keeps_accumulator",
     .thread = {tensor_graph_keeps_accumulator}},
#endif
    {.clause = NULL},
};
