/* WRAP: an object of another runtime mirrors this one and owns one of its strong references.
 *
 * The hooks count in the world. They are looked at after rcb_settle: a strategy that puts releases off
 * moves the count, and so crosses the edge, when it finishes them. In scenarios with threads, hooks of
 * one object may run at once: only their numbers at the end are compared.
 */
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER

/* Hooks of object 0 so far, on all threads together. RELAXED: one thread, or after the join. */
static void wrap_expect_hooks(rcb_world *world, uint64_t retains, uint64_t releases, uint64_t tries,
                              const char *when)
{
    char what[160];
    snprintf(what, sizeof what, "wrapper_retain calls, %s", when);
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_retains[0], memory_order_relaxed), retains,
                  what);
    snprintf(what, sizeof what, "wrapper_release calls, %s", when);
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_releases[0], memory_order_relaxed), releases,
                  what);
    snprintf(what, sizeof what, "wrapper_try_retain calls, %s", when);
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_tries[0], memory_order_relaxed), tries,
                  what);
}

static void wrap_expect_strong(rc_strong handle, uint64_t wanted, const char *when)
{
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        char what[160];
        snprintf(what, sizeof what, "strong references, %s", when);
        RCB_EXPECT_EQ(rc_use_count(handle), wanted, what);
    }
}

static void wrap_release(rc_strong handle)
{
    rc_release(handle);
    rcb_settle();
}

static void wrap_check_died_once(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
}

/* ---- WRAP-01 ---- */

/* Attach and detach several times, alone and in company. Shows a bit that is added, toggled or never
 * cleared, and a count that moves with it. */
static void wrap_attach_detach(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    RCB_EXPECT_FALSE(rc_has_wrapper(object), "a new object has no wrapper");
    for (int round = 0; round < 3; round++) {
        rc_wrapper_attach(object);
        RCB_EXPECT_TRUE(rc_has_wrapper(object), "there is a wrapper after attach");
        wrap_expect_strong(object, 1, "after attach");
        rc_wrapper_detach(object);
        RCB_EXPECT_FALSE(rc_has_wrapper(object), "there is no wrapper after detach");
        wrap_expect_strong(object, 1, "after detach");
    }
    rc_strong second = rc_retain(object);
    rc_strong third = rc_retain(object);
    rc_wrapper_attach(second);
    RCB_EXPECT_TRUE(rc_has_wrapper(object) && rc_has_wrapper(second) && rc_has_wrapper(third),
                    "every handle of the object tells of the wrapper");
    wrap_expect_strong(third, 3, "after attach with three handles");
    rc_wrapper_detach(second);
    RCB_EXPECT_FALSE(rc_has_wrapper(object) || rc_has_wrapper(second) || rc_has_wrapper(third),
                     "no handle of the object tells of a wrapper after detach");
    wrap_expect_strong(third, 3, "after detach with three handles");
    rc_release(object);
    rc_release(second);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0,
                  "finalizers while the handle that detach gave back is held");
    rc_release(third);
}

/* A second object beside the wrapped one. Shows a bit that is kept per class or per thread. */
static void wrap_other_object(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_strong other = rcb_new_of(world, &rcb_wrapped, 1);
    rc_wrapper_attach(object);
    RCB_EXPECT_FALSE(rc_has_wrapper(other), "another object has no wrapper");
    rc_wrapper_attach(other);
    rc_wrapper_detach(object);
    RCB_EXPECT_TRUE(rc_has_wrapper(other),
                    "another object's wrapper stays when this one is detached");
    rc_wrapper_detach(other);
    rc_release(object);
    rc_release(other);
}

/* ---- WRAP-02, WRAP-03 ---- */

/* 1 -> 2 -> 1, three times. Shows a missing hook, one called twice, and one that is called only the first
 * time; with wrapper_try_retain in the class, a retain that asks it. */
static void wrap_cross_edge(rcb_world *world, const rc_class *class)
{
    rc_strong object = rcb_new_of(world, class, 0);
    rc_wrapper_attach(object);
    for (uint64_t round = 1; round <= 3; round++) {
        rc_strong copy = rc_retain(object);
        wrap_expect_hooks(world, round, round - 1, 0, "after a retain from 1 to 2");
        RCB_EXPECT_TRUE(rc_payload(copy) == rc_payload(object), "the copy is of the same object");
        wrap_release(copy);
        wrap_expect_hooks(world, round, round, 0, "after a release from 2 to 1");
    }
    rc_wrapper_detach(object);
    rc_release(object);
}

static void wrap_retain_at_edge(rcb_world *world)
{
    wrap_cross_edge(world, &rcb_wrapped);
}

static void wrap_retain_asks_nothing(rcb_world *world)
{
    wrap_cross_edge(world, &rcb_wrapped_try);
}

