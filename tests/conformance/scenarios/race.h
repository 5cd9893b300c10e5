/* RACE: who wins, and what losers may not do.
 *
 * Each thread has handles of its own, or a loan that main holds for it until the check. What a thread
 * sees is judged on that thread where it is certain, and else kept in world->value for the check.
 */
#if (RC_IMPL_CAPS) & RC_CAP_THREADS

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* Rounds of the scenarios named long_...: a window of a few instructions is seldom hit by short ones
 * natively. Each has a short twin for the exhaustive search. */
enum { RACE_LONG = 200000 };
#endif

/* One strong handle for each of `count` threads, in strong[0], ...; main keeps none. */
static void race_give_strong(rcb_world *world, unsigned count)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
    for (unsigned i = 1; i < count; i++) {
        world->strong[i] = rc_retain(world->strong[0]);
    }
}

static void race_give_2(rcb_world *world)
{
    race_give_strong(world, 2);
}

static void race_give_3(rcb_world *world)
{
    race_give_strong(world, 3);
}

static void race_give_4(rcb_world *world)
{
    race_give_strong(world, 4);
}

static void race_release_own(rcb_world *world)
{
    rc_reset(&world->strong[rcb_thread_index()]);
}

/* Dead, finalized once, and where the contract says: on one of the threads 0 to `threads` - 1. */
static void race_expect_died_on(rcb_world *world, unsigned threads)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
        RCB_EXPECT(world->finalized_by[0] >= 1 && world->finalized_by[0] <= threads,
                   "finalize runs on a thread that released", "on thread %" PRIu32,
                   world->finalized_by[0] - 1);
    }
}

/* ---- RACE-01 ---- */

/* Two, three or four threads release the last handles. Shows a decision that is not taken from the value
 * that the decrement returned: nobody finalizes, or two do. */
static void race_check_2(rcb_world *world)
{
    race_expect_died_on(world, 2);
}

static void race_check_3(rcb_world *world)
{
    race_expect_died_on(world, 3);
}

static void race_check_4(rcb_world *world)
{
    race_expect_died_on(world, 4);
}

/* Each thread releases two handles one after the other. */
static void race_give_2_each(rcb_world *world)
{
    race_give_2(world);
    world->strong[4] = rc_retain(world->strong[0]);
    world->strong[5] = rc_retain(world->strong[0]);
}

static void race_release_two(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_reset(&world->strong[thread]);
    rc_reset(&world->strong[4 + thread]);
}

/* Two objects, released in opposite order, one of which owns a third. Shows a loser that stops short. */
static void race_give_crossed(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rcb_new(world, 1);
    rc_strong child = rcb_new(world, 2);
    rc_share(world->strong[0]);
    rc_share(world->strong[1]);
    rc_share(child);
    rcb_payload_of(world->strong[0])->child = child;
    world->strong[4] = rc_retain(world->strong[1]); /* thread 0's */
    world->strong[5] = rc_retain(world->strong[0]); /* thread 1's */
}

static void race_check_crossed(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the first object");
    RCB_EXPECT_EQ(world->finalized[1], 1, "finalizers of the second object");
    RCB_EXPECT_EQ(world->finalized[2], 1, "finalizers of the first one's child");
}

/* ---- RACE-05 ---- */

/* As RACE-01, and whoever is not last must leave the memory alone: the last one frees it. Shows a loser
 * that looks at the count once more, at its class, or writes a statistic. The memory is poisoned when
 * it is freed, and whoever writes there is found at the end. */
static void race_use_and_release(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rcb_payload_of(world->strong[thread])->field[thread] = 1 + thread;
    rc_reset(&world->strong[thread]);
}

static void race_check_used(rcb_world *world)
{
    race_check_2(world);
    RCB_EXPECT(world->seen[0][0] == 1 && world->seen[0][1] == 2,
               "finalize sees both owners' writes", "%" PRIu64 " and %" PRIu64, world->seen[0][0],
               world->seen[0][1]);
}

/* The same with a look at uniqueness first, which may lock something in the object. */
static void race_ask_and_release(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    world->value[thread] = rc_is_unique(world->strong[thread]) ? 1 : 0;
    rc_reset(&world->strong[thread]);
}

static void race_check_asked(rcb_world *world)
{
    race_check_2(world);
    RCB_EXPECT_TRUE(world->value[0] + world->value[1] < 2,
                    "one of two owners at most is the only one");
}

