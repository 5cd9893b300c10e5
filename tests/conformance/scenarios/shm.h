/* SHM: one object, several processes. Objects lie in memory that child processes share, the world too, so
 * what finalize counts in a child is seen by main. A child that is content ends without a verdict; one
 * that is not has spoken, and main then ends without another.
 */
#if (RC_IMPL_CAPS) & RC_CAP_SHM

#include <sys/wait.h>
#include <unistd.h>

enum { SHM_CHILDREN_MAX = 3, SHM_TRAFFIC = 2000 };

typedef struct shm_children {
    pid_t process[SHM_CHILDREN_MAX];
    unsigned count;
} shm_children;

static void shm_setup(rcb_world *world)
{
    rcb_heap_reset(RCB_PLACE_SHARED);
    world->strong[0] = rcb_new(world, 0);
    rc_share(world->strong[0]);
}

/* Lets a child do `work` as thread `index`, at the same time as what follows. */
static void shm_start(shm_children *children, rcb_world *world, rcb_step work)
{
    const uint32_t index = children->count;
    const pid_t process = fork();
    RCB_EXPECT(process >= 0, "a child process can be started", "it cannot");
    if (process == 0) {
        rcb_current_thread = index;
        rc_thread_attach();
        work(world);
        rc_quiesce();
        rc_thread_detach();
        _exit(0);
    }
    children->process[children->count++] = process;
}

/* Waits for all of them. */
static void shm_join(shm_children *children)
{
    for (unsigned i = 0; i < children->count; i++) {
        int status = 0;
        RCB_EXPECT(waitpid(children->process[i], &status, 0) == children->process[i],
                   "a child process can be waited for", "it cannot");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
            _exit(1); /* the child has said what is wrong */
        }
        RCB_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child process ends well",
                   "wait status %d", status);
    }
    children->count = 0;
}

static void shm_run(rcb_world *world, rcb_step work)
{
    shm_children children = {.count = 0};
    shm_start(&children, world, work);
    shm_join(&children);
}

static void shm_expect_strong(rc_strong handle, uint64_t wanted, const char *when)
{
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        char what[160];
        snprintf(what, sizeof what, "strong references, %s", when);
        RCB_EXPECT_EQ(rc_use_count(handle), wanted, what);
    }
}

/* ---- SHM-01 ---- */

static void shm_child_takes_two(rcb_world *world)
{
    shm_expect_strong(world->strong[0], 1, "as a child finds them");
    world->strong[1] = rc_retain(world->strong[0]);
    world->strong[2] = rc_retain(world->strong[0]);
    shm_expect_strong(world->strong[0], 3, "after a child took two");
}

static void shm_child_gives_one(rcb_world *world)
{
    shm_expect_strong(world->strong[0], 4, "as a second child finds them");
    rc_reset(&world->strong[1]);
    shm_expect_strong(world->strong[0], 3, "after a second child gave one up");
}

/* Children take and give up references one after the other, main in between. Shows a count that each
 * process has for itself: in static or thread-local data, or in memory of the process. */