/* 3 -> 2 -> 1, by handles in another order than they were made. Shows a hook at the wrong step. */
static void wrap_release_down(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_wrapper_attach(object);
    rc_strong second = rc_retain(object);
    rc_strong third = rc_retain(object);
    wrap_release(second);
    wrap_expect_hooks(world, 1, 0, 0, "after a release from 3 to 2");
    wrap_release(third);
    wrap_expect_hooks(world, 1, 1, 0, "after a release from 2 to 1");
    rc_wrapper_detach(object);
    rc_release(object);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same with weak handles about. Shows an edge that is looked for in the whole word. */
static void wrap_edge_with_weak(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    world->weak[0] = rc_weak_new(object);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    rc_wrapper_attach(object);
    wrap_expect_hooks(world, 0, 0, 0, "after attach at 1 with weak handles");
    rc_strong copy = rc_retain(object);
    wrap_expect_hooks(world, 1, 0, 0, "after a retain from 1 to 2 with weak handles");
    wrap_release(copy);
    wrap_expect_hooks(world, 1, 1, 0, "after a release from 2 to 1 with weak handles");
    rc_wrapper_detach(object);
    wrap_expect_hooks(world, 1, 1, 0, "after detach at 1 with weak handles");
    rc_release(object);
    rc_weak_reset(&world->weak[0]);
    rc_weak_reset(&world->weak[1]);
}
#endif

/* ---- WRAP-04 ---- */

/* 2 -> 5 -> 2 with a wrapper. Shows a hook at every retain, or at every even count. */
static void wrap_above_two(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_wrapper_attach(object);
    world->strong[0] = rc_retain(object);
    for (unsigned i = 1; i < 4; i++) {
        world->strong[i] = rc_retain(object);
        wrap_expect_hooks(world, 1, 0, 0, "after a retain above 2");
    }
    for (unsigned i = 3; i > 0; i--) {
        rc_reset(&world->strong[i]);
        rcb_settle();
        wrap_expect_hooks(world, 1, 0, 0, "after a release above 2");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    wrap_expect_hooks(world, 1, 1, 0, "after the release from 2 to 1");
    rc_wrapper_detach(object);
    rc_release(object);
}

/* 1 -> 3 -> 0 without a wrapper: never attached, and detached again. Shows hooks that the class alone
 * decides, and a bit that detach leaves behind. */
static void wrap_without_wrapper(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    for (int round = 0; round < 2; round++) {
        rc_strong second = rc_retain(object);
        rc_strong third = rc_retain(object);
        wrap_release(second);
        wrap_release(third);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rc_weak weak = rc_weak_new(object);
        wrap_release(rc_weak_lock(weak));
        rc_weak_release(weak);
#endif
        wrap_expect_hooks(world, 0, 0, 0, "without a wrapper");
        rc_wrapper_attach(object);
        rc_wrapper_detach(object);
        wrap_expect_hooks(world, 0, 0, 0, "after attach and detach at 1");
    }
    wrap_release(object);
    wrap_expect_hooks(world, 0, 0, 0, "after the last release without a wrapper");
}

/* Queries, shares, swaps and quiesce at 1 and at 2. Shows a hook in an operation that moves no count. */
static void wrap_queries(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_wrapper_attach(world->strong[0]);
    for (uint64_t strong = 1; strong <= 2; strong++) {
        RCB_EXPECT_TRUE(rc_has_wrapper(world->strong[0]), "a query leaves the wrapper");
        RCB_EXPECT_TRUE(rc_use_count(world->strong[0]) > 0, "a live object has strong references");
        (void)rc_is_unique(world->strong[0]);
        rc_share(world->strong[0]);
        rc_swap(&world->strong[0], &world->strong[2]);
        rc_swap(&world->strong[0], &world->strong[2]);
        rcb_settle();
#if (RC_IMPL_CAPS) & RC_CAP_RAW
        world->strong[0] = rc_from_raw(rc_into_raw(world->strong[0]));
#endif
        wrap_expect_hooks(world, strong - 1, 0, 0, "after operations that move no count");
        if (strong == 1) {
            world->strong[1] = rc_retain(world->strong[0]);
        }
    }
    rc_reset(&world->strong[1]);
    rcb_settle();
    rc_wrapper_detach(world->strong[0]);
    rc_reset(&world->strong[0]);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* Weak handles come and go at 1, at 2 and after death. Shows hooks decided from a packed word's low or
 * high half by mistake, and a lock of a dead object that asks the wrapper. */
static void wrap_weak_moves(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_wrapper_attach(object);
    for (uint64_t strong = 1; strong <= 2; strong++) {
        rc_weak first = rc_weak_new(object);
        rc_weak second = rc_weak_retain(first);
        RCB_EXPECT_FALSE(rc_weak_expired(second), "the object is alive");
        (void)rc_weak_count(object);
        rc_weak_release(first);
        rc_weak_release(second);
        wrap_expect_hooks(world, strong - 1, 0, 0, "after weak handles came and went");
        if (strong == 1) {
            world->strong[1] = rc_retain(object);
        }
    }
    rc_reset(&world->strong[1]);
    rcb_settle();
    wrap_expect_hooks(world, 1, 1, 0, "after the release from 2 to 1");
    rc_weak weak = rc_weak_new(object);
    rc_release(object); /* the wrapper lets go */
    rcb_settle();
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock of a dead object gives null");
    rc_weak again = rc_weak_retain(weak);
    rc_weak_release(weak);
    rc_weak_release(again);
    wrap_expect_hooks(world, 1, 1, 0, "after weak operations on the dead object");
}
#endif

/* ---- WRAP-05 ---- */

/* The wrapper's reference goes while it is the only one. Shows a hook at 1 -> 0, and an object whose bit
 * keeps it from being seen as dead. */
static void wrap_last_reference(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_wrapper_attach(object);
    wrap_release(object);
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    wrap_expect_hooks(world, 0, 0, 0, "after the wrapper let go");
}

/* The same after the edge was crossed up and down. Shows a state left behind by the edge. */
static void wrap_last_after_edge(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_wrapper_attach(object);
    wrap_release(rc_retain(object));
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while the wrapper holds its reference");
    wrap_release(object);
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    wrap_expect_hooks(world, 1, 1, 0, "after the wrapper let go");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same with weak handles left: the way for objects that are not unique. Shows a dead object whose
 * bit is taken for life, and a block that never goes. */
static void wrap_last_with_weak(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_weak first = rc_weak_new(object);
    rc_weak second = rc_weak_retain(first);
    rc_wrapper_attach(object);
    wrap_release(object);
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    RCB_EXPECT_TRUE(rc_weak_expired(first), "a weak handle expires when the wrapper lets go");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(second)), "a lock fails once the wrapper has let go");
    wrap_expect_hooks(world, 0, 0, 0, "after the wrapper let go");
    rc_weak_release(first);
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "a weak handle keeps the block");
    rc_weak_release(second);
}
#endif

/* ---- WRAP-06, WRAP-07 ---- */

static void wrap_look_for_bit(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    world->value[0] += 1;
    world->value[1] += rc_has_wrapper(world->strong[0]) ? 1 : 0;
}

/* Attach and detach at `strong` handles, 1 or more. Shows hooks that are missing, too many, decided from
 * "not 1" or "just 2", or that come when the bit is already, or still, set. */
static void wrap_attach_at(rcb_world *world, unsigned strong)
{
    const uint64_t once = strong > 1 ? 1 : 0;
    world->strong[0] = rcb_new_of(world, &rcb_wrapped_try, 0);
    for (unsigned i = 1; i < strong; i++) {
        world->strong[i] = rc_retain(world->strong[0]);
    }
    world->on_wrapper_retain = wrap_look_for_bit;
    world->on_wrapper_release = wrap_look_for_bit;
    rc_wrapper_attach(world->strong[0]);
    wrap_expect_hooks(world, once, 0, 0, "after attach");
    rc_wrapper_detach(world->strong[0]);
    wrap_expect_hooks(world, once, once, 0, "after detach");
    world->on_wrapper_retain = NULL;
    world->on_wrapper_release = NULL;
    RCB_EXPECT_EQ(world->value[1], 0,
                  "hooks of attach and detach that could see the wrapper's bit");
    for (unsigned i = 0; i < strong; i++) {
        rc_reset(&world->strong[i]);
    }
    rcb_settle();
    wrap_expect_hooks(world, once, once, 0, "after the last release");
}

static void wrap_attach_at_1(rcb_world *world)
{
    wrap_attach_at(world, 1);
}

static void wrap_attach_at_2(rcb_world *world)
{
    wrap_attach_at(world, 2);
}

static void wrap_attach_at_3(rcb_world *world)
{
    wrap_attach_at(world, 3);
}

/* Detach after the count moved under the wrapper, then on to death. Shows a hook that attach's count
 * decides instead of the one now. */
static void wrap_detach_elsewhere(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_strong second = rc_retain(object);
    rc_wrapper_attach(object);
    wrap_release(second);
    wrap_expect_hooks(world, 1, 1, 0, "after attach at 2 and a release to 1");
    rc_wrapper_detach(object);
    wrap_expect_hooks(world, 1, 1, 0, "after detach at 1");
    rc_wrapper_attach(object);
    second = rc_retain(object);
    wrap_expect_hooks(world, 2, 1, 0, "after attach at 1 and a retain to 2");
    rc_wrapper_detach(second);
    wrap_expect_hooks(world, 2, 2, 0, "after detach at 2");
    wrap_release(second);
    wrap_release(object);
    wrap_expect_hooks(world, 2, 2, 0, "after the last release without a wrapper");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* ---- WRAP-08, WRAP-09, WRAP-10 ---- */

/* A lock at 1, a lock at 2, and both again after a release. Shows a lock that forgets to ask, asks twice,
 * asks above 1, or calls wrapper_retain besides. */
static void wrap_lock_asks_once(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_weak weak = rc_weak_new(object);
    rc_wrapper_attach(object);
    for (uint64_t round = 1; round <= 2; round++) {
        rc_strong first = rc_weak_lock(weak);
        RCB_EXPECT_FALSE(rc_is_null(first), "a lock that the wrapper grants gives a handle");
        RCB_EXPECT_TRUE(rc_payload(first) == rc_payload(object), "the lock gives the same object");
        wrap_expect_hooks(world, round, round - 1, round, "after a lock from 1 to 2");
        rc_strong second = rc_weak_lock(weak);
        RCB_EXPECT_FALSE(rc_is_null(second), "a lock above 1 gives a handle");
        wrap_expect_hooks(world, round, round - 1, round, "after a lock from 2 to 3");
        wrap_expect_strong(object, 3, "after two locks");
        wrap_release(first);
        wrap_release(second);
        wrap_expect_hooks(world, round, round, round, "after the release from 2 to 1");
    }
    rc_wrapper_detach(object);
    wrap_release(rc_weak_lock(weak));
    wrap_expect_hooks(world, 2, 2, 2, "after a lock from 1 to 2 without a wrapper");
    rc_release(object);
    rc_weak_release(weak);
}

/* The wrapper refuses, then grants. Shows a count that was raised first, a hook called for a reference
 * that nobody got, and a refusal that lasts. */
static void wrap_lock_refused(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_weak weak = rc_weak_new(object);
    rc_wrapper_attach(object);
    atomic_store_explicit(&world->refuse_tries, 1, memory_order_relaxed); /* RELAXED: one thread */
    for (uint64_t tries = 1; tries <= 2; tries++) {
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)),
                        "a lock that the wrapper refuses gives null");
        rcb_settle();
        wrap_expect_hooks(world, 0, 0, tries, "after a refused lock");
        wrap_expect_strong(object, 1, "after a refused lock");
        RCB_EXPECT_FALSE(rc_weak_expired(weak), "the object lives on after a refused lock");
        RCB_EXPECT_TRUE(rc_has_wrapper(object), "the wrapper is there after a refused lock");
    }
    /* Above 1 the wrapper holds on to itself: it is not asked and cannot refuse. */
    rc_strong second = rc_retain(object);
    rc_strong third = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(third), "a lock above 1 does not ask, and gives a handle");
    wrap_release(third);
    wrap_release(second);
    wrap_expect_hooks(world, 1, 1, 2, "after a retain, a lock above 1 and both releases");
    atomic_store_explicit(&world->refuse_tries, 0, memory_order_relaxed); /* RELAXED: as above */
    rc_strong granted = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(granted), "a lock succeeds once the wrapper grants again");
    wrap_release(granted);
    wrap_release(object);
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    rc_weak_release(weak);
}

