/* HOOK: finalizers. Uses the checks of life.h. Those with threads are short: two objects die at once, or
 * one dies while others let go of it. */

/* ---- HOOK-01 ---- */

enum { HOOK_BYTES = 4000 };

/* A payload that a header's width of damage cannot hide in. */
typedef struct hook_large {
    rcb_world *world;
    unsigned char bytes[HOOK_BYTES];
} hook_large;

static inline unsigned char hook_byte(unsigned i)
{
    return (unsigned char)(i * 7 + 1);
}

/* raw[0]: the payload that is to die. value[0]: how often this ran to its end. */
static void hook_large_finalize(void *memory)
{
    hook_large *payload = memory;
    rcb_world *world = payload->world;
    RCB_EXPECT(memory == world->raw[0], "finalize gets the payload of the dying object", "another");
    for (unsigned i = 0; i < HOOK_BYTES; i++) {
        RCB_EXPECT(payload->bytes[i] == hook_byte(i), "finalize gets the payload whole",
                   "byte %u of it is %u", i, payload->bytes[i]);
        payload->bytes[i] = (unsigned char)~hook_byte(i);
    }
    rc_strong other = rc_retain(world->strong[1]);
    rc_release(other);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak_reset(&world->weak[0]);
#endif
    for (unsigned i = 0; i < HOOK_BYTES; i++) {
        RCB_EXPECT(payload->bytes[i] == (unsigned char)~hook_byte(i),
                   "the payload is finalize's until it returns", "byte %u of it is %u", i,
                   payload->bytes[i]);
    }
    world->value[0]++;
}

static const rc_class hook_large_class = {
    .name = "large", .payload_size = sizeof(hook_large), .finalize = hook_large_finalize};

static inline rc_strong hook_new_large(rcb_world *world)
{
    rc_strong object = rc_new(&hook_large_class);
    hook_large *payload = rc_payload(object);
    RCB_EXPECT(payload != NULL, "rc_new gives an object when memory is granted", "null");
    payload->world = world;
    for (unsigned i = 0; i < HOOK_BYTES; i++) {
        payload->bytes[i] = hook_byte(i);
    }
    world->raw[0] = payload;
    return object;
}

/* Finalize reads and writes every byte of a large payload: shows a wrong address, a payload that
 * was scribbled on before, and one that is freed before the hook. */
static void hook_payload_whole(rcb_world *world)
{
    world->strong[1] = rcb_new(world, 1);
    rc_strong object = hook_new_large(world);
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers of an object with one handle");

    object = hook_new_large(world);
    rc_strong copy = rc_retain(object);
    rc_release(object);
    rc_release(copy);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 2, "finalizers with that of one with two handles");

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    object = hook_new_large(world);
    rc_weak weak = rc_weak_new(object);
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 3, "finalizers with that of one with a weak handle");
    rc_weak_release(weak);

    object = hook_new_large(world);
    world->weak[0] = rc_weak_new(object);
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_EQ(world->value[0], 4, "finalizers with that of one that drops it in finalize");
#endif
    rc_reset(&world->strong[1]);
    life_expect_no_memory("large objects are freed");
}

/* ---- HOOK-02 ---- */

/* A chain of eight dies by one release: shows a release inside a hook that is lost. */
static void hook_chain(rcb_world *world)
{
    rc_strong head = rc_null();
    for (uint32_t id = RCB_OBJECTS; id > 0; id--) {
        rc_strong object = rcb_new(world, id - 1);
        rcb_payload_of(object)->child = head;
        rcb_payload_of(object)->field[0] = id;
        head = object;
    }
    life_expect_alive(world, 0, "a chain lives while its head is held");
    rc_release(head);
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        life_expect_died(world, id, "each of a chain dies with its head");
        RCB_EXPECT_EQ(world->seen[id][0], id + 1, "what its finalize saw");
    }
    life_expect_no_memory("a chain leaves no memory");
}

/* Two parents share a child, which has a child that somebody else holds: shows a release inside
 * a hook that finalizes what has other owners. */