/* ---- RACE-06 ---- */

/* Threads retain and release through main's handle, and keep one reference each. Shows an update that is
 * lost: a count that is too low (early death) or too high (no death). */
static void race_give_loan(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
}

static void race_up_and_down(rcb_world *world)
{
    rc_strong first = rc_retain(world->strong[0]);
    rc_strong second = rc_retain(first);
    rc_release(first);
    world->strong[4 + rcb_thread_index()] = second;
}

static void race_up_down_up_down(rcb_world *world)
{
    rc_release(rc_retain(world->strong[0]));
    rc_release(rc_retain(world->strong[0]));
}

static void race_expect_strong(rcb_world *world, uint64_t wanted)
{
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), wanted,
                      "strong references after the threads");
    }
}

static void race_drop_all(rcb_world *world)
{
    for (unsigned i = 4; i < 4 + RCB_THREADS_MAX; i++) {
        rc_reset(&world->strong[i]);
    }
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while main holds a handle");
    RCB_EXPECT_EQ(rcb_payload_of(world->strong[0])->canary, RCB_CANARY,
                  "the canary of a live object");
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), 1, "strong references once main is alone");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
}

static void race_check_kept_2(rcb_world *world)
{
    race_expect_strong(world, 3);
    race_drop_all(world);
}

static void race_check_kept_none(rcb_world *world)
{
    race_expect_strong(world, 1);
    race_drop_all(world);
}

/* Some only give up what main gave them, others only take. */
static void race_give_loan_and_2(rcb_world *world)
{
    race_give_loan(world);
    world->strong[4] = rc_retain(world->strong[0]);
    world->strong[5] = rc_retain(world->strong[0]);
}

static void race_drop_given(rcb_world *world)
{
    rc_reset(&world->strong[4 + rcb_thread_index()]);
}

static void race_take(rcb_world *world)
{
    world->strong[4 + rcb_thread_index()] = rc_retain(world->strong[0]);
}

static void race_check_kept_1(rcb_world *world)
{
    race_expect_strong(world, 2);
    race_drop_all(world);
}

/* ---- RACE-11: queries, without weak handles ---- */

/* Thread 0 asks about its own handle while thread 1 counts through its own. Shows a plain read beside an
 * atomic change. A query made of two looks, whose answer no moment had, is for an engine that explores. */
static void race_ask_strong(rcb_world *world)
{
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t strong = rc_use_count(world->strong[0]);
        if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
            RCB_EXPECT(strong >= 2 && strong <= 3, "2 or 3 strong references", "%" PRIu64, strong);
        }
        RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]), "an object with two owners is not unique");
    }
}

static void race_count_own(rcb_world *world)
{
    rc_release(rc_retain(world->strong[1]));
    rc_release(rc_retain(world->strong[1]));
}

static void race_check_asked_strong(rcb_world *world)
{
    rc_reset(&world->strong[0]);
    rc_reset(&world->strong[1]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
}

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* The same for the wrapper's bit, which thread 1 sets and clears. */
static void race_ask_wrapper(rcb_world *world)
{
    world->value[0] = rc_has_wrapper(world->strong[0]) ? 1 : 0;
}

static void race_move_wrapper(rcb_world *world)
{
    rc_wrapper_attach(world->strong[1]);
    rc_wrapper_detach(world->strong[1]);
}

static void race_check_asked_wrapper(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_has_wrapper(world->strong[0]), "there is no wrapper after detach");
    race_check_asked_strong(world);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WEAK

/* Strong handles for threads 0 to `strong` - 1, weak ones for `weak` threads from thread `strong` on. */
static void race_give_mixed(rcb_world *world, unsigned strong, unsigned weak)
{
    race_give_strong(world, strong);
    for (unsigned i = strong; i < strong + weak; i++) {
        world->weak[i] = rc_weak_new(world->strong[0]);
    }
}

static void race_give_1_1(rcb_world *world)
{
    race_give_mixed(world, 1, 1);
}

static void race_give_1_2(rcb_world *world)
{
    race_give_mixed(world, 1, 2);
}

static void race_give_2_1(rcb_world *world)
{
    race_give_mixed(world, 2, 1);
}

static void race_drop_weak(rcb_world *world)
{
    rc_weak_reset(&world->weak[rcb_thread_index()]);
}

/* ---- RACE-02 ---- */

/* Locks while the last owner leaves. What a lock gives is alive: not finalized, whole, and it can be
 * written until it is released. Shows "alive?" and "raise" as two steps, a dead mark that is set late, and
 * a count that comes back from zero. */
static void race_lock(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_strong locked = rc_weak_lock(world->weak[thread]);
    if (rc_is_null(locked)) {
        return;
    }
    world->value[thread] = 1;
    rcb_payload *payload = rcb_payload_of(locked);
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a locked handle is held");
    RCB_EXPECT_EQ(payload->canary, RCB_CANARY, "the canary of a locked object");
    payload->field[thread] = 10 + thread;
    RCB_EXPECT_EQ(payload->canary, RCB_CANARY, "the canary of a locked object");
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a locked handle is held");
    rc_release(locked);
}

static void race_check_locked(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    for (uint32_t i = 1; i < RCB_THREADS_MAX; i++) {
        RCB_EXPECT_EQ(world->seen[0][i], world->value[i] != 0 ? 10 + i : 0,
                      "what finalize saw of a write through a lock");
        if (!rc_weak_is_null(world->weak[i])) {
            RCB_EXPECT_TRUE(rc_weak_expired(world->weak[i]), "the weak handle has expired");
            RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[i])), "its lock gives null");
            rc_weak_reset(&world->weak[i]);
        }
    }
}