/* What an implementation leaves visible while it asks. */
static bool wrap_try_looks(void *memory)
{
    rcb_payload *payload = memory;
    rcb_world *world = payload->world;
    world->value[0]++;
    world->value[1] = rc_use_count(world->strong[0]);
    world->value[2] = rc_weak_count(world->strong[0]);
    return false;
}

static const rc_class wrap_looking = {.name = "looking",
                                      .payload_size = sizeof(rcb_payload),
                                      .finalize = rcb_finalize,
                                      .wrapper_retain = rcb_wrapper_retain,
                                      .wrapper_release = rcb_wrapper_release,
                                      .wrapper_try_retain = wrap_try_looks};

/* The wrapper looks at the counts while it is asked. Shows a temporary unit that another thread could
 * take for a reference, or that would make the lock the last owner. */
static void wrap_refusal_sees_no_unit(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &wrap_looking, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock that the wrapper refuses gives null");
    RCB_EXPECT_EQ(world->value[0], 1, "questions to the wrapper");
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(world->value[1], 1, "strong references while the wrapper is asked");
        RCB_EXPECT_EQ(world->value[2], 1, "weak handles while the wrapper is asked");
    }
    rc_reset(&world->strong[0]);
    rc_weak_release(weak);
}

/* Lets the wrapper's own reference go, and refuses: it is being torn down. */
static bool wrap_try_dies(void *memory)
{
    rcb_payload *payload = memory;
    rcb_world *world = payload->world;
    world->value[0]++;
    rc_reset(&world->strong[0]);
    world->value[1] = world->finalized[0];
    return false;
}

