/* retain_release: what does one retain and its release cost?
 *
 * Private: each thread has an object of its own. Shared: all hammer one object (see `contended` for
 * the sharing group's form, in which they also read the payload).
 * One operation: rc_retain and rc_release of an object that stays alive, so never the last release.
 * Left out: first touch, allocation, misses: the line is in the nearest cache, or on its way from
 * another core.
 */
typedef struct retain_release_shared {
    rc_strong object;
} retain_release_shared;

typedef struct retain_release_state {
    rc_strong object;
} retain_release_state;

static const rc_class retain_release_class = {.name = "retain_release", .payload_size = 32};

static bool retain_release_shared_setup(rcl_team *team)
{
    retain_release_shared *shared = team->shared;
    if (team->sharing != RCL_SHARED) {
        return true;
    }
    shared->object = rc_new(&retain_release_class);
    if (rc_is_null(shared->object)) {
        return false;
    }
    rc_share(shared->object);
    return true;
}

static void retain_release_shared_teardown(rcl_team *team)
{
    rc_reset(&((retain_release_shared *)team->shared)->object);
}

static bool retain_release_thread_setup(rcl_thread *thread)
{
    retain_release_state *state = thread->state;
    const retain_release_shared *shared = thread->team->shared;
    state->object = thread->team->sharing == RCL_SHARED ? rc_retain(shared->object)
                                                        : rc_new(&retain_release_class);
    rcl_escape(rc_payload(state->object));
    return !rc_is_null(state->object);
}

static void retain_release_thread_teardown(rcl_thread *thread)
{
    rc_reset(&((retain_release_state *)thread->state)->object);
}

static uint64_t retain_release_run(rcl_thread *thread, uint64_t operations)
{
    const rc_strong object = ((const retain_release_state *)thread->state)->object;
    if (rc_is_null(object)) {
        return 0; /* never: it lets every compiler take the test for null out of the loop */
    }
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong copy = rc_retain(object);
        rcl_clobber();
        rc_release(copy);
        rcl_clobber();
    }
    return operations;
}

static const rcl_variant retain_release_variants[] = {{.name = "-"}};

static const rcl_workload retain_release_workload = {
    .name = "retain_release",
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .variants = retain_release_variants,
    .variant_count = 1,
    .shared_size = sizeof(retain_release_shared),
    .thread_size = sizeof(retain_release_state),
    .shared_setup = retain_release_shared_setup,
    .thread_setup = retain_release_thread_setup,
    .run = retain_release_run,
    .thread_teardown = retain_release_thread_teardown,
    .shared_teardown = retain_release_shared_teardown,
};
