/* MISUSE: checked builds trap. Each scenario does one forbidden thing; that it returns is the failure,
 * and the kind of the trap is compared by the runner.
 *
 * Weak handles keep the block wherever a stale handle is used: what it needs in order to be recognised
 * is there. rcb_settle after the misuse: a strategy that learns of it only when it merges traps there.
 */
#include <pthread.h>

/* A dead object: strong[0] is stale, weak[0] and weak[1] keep what is left. `others`: strong handles that
 * were released before the last one, so that death comes by the way for shared objects too. */
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void misuse_make_dead(rcb_world *world, const rc_class *class, unsigned others)
{
    world->strong[0] = rcb_new_of(world, class, 0);
    world->raw[0] = rc_payload(world->strong[0]);
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    for (unsigned i = 1; i <= others; i++) {
        world->strong[i] = rc_retain(world->strong[0]);
    }
    for (unsigned i = others + 1; i > 0; i--) {
        rc_release(world->strong[i - 1]);
    }
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers before the misuse");
}

static void misuse_dead(rcb_world *world)
{
    misuse_make_dead(world, &rcb_class, 0);
}

static void misuse_dead_after_company(rcb_world *world)
{
    misuse_make_dead(world, &rcb_class, 2);
}

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* Died with the wrapper attached: its bit, if it is left in the counts, is no reference. */
static void misuse_dead_with_wrapper(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    world->weak[0] = rc_weak_new(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    rc_release(world->strong[0]);
    rcb_settle();
    RCB_EXPECT_EQ(world->finalized[0], 1, "finalizers before the misuse");
}
#endif

/* An object whose finalize does `what`; weak[0] and weak[1] keep the block. */
static void misuse_in_finalize(rcb_world *world, void (*what)(rcb_payload *payload))
{
    world->strong[0] = rcb_new(world, 0);
    world->raw[0] = rc_payload(world->strong[0]);
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_retain(world->weak[0]);
    world->on_finalize = what;
    rc_release(world->strong[0]);
    rcb_settle();
}

/* ---- MISUSE-01: retain of a dead object ---- */

/* A stale handle is retained. Shows an increment without a look, and a look at the wrong word. */
static void misuse_retain(rcb_world *world)
{
    world->strong[1] = rc_retain(world->strong[0]);
    rcb_settle();
}

/* Two live handles were taken and dropped since: the trap does not depend on what came before. */
static void misuse_retain_after_lock(rcb_world *world)
{
    RCB_EXPECT_TRUE(rc_is_null(rc_weak_lock(world->weak[0])), "a lock of a dead object gives null");
    world->strong[1] = rc_retain(world->strong[0]);
    rcb_settle();
}

/* ---- MISUSE-02: a weak handle from a dead or dying object ---- */

/* Shows a weak handle that is made without a look at the strong count. */
static void misuse_weak_new(rcb_world *world)
{
    world->weak[2] = rc_weak_new(world->strong[0]);
    rcb_settle();
}

static void misuse_weak_new_hook(rcb_payload *payload)
{
    payload->world->weak[2] = rc_weak_new(payload->world->strong[0]);
}

/* The same in finalize, of an object with weak handles. Shows a check that sees death only at its end. */
static void misuse_weak_new_dying(rcb_world *world)
{
    misuse_in_finalize(world, misuse_weak_new_hook);
}

/* The same of an object that was unique: nothing but finalize keeps its block. */
static void misuse_weak_new_dying_alone(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->on_finalize = misuse_weak_new_hook;
    rc_release(world->strong[0]);
    rcb_settle();
}

/* ---- MISUSE-04: release of a dead object ---- */

/* One release too many. Shows a count that goes below zero, or into the weak handles' field. */
static void misuse_release(rcb_world *world)
{
    rc_release(world->strong[0]);
    rcb_settle();
}

static void misuse_release_hook(rcb_payload *payload)
{
    rc_release(payload->world->strong[0]);
}

/* The same in finalize. Shows a count that is kept at 1 while finalize runs. */
static void misuse_release_dying(rcb_world *world)
{
    misuse_in_finalize(world, misuse_release_hook);
}

/* ---- MISUSE-05: a weak release that nobody holds a handle for ---- */

/* Of a live object: the second takes the unit that the strong handles share. */
static void misuse_weak_release(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_weak_release(weak);
    rc_weak_release(weak);
    rcb_settle();
}

/* Of a live object with two strong handles: not unique in any sense. */
static void misuse_weak_release_shared(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rc_retain(world->strong[0]);
    rc_weak weak = rc_weak_new(world->strong[0]);
    rc_weak_release(weak);
    rc_weak_release(weak);
    rcb_settle();
}

static void misuse_weak_release_hook(rcb_payload *payload)
{
    rc_weak weak = payload->world->weak[0];
    rc_weak_release(weak);
    rc_weak_release(payload->world->weak[1]);
    rc_weak_release(weak);
}

/* In finalize, with all weak handles gone. Shows a block that goes while its finalize runs. */
static void misuse_weak_release_dying(rcb_world *world)
{
    misuse_in_finalize(world, misuse_weak_release_hook);
}

#if (RC_IMPL_CAPS) & RC_CAP_RAW
/* ---- MISUSE-03: rc_retain_raw of a dead object ---- */

/* Shows an entry that forgets the check of rc_retain. */
static void misuse_retain_raw(rcb_world *world)
{
    world->strong[1] = rc_retain_raw(world->raw[0]);
    rcb_settle();
}

static void misuse_retain_raw_hook(rcb_payload *payload)
{
    payload->world->strong[1] = rc_retain_raw(payload);
}

/* The same in finalize, where the payload is still a fine loan for anything else. */
static void misuse_retain_raw_dying(rcb_world *world)
{
    misuse_in_finalize(world, misuse_retain_raw_hook);
}
#endif
#endif

/* ---- MISUSE-11: retain in one's own finalize ---- */

static void misuse_retain_hook(rcb_payload *payload)
{
    payload->world->strong[1] = rc_retain(payload->world->strong[0]);
}

/* Of an object that was unique. Shows finalize run with the count at 1, and a short cut that stores no
 * zero: the object would come back to life. */
static void misuse_retain_dying(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->on_finalize = misuse_retain_hook;
    rc_release(world->strong[0]);
    rcb_settle();
}

/* Of an object that was shared: by the other way. */
static void misuse_retain_dying_shared(rcb_world *world)
{
    world->strong[0] = rcb_new(world, 0);
    world->on_finalize = misuse_retain_hook;
    world->strong[2] = rc_retain(world->strong[0]);
    rc_release(world->strong[2]);
    rc_release(world->strong[0]);
    rcb_settle();
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* Of an object with weak handles. */
static void misuse_retain_dying_weak(rcb_world *world)
{
    misuse_in_finalize(world, misuse_retain_hook);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
/* ---- MISUSE-06, MISUSE-07: a payload that rc_new did not make ---- */

/* What lies in front of a foreign payload is 64 bytes of zero; the payload itself is not. */
static _Alignas(64) unsigned char misuse_foreign[64 + 64];

static void *misuse_foreign_payload(void)
{
    memset(misuse_foreign, 0, 64);
    memset(misuse_foreign + 64, 0xff, 64);
    return misuse_foreign + 64;
}

/* Adopted. Shows a conversion without a look, and a look that takes a zero count for a dead object. */
static void misuse_from_raw_foreign(rcb_world *world)
{
    world->strong[0] = rc_from_raw(misuse_foreign_payload());
    rcb_settle();
}

/* Borrowed. Shows an entry that forgets the check of the other. */
static void misuse_retain_raw_foreign(rcb_world *world)
{
    world->strong[0] = rc_retain_raw(misuse_foreign_payload());
    rcb_settle();
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* ---- MISUSE-08, MISUSE-09: attach twice, detach without ---- */

static void misuse_object_at_1(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
}

static void misuse_object_at_2(rcb_world *world)
{
    world->strong[0] = rcb_new_of(world, &rcb_wrapped, 0);
    world->strong[1] = rc_retain(world->strong[0]);
}

/* Twice in a row, alone and in company. Shows a bit that is set again without a look. */
static void misuse_attach_twice(rcb_world *world)
{
    rc_wrapper_attach(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
}

/* After a detach, through another handle. Shows a check of a handle rather than of the object. */
static void misuse_attach_by_another(rcb_world *world)
{
    rc_wrapper_attach(world->strong[0]);
    rc_wrapper_detach(world->strong[0]);
    rc_wrapper_attach(world->strong[0]);
    rc_wrapper_attach(world->strong[1]);
}

/* Shows a bit that is cleared without a look. */
static void misuse_detach(rcb_world *world)
{
    rc_wrapper_detach(world->strong[0]);
}

static void misuse_detach_twice(rcb_world *world)
{
    rc_wrapper_attach(world->strong[0]);
    rc_wrapper_detach(world->strong[0]);
    rc_wrapper_detach(world->strong[0]);
}
#endif

#if !((RC_IMPL_CAPS)&RC_CAP_THREADS)
/* ---- MISUSE-10: a second thread ---- */

/* Each operation comes from a second thread, with everything in order but that. Shows an entry that does
 * not ask who calls. The thread is made here: engines do not run threads for such implementations. */
typedef struct misuse_call {
    rcb_world *world;
    void (*operation)(rcb_world *world);
} misuse_call;

static void *misuse_second_thread(void *argument)
{
    const misuse_call *call = argument;
    rc_thread_attach();
    call->operation(call->world);
    rc_quiesce();
    rc_thread_detach();
    return NULL;
}

static void misuse_elsewhere(rcb_world *world, void (*operation)(rcb_world *world))
{
    world->strong[0] = rcb_new(world, 0);
    world->strong[1] = rc_retain(world->strong[0]);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    world->weak[0] = rc_weak_new(world->strong[0]);
    world->weak[1] = rc_weak_retain(world->weak[0]);
#endif
    misuse_call call = {world, operation};
    pthread_t thread;
    RCB_EXPECT(pthread_create(&thread, NULL, misuse_second_thread, &call) == 0,
               "a second thread can be started", "it cannot");
    pthread_join(thread, NULL);
}

static void misuse_do_retain(rcb_world *world)
{
    world->strong[2] = rc_retain(world->strong[0]);
}

static void misuse_do_release(rcb_world *world)
{
    rc_release(world->strong[1]);
}

static void misuse_retain_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_retain);
}

static void misuse_release_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_release);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void misuse_do_weak_new(rcb_world *world)
{
    world->weak[2] = rc_weak_new(world->strong[0]);
}

static void misuse_do_weak_retain(rcb_world *world)
{
    world->weak[2] = rc_weak_retain(world->weak[0]);
}

static void misuse_do_weak_release(rcb_world *world)
{
    rc_weak_release(world->weak[1]);
}

static void misuse_do_lock(rcb_world *world)
{
    world->strong[2] = rc_weak_lock(world->weak[0]);
}

static void misuse_weak_new_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_weak_new);
}