static const rc_class wrap_dying = {.name = "dying",
                                    .payload_size = sizeof(rcb_payload),
                                    .finalize = rcb_finalize,
                                    .wrapper_retain = rcb_wrapper_retain,
                                    .wrapper_release = rcb_wrapper_release,
                                    .wrapper_try_retain = wrap_try_dies};

/* The wrapper is torn down while it is asked, and refuses. Shows a lock that keeps the object alive with
 * a temporary unit, finalizes it itself, or touches a payload that has gone. */
static void wrap_refusal_by_death(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &wrap_dying, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock that the wrapper refuses gives null");
    RCB_EXPECT_EQ(world->value[0], 1, "questions to the wrapper");
    if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
        RCB_EXPECT_EQ(world->value[1], 1, "finalizers when the wrapper's own release returned");
    }
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    wrap_expect_hooks(world, 0, 0, 0, "after the wrapper let go");
    RCB_EXPECT_TRUE(rc_weak_expired(weak), "the weak handle has expired");
    rc_weak_release(weak);
}

/* Locks at 1 and 2, in a class that cannot refuse. Shows a lock that is no edge because it is no retain. */
static void wrap_lock_retains(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_weak weak = rc_weak_new(object);
    rc_wrapper_attach(object);
    for (uint64_t round = 1; round <= 2; round++) {
        rc_strong first = rc_weak_lock(weak);
        RCB_EXPECT_FALSE(rc_is_null(first), "a lock of a live object gives a handle");
        wrap_expect_hooks(world, round, round - 1, 0, "after a lock from 1 to 2");
        rc_strong second = rc_weak_lock(weak);
        wrap_expect_hooks(world, round, round - 1, 0, "after a lock from 2 to 3");
        wrap_release(second);
        wrap_expect_hooks(world, round, round - 1, 0, "after a release from 3 to 2");
        wrap_release(first);
        wrap_expect_hooks(world, round, round, 0, "after a release from 2 to 1");
    }
    rc_wrapper_detach(object);
    rc_release(object);
    rc_weak_release(weak);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
/* ---- WRAP-11 ---- */

/* A unit made from a loan at 1 and at 2. Shows an entry that forgets the edge, or crosses it above 1. */
static void wrap_raw_at_edge(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped_try, 0);
    rc_wrapper_attach(object);
    for (uint64_t round = 1; round <= 2; round++) {
        rc_strong first = rc_retain_raw(rc_payload(object));
        wrap_expect_hooks(world, round, round - 1, 0, "after rc_retain_raw from 1 to 2");
        rc_strong second = rc_retain_raw(rc_payload(object));
        wrap_expect_hooks(world, round, round - 1, 0, "after rc_retain_raw from 2 to 3");
        void *raw = rc_into_raw(second);
        second = rc_from_raw(raw);
        wrap_expect_hooks(world, round, round - 1, 0, "after a unit went to raw and back");
        wrap_release(second);
        wrap_release(first);
        wrap_expect_hooks(world, round, round, 0, "after the releases to 1");
    }
    rc_wrapper_detach(object);
    rc_release(object);
}
#endif

/* ---- WRAP-12 ---- */

/* In wrapper_release: the last foreign reference has gone, so the wrapper lets go too. */
static void wrap_lets_go(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    world->value[0]++;
    world->value[1] = rc_use_count(world->strong[0]);
    rc_reset(&world->strong[0]);
}

/* The wrapper dies in its hook and takes the object along. Shows a hook that comes before the reference
 * is given up (the count is 2 there), and a release that reads the object afterwards. */
static void wrap_dies_in_hook(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    rc_wrapper_attach(world->strong[0]);
    rc_strong copy = rc_retain(world->strong[0]);
    world->on_wrapper_release = wrap_lets_go;
    wrap_release(copy);
    RCB_EXPECT_EQ(world->value[0], 1, "wrapper_release calls");
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(world->value[1], 1, "strong references in wrapper_release");
    }
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go in its hook");
    wrap_expect_hooks(world, 1, 1, 0, "after the wrapper let go in its hook");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same with a weak handle, which the wrapper drops last. Shows a block that is touched or freed by
 * the release that called the hook. */
static void wrap_drops_weak_too(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    world->value[0]++;
    rc_reset(&world->strong[0]);
    rc_weak_reset(&world->weak[0]);
}

static void wrap_dies_in_hook_weak(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    world->weak[0] = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    rc_strong copy = rc_weak_lock(world->weak[0]);
    world->on_wrapper_release = wrap_drops_weak_too;
    wrap_release(copy);
    RCB_EXPECT_EQ(world->value[0], 1, "wrapper_release calls");
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go in its hook");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks once the wrapper dropped the weak handle too");
}
#endif

/* ---- WRAP-13 ---- */

/* rc_is_unique with a wrapper, at 1, 2 and with a weak handle. Shows a comparison with the whole word,
 * and one that ignores too much. */
static void wrap_unique(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    rc_wrapper_attach(object);
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_TRUE(rc_is_unique(object), "one strong handle is unique, also a wrapper's");
    }
    rc_strong copy = rc_retain(object);
    RCB_EXPECT_FALSE(rc_is_unique(object), "two strong handles are not unique, a wrapper's or not");
    wrap_release(copy);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    RCB_EXPECT_FALSE(rc_is_unique(object), "an object with a weak handle is not unique");
    rc_weak_release(weak);
#endif
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_TRUE(rc_is_unique(object), "the only handle left is unique, also a wrapper's");
        rc_wrapper_detach(object);
        RCB_EXPECT_TRUE(rc_is_unique(object), "the only handle is unique after detach");
    } else {
        rc_wrapper_detach(object);
    }
    rc_release(object);
}

/* ---- WRAP-14 ---- */