static void shm_count_together(rcb_world *world)
{
    shm_run(world, shm_child_takes_two);
    shm_expect_strong(world->strong[0], 3, "after a child took two and ended");
    world->strong[3] = rc_retain(world->strong[0]);
    shm_run(world, shm_child_gives_one);
    shm_expect_strong(world->strong[0], 3, "after a second child gave one up and ended");
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while handles are held");
    rc_reset(&world->strong[2]);
    rc_reset(&world->strong[3]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while main's handle is held");
    shm_expect_strong(world->strong[0], 1, "once main is alone");
    RCB_EXPECT_TRUE(!((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) || rc_is_unique(world->strong[0]),
                    "the only handle of all processes is unique");
    rc_reset(&world->strong[0]);
}

static void shm_traffic(rcb_world *world)
{
    for (unsigned i = 0; i < SHM_TRAFFIC; i++) {
        rc_strong copy = rc_retain(world->strong[0]);
        rc_release(copy);
    }
    world->strong[4 + rcb_thread_index()] = rc_retain(world->strong[0]);
}

/* Main and two children count at once, and the children keep one reference each. Shows updates that are
 * atomic among the threads of a process only. */
static void shm_count_at_once(rcb_world *world)
{
    shm_children children = {.count = 0};
    shm_start(&children, world, shm_traffic);
    shm_start(&children, world, shm_traffic);
    for (unsigned i = 0; i < SHM_TRAFFIC; i++) {
        rc_release(rc_retain(world->strong[0]));
    }
    shm_join(&children);
    rcb_settle();
    shm_expect_strong(world->strong[0], 3, "after traffic in three processes");
    rc_reset(&world->strong[4]);
    rc_reset(&world->strong[5]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while main's handle is held");
    rc_reset(&world->strong[0]);
}

/* ---- SHM-02 ---- */

static void shm_release_first(rcb_world *world)
{
    rcb_payload_of(world->strong[0])->field[0] = 1;
    rc_reset(&world->strong[0]);
}

static void shm_expect_dead(rcb_world *world)
{
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers in all processes together");
    RCB_EXPECT_EQ(rcb_heap_live_blocks(), 0, "blocks after the last release");
}

/* The child's release is the last: it finalizes and frees. Shows a death that only the maker's process
 * can bring about. */
static void shm_child_is_last(rcb_world *world)
{
    world->strong[1] = rc_retain(world->strong[0]);
    rc_reset(&world->strong[1]);
    shm_run(world, shm_release_first);
    shm_expect_dead(world);
    RCB_EXPECT_EQ(world->seen[0][0], 1, "what finalize saw of the child's write");
    if ((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) {
        RCB_EXPECT_EQ(world->finalized_by[0], 1, "the thread that finalized, from 1: the child's");
    }
}

static void shm_child_releases_and_uses(rcb_world *world)
{
    rcb_payload_of(world->strong[1])->field[0] = 1;
    rc_reset(&world->strong[1]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while main's handle is held");
}

/* Main's release is the last, after a child's. Shows a child that takes the object with it. */
static void shm_main_is_last(rcb_world *world)
{
    world->strong[1] = rc_retain(world->strong[0]);
    shm_run(world, shm_child_releases_and_uses);
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while main's handle is held");
    rc_reset(&world->strong[0]);
    shm_expect_dead(world);
    RCB_EXPECT_EQ(world->seen[0][0], 1, "what finalize saw of the child's write");
}

static void shm_child_makes(rcb_world *world)
{
    world->strong[1] = rcb_new(world, 1);
    rc_share(world->strong[1]);
    rcb_payload_of(world->strong[1])->field[0] = 5;
}

/* A child makes an object, ends, and main drops it. Shows an object that needs its maker's process. */
static void shm_maker_ends(rcb_world *world)
{
    shm_run(world, shm_child_makes);
    RCB_EXPECT_EQ(world->finalized[1], 0, "finalizers of the child's object while it is held");
    RCB_EXPECT_EQ(rcb_payload_of(world->strong[1])->field[0], 5,
                  "the payload of the child's object");
    rc_reset(&world->strong[1]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[1], 1, "finalizers of the child's object");
    rc_reset(&world->strong[0]);
    shm_expect_dead(world);
}

static void shm_release_own(rcb_world *world)
{
    const uint32_t index = rcb_thread_index();
    for (unsigned i = 0; i < SHM_TRAFFIC; i++) {
        rc_release(rc_retain(world->strong[index]));
    }
    rcb_payload_of(world->strong[index])->field[index] = 30 + index;
    rc_reset(&world->strong[index]);
}

/* Three children release the last three references at once, after some traffic. Shows a death that two
 * processes bring about, or none. */
static void shm_children_are_last(rcb_world *world)
{
    shm_children children = {.count = 0};
    world->strong[1] = rc_retain(world->strong[0]);
    world->strong[2] = rc_retain(world->strong[0]);
    for (unsigned i = 0; i < 3; i++) {
        shm_start(&children, world, shm_release_own);
    }
    shm_join(&children);
    shm_expect_dead(world);
    for (unsigned i = 0; i < 3; i++) {
        RCB_EXPECT_EQ(world->seen[0][i], 30 + i, "what finalize saw of a child's write");
    }
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* ---- SHM-03 ---- */

static void shm_child_locks(rcb_world *world)
{
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]),
                     "a live object's weak handle has not expired");
    rc_strong locked = rc_weak_lock(world->weak[0]);
    RCB_EXPECT_FALSE(rc_is_null(locked), "a lock of a live object gives a handle");
    RCB_EXPECT_EQ(rcb_payload_of(locked)->canary, RCB_CANARY, "the canary of a locked object");
    world->strong[1] = locked;
    world->weak[1] = rc_weak_retain(world->weak[0]);
}

static void shm_child_finds_dead(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_weak_expired(world->weak[0]), "a dead object's weak handle has expired");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[0])), "a lock of a dead object gives null");
    rc_weak_reset(&world->weak[0]);
    RCB_EXPECT_TRUE(rcb_heap_live_blocks() > 0, "main's weak handle keeps the block");
}

