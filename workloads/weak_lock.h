/* weak_lock: what does it cost to turn a weak handle into a strong one?
 *
 * One operation, alive: rc_weak_lock of an object that stays alive, and rc_release of what it gave, so
 * never the last release. expired: rc_weak_lock of a dead object, which gives null.
 * Private: each thread has an object of its own. Shared: all lock one object.
 * Left out: misses, and the retries of several threads that find the count moved, unless shared.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_WEAK)
static const rcl_workload weak_lock_workload = {.name = "weak_lock", .needs = RC_CAP_WEAK};
#else

typedef struct weak_lock_object {
    rc_strong strong; /* null in the variant expired */
    rc_weak weak;
} weak_lock_object;

static const rc_class weak_lock_class = {.name = "weak_lock", .payload_size = 48};

static const rcl_variant weak_lock_variants[] = {
    {.name = "alive", .parameter = 1},
    {.name = "expired", .parameter = 0, .needs = RCL_NEEDS_COUNTING, .threads = 1},
};

static bool weak_lock_make(weak_lock_object *object, bool alive, bool shared)
{
    object->strong = rc_new(&weak_lock_class);
    if (rc_is_null(object->strong)) {
        return false;
    }
    if (shared) {
        rc_share(object->strong);
    }
    object->weak = rc_weak_new(object->strong);
    rcl_escape(rc_payload(object->strong));
    if (!alive) {
        rc_reset(&object->strong);
        rc_quiesce(); /* a strategy that puts death off: now, not inside the clock */
    }
    return !rc_weak_is_null(object->weak);
}

static void weak_lock_drop(weak_lock_object *object)
{
    rc_weak_reset(&object->weak);
    rc_reset(&object->strong);
}

static bool weak_lock_shared_setup(rcl_team *team)
{
    return team->sharing != RCL_SHARED ||
           weak_lock_make(team->shared, team->variant->parameter != 0, true);
}

static void weak_lock_shared_teardown(rcl_team *team)
{
    weak_lock_drop(team->shared);
}

static bool weak_lock_thread_setup(rcl_thread *thread)
{
    weak_lock_object *object = thread->state;
    const weak_lock_object *shared = thread->team->shared;
    if (thread->team->sharing != RCL_SHARED) {
        return weak_lock_make(object, thread->team->variant->parameter != 0, false);
    }
    object->weak = rc_weak_retain(shared->weak);
    return !rc_weak_is_null(object->weak);
}

static void weak_lock_thread_teardown(rcl_thread *thread)
{
    weak_lock_drop(thread->state);
}

static uint64_t weak_lock_run(rcl_thread *thread, uint64_t operations)
{
    const rc_weak weak = ((const weak_lock_object *)thread->state)->weak;
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong locked = rc_weak_lock(weak);
        rcl_clobber();
        rc_release(locked);
        rcl_clobber();
    }
    return operations;
}

static const rcl_workload weak_lock_workload = {
    .name = "weak_lock",
    .needs = RC_CAP_WEAK,
    .sharing = RCL_PRIVATE | RCL_SHARED,
    .threads_min = 1,
    .variants = weak_lock_variants,
    .variant_count = sizeof weak_lock_variants / sizeof weak_lock_variants[0],
    .shared_size = sizeof(weak_lock_object),
    .thread_size = sizeof(weak_lock_object),
    .shared_setup = weak_lock_shared_setup,
    .thread_setup = weak_lock_thread_setup,
    .run = weak_lock_run,
    .thread_teardown = weak_lock_thread_teardown,
    .shared_teardown = weak_lock_shared_teardown,
};
#endif