/* What was locked is kept until the check: the owner's release was not the last. */
static void race_lock_and_keep(rcb_world *world)
{
    world->strong[5] = rc_weak_lock(world->weak[rcb_thread_index()]);
}

static void race_check_locked_kept(rcb_world *world)
{
    const uint64_t alive = rc_is_null(world->strong[5]) ? 0 : 1;
    RCB_EXPECT_EQ(world->finalized[0], 1 - alive,
                  "finalizers before the locked handle is released");
    RCB_EXPECT(rc_weak_expired(world->weak[1]) == (alive == 0),
               "the weak handle has expired if its lock failed", "the opposite");
    if (alive != 0) {
        RCB_EXPECT_EQ(rcb_payload_of(world->strong[5])->canary, RCB_CANARY,
                      "the canary of a locked object");
    }
    rc_reset(&world->strong[5]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    rc_weak_reset(&world->weak[1]);
}

/* ---- RACE-03, RACE-04 ---- */

/* The last strong and the last weak handles go at once. Shows an implicit weak whose end nobody sees, or
 * two do: a block that stays, or goes twice. */
static void race_check_freed(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks once every handle is gone");
}

/* One thread gives up a strong and then a weak handle, the other a weak and then a strong one. */
static void race_give_both(rcb_world *world)
{
    race_give_2(world);
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
}

static void race_drop_strong_then_weak(rcb_world *world)
{
    rc_reset(&world->strong[0]);
    rc_weak_reset(&world->weak[0]);
}

static void race_drop_weak_then_strong(rcb_world *world)
{
    rc_weak_reset(&world->weak[1]);
    rc_reset(&world->strong[1]);
}

/* The last weak handle goes while finalize runs: the order of events that a race needs luck for, on one
 * thread. Shows an implicit weak whose end finalize's caller does not look at. */
static void race_drop_weak_hook(rcb_payload *payload)
{
    rc_weak_reset(&payload->world->weak[0]);
}

static void race_drop_weak_in_finalize(rcb_world *world)
{
    race_give_2(world);
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->on_finalize = race_drop_weak_hook;
    rc_reset(&world->strong[0]);
    rc_reset(&world->strong[1]);
    rcb_settle();
}

/* The object is dead; each of `count` threads has a weak handle. */
static void race_give_dead(rcb_world *world, unsigned count)
{
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
    for (unsigned i = 0; i < count; i++) {
        world->weak[i] = rc_weak_new(world->strong[0]);
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers before the threads");
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "weak handles keep the block");
}

static void race_give_dead_2(rcb_world *world)
{
    race_give_dead(world, 2);
}

static void race_give_dead_3(rcb_world *world)
{
    race_give_dead(world, 3);
}

/* With one more that comes and goes. */
static void race_weak_up_and_down(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    rc_weak more = rc_weak_retain(world->weak[thread]);
    rc_weak_reset(&world->weak[thread]);
    rc_weak_release(more);
}

/* ---- RACE-07 ---- */

/* Weak handles come and go through main's handles, and each thread keeps one. */
static void race_give_weak_loan(rcb_world *world)
{
    race_give_loan(world);
    world->weak[0] = rc_weak_new(world->strong[0]);
}

static void race_weak_new_and_retain(rcb_world *world)
{
    rc_weak first = rc_weak_new(world->strong[0]);
    rc_weak second = rc_weak_retain(world->weak[0]);
    rc_weak_release(first);
    world->weak[4 + rcb_thread_index()] = second;
}

/* Strong and weak changes together: they may share a word. */
static void race_strong_beside(rcb_world *world)
{
    rc_strong copy = rc_retain(world->strong[0]);
    rc_weak weak = rc_weak_new(copy);
    rc_release(copy);
    world->weak[4 + rcb_thread_index()] = weak;
}

static void race_check_weak(rcb_world *world)
{
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), 3, "weak handles after the threads");
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), 1, "strong references after the threads");
    }
    for (unsigned i = 4; i < 6; i++) {
        rc_strong locked = rc_weak_lock(world->weak[i]);
        RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
        rc_release(locked);
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
    for (unsigned i = 4; i < 6; i++) {
        rc_weak_reset(&world->weak[i]);
        RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "a weak handle keeps the block");
    }
    rc_weak_reset(&world->weak[0]);
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}

