/* contended: what does one hot object cost when every thread wants it?
 *
 * One operation: rc_retain, a read of the payload, rc_release, by all threads on one object that stays
 * alive. With one thread: the same without rivals.
 * Left out: what a program does between two uses, which makes meetings rarer. The line that carries
 * the count carries the payload too where the strategy puts them side by side; then reading misses
 * whenever somebody else has counted.
 */
typedef struct contended_shared {
    rc_strong object;
} contended_shared;

typedef struct contended_state {
    rc_strong object; /* this thread's own handle of the one object */
    uint64_t sum;
} contended_state;

static const rc_class contended_class = {.name = "contended", .payload_size = 48};

static bool contended_shared_setup(rcl_team *team)
{
    contended_shared *shared = team->shared;
    shared->object = rc_new(&contended_class);
    if (rc_is_null(shared->object)) {
        return false;
    }
    *(uint64_t *)rc_payload(shared->object) = 1;
    rc_share(shared->object);
    return true;
}

static void contended_shared_teardown(rcl_team *team)
{
    rc_reset(&((contended_shared *)team->shared)->object);
}

static bool contended_thread_setup(rcl_thread *thread)
{
    contended_state *state = thread->state;
    state->object = rc_retain(((const contended_shared *)thread->team->shared)->object);
    return true;
}

static void contended_thread_teardown(rcl_thread *thread)
{
    rc_reset(&((contended_state *)thread->state)->object);
}

static uint64_t contended_run(rcl_thread *thread, uint64_t operations)
{
    contended_state *state = thread->state;
    const rc_strong object = state->object;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong copy = rc_retain(object);
        rcl_clobber();
        sum += *(const uint64_t *)rc_payload(copy);
        rc_release(copy);
        rcl_clobber();
    }
    state->sum += sum;
    return operations;
}

static const rcl_variant contended_variants[] = {{.name = "-"}};

static const rcl_workload contended_workload = {
    .name = "contended",
    .sharing = RCL_SHARED,
    .threads_min = 1,
    .variants = contended_variants,
    .variant_count = 1,
    .shared_size = sizeof(contended_shared),
    .thread_size = sizeof(contended_state),
    .shared_setup = contended_shared_setup,
    .thread_setup = contended_thread_setup,
    .run = contended_run,
    .thread_teardown = contended_thread_teardown,
    .shared_teardown = contended_shared_teardown,
};
