/* cross_process: what does one hot object cost when several processes want it?
 *
 * One operation: rc_retain, a read of the payload, rc_release, by the measuring process, of one object
 * in shared memory, while p - 1 forked processes do the same from before the window opens until after it
 * closes. p1 is the measuring process alone. When the window has closed the measuring process lets
 * go first: the last release, finalize and free happen in one of the others.
 * Compare with `contended` at the same number of threads: the difference is what a process boundary
 * costs, and there should be none; a strategy with state outside the object cannot run here at all.
 * Left out: the others' own numbers (they do the same and only their count is kept), making objects
 * in shared memory, processes that map it at another address. With more processes than processors the
 * others share what they get.
 */
#if !((RC_IMPL_CAPS)&RC_CAP_SHM)
static const rcl_workload cross_process_workload = {.name = "cross_process", .needs = RC_CAP_SHM};
#else

#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROSS_PROCESS_MAX 4u
#define CROSS_PROCESS_BATCH 1024u
#define CROSS_PROCESS_ARENA_BYTES 65536u
#define CROSS_PROCESS_POLL_NS 50000

typedef struct cross_process_payload {
    uint64_t value;
    _Atomic(uint64_t) *finalized; /* in the control block */
} cross_process_payload;

/* What the processes share beside the object. All RELAXED: flags and counters that order nothing. A fork
 * orders what came before it, waitpid what came before an end. */
typedef struct cross_process_control {
    _Alignas(64) _Atomic(bool) stop;
    _Atomic(uint64_t) finalized;
    struct {
        _Alignas(64) _Atomic(uint64_t) operations;
    } process[CROSS_PROCESS_MAX];
} cross_process_control;

typedef struct cross_process_shared {
    rcl_memory_arena *arena;
    cross_process_control *control;
    pid_t children[CROSS_PROCESS_MAX]; /* [i] is process i + 1 */
    unsigned child_count;
    rc_strong object;
    uint64_t sum;
} cross_process_shared;

static void cross_process_finalize(void *payload)
{
    atomic_fetch_add_explicit(((cross_process_payload *)payload)->finalized, 1,
                              memory_order_relaxed);
}

static const rc_class cross_process_class = {
    .name = "cross_process",
    .payload_size = sizeof(cross_process_payload),
    .finalize = cross_process_finalize,
};

static inline uint64_t cross_process_use(rc_strong object, uint64_t operations)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < operations; i++) {
        rc_strong copy = rc_retain(object);
        rcl_clobber();
        sum += ((const cross_process_payload *)rc_payload(copy))->value;
        rc_release(copy);
        rcl_clobber();
    }
    return sum;
}

/* The life of process `index`, which owns `object`: uses it until told to stop, or until its parent has
 * gone. The last one to leave finalizes. */
static void cross_process_child(cross_process_control *control, rc_strong object, unsigned index,
                                pid_t parent)
{
    rcl_bind_as_member(index);
    while (!atomic_load_explicit(&control->stop, memory_order_relaxed) && getppid() == parent) {
        uint64_t sum = cross_process_use(object, CROSS_PROCESS_BATCH);
        rcl_opaque(&sum);
        atomic_fetch_add_explicit(&control->process[index].operations, CROSS_PROCESS_BATCH,
                                  memory_order_relaxed);
    }
    rc_release(object);
    rc_quiesce();
    _exit(0);
}

/* Until each of them has done a batch. False: one of them has ended. */
static bool cross_process_await(const cross_process_shared *shared)
{
    const struct timespec poll = {.tv_sec = 0, .tv_nsec = CROSS_PROCESS_POLL_NS};
    for (unsigned i = 0; i < shared->child_count; i++) {
        while (atomic_load_explicit(&shared->control->process[i + 1].operations,
                                    memory_order_relaxed) == 0) {
            siginfo_t ended = {.si_pid = 0};
            if (waitid(P_PID, (id_t)shared->children[i], &ended, WEXITED | WNOHANG | WNOWAIT) !=
                    0 ||
                ended.si_pid != 0) {
                return false;
            }
            nanosleep(&poll, NULL);
        }
    }
    return true;
}