static void hook_shared_child(rcb_world *world)
{
    rc_strong left = rcb_new(world, 0);
    rc_strong right = rcb_new(world, 1);
    rc_strong child = rcb_new(world, 2);
    rc_strong held = rcb_new(world, 3);
    rcb_payload_of(child)->child = rc_retain(held);
    rcb_payload_of(left)->child = rc_retain(child);
    rcb_payload_of(right)->child = child;
    rc_release(left);
    life_expect_died(world, 0, "the first parent dies");
    life_expect_alive(world, 2, "the child lives with the second parent");
    life_expect_strong(rcb_payload_of(right)->child, 1, "strong references of the child");
    rc_release(right);
    life_expect_died(world, 2, "the child dies with the second parent");
    life_expect_alive(world, 3, "its child is held by another");
    life_expect_strong(held, 1, "strong references of that one");
    life_expect_payload(held, 3);
    rc_release(held);
    life_expect_died(world, 3, "and dies with its last handle");
}

/* Object 0 releases the objects 1 to 6, the only handles of which are in strong[1] to [6]. */
static void hook_release_many(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        for (unsigned i = 1; i < 7; i++) {
            rc_reset(&world->strong[i]);
        }
    }
}

/* One hook releases six objects, one of which has a child: shows a list of deaths with one
 * place. */
static void hook_many(rcb_world *world)
{
    world->on_finalize = hook_release_many;
    rc_strong object = rcb_new(world, 0);
    for (uint32_t id = 1; id < 7; id++) {
        world->strong[id] = rcb_new(world, id);
    }
    rcb_payload_of(world->strong[3])->child = rcb_new(world, 7);
    rc_release(object);
    for (uint32_t id = 0; id < RCB_OBJECTS; id++) {
        life_expect_died(world, id, "each object that finalize releases dies once");
    }
    life_expect_no_memory("they leave no memory");
}

/* ---- HOOK-03 ---- */

/* Object 0: makes an object and lets it die, makes one and keeps it, uses strong[1]. */
static void hook_use_others(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id != 0) {
        return;
    }
    rc_strong made = rcb_new(world, 2);
    rc_strong copy = rc_retain(made);
    rc_release(made);
    rc_release(copy);
    world->strong[3] = rcb_new(world, 3);
    rc_strong other = rc_retain(world->strong[1]);
    life_expect_strong(other, 2, "strong references of another object, retained in finalize");
    rc_release(other);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(world->strong[1]);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT(rc_payload(locked) == rc_payload(world->strong[1]),
               "a lock of another object succeeds in finalize", "it failed");
    rc_release(locked);
    rc_weak_release(weak);
#endif
    world->value[0] = 1;
}

/* Finalize uses other objects in every way: shows a lock held around the hook, by which the thread
 * stops itself (the time limit ends it), and a list that a nested call spoils. */
static void hook_uses_others(rcb_world *world)
{
    world->on_finalize = hook_use_others;
    world->strong[1] = rcb_new(world, 1);
    rc_strong object = rcb_new(world, 0);
    rc_release(object);
    life_expect_died(world, 0, "an object whose finalize uses others dies once");
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers that came to their end");
    life_expect_died(world, 2, "an object that lived in finalize only dies once");
    life_expect_alive(world, 1, "the other object lives");
    life_expect_alive(world, 3, "an object that finalize made and kept lives");
    life_expect_payload(world->strong[3], 3);
    life_expect_strong(world->strong[3], 1, "strong references of it");
    rc_reset(&world->strong[1]);
    rc_reset(&world->strong[3]);
    life_expect_died(world, 1, "the other object dies with its last handle");
    life_expect_died(world, 3, "so does the kept one");
    life_expect_no_memory("they leave no memory");
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* Two objects whose finalizers use a third, of which they have a handle each, die on two threads at once.
 * Shows a lock held around finalize that another finalize needs, and a count that is spoiled between. */
static void hook_use_child(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id >= 2) {
        return;
    }
    rc_strong copy = rc_retain(payload->child);
    RCB_EXPECT_EQ(rcb_payload_of(copy)->canary, RCB_CANARY, "canary of what finalize still holds");
    rcb_payload_of(copy)->field[payload->id] = 1 + payload->id;
    rc_release(copy);
    world->value[payload->id]++;
}

/* Parents in strong[0], strong[1], of the same child. */
static void hook_share_child(rcb_world *world)
{
    rc_strong child = rcb_new(world, 2);
    rc_share(child);
    for (uint32_t i = 0; i < 2; i++) {
        world->strong[i] = rcb_new(world, i);
        rcb_payload_of(world->strong[i])->child = rc_retain(child);
        rc_share(world->strong[i]);
    }
    rc_release(child);
}

static void hook_share_used_child(rcb_world *world)
{
    world->on_finalize = hook_use_child;
    hook_share_child(world);
}