/* The same for long, with nothing kept. */
static void race_weak_long(rcb_world *world)
{
    for (unsigned i = 0; i < RACE_LONG; i++) {
        rc_weak first = rc_weak_retain(world->weak[0]);
        rc_weak second = rc_weak_new(world->strong[0]);
        rc_weak_release(first);
        rc_weak_release(second);
    }
}

static void race_check_weak_long(rcb_world *world)
{
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), 1, "weak handles after the threads");
        RCB_EXPECT_EQ(rc_use_count(world->strong[0]), 1, "strong references after the threads");
    }
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "a weak handle keeps the block");
    rc_weak_reset(&world->weak[0]);
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}

/* ---- RACE-08 ---- */

/* Thread 0 asks whether it is alone. Thread 1 always has a handle, but now a strong and now a weak one.
 * Shows an answer that is put together from two moments. */
static void race_ask_unique(rcb_world *world)
{
    for (unsigned i = 0; i < 3; i++) {
        RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]),
                         "rc_is_unique is false while another thread has a handle");
    }
}

static void race_strong_to_weak(rcb_world *world)
{
    world->weak[5] = rc_weak_new(world->strong[1]);
    rc_reset(&world->strong[1]);
}

static void race_weak_to_strong(rcb_world *world)
{
    world->strong[5] = rc_weak_lock(world->weak[1]);
    rc_weak_reset(&world->weak[1]);
}

static void race_to_and_fro(rcb_world *world)
{
    race_strong_to_weak(world);
    world->strong[5] = rc_weak_lock(world->weak[5]);
    rc_weak_reset(&world->weak[5]);
    world->weak[5] = rc_weak_new(world->strong[5]);
    rc_reset(&world->strong[5]);
}

/* The same for long; a strong handle is left. */
static void race_ask_unique_long(rcb_world *world)
{
    for (unsigned i = 0; i < RACE_LONG; i++) {
        RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]),
                         "rc_is_unique is false while another thread has a handle");
    }
}

static void race_to_and_fro_long(rcb_world *world)
{
    world->strong[5] = world->strong[1];
    world->strong[1] = rc_null();
    for (unsigned i = 0; i < RACE_LONG; i++) {
        rc_weak weak = rc_weak_new(world->strong[5]);
        rc_release(world->strong[5]);
        world->strong[5] = rc_weak_lock(weak);
        rc_weak_release(weak);
        RCB_EXPECT_FALSE(rc_is_null(world->strong[5]), "a lock of a live object gives a handle");
    }
}

static void race_check_exchanged(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_is_null(world->strong[5]) && rc_weak_is_null(world->weak[5]),
                     "a lock of a live object gives a handle");
    rc_reset(&world->strong[0]);
    rc_reset(&world->strong[5]);
    rc_weak_reset(&world->weak[5]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
}

/* Two threads ask at once, and both have a handle. Shows a lock inside the question that is taken for an
 * answer, and an answer that one question's end spoils for the other. */
static void race_ask_own(rcb_world *world)
{
    const uint32_t thread = rcb_thread_index();
    for (unsigned i = 0; i < 3; i++) {
        RCB_EXPECT_FALSE(rc_is_unique(world->strong[thread]),
                         "rc_is_unique is false while another thread has a handle");
    }
}