/* Every edge with a class that has some hooks only. Shows a call of a hook that is NULL. */
static void wrap_every_edge(rcb_world *world, const rc_class *class, uint64_t retains,
                            uint64_t releases)
{
    rc_strong object = rcb_new_of(world, class, 0);
    rc_wrapper_attach(object);
    RCB_EXPECT_TRUE(rc_has_wrapper(object), "there is a wrapper after attach");
    wrap_release(rc_retain(object));
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    wrap_release(rc_retain_raw(rc_payload(object)));
#else
    wrap_release(rc_retain(object));
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock without a hook to ask gives a handle");
    wrap_release(locked);
    rc_weak_release(weak);
#else
    wrap_release(rc_retain(object));
#endif
    rc_strong copy = rc_retain(object);
    rc_wrapper_detach(object);
    rc_wrapper_attach(copy);
    wrap_release(object);
    wrap_expect_hooks(world, retains, releases, 0, "in a class with some hooks only");
    wrap_release(copy); /* the wrapper lets go */
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    wrap_expect_hooks(world, retains, releases, 0, "after death in a class with some hooks only");
}

static void wrap_no_hooks(rcb_world *world)
{
    wrap_every_edge(world, &rcb_class, 0, 0);
}

static const rc_class wrap_retain_only = {.name = "retain_only",
                                          .payload_size = sizeof(rcb_payload),
                                          .finalize = rcb_finalize,
                                          .wrapper_retain = rcb_wrapper_retain};

static void wrap_only_retain(rcb_world *world)
{
    wrap_every_edge(world, &wrap_retain_only, 5, 0);
}

static const rc_class wrap_release_only = {.name = "release_only",
                                           .payload_size = sizeof(rcb_payload),
                                           .finalize = rcb_finalize,
                                           .wrapper_release = rcb_wrapper_release};

static void wrap_only_release(rcb_world *world)
{
    wrap_every_edge(world, &wrap_release_only, 0, 5);
}

/* ---- WRAP-15 ---- */

static void wrap_expect_state(rc_strong handle, uint64_t strong, uint64_t weak, bool wrapper,
                              const char *when)
{
    wrap_expect_strong(handle, strong, when);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        char what[160];
        snprintf(what, sizeof what, "weak handles, %s", when);
        RCB_EXPECT_EQ(rc_weak_count(handle), weak, what);
    }
#else
    (void)weak;
#endif
    RCB_EXPECT(rc_has_wrapper(handle) == wrapper, "the wrapper's bit is as it was left",
               "it is %s %s", wrapper ? "lost" : "set", when);
}

/* Both counts move with the bit set, and the bit moves with both counts above 1. Shows a change that
 * stores where it should add, or carries into its neighbour. */
static void wrap_bit_and_counts(rcb_world *world)
{
    rc_strong object = rcb_new_of(world, &rcb_wrapped, 0);
    uint64_t weak = 0;
    rc_wrapper_attach(object);
    world->strong[0] = rc_retain(object);
    wrap_expect_state(object, 2, weak, true, "after a retain");
    world->strong[1] = rc_retain(object);
    wrap_expect_state(object, 3, weak, true, "after a second retain");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    world->weak[0] = rc_weak_new(object);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    weak = 2;
    wrap_expect_state(object, 3, weak, true, "after two weak handles");
    world->strong[2] = rc_weak_lock(world->weak[0]);
    wrap_expect_state(object, 4, weak, true, "after a lock");
    wrap_release(world->strong[2]);
    wrap_expect_state(object, 3, weak, true, "after the lock's release");
#endif
    rc_wrapper_detach(object);
    wrap_expect_state(object, 3, weak, false, "after detach");
    rc_wrapper_attach(world->strong[1]);
    wrap_expect_state(object, 3, weak, true, "after a second attach");
    wrap_release(world->strong[0]);
    wrap_expect_state(object, 2, weak, true, "after a release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak_release(world->weak[1]);
    wrap_expect_state(object, 2, 1, true, "after a weak release");
    rc_weak_release(world->weak[0]);
    wrap_expect_state(object, 2, 0, true, "after the last weak release");
#endif
    wrap_release(object);
    wrap_expect_state(world->strong[1], 1, 0, true, "after a release to 1");
    rc_wrapper_detach(world->strong[1]);
    wrap_expect_state(world->strong[1], 1, 0, false, "after the last detach");
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
    wrap_release(world->strong[1]);
}

/* ---- WRAP-16: threads at the edge ---- */

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* Retains less releases: 1 while the wrapper must hold on to itself, else 0. */
static void wrap_expect_balance(rcb_world *world, uint64_t wanted, const char *when)
{
    char what[160];
    snprintf(what, sizeof what, "wrapper_retain less wrapper_release calls, %s", when);
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_retains[0], memory_order_relaxed) -
                      atomic_load_explicit(&world->wrapper_releases[0], memory_order_relaxed),
                  wanted, what);
}

/* strong[0] is the wrapper's and held by main: a loan for all threads. */
static void wrap_share_at_1(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    rc_wrapper_attach(world->strong[0]);
    rc_share(world->strong[0]);
}

static void wrap_hit_edge(rcb_world *world)
{
    rc_strong copy = rc_retain(world->strong[0]);
    rcb_payload_of(copy)->field[rcb_thread_index()]++;
    rc_release(copy);
}

static void wrap_take(rcb_world *world)
{
    world->strong[4 + rcb_thread_index()] = rc_retain(world->strong[0]);
}

static void wrap_drop_own(rcb_world *world)
{
    rc_reset(&world->strong[4 + rcb_thread_index()]);
}

static void wrap_finish(rcb_world *world)
{
    for (unsigned i = 4; i < 4 + RCB_THREADS_MAX; i++) {
        rc_reset(&world->strong[i]);
    }
    rcb_settle();
    wrap_expect_balance(world, 0, "once the wrapper is alone");
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while the wrapper holds its reference");
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go");
    wrap_expect_balance(world, 0, "after death");
}

/* Two or three threads cross the edge up and down. Shows hooks decided by a second look at the count. */
static void wrap_check_balanced(rcb_world *world)
{
    wrap_expect_balance(world, 0, "with the wrapper alone");
    const uint64_t retains = atomic_load_explicit(&world->wrapper_retains[0],
                                                  memory_order_relaxed); /* RELAXED: joined */
    RCB_EXPECT(retains >= 1 && retains <= RCB_THREADS_MAX,
               "the edge is crossed once at least, and once a thread at most",
               "%" PRIu64 " wrapper_retain calls", retains);
    wrap_finish(world);
}

