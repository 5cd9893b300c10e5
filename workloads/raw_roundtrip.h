/* raw_roundtrip: what does a reference cost that travels as a bare pointer?
 *
 * One operation, into_from: rc_into_raw of the handle and rc_from_raw of the pointer; no count moves,
 * so this is the conversion alone. retain_raw: rc_retain_raw of a borrowed payload, and rc_release.
 * Between the two calls the compiler does not know where the pointer came from.
 * Left out: the foreign runtime that would hold the pointer.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_RAW)
static const rcl_workload raw_roundtrip_workload = {.name = "raw_roundtrip", .needs = RC_CAP_RAW};
#else

typedef struct raw_roundtrip_state {
    rc_strong object;
} raw_roundtrip_state;

enum { RAW_ROUNDTRIP_INTO_FROM, RAW_ROUNDTRIP_RETAIN };

static const rc_class raw_roundtrip_class = {.name = "raw_roundtrip", .payload_size = 48};

static const rcl_variant raw_roundtrip_variants[] = {
    {.name = "into_from", .parameter = RAW_ROUNDTRIP_INTO_FROM},
    {.name = "retain_raw", .parameter = RAW_ROUNDTRIP_RETAIN},
};

static bool raw_roundtrip_thread_setup(rcl_thread *thread)
{
    raw_roundtrip_state *state = thread->state;
    state->object = rc_new(&raw_roundtrip_class);
    rcl_escape(rc_payload(state->object));
    return !rc_is_null(state->object);
}

static void raw_roundtrip_thread_teardown(rcl_thread *thread)
{
    rc_reset(&((raw_roundtrip_state *)thread->state)->object);
}

static void raw_roundtrip_into_from(raw_roundtrip_state *state, uint64_t operations)
{
    rc_strong object = state->object;
    for (uint64_t i = 0; i < operations; i++) {
        object = rc_from_raw(rcl_opaque(rc_into_raw(object)));
    }
    state->object = object;
}

static void raw_roundtrip_retain_raw(const raw_roundtrip_state *state, uint64_t operations)
{
    void *loan = rc_payload(state->object);
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong copy = rc_retain_raw(loan);
        rcl_clobber();
        rc_release(copy);
        rcl_clobber();
    }
}

static uint64_t raw_roundtrip_run(rcl_thread *thread, uint64_t operations)
{
    if (thread->team->variant->parameter == RAW_ROUNDTRIP_INTO_FROM) {
        raw_roundtrip_into_from(thread->state, operations);
    } else {
        raw_roundtrip_retain_raw(thread->state, operations);
    }
    return operations;
}

static const rcl_workload raw_roundtrip_workload = {
    .name = "raw_roundtrip",
    .needs = RC_CAP_RAW,
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .variants = raw_roundtrip_variants,
    .variant_count = sizeof raw_roundtrip_variants / sizeof raw_roundtrip_variants[0],
    .thread_size = sizeof(raw_roundtrip_state),
    .thread_setup = raw_roundtrip_thread_setup,
    .run = raw_roundtrip_run,
    .thread_teardown = raw_roundtrip_thread_teardown,
};
#endif