/* Two ask at once, and one of them leaves; the third owner exchanges its handle for a weak one. Shows a
 * question whose end is taken for that of another one. */
static void race_ask_once(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_is_unique(world->strong[rcb_thread_index()]),
                     "rc_is_unique is false while another thread has a handle");
}

static void race_ask_once_and_leave(rcb_world *world)
{
    race_ask_once(world);
    rc_reset(&world->strong[1]);
}

static void race_third_to_weak(rcb_world *world)
{
    world->weak[5] = rc_weak_new(world->strong[2]);
    rc_reset(&world->strong[2]);
}

static void race_ask_own_long(rcb_world *world)
{
    for (unsigned i = 0; i < RACE_LONG; i++) {
        RCB_EXPECT_FALSE(rc_is_unique(world->strong[rcb_thread_index()]),
                         "rc_is_unique is false while another thread has a handle");
    }
}

static void race_check_2_owners(rcb_world *world)
{
    rc_reset(&world->strong[0]);
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        rcb_settle();
        RCB_EXPECT_TRUE(rc_is_unique(world->strong[1]), "the only handle left is unique");
        RCB_EXPECT_EQ(rc_weak_count(world->strong[1]), 0, "weak handles");
    }
    rc_reset(&world->strong[1]);
}

/* ---- RACE-09 ---- */

/* Main holds the object all the time. Shows a lock that gives up when an exchange fails, or that sees
 * somebody's temporary state. */
static void race_give_locks(rcb_world *world)
{
    race_give_loan(world);
    for (unsigned i = 0; i < 3; i++) {
        world->weak[i] = rc_weak_new(world->strong[0]);
    }
}

static void race_lock_twice(rcb_world *world)
{
    const rc_weak weak = world->weak[rcb_thread_index()];
    for (unsigned i = 0; i < 2; i++) {
        rc_strong locked = rc_weak_lock(weak);
        RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
        rc_release(locked);
    }
}

static void race_weak_twice(rcb_world *world)
{
    for (unsigned i = 0; i < 2; i++) {
        rc_weak_release(rc_weak_new(world->strong[0]));
    }
}

static void race_ask_thrice(rcb_world *world)
{
    for (unsigned i = 0; i < 3; i++) {
        (void)rc_is_unique(world->strong[0]);
    }
}

static void race_check_locks(rcb_world *world)
{
    for (unsigned i = 0; i < 3; i++) {
        rc_weak_reset(&world->weak[i]);
    }
    race_check_kept_none(world);
}

/* ---- RACE-10 ---- */

/* Two threads lock a dead object. Shows a lock that raises first and looks afterwards: the other one takes
 * its temporary unit for a reference, and the object dies twice. */
static void race_lock_dead(rcb_world *world)
{
    const rc_weak weak = world->weak[rcb_thread_index()];
    for (unsigned i = 0; i < 2; i++) {
        rc_strong locked = rc_weak_lock(weak);
        RCB_EXPECT_TRUE(rc_is_null(locked), "a lock of a dead object gives null");
        RCB_EXPECT_TRUE(rc_weak_expired(weak), "a weak handle of a dead object has expired");
    }
}

static void race_drop_all_weak(rcb_world *world)
{
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers of the object");
    for (unsigned i = 0; i < RCB_THREADS_MAX; i++) {
        rc_weak_reset(&world->weak[i]);
    }
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last weak release");
}

/* A lock that fails beside a weak handle that comes, and one that goes. Shows a trace in the weak count. */
static void race_weak_of_dead(rcb_world *world)
{
    rc_weak_release(rc_weak_retain(world->weak[rcb_thread_index()]));
}

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* The wrapper refuses locks while thread 0 counts. Shows a refused lock that held a unit for a while: who
 * counts sees 2. (The wrapper does not let go meanwhile: a question may then find it dead.) */
static void race_give_refusing(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped_try, 0);
    for (unsigned i = 0; i < 3; i++) {
        world->weak[i] = rc_weak_new(world->strong[0]);
    }
    rc_wrapper_attach(world->strong[0]);
    rc_share(world->strong[0]);
    atomic_store_explicit(&world->refuse_tries, 1,
                          memory_order_relaxed); /* RELAXED: before threads */
}

