/* weak_retain_release: what does one more weak handle cost, and giving it up?
 *
 * One operation: rc_weak_retain and rc_weak_release of a live object that has another weak handle, so
 * nothing is freed.
 * Private: each thread has an object of its own. Shared: all use one object.
 * Left out: rc_weak_new (the same count, from a strong handle), and the last weak handle of a dead
 * object, which frees.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_WEAK)
static const rcl_workload weak_retain_release_workload = {.name = "weak_retain_release",
                                                          .needs = RC_CAP_WEAK};
#else

typedef struct weak_retain_release_object {
    rc_strong strong;
    rc_weak weak;
} weak_retain_release_object;

static const rc_class weak_retain_release_class = {.name = "weak_retain_release",
                                                   .payload_size = 48};

static bool weak_retain_release_make(weak_retain_release_object *object)
{
    object->strong = rc_new(&weak_retain_release_class);
    if (rc_is_null(object->strong)) {
        return false;
    }
    object->weak = rc_weak_new(object->strong);
    rcl_escape(rc_payload(object->strong));
    return !rc_weak_is_null(object->weak);
}

static void weak_retain_release_drop(weak_retain_release_object *object)
{
    rc_weak_reset(&object->weak);
    rc_reset(&object->strong);
}

static bool weak_retain_release_shared_setup(rcl_team *team)
{
    weak_retain_release_object *object = team->shared;
    if (team->sharing != RCL_SHARED) {
        return true;
    }
    if (!weak_retain_release_make(object)) {
        return false;
    }
    rc_share(object->strong);
    return true;
}

static void weak_retain_release_shared_teardown(rcl_team *team)
{
    weak_retain_release_drop(team->shared);
}

static bool weak_retain_release_thread_setup(rcl_thread *thread)
{
    weak_retain_release_object *object = thread->state;
    const weak_retain_release_object *shared = thread->team->shared;
    if (thread->team->sharing != RCL_SHARED) {
        return weak_retain_release_make(object);
    }
    object->weak = rc_weak_retain(shared->weak);
    return !rc_weak_is_null(object->weak);
}

static void weak_retain_release_thread_teardown(rcl_thread *thread)
{
    weak_retain_release_drop(thread->state);
}

static uint64_t weak_retain_release_run(rcl_thread *thread, uint64_t operations)
{
    const rc_weak weak = ((const weak_retain_release_object *)thread->state)->weak;
    for (uint64_t i = 0; i < operations; i++) {
        rc_weak copy = rc_weak_retain(weak);
        rcl_clobber();
        rc_weak_release(copy);
        rcl_clobber();
    }
    return operations;
}

static const rcl_variant weak_retain_release_variants[] = {{.name = "-"}};

static const rcl_workload weak_retain_release_workload = {
    .name = "weak_retain_release",
    .needs = RC_CAP_WEAK,
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .variants = weak_retain_release_variants,
    .variant_count = 1,
    .shared_size = sizeof(weak_retain_release_object),
    .thread_size = sizeof(weak_retain_release_object),
    .shared_setup = weak_retain_release_shared_setup,
    .thread_setup = weak_retain_release_thread_setup,
    .run = weak_retain_release_run,
    .thread_teardown = weak_retain_release_thread_teardown,
    .shared_teardown = weak_retain_release_shared_teardown,
};
#endif
