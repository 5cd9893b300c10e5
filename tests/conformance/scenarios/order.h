/* ORDER: what one thread did before its release, others may rely on.
 *
 * All accesses to payloads are plain: field[i] is written by thread i and read by whoever the clause says
 * may read it. A missing order is a data race there, for an engine that sees races; on a machine with
 * strong ordering the values alone are right too. So a weaker order of a read-modify-write, which is
 * the same instruction on x86-64, shows under ThreadSanitizer (where the implementation has no stand-alone
 * fences) and in the exhaustive search, and nowhere else.
 */
#if (RC_IMPL_CAPS) & RC_CAP_THREADS

enum { ORDER_VALUE = 100 };

/* An own strong handle for each of `count` threads, in strong[0], ...; main keeps none. */
static void order_give_strong(rcb_world *world, unsigned count)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
    for (unsigned i = 1; i < count; i++) {
        world->strong[i] = rc_retain(world->strong[0]);
    }
}

static void order_give_2(rcb_world *world)
{
    order_give_strong(world, 2);
}

static void order_give_3(rcb_world *world)
{
    order_give_strong(world, 3);
}

/* A use: a read of what main wrote, and a write to the thread's own field. */
static void order_use(rc_strong handle)
{
    rcb_payload *payload = rcb_payload_of(handle);
    const uint32_t thread = rcb_thread_index();
    RCB_EXPECT_EQ(payload->canary, RCB_CANARY, "the canary of a live object");
    payload->field[thread] = ORDER_VALUE + thread;
}

static void order_use_and_release(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    order_use(world->strong[thread]);
    rc_reset(&world->strong[thread]);
}

static void order_check_seen(rcb_world *world, unsigned threads)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    for (unsigned i = 0; i < threads; i++) {
        RCB_EXPECT_EQ(world->seen[0][i], ORDER_VALUE + i,
                      "what finalize saw of an owner's last write");
    }
}

/* ---- ORDER-01 ---- */

/* Two or three owners write and release. Shows a decrement without RELEASE, and a last one that goes on
 * to finalize without ACQUIRE. */
static void order_check_2(rcb_world *world)
{
    order_check_seen(world, 2);
}

static void order_check_3(rcb_world *world)
{
    order_check_seen(world, 3);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The same while main has a weak handle: nobody is unique, so that death comes by the decrement. */
static void order_give_2_and_weak(rcb_world *world)
{
    order_give_2(world);
    world->weak[0] = rc_weak_new(world->strong[0]);
}

static void order_check_2_and_weak(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_weak_expired(world->weak[0]),
                    "a weak handle has expired after the last release");
    order_check_seen(world, 2);
    rc_weak_reset(&world->weak[0]);
}
#endif

/* ---- ORDER-02 ---- */

/* Thread 1 is slower: it counts up and down first. So it often finds itself alone, and takes the short
 * cut that an implementation may have. Shows a short cut that looks without ACQUIRE. */
static void order_release_late(rcb_world *world)
{
    rc_strong copy = rc_retain(world->strong[1]);
    order_use(copy);
    rc_release(copy);
    copy = rc_retain(world->strong[1]);
    rc_release(copy);
    rc_reset(&world->strong[1]);
}

/* The short cut is taken by a check first: it may not use up the order that the release needs. */
static void order_ask_and_release(rcb_world *world)
{
    order_use(world->strong[1]);
    (void)rc_use_count(world->strong[1]);
    rc_reset(&world->strong[1]);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* The other thread's last act is a weak release: the short cut looks at both counts, so it must be
 * ordered behind both. */
static void order_leave_by_weak(rcb_world *world)
{
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_reset(&world->strong[0]);
    rc_strong locked = rc_weak_lock(weak);
    if (!rc_is_null(locked)) {
        order_use(locked);
        world->value[0] = 1;
        rc_release(locked);
    }
    rc_weak_release(weak);
}

static void order_check_left_by_weak(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(world->seen[0][0], world->value[0] != 0 ? ORDER_VALUE : 0,
                  "what finalize saw of the use through a lock");
    RCB_EXPECT_EQ(world->seen[0][1], ORDER_VALUE + 1,
                  "what finalize saw of the other owner's write");
}

/* ---- ORDER-03 ---- */

/* Thread 0 owns the object, the others have a weak handle each. */
static void order_give_weak(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->weak[1] = rc_weak_new(world->strong[0]);
    world->weak[2] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
}

static void order_lock_use_release(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong locked = rc_weak_lock(world->weak[thread]);
    if (!rc_is_null(locked)) {
        order_use(locked);
        world->value[thread] = 1;
        rc_release(locked);
    }
}

/* An owner writes and releases while others lock, write and release: whoever is last. Shows a lock whose
 * handle ends without the order of an owner's. */
static void order_check_locks(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(world->seen[0][0], ORDER_VALUE, "what finalize saw of the owner's write");
    for (unsigned i = 1; i <= 2; i++) {
        RCB_EXPECT_EQ(world->seen[0][i], world->value[i] != 0 ? ORDER_VALUE + i : 0,
                      "what finalize saw of a use through a lock");
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[i])),
                        "a lock of a dead object gives null");
        rc_weak_reset(&world->weak[i]);
    }
}
#endif