static void hook_release_own(rcb_world *world)
{
    rc_reset(&world->strong[rcb_thread_index()]);
}

static void hook_check_child(rcb_world *world)
{
    for (uint32_t id = 0; id < 3; id++) {
        life_expect_died(world, id, "each of two parents and their child dies once");
    }
    life_expect_no_memory("they leave no memory");
}

static void hook_check_used_child(rcb_world *world)
{
    hook_check_child(world);
    for (uint32_t i = 0; i < 2; i++) {
        RCB_EXPECT_EQ(world->value[i], 1, "finalizers of a parent that came to their end");
        RCB_EXPECT_EQ(world->seen[2][i], 1 + i, "what the child's finalize saw of a parent's");
    }
}
#endif

#if ((RC_IMPL_CAPS)&RC_CAP_THREADS) && !defined(RC_EXPLORER)
/* Owns the handle in strong[2]. */
static void *hook_other_thread(void *argument)
{
    rcb_world *world = argument;
    rc_thread_attach();
    rc_strong copy = rc_retain(world->strong[2]);
    rc_release(world->strong[2]);
    rc_strong made = rcb_new(world, 3);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(copy);
    rc_release(rc_weak_lock(weak));
    rc_weak_release(weak);
#endif
    rc_release(made);
    rc_release(copy);
    rc_thread_detach();
    return NULL;
}

static void hook_wait_for_thread(rcb_payload *payload)
{
    if (payload->id != 0) {
        return;
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, hook_other_thread, payload->world) == 0) {
        pthread_join(thread, NULL);
        payload->world->value[0] = 1;
    }
}

/* Finalize waits for a thread that makes, retains, locks and releases: shows a lock held around the
 * hook that its own thread may take again (the time limit ends it). */
static void hook_waits_for_thread(rcb_world *world)
{
    world->on_finalize = hook_wait_for_thread;
    world->strong[1] = rcb_new(world, 1);
    rc_share(world->strong[1]);
    world->strong[2] = rc_retain(world->strong[1]);
    rc_strong object = rcb_new(world, 0);
    rc_release(object);
    life_expect_died(world, 0, "an object whose finalize waits for a thread dies once");
    RCB_EXPECT_EQ(world->value[0], 1, "threads that finalize has waited for");
    life_expect_died(world, 3, "what the thread made dies once");
    life_expect_alive(world, 1, "what another handle holds lives");
    life_expect_strong(world->strong[1], 1, "strong references of it");
    rc_reset(&world->strong[1]);
}
#endif

/* ---- HOOK-01 with threads ---- */

#if ((RC_IMPL_CAPS)&RC_CAP_THREADS) && ((RC_IMPL_CAPS)&RC_CAP_WEAK)
/* Finalize writes every field while another thread locks, uses and asks: shows a finalize that begins while
 * a handle is still used, and a lock that reads or writes the payload. */
static void hook_write_whole(rcb_payload *payload)
{
    for (uint64_t i = 0; i < RCB_THREADS_MAX; i++) {
        payload->field[i] = 50 + i;
    }
    for (uint64_t i = 0; i < RCB_THREADS_MAX; i++) {
        RCB_EXPECT_EQ(payload->field[i], 50 + i, "what finalize wrote in the payload before");
    }
    payload->world->value[5]++;
}

/* The only strong handle in strong[0]; weak handles in weak[1], weak[2], and in the payload. */
static void hook_share_weak(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rcb_payload_of(world->strong[0])->weak = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
    world->weak[2] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
}

static void hook_share_written(rcb_world *world)
{
    hook_share_weak(world);
    world->on_finalize = hook_write_whole;
}

static void hook_lock_and_use(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong locked = rc_weak_lock(world->weak[thread]);
    if (!rc_is_null(locked)) {
        rcb_payload_of(locked)->field[thread] = thread;
        rc_release(locked);
    }
    (void)rc_weak_expired(world->weak[thread]);
}

static void hook_drop_weak(rcb_world *world)
{
    rc_weak_reset(&world->weak[rcb_thread_index()]);
}

static void hook_check_died(rcb_world *world)
{
    life_expect_died(world, 0, "the object dies once");
    RCB_EXPECT_EQ(world->value[5], 1, "finalizers that came to their end");
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        rc_weak_reset(&world->weak[i]);
    }
    life_expect_no_memory("and is freed after its last weak handle");
}
#endif

/* ---- HOOK-04 ---- */

