/* is_unique: what does it cost to ask whether an object may be changed in place?
 *
 * One operation: rc_is_unique, and the store to the payload that a true answer permits. unique: the
 * answer is true. held_twice: a second handle exists, the answer is false and nothing is stored.
 * Left out: the copy that a program makes after a false answer; misses; a branch that guesses wrong.
 * A strategy that orders more than it must shows here.
 */
typedef struct is_unique_state {
    rc_strong object;
    rc_strong other; /* null in the variant unique */
} is_unique_state;

static const rc_class is_unique_class = {.name = "is_unique", .payload_size = 48};

static const rcl_variant is_unique_variants[] = {
    {.name = "unique", .parameter = 1},
    {.name = "held_twice", .parameter = 2},
};

static bool is_unique_thread_setup(rcl_thread *thread)
{
    is_unique_state *state = thread->state;
    state->object = rc_new(&is_unique_class);
    if (rc_is_null(state->object)) {
        return false;
    }
    rcl_escape(rc_payload(state->object));
    if (thread->team->variant->parameter == 2) {
        state->other = rc_retain(state->object);
    }
    return true;
}

static void is_unique_thread_teardown(rcl_thread *thread)
{
    is_unique_state *state = thread->state;
    rc_reset(&state->other);
    rc_reset(&state->object);
}

static uint64_t is_unique_run(rcl_thread *thread, uint64_t operations)
{
    const rc_strong object = ((const is_unique_state *)thread->state)->object;
    for (uint64_t i = 0; i < operations; i++) {
        if (rc_is_unique(object)) {
            *(uint64_t *)rc_payload(object) = i;
        }
        rcl_clobber();
    }
    return operations;
}

static const rcl_workload is_unique_workload = {
    .name = "is_unique",
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .variants = is_unique_variants,
    .variant_count = sizeof is_unique_variants / sizeof is_unique_variants[0],
    .thread_size = sizeof(is_unique_state),
    .thread_setup = is_unique_thread_setup,
    .run = is_unique_run,
    .thread_teardown = is_unique_thread_teardown,
};