/* ---- ORDER-04 ---- */

/* If thread 1 is alone, the object is its own: it may read and overwrite what others wrote. Shows a
 * rc_is_unique without ACQUIRE, or a release without RELEASE. */
static void order_write_if_unique(rcb_world *world)
{
    rc_strong handle = world->strong[1];
    if (rc_is_unique(handle)) {
        rcb_payload *payload = rcb_payload_of(handle);
        RCB_EXPECT_EQ(payload->field[0], ORDER_VALUE,
                      "what the only owner sees of another's last write");
        payload->field[0] = ORDER_VALUE + 1;
        world->value[1] = 1;
    }
    rc_reset(&world->strong[1]);
}

/* Later: more often alone. */
static void order_write_if_unique_late(rcb_world *world)
{
    rc_release(rc_retain(world->strong[1]));
    rc_release(rc_retain(world->strong[1]));
    order_write_if_unique(world);
}

static void order_check_unique(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(world->seen[0][0], ORDER_VALUE + (world->value[1] != 0 ? 1 : 0),
                  "the last write that finalize saw");
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* ---- ORDER-05 ---- */

/* Thread 1 owns the object, thread 0 has a weak handle. */
static void order_give_unique(rcb_world *world)
{
    world->strong[1] = rcb_new(world, 0);
    world->weak[0] = rc_weak_new(world->strong[1]);
    rc_share(world->strong[1]);
}

/* A use through a lock; the strong handle goes first, or the weak one. */
static void order_use_by_lock(rcb_world *world)
{
    rc_strong locked = rc_weak_lock(world->weak[0]);
    if (!rc_is_null(locked)) {
        order_use(locked);
        world->value[0] = 1;
        rc_release(locked);
    }
    rc_weak_reset(&world->weak[0]);
}

static void order_use_and_drop_weak_first(rcb_world *world)
{
    rc_strong locked = rc_weak_lock(world->weak[0]);
    rc_weak_reset(&world->weak[0]);
    if (!rc_is_null(locked)) {
        order_use(locked);
        world->value[0] = 1;
        rc_release(locked);
    }
}

/* If thread 1 is alone, thread 0 has gone, after a use or after a lock that failed: not while thread 1
 * holds the object, so after a use. Shows an answer that is ordered behind one count only. (Where
 * it is put together from two looks, a first one without ACQUIRE shows in the exhaustive search only.) */
static void order_write_if_weak_gone(rcb_world *world)
{
    rc_strong handle = world->strong[1];
    rc_release(rc_retain(handle));
    rc_release(rc_retain(handle));
    if (rc_is_unique(handle)) {
        rcb_payload *payload = rcb_payload_of(handle);
        RCB_EXPECT_EQ(payload->field[0], ORDER_VALUE,
                      "what the only owner sees of a use through a weak handle");
        payload->field[0] = ORDER_VALUE + 1;
        world->value[1] = 1;
    }
    rc_reset(&world->strong[1]);
}

static void order_check_weak_gone(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    const uint64_t used = world->value[0] != 0 ? ORDER_VALUE : 0;
    RCB_EXPECT_EQ(world->seen[0][0], world->value[1] != 0 ? ORDER_VALUE + 1 : used,
                  "the last write that finalize saw");
}

/* ---- ORDER-06 ---- */

/* Finalize on one thread, the last weak release on another: whoever is second frees. Shows a weak
 * decrement without RELEASE or ACQUIRE: memory that returns while it is still in use. */
static void order_drop_weak(rcb_world *world)
{
    rc_weak_reset(&world->weak[rcb_thread_index()]);
}

/* A use of the block: a lock, also one that fails, and a query. */
static void order_lock_and_drop_weak(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    order_lock_use_release(world);
    (void)rc_weak_expired(world->weak[thread]);
    rc_weak_reset(&world->weak[thread]);
}

static void order_check_freed(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(world->seen[0][0], ORDER_VALUE, "what finalize saw of the owner's write");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}

static void order_give_1_weak(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->weak[1] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
}

/* The object is dead: only weak handles are left, and their uses of the block. */
static void order_give_dead(rcb_world *world)
{
    order_give_1_weak(world);
    world->weak[0] = rc_weak_retain(world->weak[1]);
    rc_reset(&world->strong[0]);
    rcb_settle();
}

static void order_check_dead_freed(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}

/* ---- ORDER-07 ---- */

/* Thread 0 writes, then gives up one of its two handles. Thread 1 locks twice and counts in between: if
 * thread 0's release is counted, the second lock came after it, and sees what was written before it.
 * Shows a lock without ACQUIRE. main's weak handle keeps short cuts away. */
static void order_give_locker(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rc_retain(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
    world->weak[2] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
}

static void order_write_and_release_one(rcb_world *world)
{
    order_use(world->strong[0]);
    rc_reset(&world->strong[0]);
}

static void order_lock_count_lock(rcb_world *world)
{
    rc_strong first = rc_weak_lock(world->weak[1]);
    const uint64_t strong = rc_use_count(first);
    rc_strong second = rc_weak_lock(world->weak[1]);
    RCB_EXPECT(strong == 2 || strong == 3, "strong references: 2, or 3 before the other's release",
               "%" PRIu64, strong);
    if (strong == 2) {
        RCB_EXPECT_EQ(rcb_payload_of(second)->field[0], ORDER_VALUE,
                      "what is seen through a lock of a write before a release that came first");
    }
    rc_release(first);
    rc_release(second);
}

static void order_check_locker(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
    rc_reset(&world->strong[1]);
    rc_weak_reset(&world->weak[1]);
    rc_weak_reset(&world->weak[2]);
    rcb_settle();
    order_check_seen(world, 1);
}

/* Thread 0 makes an object, writes it and lends a weak handle by a flag; thread 1 locks it if it is there
 * already. The flag orders it, as a caller must. Shows a lock that leads to another payload, or to one
 * that rc_share or rc_weak_new moved or cleared.
 * P1 RELEASE, P2 ACQUIRE: what publishing a handle owes. */
static _Atomic(uint32_t) order_published;

static void order_not_published(rcb_world *world)
{
    (void)world;
    atomic_store_explicit(&order_published, 0,
                          memory_order_relaxed); /* RELAXED: before the threads */
}

static void order_publish(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    order_use(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
    atomic_store_explicit(&order_published, 1, memory_order_release); /* P1 */
}

static void order_lock_published(rcb_world *world)
{
    if (atomic_load_explicit(&order_published, memory_order_acquire) == 0) { /* P2 */
        return;
    }
    rc_strong locked = rc_weak_lock(world->weak[1]);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
    RCB_EXPECT_EQ(rcb_payload_of(locked)->field[0], ORDER_VALUE,
                  "what is seen through a lock of a write before the object was shared");
    order_use(locked);
    rc_release(locked);
}

static void order_check_published(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a handle is held");
    rc_reset(&world->strong[0]);
    rc_weak_reset(&world->weak[1]);
    rcb_settle();
    order_check_seen(world, 1);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* ---- ORDER-08 ---- */

/* field[0] stands for the wrapper's state: thread 0 writes it, then attaches. The handles are those of
 * WRAP-18: strong[0] is to be the wrapper's, strong[5] is thread 1's. */
static void order_write_and_attach(rcb_world *world)
{
    order_use(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
}

static void order_write_and_detach(rcb_world *world)
{
    order_use(world->strong[0]);
    rc_wrapper_detach(world->strong[0]);
}

static void order_expect_written(const rcb_payload *payload, const char *what)
{
    RCB_EXPECT_EQ(payload->field[0], ORDER_VALUE, what);
}

/* Thread 1 asks. Shows an attach or detach without RELEASE, and a question without ACQUIRE. */
static void order_ask_and_read(rcb_world *world)
{
    if (rc_has_wrapper(world->strong[5])) {
        order_expect_written(rcb_payload_of(world->strong[5]),
                             "what is seen of a write before attach by who sees the wrapper");
    }
}

static void order_ask_and_read_without(rcb_world *world)
{
    if (!rc_has_wrapper(world->strong[5])) {
        order_expect_written(rcb_payload_of(world->strong[5]),
                             "what is seen of a write before detach by who sees no wrapper");
    }
}

static void order_check_asked(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_has_wrapper(world->strong[0]), "there is a wrapper after attach");
    wrap_finish(world);
}

/* The hooks are called because the bit was seen. Shows a retain or a lock that goes from the bit to the
 * hook without ACQUIRE. */
static void order_read_in_retain_hook(rcb_payload *payload)
{
    order_expect_written(payload, "what wrapper_retain sees of a write before attach");
}

static void order_give_loan_and_hook(rcb_world *world)
{
    wrap_share_bare_at_1(world);
    world->on_wrapper_retain = order_read_in_retain_hook;
}

/* The only other owner leaves: by the edge, or while attach gives the wrapper its reference. Either hook
 * sees both threads' writes. Shows an attach without ACQUIRE, too. */
static void order_read_in_release_hook(rcb_payload *payload)
{
    order_expect_written(payload, "what wrapper_release sees of a write before attach");
    RCB_EXPECT_EQ(payload->field[1], ORDER_VALUE + 1,
                  "what wrapper_release sees of a use by an owner that has left");
}

static void order_give_2_and_hook(rcb_world *world)
{
    wrap_share_bare_at_2(world);
    world->on_wrapper_release = order_read_in_release_hook;
}

static void order_use_and_drop_own(rcb_world *world)
{
    order_use(world->strong[5]);
    rc_reset(&world->strong[5]);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static bool order_read_in_try_hook(void *memory)
{
    order_expect_written(memory, "what wrapper_try_retain sees of a write before attach");
    return rcb_wrapper_try_retain(memory);
}

static const rc_class order_asking = {.name = "asking",
                                      .payload_size = sizeof(rcb_payload),
                                      .finalize = rcb_finalize,
                                      .wrapper_retain = rcb_wrapper_retain,
                                      .wrapper_release = rcb_wrapper_release,
                                      .wrapper_try_retain = order_read_in_try_hook};

static void order_give_weak_of(rcb_world *world, const rc_class *class)
{
    world->strong[0] = rcb_new_of(world, class, 0);
    world->weak[1] = rc_weak_new(world->strong[0]);
    rc_share(world->strong[0]);
    world->on_wrapper_retain = order_read_in_retain_hook;
}

static void order_give_weak_asking(rcb_world *world)
{
    order_give_weak_of(world, &order_asking);
}

static void order_give_weak_retaining(rcb_world *world)
{
    order_give_weak_of(world, &rcb_wrapped);
}

static void order_lock_wrapped(rcb_world *world)
{
    world->strong[5] = rc_weak_lock(world->weak[1]);
    RCB_EXPECT_FALSE(rc_is_null(world->strong[5]), "a lock that the wrapper grants gives a handle");
}

static void order_check_locked_wrapped(rcb_world *world)
{
    rc_weak_reset(&world->weak[1]);
    wrap_expect_balance(world, 1, "with one foreign reference");
    wrap_finish(world);
}
#endif
#endif
#endif

static const rcb_scenario rcb_order[] = {
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "ORDER-01",
     .name = "two_owners",
     .setup = order_give_2,
     .thread = {order_use_and_release, order_use_and_release},
     .check = order_check_2},
    {.clause = "ORDER-01",
     .name = "three_owners",
     .setup = order_give_3,
     .thread = {order_use_and_release, order_use_and_release, order_use_and_release},
     .check = order_check_3},
    {.clause = "ORDER-02",
     .name = "slower_owner_is_alone",
     .setup = order_give_2,
     .thread = {order_use_and_release, order_release_late},
     .check = order_check_2},
    {.clause = "ORDER-02",
     .name = "owner_counts_and_is_alone",
     .setup = order_give_2,
     .thread = {order_use_and_release, order_ask_and_release},
     .check = order_check_2},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "ORDER-01",
     .name = "two_owners_and_a_weak_handle",
     .setup = order_give_2_and_weak,
     .thread = {order_use_and_release, order_use_and_release},
     .check = order_check_2_and_weak},
    {.clause = "ORDER-02",
     .name = "other_leaves_by_a_weak_release",
     .needs = RC_CAP_WEAK,
     .setup = order_give_2,
     .thread = {order_leave_by_weak, order_release_late},
     .check = order_check_left_by_weak},
    {.clause = "ORDER-03",
     .name = "owner_and_a_lock",
     .setup = order_give_weak,
     .thread = {order_use_and_release, order_lock_use_release},
     .check = order_check_locks},
    {.clause = "ORDER-03",
     .name = "owner_and_two_locks",
     .setup = order_give_weak,
     .thread = {order_use_and_release, order_lock_use_release, order_lock_use_release},
     .check = order_check_locks},
#endif
    {.clause = "ORDER-04",
     .name = "write_if_unique",
     .setup = order_give_2,
     .thread = {order_use_and_release, order_write_if_unique},
     .check = order_check_unique},
    {.clause = "ORDER-04",
     .name = "write_if_unique_later",
     .setup = order_give_2,
     .thread = {order_use_and_release, order_write_if_unique_late},
     .check = order_check_unique},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "ORDER-05",
     .name = "write_once_the_weak_handle_is_gone",
     .setup = order_give_unique,
     .thread = {order_use_by_lock, order_write_if_weak_gone},
     .check = order_check_weak_gone},
    {.clause = "ORDER-05",
     .name = "weak_handle_goes_before_the_locked_one",
     .setup = order_give_unique,
     .thread = {order_use_and_drop_weak_first, order_write_if_weak_gone},
     .check = order_check_weak_gone},
    {.clause = "ORDER-06",
     .name = "finalize_and_a_weak_release",
     .setup = order_give_1_weak,
     .thread = {order_use_and_release, order_drop_weak},
     .check = order_check_freed},
    {.clause = "ORDER-06",
     .name = "finalize_a_lock_and_a_weak_release",
     .setup = order_give_weak,
     .thread = {order_use_and_release, order_lock_and_drop_weak, order_drop_weak},
     .check = order_check_freed},
    {.clause = "ORDER-06",
     .name = "two_weak_releases_of_a_dead_object",
     .setup = order_give_dead,
     .thread = {order_lock_and_drop_weak, order_lock_and_drop_weak},
     .check = order_check_dead_freed},
    {.clause = "ORDER-07",
     .name = "lock_after_a_release",
     .needs = RC_CAP_EXACT_COUNT,
     .setup = order_give_locker,
     .thread = {order_write_and_release_one, order_lock_count_lock},
     .check = order_check_locker},
    {.clause = "ORDER-07",
     .name = "lock_of_a_published_handle",
     .setup = order_not_published,
     .thread = {order_publish, order_lock_published},
     .check = order_check_published},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "ORDER-08",
     .name = "ask_after_attach",
     .setup = wrap_share_bare_at_2,
     .thread = {order_write_and_attach, order_ask_and_read},
     .check = order_check_asked},
    {.clause = "ORDER-08",
     .name = "ask_after_detach",
     .setup = wrap_share_wrapped_at_2,
     .thread = {order_write_and_detach, order_ask_and_read_without},
     .check = wrap_check_detached},
    {.clause = "ORDER-08",
     .name = "retain_after_attach",
     .setup = order_give_loan_and_hook,
     .thread = {order_write_and_attach, wrap_take},
     .check = wrap_check_attached_at_2},
    {.clause = "ORDER-08",
     .name = "release_and_attach",
     .setup = order_give_2_and_hook,
     .thread = {order_write_and_attach, order_use_and_drop_own},
     .check = wrap_check_attached},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "ORDER-08",
     .name = "lock_that_asks_after_attach",
     .needs = RC_CAP_WEAK,
     .setup = order_give_weak_asking,
     .thread = {order_write_and_attach, order_lock_wrapped},
     .check = order_check_locked_wrapped},
    {.clause = "ORDER-08",
     .name = "lock_that_retains_after_attach",
     .needs = RC_CAP_WEAK,
     .setup = order_give_weak_retaining,
     .thread = {order_write_and_attach, order_lock_wrapped},
     .check = order_check_locked_wrapped},
#endif
#endif
#endif
    {.clause = NULL},
};
