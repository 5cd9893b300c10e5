/* THREAD: attach, share, exit, quiesce. The engines attach each thread before its part, and quiesce and
 * detach it afterwards; main stays attached. */

static void thread_check_died_once(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
}

/* ---- THREAD-01 ---- */

/* Three lives of one thread, an object in each, and one that outlives them all. Shows a state that
 * detach takes down and attach does not set up again, and one that stays from the life before. */
static void thread_attach_again(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
    for (uint32_t life = 1; life <= 3; life++) {
        rc_thread_detach();
        rc_thread_attach();
        rc_strong object = rcb_new(world, life);
        rc_strong copy = rc_retain(object);
        rc_release(object);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rc_weak weak = rc_weak_new(copy);
        rc_release(rc_weak_lock(weak));
        rc_weak_release(weak);
#endif
        rc_release(rc_retain(world->strong[0]));
        rcb_settle();
        RCB_EXPECT_EQ(world->finalized[life], 0, "finalizers while a handle is held");
        rc_release(copy);
        rcb_settle();
        RCB_EXPECT_EQ(world->finalized[life], 1, "finalizers after the last release");
        RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers of an object that is held all the time");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
}

/* What was put off before a detach is done when it returns, or handed over: main's quiesce finds it. */
static void thread_detach_finishes(rcb_world *world)
{
    rc_strong object = rcb_new(world, 0);
    rc_release(rc_retain(object));
    rc_release(object);
    rc_thread_detach();
    rc_thread_attach();
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of an object released before a detach");
}

/* ---- THREAD-04 ---- */

/* Shared again and again, alone, in company and after a release. Shows a share that takes a reference, or
 * that starts the count anew. */
static void thread_share_again(rcb_world *world)
{
    const bool exact = ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0;
    rc_strong object = rcb_new(world, 0);
    rc_share(object);
    rc_share(object);
    RCB_EXPECT(!exact || rc_use_count(object) == 1, "1 strong reference after rc_share", "%" PRIu64,
               rc_use_count(object));
    RCB_EXPECT_TRUE(!exact || rc_is_unique(object), "a shared object with one handle is unique");
    rc_strong copy = rc_retain(object);
    rc_share(copy);
    RCB_EXPECT(!exact || rc_use_count(object) == 2, "2 strong references after rc_share",
               "%" PRIu64, rc_use_count(object));
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    rc_share(object);
    RCB_EXPECT(!exact || rc_weak_count(object) == 1, "1 weak handle after rc_share", "%" PRIu64,
               rc_weak_count(object));
#endif
    RCB_EXPECT_EQ(rcb_payload_of(object)->canary, RCB_CANARY, "the canary after rc_share");
    rc_release(object);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
    rc_share(copy);
    RCB_EXPECT(!exact || rc_use_count(copy) == 1, "1 strong reference after rc_share", "%" PRIu64,
               rc_use_count(copy));
    rc_release(copy);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)), "a lock of a dead object gives null");
    rc_weak_release(weak);
#endif
}

/* Sharing one object leaves another, and its child, as they are. */
static void thread_share_one(rcb_world *world)
{
    rc_strong parent = rcb_new(world, 0);
    rc_strong child = rcb_new(world, 1);
    rcb_payload_of(parent)->child = rc_retain(child);
    rc_share(parent);
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_use_count(parent), 1, "strong references of a shared object");
        RCB_EXPECT_EQ(rc_use_count(child), 2, "strong references of its child");
    }
    rc_release(parent);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[1], 0, "finalizers of a child that is held elsewhere");
    rc_release(child);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[1], 1, "finalizers of the child after the last release");
}

/* ---- THREAD-05 ---- */

static void thread_expect_alive(rcb_world *world, rc_strong handle, const char *what)
{
    for (unsigned i = 0; i < 2; i++) {
        rc_quiesce();
        RCB_EXPECT_EQ(world->finalized[0], 0, what);
        RCB_EXPECT_EQ(rcb_payload_of(handle)->canary, RCB_CANARY, "the canary of a live object");
        RCB_EXPECT_EQ(rcb_payload_of(handle)->field[0], 7, "the payload of a live object");
    }
}

/* Quiesce with every kind of owner as the only one: a handle, a copy, a locked handle, a unit as a bare
 * pointer, a parent. Shows a drain that counts wrongly, or that forgets what a release was taken from. */