static void race_lock_refused(rcb_world *world)
{
    rc_strong locked = rc_weak_lock(world->weak[rcb_thread_index()]);
    RCB_EXPECT_TRUE(rc_is_null(locked), "a lock that the wrapper refuses gives null");
}

static void race_count_refused(rcb_world *world)
{
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t strong = rc_use_count(world->strong[0]);
        RCB_EXPECT(!((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) || strong == 1,
                   "1 strong reference while locks are refused", "%" PRIu64, strong);
    }
}

static void race_check_refused(rcb_world *world)
{
    race_expect_strong(world, 1);
    rc_reset(&world->strong[0]);
    rcb_settle();
    /* RELAXED: after the join. */
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_retains[0], memory_order_relaxed), 0,
                  "wrapper_retain calls");
    RCB_EXPECT_EQ(atomic_load_explicit(&world->wrapper_releases[0], memory_order_relaxed), 0,
                  "wrapper_release calls");
    race_drop_all_weak(world);
}
#endif

/* ---- RACE-11 with weak handles ---- */

/* Thread 0 asks everything; thread 1 retains, releases, and makes and drops weak handles through its own
 * handle, and thread 2 locks. */
static void race_give_queries(rcb_world *world)
{
    race_give_2(world);
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[2] = rc_weak_new(world->strong[0]);
}

static void race_ask_all(rcb_world *world)
{
    const uint64_t strong = rc_use_count(world->strong[0]);
    const uint64_t weak = rc_weak_count(world->strong[0]);
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT(strong >= 2 && strong <= 4, "2 to 4 strong references", "%" PRIu64, strong);
        RCB_EXPECT(weak >= 2 && weak <= 3, "2 or 3 weak handles", "%" PRIu64, weak);
    }
    RCB_EXPECT_FALSE(rc_is_unique(world->strong[0]), "an object with two owners is not unique");
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]),
                     "a live object's weak handle has not expired");
}

static void race_move_counts(rcb_world *world)
{
    rc_strong copy = rc_retain(world->strong[1]);
    rc_weak weak = rc_weak_new(copy);
    rc_release(copy);
    rc_weak_release(weak);
}

static void race_lock_once(rcb_world *world)
{
    rc_strong locked = rc_weak_lock(world->weak[2]);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
    rc_release(locked);
}

static void race_ask_all_long(rcb_world *world)
{
    for (unsigned i = 0; i < RACE_LONG; i++) {
        race_ask_all(world);
    }
}

static void race_move_counts_long(rcb_world *world)
{
    for (unsigned i = 0; i < RACE_LONG; i++) {
        race_move_counts(world);
    }
}

static void race_check_queries(rcb_world *world)
{
    rc_weak_reset(&world->weak[0]);
    rc_weak_reset(&world->weak[2]);
    race_check_asked_strong(world);
}

/* A weak handle is asked while the object dies: true is final. */
static void race_ask_expired(rcb_world *world)
{
    const rc_weak weak = world->weak[rcb_thread_index()];
    const bool first = rc_weak_expired(weak);
    const bool second = rc_weak_expired(weak);
    RCB_EXPECT_TRUE(second || !first, "a weak handle that has expired stays so");
    if (second) {
        RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(weak)),
                        "a weak handle that has expired locks to null");
    }
}
#endif
#endif