static const rc_class hook_bare_class = {.name = "bare", .payload_size = 32};

/* An object without finalize dies on every way: shows a call through NULL, and an object that is
 * kept because nobody waits for it. */
static void hook_none(rcb_world *world)
{
    (void)world;
    rc_release(rc_new(&hook_bare_class));
    life_expect_no_memory("an object without finalize is freed");
    rc_strong object = rc_new(&hook_bare_class);
    RCB_EXPECT_FALSE(rc_is_null(object), "a class without finalize makes objects");
    memset(rc_payload(object), 0x5a, hook_bare_class.payload_size);
    rc_strong copy = rc_retain(object);
    rc_release(object);
    life_expect_strong(copy, 1, "strong references of an object without finalize");
    rc_release(copy);
    life_expect_no_memory("so it is after two handles");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    object = rc_new(&hook_bare_class);
    rc_weak weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "an object without finalize can be locked");
    rc_release(object);
    rc_release(locked);
    rcb_settle();
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "it expires when it dies");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "it cannot be locked then");
    rc_weak_release(weak);
    life_expect_no_memory("so it is after its last weak handle");
#endif
}

/* ---- HOOK-05 ---- */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* weak[0] to weak[2] are to the object itself. It is dropped in turn, and looked at between. */
static void hook_drop_own(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    uint32_t id = payload->id;
    for (unsigned i = 0; i < 3; i++) {
        rc_weak_reset(&world->weak[i]);
        RCB_EXPECT(payload->canary == RCB_CANARY && payload->id == id && payload->world == world,
                   "the payload stays while finalize runs, whatever weak handles go",
                   "after %u weak releases its canary is %08" PRIx32, i + 1, payload->canary);
        RCB_EXPECT_EQ(payload->field[1], 1000 + i, "what finalize wrote there before");
        payload->field[1]++;
    }
    world->value[id]++;
}

/* Finalize drops the object's only three weak handles and works on: shows memory that goes with the
 * last of them. The freed pattern, a write after free and a second free each betray it. */
static void hook_block_stays(rcb_world *world)
{
    world->on_finalize = hook_drop_own;
    for (uint32_t id = 0; id < 2; id++) {
        rc_strong object = rcb_new(world, id);
        rcb_payload_of(object)->field[1] = 1000;
        for (unsigned i = 0; i < 3; i++) {
            world->weak[i] = rc_weak_new(object);
        }
        if (id == 1) {
            rc_strong locked = rc_weak_lock(world->weak[1]);
            rc_release(object);
            object = locked;
        }
        rc_release(object);
        life_expect_died(world, id, "an object that drops its weak handles in finalize dies once");
        RCB_EXPECT_EQ(world->value[id], 1, "finalizers that came to their end");
        life_expect_no_memory("and is freed after it");
        const char *wrong = rcb_heap_check();
        RCB_EXPECT(wrong == NULL, "nothing is written after the block went", "%s", wrong);
    }
}

/* The finalize of a child drops the parent's only weak handle: shows a block that goes while the
 * hook further out still runs. */
static void hook_drop_parents(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        rc_reset(&payload->child);
        RCB_EXPECT(payload->canary == RCB_CANARY, "the payload stays while its finalize runs",
                   "its canary is %08" PRIx32, payload->canary);
        payload->field[1] = 1;
    } else {
        rc_weak_reset(&world->weak[0]);
    }
}