/* Each thread keeps what it took. Shows 1 -> 2 seen by both or by neither. */
static void wrap_check_taken(rcb_world *world)
{
    wrap_expect_hooks(world, 1, 0, 0, "after the threads took one reference each");
    wrap_finish(world);
}

/* Main has given one reference to each thread, which drops it. Shows 2 -> 1 seen by both or neither. */
static void wrap_share_at_3(rcb_world *world)
{
    wrap_share_at_1(world);
    world->strong[4] = rc_retain(world->strong[0]);
    world->strong[5] = rc_retain(world->strong[0]);
}

static void wrap_check_dropped(rcb_world *world)
{
    wrap_expect_hooks(world, 1, 1, 0, "after the threads dropped one reference each");
    wrap_finish(world);
}

/* One drops the only foreign reference, one takes another. Shows an edge lost between the two. */
static void wrap_share_at_2(rcb_world *world)
{
    wrap_share_at_1(world);
    world->strong[4] = rc_retain(world->strong[0]);
}

static void wrap_check_at_2(rcb_world *world)
{
    wrap_expect_balance(world, 1, "with one foreign reference");
    wrap_finish(world);
}

/* ---- WRAP-12 with threads ---- */

/* Two threads drop their references; whoever is second calls the hook, in which the wrapper dies. Shows
 * a first thread that looks at the object after its release, and a hook called by both. */
static void wrap_check_dead(rcb_world *world)
{
    RCB_EXPECT_EQ(world->value[0], 1, "wrapper_release calls");
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the wrapper let go in its hook");
    RCB_EXPECT_EQ(world->seen[0][0] + world->seen[0][1], 2, "uses that finalize saw");
}

static void wrap_share_dying(rcb_world *world)
{
    wrap_share_at_3(world);
    world->on_wrapper_release = wrap_lets_go;
}

static void wrap_use_and_drop_own(rcb_world *world)
{
    rcb_payload_of(world->strong[4 + rcb_thread_index()])->field[rcb_thread_index()] = 1;
    rc_reset(&world->strong[4 + rcb_thread_index()]);
}

/* ---- WRAP-17: locks at the edge ---- */

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void wrap_share_weak(rcb_world *world, const rc_class *class)
{
    world->strong[0] = rcb_new_of(world, class, 0);
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        world->weak[i] = rc_weak_new(world->strong[0]);
    }
    rc_wrapper_attach(world->strong[0]);
    rc_share(world->strong[0]);
}

static void wrap_share_weak_try(rcb_world *world)
{
    wrap_share_weak(world, &rcb_wrapped_try);
}

static void wrap_share_weak_plain(rcb_world *world)
{
    wrap_share_weak(world, &rcb_wrapped);
}

static void wrap_share_weak_refusing(rcb_world *world)
{
    wrap_share_weak(world, &rcb_wrapped_try);
    atomic_store_explicit(&world->refuse_tries, 1,
                          memory_order_relaxed); /* RELAXED: before threads */
}

static void wrap_lock_and_drop(rcb_world *world)
{
    rc_strong locked = rc_weak_lock(world->weak[rcb_thread_index()]);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock that the wrapper grants gives a handle");
    rc_release(locked);
}

static void wrap_lock_and_keep(rcb_world *world)
{
    world->strong[4 + rcb_thread_index()] = rc_weak_lock(world->weak[rcb_thread_index()]);
}

static void wrap_check_locks(rcb_world *world)
{
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        rc_weak_reset(&world->weak[i]);
    }
    wrap_finish(world);
}

/* A lock and a retain (or another lock) cross the edge together and go back. Shows a grant that is kept
 * by a lock whose exchange then found the count above 1. */
static void wrap_check_locks_balanced(rcb_world *world)
{
    wrap_expect_balance(world, 0, "with the wrapper alone");
    wrap_check_locks(world);
}

/* The same, with what was locked kept: two references. */
static void wrap_check_locks_kept(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_is_null(world->strong[4]), "a lock that the wrapper grants gives a handle");
    wrap_expect_balance(world, 1, "with foreign references");
    wrap_check_locks(world);
}

/* The wrapper refuses while others retain: the lock gives null, or a handle if it found the count above
 * 1. Shows a null with a unit left behind, and a refusal at the wrong count. */
static void wrap_check_refused(rcb_world *world)
{
    wrap_expect_balance(world, rc_is_null(world->strong[4]) ? 0 : 1,
                        "after a lock that may be refused");
    wrap_expect_strong(world->strong[0], rc_is_null(world->strong[4]) ? 1 : 2,
                       "after a lock that may be refused");
    wrap_check_locks(world);
}

/* A release takes the object back to the wrapper while a lock looks. */
static void wrap_share_weak_at_2(rcb_world *world)
{
    wrap_share_weak_try(world);
    world->strong[5] = rc_retain(world->strong[0]);
}

/* Another reference comes into being while the wrapper is asked. */
static bool wrap_try_retains(void *memory)
{
    rcb_payload *payload = memory;
    rcb_world *world = payload->world;
    world->strong[4] = rc_retain(world->strong[0]);
    return rcb_wrapper_try_retain(memory);
}

static const rc_class wrap_retaining = {.name = "retaining",
                                        .payload_size = sizeof(rcb_payload),
                                        .finalize = rcb_finalize,
                                        .wrapper_retain = rcb_wrapper_retain,
                                        .wrapper_release = rcb_wrapper_release,
                                        .wrapper_try_retain = wrap_try_retains};

/* The count moves from 1 to 2 while the wrapper is asked, for certain and on one thread. Shows a surplus
 * that is kept: the wrapper would never die. */
static void wrap_surplus(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &wrap_retaining, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    rc_strong locked = rc_weak_lock(weak);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock that the wrapper grants gives a handle");
    wrap_expect_strong(locked, 3, "after a retain inside the question and the lock");
    wrap_expect_hooks(world, 2, 1, 1, "after a retain inside the question and the lock");
    wrap_release(locked);
    wrap_expect_balance(world, 1, "with one foreign reference");
    rc_weak_release(weak);
    wrap_finish(world);
}