static const rcb_scenario rcb_race[] = {
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    {.clause = "RACE-01",
     .name = "two_last_releases",
     .setup = race_give_2,
     .thread = {race_release_own, race_release_own},
     .check = race_check_2},
    {.clause = "RACE-01",
     .name = "three_last_releases",
     .setup = race_give_3,
     .thread = {race_release_own, race_release_own, race_release_own},
     .check = race_check_3},
    {.clause = "RACE-01",
     .name = "four_last_releases",
     .setup = race_give_4,
     .thread = {race_release_own, race_release_own, race_release_own, race_release_own},
     .check = race_check_4},
    {.clause = "RACE-01",
     .name = "two_releases_each",
     .setup = race_give_2_each,
     .thread = {race_release_two, race_release_two},
     .check = race_check_2},
    {.clause = "RACE-01",
     .name = "two_objects_crossed",
     .setup = race_give_crossed,
     .thread = {race_release_two, race_release_two},
     .check = race_check_crossed},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "RACE-02",
     .name = "last_release_and_a_lock",
     .setup = race_give_1_1,
     .thread = {race_release_own, race_lock},
     .check = race_check_locked},
    {.clause = "RACE-02",
     .name = "last_release_and_two_locks",
     .setup = race_give_1_2,
     .thread = {race_release_own, race_lock, race_lock},
     .check = race_check_locked},
    {.clause = "RACE-02",
     .name = "last_release_and_a_lock_that_stays",
     .setup = race_give_1_1,
     .thread = {race_release_own, race_lock_and_keep},
     .check = race_check_locked_kept},
    {.clause = "RACE-03",
     .name = "last_strong_and_last_weak",
     .setup = race_give_1_1,
     .thread = {race_release_own, race_drop_weak},
     .check = race_check_freed},
    {.clause = "RACE-03",
     .name = "last_strong_and_two_last_weak",
     .setup = race_give_1_2,
     .thread = {race_release_own, race_drop_weak, race_drop_weak},
     .check = race_check_freed},
    {.clause = "RACE-03",
     .name = "two_last_strong_and_last_weak",
     .setup = race_give_2_1,
     .thread = {race_release_own, race_release_own, race_drop_weak},
     .check = race_check_freed},
    {.clause = "RACE-03",
     .name = "both_kinds_on_both_threads",
     .setup = race_give_both,
     .thread = {race_drop_strong_then_weak, race_drop_weak_then_strong},
     .check = race_check_freed},
    {.clause = "RACE-03",
     .name = "last_weak_goes_in_finalize",
     .thread = {race_drop_weak_in_finalize},
     .check = race_check_freed},
    {.clause = "RACE-04",
     .name = "two_last_weak",
     .setup = race_give_dead_2,
     .thread = {race_drop_weak, race_drop_weak},
     .check = race_check_freed},
    {.clause = "RACE-04",
     .name = "three_last_weak",
     .setup = race_give_dead_3,
     .thread = {race_drop_weak, race_drop_weak, race_drop_weak},
     .check = race_check_freed},
    {.clause = "RACE-04",
     .name = "one_more_comes_and_goes",
     .setup = race_give_dead_2,
     .thread = {race_weak_up_and_down, race_drop_weak},
     .check = race_check_freed},
#endif
    {.clause = "RACE-05",
     .name = "use_and_leave",
     .setup = race_give_2,
     .thread = {race_use_and_release, race_use_and_release},
     .check = race_check_used},
    {.clause = "RACE-05",
     .name = "ask_and_leave",
     .setup = race_give_2,
     .thread = {race_ask_and_release, race_ask_and_release},
     .check = race_check_asked},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "RACE-05",
     .name = "leave_a_dead_object",
     .needs = RC_CAP_WEAK,
     .setup = race_give_dead_2,
     .thread = {race_drop_weak, race_drop_weak},
     .check = race_check_freed},
