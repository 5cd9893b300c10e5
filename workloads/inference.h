/* inference: what do shared weights cost when many threads serve requests with them?
 *
 * One operation: rc_retain of one weight, a read of it, rc_release. A request walks all 64 weights in
 * order, each thread on its own. When it comes back to a weight, another thread has counted there
 * meanwhile, so nearly every retain fetches a line from another core. In `contended` a thread that has
 * the line does many operations before it loses it, and one operation can read less than here.
 * Left out: the arithmetic between two weights; with it fewer threads wait for a line at a time.
 */
#define INFERENCE_WEIGHTS 64u

typedef struct inference_shared {
    rc_strong weights[INFERENCE_WEIGHTS];
} inference_shared;

typedef struct inference_state {
    uint64_t sum;
} inference_state;

/* Large enough that two weights never share a line, whatever stands before the payload. */
static const rc_class inference_class = {.name = "inference", .payload_size = 240};

static bool inference_shared_setup(rcl_team *team)
{
    inference_shared *shared = team->shared;
    for (unsigned i = 0; i < INFERENCE_WEIGHTS; i++) {
        shared->weights[i] = rc_new(&inference_class);
        if (rc_is_null(shared->weights[i])) {
            return false;
        }
        *(uint64_t *)rc_payload(shared->weights[i]) = i;
        rc_share(shared->weights[i]);
    }
    return true;
}

static void inference_shared_teardown(rcl_team *team)
{
    inference_shared *shared = team->shared;
    for (unsigned i = 0; i < INFERENCE_WEIGHTS; i++) {
        rc_reset(&shared->weights[i]);
    }
}

static uint64_t inference_run(rcl_thread *thread, uint64_t operations)
{
    inference_state *state = thread->state;
    /* Borrowed: the model holds them for as long as threads serve. */
    const rc_strong *weights = ((const inference_shared *)thread->team->shared)->weights;
    uint64_t sum = 0;
    for (uint64_t done = 0; done < operations; done += INFERENCE_WEIGHTS) {
        uint64_t left = operations - done;
        uint64_t count = left < INFERENCE_WEIGHTS ? left : INFERENCE_WEIGHTS;
        for (uint64_t i = 0; i < count; i++) {
            rc_strong weight = rc_retain(weights[i]);
            rcl_clobber();
            sum += *(const uint64_t *)rc_payload(weight);
            rc_release(weight);
            rcl_clobber();
        }
    }
    state->sum += sum;
    return operations;
}

static const rcl_variant inference_variants[] = {{.name = "-"}};

static const rcl_workload inference_workload = {
    .name = "inference",
    .sharing = RCL_SHARED,
    .threads_min = 1,
    .variants = inference_variants,
    .variant_count = 1,
    .shared_size = sizeof(inference_shared),
    .thread_size = sizeof(inference_state),
    .shared_setup = inference_shared_setup,
    .run = inference_run,
    .shared_teardown = inference_shared_teardown,
};
#undef INFERENCE_WEIGHTS