static void misuse_weak_retain_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_weak_retain);
}

static void misuse_weak_release_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_weak_release);
}

static void misuse_lock_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_lock);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static void misuse_do_retain_raw(rcb_world *world)
{
    world->strong[2] = rc_retain_raw(rc_payload(world->strong[0]));
}

static void misuse_retain_raw_elsewhere(rcb_world *world)
{
    misuse_elsewhere(world, misuse_do_retain_raw);
}
#endif
#endif

static const rcb_scenario rcb_misuse[] = {
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "MISUSE-01",
     .name = "retain_of_a_dead_object",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead,
     .thread = {misuse_retain}},
    {.clause = "MISUSE-01",
     .name = "retain_of_one_that_was_shared",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead_after_company,
     .thread = {misuse_retain}},
    {.clause = "MISUSE-01",
     .name = "retain_after_a_lock_failed",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead,
     .thread = {misuse_retain_after_lock}},
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "MISUSE-01",
     .name = "retain_of_one_that_had_a_wrapper",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead_with_wrapper,
     .thread = {misuse_retain}},
#endif
    {.clause = "MISUSE-02",
     .name = "weak_new_of_a_dead_object",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead,
     .thread = {misuse_weak_new}},
    {.clause = "MISUSE-02",
     .name = "weak_new_in_finalize",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_weak_new_dying}},
    {.clause = "MISUSE-02",
     .name = "weak_new_in_finalize_of_a_unique_object",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_weak_new_dying_alone}},
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "MISUSE-03",
     .name = "retain_raw_of_a_dead_object",
     .trap = RC_TRAP_RETAIN_DEAD,
     .setup = misuse_dead,
     .thread = {misuse_retain_raw}},
    {.clause = "MISUSE-03",
     .name = "retain_raw_in_finalize",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_retain_raw_dying}},