/* The same in a class whose wrapper_retain is asked in its place. */
static void wrap_retain_in_retain(rcb_payload *payload)
{
    rcb_world *world = payload->world;
    if (world->value[0]++ == 0) {
        world->strong[4] = rc_retain(world->strong[0]);
    }
}

static void wrap_surplus_plain(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    world->on_wrapper_retain = wrap_retain_in_retain;
    rc_strong locked = rc_weak_lock(weak);
    world->on_wrapper_retain = NULL;
    wrap_expect_strong(locked, 3, "after a retain inside the hook and the lock");
    wrap_expect_hooks(world, 2, 1, 0, "after a retain inside the hook and the lock");
    wrap_release(locked);
    wrap_expect_balance(world, 1, "with one foreign reference");
    rc_weak_release(weak);
    wrap_finish(world);
}
#endif

/* ---- WRAP-18: attach and detach with company ---- */

/* Two references, no wrapper: strong[0] is to be thread 0's wrapper's, strong[5] is thread 1's. */
static void wrap_share_bare_at_2(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    world->strong[5] = rc_retain(world->strong[0]);
    rc_share(world->strong[0]);
}

static void wrap_attach_first(rcb_world *world)
{
    rc_wrapper_attach(world->strong[0]);
}

static void wrap_detach_first(rcb_world *world)
{
    rc_wrapper_detach(world->strong[0]);
}

static void wrap_attach_and_detach(rcb_world *world)
{
    rc_wrapper_attach(world->strong[0]);
    rc_wrapper_detach(world->strong[0]);
}

/* Attach at 2 while the other reference goes. Shows a hook without its counterpart. */
static void wrap_check_attached(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_has_wrapper(world->strong[0]), "there is a wrapper after attach");
    wrap_expect_balance(world, 0, "with the wrapper alone");
    wrap_finish(world);
}

/* Attach at 1 or 2 while another reference comes. */
static void wrap_share_bare_at_1(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    rc_share(world->strong[0]);
}

static void wrap_check_attached_at_2(rcb_world *world)
{
    wrap_expect_hooks(world, 1, 0, 0, "after attach and a retain");
    wrap_finish(world);
}

/* Detach at 2 or 1 while the other reference goes: wrapper_release comes from one of them. */
static void wrap_share_wrapped_at_2(rcb_world *world)
{
    wrap_share_bare_at_2(world);
    rc_wrapper_attach(world->strong[0]);
}

static void wrap_check_detached(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_has_wrapper(world->strong[0]), "there is no wrapper after detach");
    wrap_expect_hooks(world, 1, 1, 0, "after detach and a release");
    wrap_finish(world);
}

/* Attach and detach while others cross the edge. */
static void wrap_check_without(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_has_wrapper(world->strong[0]), "there is no wrapper after detach");
    wrap_expect_balance(world, 0, "without a wrapper");
    wrap_finish(world);
}

/* The other reference goes in attach's own hook, before the bit is set: for certain and on one thread.
 * Shows a reference that attach took and nobody gives back. */
static void wrap_leave_in_hook(rcb_payload *payload)
{
    rc_reset(&payload->world->strong[5]);
}

static void wrap_attach_left_alone(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    world->strong[5] = rc_retain(world->strong[0]);
    world->on_wrapper_retain = wrap_leave_in_hook;
    rc_wrapper_attach(world->strong[0]);
    world->on_wrapper_retain = NULL;
    rcb_settle();
    wrap_expect_hooks(world, 1, 1, 0, "after attach whose company left meanwhile");
    wrap_finish(world);
}
#endif
#endif

static const rcb_scenario rcb_wrap[] = {
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "WRAP-01",
     .name = "attach_and_detach",
     .thread = {wrap_attach_detach},
     .check = wrap_check_died_once},
    {.clause = "WRAP-01",
     .name = "another_object_is_left_alone",
     .thread = {wrap_other_object},
     .check = wrap_check_died_once},
    {.clause = "WRAP-02",
     .name = "retain_from_1_to_2",
     .thread = {wrap_retain_at_edge},
     .check = wrap_check_died_once},
    {.clause = "WRAP-02",
     .name = "retain_does_not_ask",
     .thread = {wrap_retain_asks_nothing},
     .check = wrap_check_died_once},
    {.clause = "WRAP-03",
     .name = "release_from_3_to_1",
     .thread = {wrap_release_down},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-02",
     .name = "edge_with_weak_handles",
     .thread = {wrap_edge_with_weak},
     .check = wrap_check_died_once},
    {.clause = "WRAP-03",
     .name = "edge_with_weak_handles",
     .thread = {wrap_edge_with_weak},
     .check = wrap_check_died_once},
#endif
    {.clause = "WRAP-04",
     .name = "above_2",
     .thread = {wrap_above_two},
     .check = wrap_check_died_once},
    {.clause = "WRAP-04",
     .name = "without_a_wrapper",
     .thread = {wrap_without_wrapper},
     .check = wrap_check_died_once},
    {.clause = "WRAP-04",
     .name = "queries",
     .thread = {wrap_queries},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-04",
     .name = "weak_handles",
     .thread = {wrap_weak_moves},
     .check = wrap_check_died_once},
#endif
    {.clause = "WRAP-05",
     .name = "wrapper_lets_go",
     .thread = {wrap_last_reference},
     .check = wrap_check_died_once},
    {.clause = "WRAP-05",
     .name = "wrapper_lets_go_after_the_edge",
     .thread = {wrap_last_after_edge},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-05",
     .name = "wrapper_lets_go_with_weak_handles",
     .thread = {wrap_last_with_weak},
     .check = wrap_check_died_once},