#endif
    {.clause = "RACE-06",
     .name = "two_up_and_down",
     .setup = race_give_loan,
     .thread = {race_up_and_down, race_up_and_down},
     .check = race_check_kept_2},
    {.clause = "RACE-06",
     .name = "three_up_and_down",
     .setup = race_give_loan,
     .thread = {race_up_down_up_down, race_up_down_up_down, race_up_down_up_down},
     .check = race_check_kept_none},
    {.clause = "RACE-06",
     .name = "two_give_up_one_takes",
     .setup = race_give_loan_and_2,
     .thread = {race_drop_given, race_drop_given, race_take},
     .check = race_check_kept_1},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "RACE-07",
     .name = "two_up_and_down",
     .setup = race_give_weak_loan,
     .thread = {race_weak_new_and_retain, race_weak_new_and_retain},
     .check = race_check_weak},
    {.clause = "RACE-07",
     .name = "beside_strong_changes",
     .setup = race_give_weak_loan,
     .thread = {race_weak_new_and_retain, race_strong_beside},
     .check = race_check_weak},
    {.clause = "RACE-07",
     .name = "long_up_and_down",
     .flags = RCB_HEAVY,
     .setup = race_give_weak_loan,
     .thread = {race_weak_long, race_weak_long},
     .check = race_check_weak_long},
    {.clause = "RACE-08",
     .name = "strong_becomes_weak",
     .setup = race_give_2,
     .thread = {race_ask_unique, race_strong_to_weak},
     .check = race_check_exchanged},
    {.clause = "RACE-08",
     .name = "weak_becomes_strong",
     .setup = race_give_1_1,
     .thread = {race_ask_unique, race_weak_to_strong},
     .check = race_check_exchanged},
    {.clause = "RACE-08",
     .name = "to_and_fro",
     .setup = race_give_2,
     .thread = {race_ask_unique, race_to_and_fro},
     .check = race_check_exchanged},
    {.clause = "RACE-08",
     .name = "two_ask",
     .setup = race_give_2,
     .thread = {race_ask_own, race_ask_own},
     .check = race_check_2_owners},
    {.clause = "RACE-08",
     .name = "two_ask_and_one_leaves",
     .setup = race_give_3,
     .thread = {race_ask_once, race_ask_once_and_leave, race_third_to_weak},
     .check = race_check_exchanged},
    {.clause = "RACE-08",
     .name = "long_to_and_fro",
     .flags = RCB_HEAVY,
     .setup = race_give_2,
     .thread = {race_ask_unique_long, race_to_and_fro_long},
     .check = race_check_exchanged},
    {.clause = "RACE-08",
     .name = "long_two_ask",
     .flags = RCB_HEAVY,
     .setup = race_give_2,
     .thread = {race_ask_own_long, race_ask_own_long},
     .check = race_check_2_owners},
    {.clause = "RACE-09",
     .name = "three_lock",
     .setup = race_give_locks,
     .thread = {race_lock_twice, race_lock_twice, race_lock_twice},
     .check = race_check_locks},
    {.clause = "RACE-09",
     .name = "beside_retain_and_release",
     .setup = race_give_locks,
     .thread = {race_lock_twice, race_up_down_up_down},
     .check = race_check_locks},
    {.clause = "RACE-09",
     .name = "beside_weak_changes",
     .setup = race_give_locks,
     .thread = {race_lock_twice, race_weak_twice},
     .check = race_check_locks},
    {.clause = "RACE-09",
     .name = "beside_a_question",
     .setup = race_give_locks,
     .thread = {race_lock_twice, race_ask_thrice},
     .check = race_check_locks},
    {.clause = "RACE-10",
     .name = "two_lock_a_dead_object",
     .setup = race_give_dead_2,
     .thread = {race_lock_dead, race_lock_dead},
     .check = race_drop_all_weak},
    {.clause = "RACE-10",
     .name = "three_lock_a_dead_object",
     .setup = race_give_dead_3,
     .thread = {race_lock_dead, race_lock_dead, race_lock_dead},
     .check = race_drop_all_weak},
    {.clause = "RACE-10",
     .name = "beside_weak_handles_of_a_dead_object",
     .setup = race_give_dead_2,
     .thread = {race_lock_dead, race_weak_of_dead},
     .check = race_drop_all_weak},
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "RACE-10",
     .name = "refused_beside_a_count",
     .needs = RC_CAP_WRAPPER,
     .setup = race_give_refusing,
     .thread = {race_count_refused, race_lock_refused},
     .check = race_check_refused},
    {.clause = "RACE-10",
     .name = "two_refused_beside_a_count",
     .needs = RC_CAP_WRAPPER,
     .setup = race_give_refusing,
     .thread = {race_count_refused, race_lock_refused, race_lock_refused},
     .check = race_check_refused},
#endif
#endif
    {.clause = "RACE-11",
     .name = "strong_queries",
     .setup = race_give_2,
     .thread = {race_ask_strong, race_count_own},
     .check = race_check_asked_strong},
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "RACE-11",
     .name = "wrapper_query",
     .needs = RC_CAP_WRAPPER,
     .setup = race_give_2,
     .thread = {race_ask_wrapper, race_move_wrapper},
     .check = race_check_asked_wrapper},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "RACE-11",
     .name = "all_queries",
     .needs = RC_CAP_WEAK,
     .setup = race_give_queries,
     .thread = {race_ask_all, race_move_counts, race_lock_once},
     .check = race_check_queries},
    {.clause = "RACE-11",
     .name = "long_queries",
     .needs = RC_CAP_WEAK,
     .flags = RCB_HEAVY,
     .setup = race_give_queries,
     .thread = {race_ask_all_long, race_move_counts_long},
     .check = race_check_queries},
    {.clause = "RACE-11",
     .name = "expired_while_the_object_dies",
     .needs = RC_CAP_WEAK,
     .setup = race_give_1_1,
     .thread = {race_release_own, race_ask_expired},
     .check = race_check_locked},
#endif
#endif
    {.clause = NULL},
};