static void hook_block_stays_nested(rcb_world *world)
{
    world->on_finalize = hook_drop_parents;
    rc_strong parent = rcb_new(world, 0);
    world->weak[0] = rc_weak_new(parent);
    rcb_payload_of(parent)->child = rcb_new(world, 1);
    rc_release(parent);
    life_expect_died(world, 0, "the parent dies once");
    life_expect_died(world, 1, "the child dies once");
    life_expect_no_memory("both are freed");
    const char *wrong = rcb_heap_check();
    RCB_EXPECT(wrong == NULL, "nothing is written after the block went", "%s", wrong);
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* Finalize drops the weak handle in its own payload, and works on; other threads drop theirs meanwhile.
 * Shows a block that goes with the last weak handle though finalize is not done, or goes twice. */
static void hook_drop_inside(rcb_payload *payload)
{
    rc_weak_reset(&payload->weak);
    RCB_EXPECT_EQ(payload->canary, RCB_CANARY, "canary while finalize runs");
    payload->field[0] = 1;
    payload->world->value[5]++;
}

static void hook_share_dropped(rcb_world *world)
{
    hook_share_weak(world);
    rc_weak_reset(&world->weak[2]);
    world->on_finalize = hook_drop_inside;
}

static void hook_share_dropped_by_two(rcb_world *world)
{
    hook_share_weak(world);
    world->on_finalize = hook_drop_inside;
}
#endif

/* ---- HOOK-06 ---- */

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* Two objects with a weak handle to each other die on two threads at once, and each one's finalize locks
 * the other. Shows one that is found alive though its finalize has begun, one that dies twice because a
 * finalize let go of it, and finalizers that wait for each other. */
static void hook_lock_other(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    const uint32_t other = 1 - payload->id;
    rc_strong locked = rc_weak_lock(payload->weak);
    if (!rc_is_null(locked)) {
        RCB_EXPECT_EQ(rcb_payload_of(locked)->canary, RCB_CANARY, "canary of a locked object");
        RCB_EXPECT_EQ(world->finalized[other], 0, "finalizers of a locked object");
        rc_release(locked);
    }
    world->value[payload->id]++;
}

static void hook_share_each_other(rcb_world *world)
{
    world->on_finalize = hook_lock_other;
    for (uint32_t i = 0; i < 2; i++) {
        world->strong[i] = rcb_new(world, i);
        rc_share(world->strong[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        rcb_payload_of(world->strong[i])->weak = rc_weak_new(world->strong[1 - i]);
    }
}

static void hook_check_each_other(rcb_world *world)
{
    for (uint32_t i = 0; i < 2; i++) {
        life_expect_died(world, i, "each of two objects that die at once dies once");
        RCB_EXPECT_EQ(world->value[i], 1, "finalizers that came to their end");
    }
    life_expect_no_memory("they leave no memory");
}
#endif

/* weak[0] and weak[1] are to the objects 0 and 1. Object 0 holds object 1 alone. */
static void hook_look_at_both(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    rc_strong first = rc_weak_lock(world->weak[0]);
    rc_strong second = rc_weak_lock(world->weak[1]);
    RCB_EXPECT(rc_is_null(first) && rc_weak_expired(world->weak[0]),
               "the first is dead from its finalize on", "it could be locked or has not expired");
    if (payload->id == 0) {
        RCB_EXPECT(!rc_is_null(second) && !rc_weak_expired(world->weak[1]),
                   "the second lives while the first one holds it",
                   "it could not be locked or has expired");
        life_expect_strong(second, 2, "strong references of the second, with the lock's");
        RCB_EXPECT_EQ(world->finalized[1], 0, "finalizers of the second in that of the first");
        RCB_EXPECT_EQ(rcb_payload_of(second)->canary, RCB_CANARY, "canary of the second");
        rc_release(second);
        RCB_EXPECT_EQ(world->finalized[1], 0, "finalizers of the second after the lock's release");
    } else {
        RCB_EXPECT(rc_is_null(second) && rc_weak_expired(world->weak[1]),
                   "the second is dead from its finalize on",
                   "it could be locked or has not expired");
    }
    world->value[payload->id]++;
}

/* A parent dies and takes its only child along; the hook of each looks at both: shows weak handles
 * that are cleared for both before the first hook, or one after the other between the hooks. */
static void hook_die_together(rcb_world *world)
{
    world->on_finalize = hook_look_at_both;
    rc_strong parent = rcb_new(world, 0);
    rcb_payload_of(parent)->child = rcb_new(world, 1);
    world->weak[0] = rc_weak_new(parent);
    world->weak[1] = rc_weak_new(rcb_payload_of(parent)->child);
    rc_release(parent);
    life_expect_died(world, 0, "the parent dies once");
    life_expect_died(world, 1, "the child dies once");
    RCB_EXPECT_EQ(world->value[0], 1, "finalizers of the parent that looked");
    RCB_EXPECT_EQ(world->value[1], 1, "finalizers of the child that looked");
    rc_weak_reset(&world->weak[0]);
    rc_weak_reset(&world->weak[1]);
}

/* Object 0 locks object 1 and keeps it. */
static void hook_keep_second(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        world->strong[1] = rc_weak_lock(world->weak[1]);
    }
}

/* The first hook locks the child and keeps it: shows a child that dies with its parent all the
 * same. */
static void hook_saves_child(rcb_world *world)
{
    world->on_finalize = hook_keep_second;
    rc_strong parent = rcb_new(world, 0);
    rcb_payload_of(parent)->child = rcb_new(world, 1);
    world->weak[1] = rc_weak_new(rcb_payload_of(parent)->child);
    rc_release(parent);
    life_expect_died(world, 0, "the parent dies once");
    life_expect_alive(world, 1, "a child that the parent's finalize has locked lives");
    life_expect_payload(world->strong[1], 1);
    life_expect_strong(world->strong[1], 1, "strong references of the child");
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[1]), "the child has not expired");
    rc_reset(&world->strong[1]);
    life_expect_died(world, 1, "the child dies with that handle");
    rc_weak_reset(&world->weak[1]);
}