#endif
    {.clause = "WRAP-06",
     .name = "attach_at_1",
     .thread = {wrap_attach_at_1},
     .check = wrap_check_died_once},
    {.clause = "WRAP-06",
     .name = "attach_at_2",
     .thread = {wrap_attach_at_2},
     .check = wrap_check_died_once},
    {.clause = "WRAP-06",
     .name = "attach_at_3",
     .thread = {wrap_attach_at_3},
     .check = wrap_check_died_once},
    {.clause = "WRAP-07",
     .name = "detach_at_1",
     .thread = {wrap_attach_at_1},
     .check = wrap_check_died_once},
    {.clause = "WRAP-07",
     .name = "detach_at_3",
     .thread = {wrap_attach_at_3},
     .check = wrap_check_died_once},
    {.clause = "WRAP-07",
     .name = "detach_at_another_count",
     .thread = {wrap_detach_elsewhere},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-08",
     .name = "lock_asks_once",
     .thread = {wrap_lock_asks_once},
     .check = wrap_check_died_once},
    {.clause = "WRAP-09",
     .name = "lock_refused",
     .thread = {wrap_lock_refused},
     .check = wrap_check_died_once},
    {.clause = "WRAP-09",
     .name = "no_unit_while_asking",
     .thread = {wrap_refusal_sees_no_unit},
     .check = wrap_check_died_once},
    {.clause = "WRAP-09",
     .name = "wrapper_dies_while_asked",
     .thread = {wrap_refusal_by_death},
     .check = wrap_check_died_once},
    {.clause = "WRAP-10",
     .name = "lock_retains",
     .thread = {wrap_lock_retains},
     .check = wrap_check_died_once},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "WRAP-11",
     .name = "retain_raw_at_the_edge",
     .thread = {wrap_raw_at_edge},
     .check = wrap_check_died_once},
#endif
    {.clause = "WRAP-12",
     .name = "wrapper_dies_in_its_hook",
     .thread = {wrap_dies_in_hook},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-12",
     .name = "wrapper_dies_with_its_weak_handle",
     .thread = {wrap_dies_in_hook_weak},
     .check = wrap_check_died_once},
#endif
    {.clause = "WRAP-13",
     .name = "unique_with_a_wrapper",
     .thread = {wrap_unique},
     .check = wrap_check_died_once},
    {.clause = "WRAP-14",
     .name = "no_hooks",
     .thread = {wrap_no_hooks},
     .check = wrap_check_died_once},
    {.clause = "WRAP-14",
     .name = "only_wrapper_retain",
     .thread = {wrap_only_retain},
     .check = wrap_check_died_once},
    {.clause = "WRAP-14",
     .name = "only_wrapper_release",
     .thread = {wrap_only_release},
     .check = wrap_check_died_once},
    {.clause = "WRAP-15",
     .name = "bit_and_counts",
     .thread = {wrap_bit_and_counts},
     .check = wrap_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "WRAP-12",
     .name = "wrapper_dies_on_whoever_is_last",
     .needs = RC_CAP_THREADS,
     .setup = wrap_share_dying,
     .thread = {wrap_use_and_drop_own, wrap_use_and_drop_own},
     .check = wrap_check_dead},
    {.clause = "WRAP-16",
     .name = "two_up_and_down",
     .setup = wrap_share_at_1,
     .thread = {wrap_hit_edge, wrap_hit_edge},
     .check = wrap_check_balanced},
    {.clause = "WRAP-16",
     .name = "three_up_and_down",
     .setup = wrap_share_at_1,
     .thread = {wrap_hit_edge, wrap_hit_edge, wrap_hit_edge},
     .check = wrap_check_balanced},
    {.clause = "WRAP-16",
     .name = "two_up",
     .setup = wrap_share_at_1,
     .thread = {wrap_take, wrap_take},
     .check = wrap_check_taken},
    {.clause = "WRAP-16",
     .name = "two_down",
     .setup = wrap_share_at_3,
     .thread = {wrap_drop_own, wrap_drop_own},
     .check = wrap_check_dropped},
    {.clause = "WRAP-16",
     .name = "one_down_one_up",
     .setup = wrap_share_at_2,
     .thread = {wrap_drop_own, wrap_take},
     .check = wrap_check_at_2},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "WRAP-17",
     .name = "retain_while_asked",
     .thread = {wrap_surplus},
     .check = wrap_check_died_once},
    {.clause = "WRAP-17",
     .name = "retain_in_the_hook",
     .thread = {wrap_surplus_plain},
     .check = wrap_check_died_once},
    {.clause = "WRAP-17",
     .name = "lock_and_retain",
     .setup = wrap_share_weak_try,
     .thread = {wrap_lock_and_drop, wrap_hit_edge},
     .check = wrap_check_locks_balanced},
    {.clause = "WRAP-17",
     .name = "lock_and_retain_plain",
     .setup = wrap_share_weak_plain,
     .thread = {wrap_lock_and_drop, wrap_hit_edge},
     .check = wrap_check_locks_balanced},
    {.clause = "WRAP-17",
     .name = "two_locks",
     .setup = wrap_share_weak_try,
     .thread = {wrap_lock_and_keep, wrap_lock_and_drop},
     .check = wrap_check_locks_kept},
    {.clause = "WRAP-17",
     .name = "lock_and_release",
     .setup = wrap_share_weak_at_2,
     .thread = {wrap_lock_and_keep, wrap_drop_own},
     .check = wrap_check_locks_kept},
    {.clause = "WRAP-17",
     .name = "refused_lock_and_retain",
     .setup = wrap_share_weak_refusing,
     .thread = {wrap_lock_and_keep, wrap_hit_edge},
     .check = wrap_check_refused},
#endif
    {.clause = "WRAP-18",
     .name = "attach_left_alone",
     .thread = {wrap_attach_left_alone},
     .check = wrap_check_died_once},
    {.clause = "WRAP-18",
     .name = "attach_and_release",
     .setup = wrap_share_bare_at_2,
     .thread = {wrap_attach_first, wrap_drop_own},
     .check = wrap_check_attached},
    {.clause = "WRAP-18",
     .name = "attach_and_retain",
     .setup = wrap_share_bare_at_1,
     .thread = {wrap_attach_first, wrap_take},
     .check = wrap_check_attached_at_2},
    {.clause = "WRAP-18",
     .name = "detach_and_release",
     .setup = wrap_share_wrapped_at_2,
     .thread = {wrap_detach_first, wrap_drop_own},
     .check = wrap_check_detached},
    {.clause = "WRAP-18",
     .name = "attach_detach_and_edges",
     .setup = wrap_share_bare_at_1,
     .thread = {wrap_attach_and_detach, wrap_hit_edge, wrap_hit_edge},
     .check = wrap_check_without},
#endif
#endif
    {.clause = NULL},
};
