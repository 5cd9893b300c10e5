/* wrapper_edge: what does a reference cost that crosses a wrapper's edge each time?
 *
 * One operation: rc_retain and rc_release of an object whose only other reference is its wrapper's, so
 * strong goes 1 -> 2 and 2 -> 1, and each calls its hook. The worst case of a mirrored object.
 * Left out: what a real hook does (here it adds 1 to a plain counter), and everybody else's price for
 * the wrapper bit: that is in retain_release, where none is attached.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_WRAPPER)
static const rcl_workload wrapper_edge_workload = {.name = "wrapper_edge", .needs = RC_CAP_WRAPPER};
#else

typedef struct wrapper_edge_payload {
    uint64_t retain_calls, release_calls;
} wrapper_edge_payload;

typedef struct wrapper_edge_state {
    rc_strong object; /* the wrapper's */
} wrapper_edge_state;

static void wrapper_edge_retain(void *payload)
{
    ((wrapper_edge_payload *)payload)->retain_calls++;
}

static void wrapper_edge_release(void *payload)
{
    ((wrapper_edge_payload *)payload)->release_calls++;
}

static const rc_class wrapper_edge_class = {
    .name = "wrapper_edge",
    .payload_size = sizeof(wrapper_edge_payload),
    .wrapper_retain = wrapper_edge_retain,
    .wrapper_release = wrapper_edge_release,
};

static bool wrapper_edge_thread_setup(rcl_thread *thread)
{
    wrapper_edge_state *state = thread->state;
    state->object = rc_new(&wrapper_edge_class);
    if (rc_is_null(state->object)) {
        return false;
    }
    *(wrapper_edge_payload *)rc_payload(state->object) = (wrapper_edge_payload){0, 0};
    rcl_escape(rc_payload(state->object));
    rc_wrapper_attach(state->object);
    return true;
}

static void wrapper_edge_thread_teardown(rcl_thread *thread)
{
    wrapper_edge_state *state = thread->state;
    if (!rc_is_null(state->object)) {
        rc_wrapper_detach(state->object);
    }
    rc_reset(&state->object);
}

static uint64_t wrapper_edge_run(rcl_thread *thread, uint64_t operations)
{
    const rc_strong object = ((const wrapper_edge_state *)thread->state)->object;
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong copy = rc_retain(object);
        rcl_clobber();
        rc_release(copy);
        rcl_clobber();
    }
    return operations;
}

static const rcl_variant wrapper_edge_variants[] = {{.name = "-"}};

static const rcl_workload wrapper_edge_workload = {
    .name = "wrapper_edge",
    .needs = RC_CAP_WRAPPER,
    .sharing = RCL_PRIVATE,
    .threads_min = 1,
    .threads_max = 1,
    .variants = wrapper_edge_variants,
    .variant_count = 1,
    .thread_size = sizeof(wrapper_edge_state),
    .thread_setup = wrapper_edge_thread_setup,
    .run = wrapper_edge_run,
    .thread_teardown = wrapper_edge_thread_teardown,
};
#endif