static void shm_child_drops_last_weak(rcb_world *world)
{
    rc_weak_reset(&world->weak[1]);
}

/* A child locks what main made, main drops both strong handles, a child finds it dead, another one frees.
 * Shows weak handles that know of their own process's owners only. */
static void shm_weak_in_turn(rcb_world *world)
{
    world->weak[0] = rc_weak_new(world->strong[0]);
    shm_run(world, shm_child_locks);
    if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
        RCB_EXPECT_EQ(rc_weak_count(world->strong[0]), 2, "weak handles after a child made one");
    }
    shm_expect_strong(world->strong[0], 2, "after a child's lock");
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while the child's lock is held");
    rc_reset(&world->strong[1]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
    shm_run(world, shm_child_finds_dead);
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[1])), "a lock of a dead object gives null");
    shm_run(world, shm_child_drops_last_weak);
    shm_expect_dead(world);
}

static void shm_child_locks_on(rcb_world *world)
{
    const uint32_t index = rcb_thread_index();
    bool dead = false;
    for (unsigned i = 0; i < SHM_TRAFFIC; i++) {
        rc_strong locked = rc_weak_lock(world->weak[index]);
        RCB_EXPECT_FALSE(dead && !rc_is_null(locked), "a lock that has failed fails for good");
        if (rc_is_null(locked)) {
            dead = true;
            continue;
        }
        RCB_EXPECT_EQ(rcb_payload_of(locked)->canary, RCB_CANARY, "the canary of a locked object");
        RCB_EXPECT_EQ(world->finalized[0], 0, "finalizers while a locked handle is held");
        rc_release(locked);
    }
    rc_weak_reset(&world->weak[index]);
}

/* Two children lock again and again while main lets go. Shows a lock and a death that each process
 * decides for itself. */
static void shm_weak_at_once(rcb_world *world)
{
    shm_children children = {.count = 0};
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_new(world->strong[0]);
    shm_start(&children, world, shm_child_locks_on);
    shm_start(&children, world, shm_child_locks_on);
    for (unsigned i = 0; i < SHM_TRAFFIC; i++) {
        rc_release(rc_retain(world->strong[0]));
    }
    rc_reset(&world->strong[0]);
    shm_join(&children);
    shm_expect_dead(world);
}

static void shm_child_ends_it(rcb_world *world)
{
    rc_reset(&world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers after the last release");
}

/* The object dies in a child, and main, which was there before, asks its weak handle. Shows a death that
 * only the process in which it happens, and those that it starts, know of. */
static void shm_weak_of_a_death_elsewhere(rcb_world *world)
{
    world->weak[0] = rc_weak_new(world->strong[0]);
    RCB_EXPECT_FALSE(rc_weak_expired(world->weak[0]),
                     "a live object's weak handle has not expired");
    shm_run(world, shm_child_ends_it);
    RCB_EXPECT_TRUE(rc_weak_expired(world->weak[0]), "a dead object's weak handle has expired");
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[0])), "a lock of a dead object gives null");
    rc_weak_reset(&world->weak[0]);
    shm_expect_dead(world);
}
#endif
#endif

static const rcb_scenario rcb_shm[] = {
#if (RC_IMPL_CAPS) & RC_CAP_SHM
#define SHM_FLAGS (RCB_OWN_HEAP | RCB_FORKS | RCB_ONE_ROUND)
    {.clause = "SHM-01",
     .name = "count_in_turn",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_count_together},
     .check = shm_expect_dead},
    {.clause = "SHM-01",
     .name = "count_at_once",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_count_at_once},
     .check = shm_expect_dead},
    {.clause = "SHM-02",
     .name = "child_is_last",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_child_is_last},
     .check = shm_expect_dead},
    {.clause = "SHM-02",
     .name = "main_is_last",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_main_is_last},
     .check = shm_expect_dead},
    {.clause = "SHM-02",
     .name = "maker_ends",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_maker_ends},
     .check = shm_expect_dead},
    {.clause = "SHM-02",
     .name = "children_are_last",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_children_are_last},
     .check = shm_expect_dead},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "SHM-03",
     .name = "lock_in_turn",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_weak_in_turn},
     .check = shm_expect_dead},
    {.clause = "SHM-03",
     .name = "lock_at_once",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_weak_at_once},
     .check = shm_expect_dead},
    {.clause = "SHM-03",
     .name = "death_elsewhere",
     .flags = SHM_FLAGS,
     .setup = shm_setup,
     .thread = {shm_weak_of_a_death_elsewhere},
     .check = shm_expect_dead},
#endif
#undef SHM_FLAGS
#endif
    {.clause = NULL},
};