/* False if a fork was refused. Inside the arena: the children stay there. */
static bool cross_process_start(cross_process_shared *shared, unsigned processes)
{
    const pid_t parent = getpid();
    for (unsigned index = 1; index < processes; index++) {
        rc_strong own = rc_retain(shared->object);
        const pid_t child = fork();
        if (child < 0) {
            rc_release(own);
            return false;
        }
        if (child == 0) {
            cross_process_child(shared->control, own, index, parent);
        }
        shared->children[shared->child_count++] = child;
    }
    return true;
}

static bool cross_process_shared_setup(rcl_team *team)
{
    cross_process_shared *shared = team->shared;
    shared->object = rc_null();
    void *control = mmap(NULL, sizeof *shared->control, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (control == MAP_FAILED) {
        return false;
    }
    shared->control = control; /* zero, as mapped */
    shared->arena = rcl_memory_arena_new(CROSS_PROCESS_ARENA_BYTES);
    if (shared->arena == NULL) {
        return false;
    }
    rcl_memory_arena_enter(shared->arena);
    shared->object = rc_new(&cross_process_class);
    bool started = false;
    if (!rc_is_null(shared->object)) {
        *(cross_process_payload *)rc_payload(shared->object) =
            (cross_process_payload){.value = 1, .finalized = &shared->control->finalized};
        rc_share(shared->object);
        started = cross_process_start(shared, (unsigned)team->variant->parameter);
    }
    rcl_memory_arena_leave();
    return started && cross_process_await(shared);
}

static uint64_t cross_process_run(rcl_thread *thread, uint64_t operations)
{
    cross_process_shared *shared = thread->team->shared;
    shared->sum += cross_process_use(shared->object, operations);
    return operations;
}

/* Lets go first, then ends the others and waits for them: the last release is one of theirs. True if
 * each of them ended well. */
static bool cross_process_stop(cross_process_shared *shared)
{
    if (shared->arena != NULL) {
        rcl_memory_arena_enter(shared->arena);
        rc_reset(&shared->object);
        rc_quiesce();
        rcl_memory_arena_leave();
    }
    atomic_store_explicit(&shared->control->stop, true, memory_order_relaxed);
    bool ended_well = true;
    for (unsigned i = 0; i < shared->child_count; i++) {
        int status = 0;
        ended_well = waitpid(shared->children[i], &status, 0) > 0 && status == 0 && ended_well;
    }
    shared->child_count = 0;
    return ended_well;
}

static void cross_process_shared_teardown(rcl_team *team)
{
    cross_process_shared *shared = team->shared;
    if (shared->control == NULL) {
        return;
    }
    (void)cross_process_stop(shared); /* a block that was not given back shows in the counts */
    rcl_memory_arena_delete(shared->arena);
    munmap(shared->control, sizeof *shared->control);
}

static const rcl_variant cross_process_variants[] = {
    {.name = "p1", .parameter = 1},
    {.name = "p2", .parameter = 2},
    {.name = "p4", .parameter = CROSS_PROCESS_MAX},
};

static const rcl_workload cross_process_workload = {
    .name = "cross_process",
    .needs = RC_CAP_SHM,
    .sharing = RCL_SHARED,
    .threads_min = 1,
    .threads_max = 1,
    .setup_ms = 2,
    .variants = cross_process_variants,
    .variant_count = sizeof cross_process_variants / sizeof cross_process_variants[0],
    .shared_size = sizeof(cross_process_shared),
    .shared_setup = cross_process_shared_setup,
    .run = cross_process_run,
    .shared_teardown = cross_process_shared_teardown,
};
#undef CROSS_PROCESS_MAX
#undef CROSS_PROCESS_BATCH
#undef CROSS_PROCESS_ARENA_BYTES
#undef CROSS_PROCESS_POLL_NS
#endif