#endif
    {.clause = "MISUSE-04",
     .name = "release_of_a_dead_object",
     .trap = RC_TRAP_RELEASE_DEAD,
     .setup = misuse_dead,
     .thread = {misuse_release}},
    {.clause = "MISUSE-04",
     .name = "release_of_one_that_was_shared",
     .trap = RC_TRAP_RELEASE_DEAD,
     .setup = misuse_dead_after_company,
     .thread = {misuse_release}},
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "MISUSE-04",
     .name = "release_of_one_that_had_a_wrapper",
     .trap = RC_TRAP_RELEASE_DEAD,
     .setup = misuse_dead_with_wrapper,
     .thread = {misuse_release}},
#endif
    {.clause = "MISUSE-04",
     .name = "release_in_finalize",
     .trap = RC_TRAP_RELEASE_DEAD,
     .thread = {misuse_release_dying}},
    {.clause = "MISUSE-05",
     .name = "weak_release_twice",
     .trap = RC_TRAP_WEAK_RELEASE_DEAD,
     .thread = {misuse_weak_release}},
    {.clause = "MISUSE-05",
     .name = "weak_release_twice_of_a_shared_object",
     .trap = RC_TRAP_WEAK_RELEASE_DEAD,
     .thread = {misuse_weak_release_shared}},
    {.clause = "MISUSE-05",
     .name = "weak_release_too_many_in_finalize",
     .trap = RC_TRAP_WEAK_RELEASE_DEAD,
     .thread = {misuse_weak_release_dying}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "MISUSE-06",
     .name = "from_raw_of_a_foreign_payload",
     .trap = RC_TRAP_FOREIGN,
     .thread = {misuse_from_raw_foreign}},
    {.clause = "MISUSE-07",
     .name = "retain_raw_of_a_foreign_payload",
     .trap = RC_TRAP_FOREIGN,
     .thread = {misuse_retain_raw_foreign}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    {.clause = "MISUSE-08",
     .name = "attach_twice",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_1,
     .thread = {misuse_attach_twice}},
    {.clause = "MISUSE-08",
     .name = "attach_twice_in_company",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_2,
     .thread = {misuse_attach_twice}},
    {.clause = "MISUSE-08",
     .name = "attach_by_another_handle",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_2,
     .thread = {misuse_attach_by_another}},
    {.clause = "MISUSE-09",
     .name = "detach_without_a_wrapper",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_1,
     .thread = {misuse_detach}},
    {.clause = "MISUSE-09",
     .name = "detach_without_a_wrapper_in_company",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_2,
     .thread = {misuse_detach}},
    {.clause = "MISUSE-09",
     .name = "detach_twice",
     .trap = RC_TRAP_WRAPPER,
     .setup = misuse_object_at_1,
     .thread = {misuse_detach_twice}},
#endif
#if !((RC_IMPL_CAPS)&RC_CAP_THREADS)
    {.clause = "MISUSE-10",
     .name = "retain_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_retain_elsewhere}},
    {.clause = "MISUSE-10",
     .name = "release_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_release_elsewhere}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "MISUSE-10",
     .name = "weak_new_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_weak_new_elsewhere}},
    {.clause = "MISUSE-10",
     .name = "weak_retain_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_weak_retain_elsewhere}},
    {.clause = "MISUSE-10",
     .name = "weak_release_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_weak_release_elsewhere}},
    {.clause = "MISUSE-10",
     .name = "lock_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_lock_elsewhere}},
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    {.clause = "MISUSE-10",
     .name = "retain_raw_on_a_second_thread",
     .trap = RC_TRAP_THREAD,
     .thread = {misuse_retain_raw_elsewhere}},
#endif
#endif
    {.clause = "MISUSE-11",
     .name = "retain_in_finalize",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_retain_dying}},
    {.clause = "MISUSE-11",
     .name = "retain_in_finalize_of_one_that_was_shared",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_retain_dying_shared}},
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    {.clause = "MISUSE-11",
     .name = "retain_in_finalize_with_weak_handles",
     .trap = RC_TRAP_RETAIN_DEAD,
     .thread = {misuse_retain_dying_weak}},
#endif
    {.clause = NULL},
};