#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE
/* Object 0 gives up object 1's only handle and looks at it. */
static void hook_release_and_look(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (payload->id == 0) {
        rc_reset(&payload->child);
        rc_strong locked = rc_weak_lock(world->weak[1]);
        RCB_EXPECT(rc_is_null(locked) && rc_weak_expired(world->weak[1]),
                   "an object whose last handle finalize has released is dead",
                   "it could be locked or has not expired");
    }
}

/* The first hook releases the second's last handle and looks at once: shows a nested death that
 * is put off with its object still to be had. */
static void hook_second_dead_at_once(rcb_world *world)
{
    world->on_finalize = hook_release_and_look;
    rc_strong parent = rcb_new(world, 0);
    rcb_payload_of(parent)->child = rcb_new(world, 1);
    world->weak[1] = rc_weak_new(rcb_payload_of(parent)->child);
    rc_release(parent);
    life_expect_died(world, 0, "the parent dies once");
    life_expect_died(world, 1, "the child dies once");
    rc_weak_reset(&world->weak[1]);
}
#endif
#endif

static const rcb_scenario rcb_hook[] = {
    {.clause = "HOOK-01", .name = "payload_whole", .thread = {hook_payload_whole}},
    {.clause = "HOOK-02", .name = "chain", .thread = {hook_chain}},
    {.clause = "HOOK-02", .name = "shared_child", .thread = {hook_shared_child}},
    {.clause = "HOOK-02", .name = "many", .thread = {hook_many}},
    {.clause = "HOOK-03", .name = "uses_others", .thread = {hook_uses_others}},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "HOOK-01",
     .name = "whole_beside_a_lock",
     .setup = hook_share_written,
     .thread = {hook_release_own, hook_lock_and_use},
     .check = hook_check_died},
#endif
    {.clause = "HOOK-02",
     .name = "two_parents_at_once",
     .setup = hook_share_child,
     .thread = {hook_release_own, hook_release_own},
     .check = hook_check_child},
    {.clause = "HOOK-03",
     .name = "two_use_one_child",
     .setup = hook_share_used_child,
     .thread = {hook_release_own, hook_release_own},
     .check = hook_check_used_child},
#ifndef RC_EXPLORER /* a thread of its own */
    {.clause = "HOOK-03",
     .name = "waits_for_thread",
     .needs = RC_CAP_THREADS,
     .flags = RCB_HEAVY,
     .thread = {hook_waits_for_thread}},
#endif
#endif
    {.clause = "HOOK-04", .name = "none", .thread = {hook_none}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "HOOK-05", .name = "block_stays", .thread = {hook_block_stays}},
    {.clause = "HOOK-05", .name = "block_stays_nested", .thread = {hook_block_stays_nested}},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "HOOK-05",
     .name = "block_stays_beside_a_weak_release",
     .setup = hook_share_dropped,
     .thread = {hook_release_own, hook_drop_weak},
     .check = hook_check_died},
    {.clause = "HOOK-05",
     .name = "block_stays_beside_two_weak_releases",
     .setup = hook_share_dropped_by_two,
     .thread = {hook_release_own, hook_drop_weak, hook_drop_weak},
     .check = hook_check_died},
    {.clause = "HOOK-06",
     .name = "two_lock_each_other",
     .setup = hook_share_each_other,
     .thread = {hook_release_own, hook_release_own},
     .check = hook_check_each_other},
#endif
    {.clause = "HOOK-06", .name = "die_together", .thread = {hook_die_together}},
    {.clause = "HOOK-06", .name = "saves_child", .thread = {hook_saves_child}},
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE
    {.clause = "HOOK-06",
     .name = "second_dead_at_once",
     .needs = RC_CAP_IMMEDIATE,
     .thread = {hook_second_dead_at_once}},
#endif
#endif
    {.clause = NULL},
};