static void thread_quiesce(rcb_world *world)
{
    rc_strong first = rcb_new(world, 0);
    rcb_payload_of(first)->field[0] = 7;
    thread_expect_alive(world, first, "finalizers while a new handle is held");
    rc_strong second = rc_retain(first);
    rc_release(first);
    thread_expect_alive(world, second, "finalizers while a copy is held");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(second);
    rc_strong locked = rc_weak_lock(weak);
    rc_release(second);
    second = locked;
    thread_expect_alive(world, second, "finalizers while a locked handle is held");
    rc_weak_release(weak);
    thread_expect_alive(world, second, "finalizers after the weak handle went");
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    void *raw = rc_into_raw(second);
    rc_quiesce();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a bare pointer carries a unit");
    second = rc_from_raw(raw);
    thread_expect_alive(world, second, "finalizers after the unit came back");
#endif
    rc_strong parent = rcb_new(world, 1);
    rcb_payload_of(parent)->child = second;
    thread_expect_alive(world, second, "finalizers while a parent holds the object");
    RCB_EXPECT_EQ(world->finalized[1], 0, "finalizers of the parent while it is held");
    rc_release(parent);
    rc_quiesce();
    rc_quiesce();
    RCB_EXPECT_EQ(world->finalized[1], 1, "finalizers of the parent");
}

/* Up and down many times, then quiesce: nothing of what was put off may be counted twice. */
static void thread_quiesce_after_traffic(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rcb_payload_of(world->strong[0])->field[0] = 7;
    for (unsigned i = 0; i < 100; i++) {
        rc_strong copy = rc_retain(world->strong[0]);
        rc_release(world->strong[0]);
        world->strong[0] = copy;
    }
    thread_expect_alive(world, world->strong[0], "finalizers while a handle is held");
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), 1, "strong references");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
}

#if (RC_IMPL_CAPS) & RC_CAP_THREADS
/* ---- THREAD-02 ---- */

/* Main makes two objects, each thread releases one and uses both. Shows an object that can die on its
 * maker's thread only, or that the wrong thread finalizes. */
static void thread_make_for_others(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rcb_new(world, 1);
    rc_share(world->strong[0]);
    rc_share(world->strong[1]);
}

static void thread_use_and_release(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rcb_payload_of(world->strong[thread])->field[thread] = 20 + thread;
    rc_reset(&world->strong[thread]);
    if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
        RCB_EXPECT_EQ(world->finalized[thread], 1, "finalizers when the last release returned");
    }
}

static void thread_check_died_there(rcb_world *world)
{
    for (uint32_t i = 0; i < 2; i++) {
        RCB_EXPECT_EQ(world->finalized[i], 1, "finalizers of the object");
        RCB_EXPECT_EQ(world->seen[i][i], 20 + i, "what finalize saw of its last user's write");
        if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
            RCB_EXPECT_EQ(world->finalized_by[i], i + 1, "the thread that finalized, from 1");
        }
    }
}

/* Each thread makes an object; main, which did not, is its last owner. */
static void thread_make(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    world->strong[thread] = rcb_new(world, thread);
    rcb_payload_of(world->strong[thread])->field[thread] = 20 + thread;
    rc_share(world->strong[thread]);
}

static void thread_check_dies_here(rcb_world *world)
{
    for (uint32_t i = 0; i < 2; i++) {
        RCB_EXPECT_EQ(world->finalized[i], 0, "finalizers while a handle is held");
        rc_reset(&world->strong[i]);
        rcb_settle();
        RCB_EXPECT_EQ(world->finalized[i], 1, "finalizers after the last release");
        RCB_EXPECT_EQ(world->seen[i][i], 20 + i, "what finalize saw of its maker's write");
        if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
            RCB_EXPECT_EQ(world->finalized_by[i], RCB_MAIN + 1,
                          "the thread that finalized, from 1");
        }
    }
}

/* ---- THREAD-03 ---- */

/* Each thread makes an object with two references, gives up one, and exits. Main counts, retains, locks
 * and releases what is left. Shows a count of which a part goes with its thread. */
static void thread_make_and_leave(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong object = rcb_new(world, thread);
    rc_share(object);
    rcb_payload_of(object)->field[thread] = 20 + thread;
    world->strong[thread] = rc_retain(object);
    world->strong[4 + thread] = rc_retain(object);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    world->weak[thread] = rc_weak_new(object);
#endif
    rc_release(object);
}

static void thread_check_left(rcb_world *world)
{
    for (uint32_t i = 0; i < 2; i++) {
        rc_strong handle = world->strong[i];
        if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
            RCB_EXPECT_EQ(rc_use_count(handle), 2, "strong references after the maker's exit");
        }
        RCB_EXPECT_EQ(rcb_payload_of(handle)->field[i], 20 + i,
                      "the payload after the maker's exit");
        rc_strong copy = rc_retain(handle);
        rc_reset(&world->strong[i]);
        rc_reset(&world->strong[4 + i]);
        rcb_settle();
        RCB_EXPECT_EQ(world->finalized[i], 0, "finalizers while a handle is held");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        rc_strong locked = rc_weak_lock(world->weak[i]);
        RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
        rc_release(locked);
#endif
        rc_release(copy);
        rcb_settle();
        RCB_EXPECT_EQ(world->finalized[i], 1, "finalizers after the last release");
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[i])),
                        "a lock of a dead object gives null");
        rc_weak_reset(&world->weak[i]);
#endif
    }
}

/* One thread uses and exits while the other still uses: what main made is theirs, half each. */
static void thread_share_with_2(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
    world->strong[1] = rc_retain(world->strong[0]);
}

static void thread_traffic_and_leave(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong copy = rc_retain(world->strong[thread]);
    rcb_payload_of(copy)->field[thread] = 20 + thread;
    rc_reset(&world->strong[thread]);
    rc_release(copy);
}

static void thread_check_both_left(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT(world->seen[0][0] == 20 && world->seen[0][1] == 21,
               "finalize sees both owners' writes", "%" PRIu64 " and %" PRIu64, world->seen[0][0],
               world->seen[0][1]);
}

/* ---- THREAD-06 ---- */

/* Two parents with a child each, and a child of both. Each thread releases one parent and one direct
 * reference to the other's child. Shows an object that is put off and forgotten, on the thread that made
 * it, on the one that released it, or because its parent's finalize released it. */
static void thread_make_family(rcb_world *world)
{
    for (uint32_t i = 0; i < 2; i++) {
        world->strong[i] = rcb_new(world, i);
        rc_strong child = rcb_new(world, 2 + i);
        rc_share(world->strong[i]);
        rc_share(child);
        world->strong[4 + 1 - i] = rc_retain(child);
        rcb_payload_of(world->strong[i])->child = child;
    }
    rc_strong grandchild = rcb_new(world, 4);
    rc_share(grandchild);
    rcb_payload_of(rcb_payload_of(world->strong[0])->child)->child = rc_retain(grandchild);
    rcb_payload_of(rcb_payload_of(world->strong[1])->child)->child = grandchild;
}

static void thread_release_family(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_reset(&world->strong[thread]);
    rc_reset(&world->strong[4 + thread]);
}

static void thread_check_family(rcb_world *world)
{
    for (uint32_t i = 0; i < 5; i++) {
        RCB_EXPECT(world->finalized[i] == 1,
                   "every object without a strong handle is finalized once all have quiesced",
                   "%" PRIu32 " finalizers of object %" PRIu32, world->finalized[i], i);
    }
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks once every object is dead");
}

/* The same for objects that the threads make and drop themselves, beside one that they share. */
static void thread_make_and_drop(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong own = rcb_new(world, 1 + thread);
    rcb_payload_of(own)->child = world->strong[thread];
    world->strong[thread] = rc_null();
    rc_strong copy = rc_retain(own);
    rc_release(own);
    rc_release(copy);
}

static void thread_check_dropped(rcb_world *world)
{
    for (uint32_t i = 0; i < 3; i++) {
        RCB_EXPECT(world->finalized[i] == 1,
                   "every object without a strong handle is finalized once all have quiesced",
                   "%" PRIu32 " finalizers of object %" PRIu32, world->finalized[i], i);
    }
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks once every object is dead");
}
#endif

static const rcb_scenario rcb_thread[] = {
    {.clause = "THREAD-01",
     .name = "attach_again",
     .thread = {thread_attach_again},
     .check = thread_check_died_once},
    {.clause = "THREAD-01",
     .name = "detach_finishes",
     .thread = {thread_detach_finishes},
     .check = thread_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "THREAD-02",
     .name = "made_by_main",
     .setup = thread_make_for_others,
     .thread = {thread_use_and_release, thread_use_and_release},
     .check = thread_check_died_there},
    {.clause = "THREAD-02",
     .name = "made_by_threads",
     .thread = {thread_make, thread_make},
     .check = thread_check_dies_here},
    {.clause = "THREAD-03",
     .name = "makers_exit",
     .thread = {thread_make_and_leave, thread_make_and_leave},
     .check = thread_check_left},
    {.clause = "THREAD-03",
     .name = "users_exit",
     .setup = thread_share_with_2,
     .thread = {thread_traffic_and_leave, thread_traffic_and_leave},
     .check = thread_check_both_left},
#endif
    {.clause = "THREAD-04",
     .name = "share_again",
     .thread = {thread_share_again},
     .check = thread_check_died_once},
    {.clause = "THREAD-04",
     .name = "share_one_of_two",
     .thread = {thread_share_one},
     .check = thread_check_died_once},
    {.clause = "THREAD-05",
     .name = "every_kind_of_owner",
     .thread = {thread_quiesce},
     .check = thread_check_died_once},
    {.clause = "THREAD-05",
     .name = "after_traffic",
     .thread = {thread_quiesce_after_traffic},
     .check = thread_check_died_once},
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "THREAD-06",
     .name = "family",
     .setup = thread_make_family,
     .thread = {thread_release_family, thread_release_family},
     .check = thread_check_family},
    {.clause = "THREAD-06",
     .name = "own_objects",
     .setup = thread_share_with_2,
     .thread = {thread_make_and_drop, thread_make_and_drop},
     .check = thread_check_dropped},
#endif
    {.clause = NULL},
};
