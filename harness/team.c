#include "team.h"

#include <hwloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Two cache lines: the neighbour line is fetched along on x86-64, and some ARM lines have 128 bytes. */
#define TEAM_ALIGNMENT 128u
#define TEAM_BATCH 4096u
#define TEAM_SPINS 1000u /* before a waiting thread gives its processor to whom it waits for */

/* ---- Processors ---- */

/* Read once and never changed: what the process may use when it is first asked. */
static struct {
    pthread_once_t once;
    hwloc_topology_t topology; /* NULL: hwloc does not work here, nothing is bound */
    hwloc_obj_t *processors;   /* in the order of team.h */
    unsigned count;
} machine = {.once = PTHREAD_ONCE_INIT};

static void machine_list_processors(unsigned count)
{
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): hwloc_obj_t is a pointer, and so are the elements. */
    machine.processors = calloc(count, sizeof machine.processors[0]);
    if (machine.processors == NULL) {
        return;
    }
    for (unsigned rank = 0; machine.count < count; rank++) {
        for (unsigned i = 0; i < count; i++) {
            hwloc_obj_t processor = hwloc_get_obj_by_type(machine.topology, HWLOC_OBJ_PU, i);
            if (processor->sibling_rank == rank) {
                machine.processors[machine.count++] = processor;
            }
        }
    }
}

static void machine_read(void)
{
    if (hwloc_topology_init(&machine.topology) != 0) {
        machine.topology = NULL;
        return;
    }
    hwloc_topology_set_flags(machine.topology, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                                   HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    int count = hwloc_topology_load(machine.topology) != 0
                    ? 0
                    : hwloc_get_nbobjs_by_type(machine.topology, HWLOC_OBJ_PU);
    if (count > 0) {
        machine_list_processors((unsigned)count);
    }
    if (machine.count == 0) {
        hwloc_topology_destroy(machine.topology);
        machine.topology = NULL;
    }
}

unsigned rcl_processors(void)
{
    pthread_once(&machine.once, machine_read);
    int visible = omp_get_num_procs();
    return machine.count > 0 ? machine.count : visible > 0 ? (unsigned)visible : 1;
}

/* Binds the calling thread to its processor. Returns the old binding, which the caller gives to
 * unbind_thread, or NULL if nothing was changed. */
static hwloc_cpuset_t bind_thread(unsigned index)
{
    if (machine.topology == NULL) {
        return NULL;
    }
    hwloc_cpuset_t old = hwloc_bitmap_alloc();
    if (old == NULL) {
        return NULL;
    }
    hwloc_const_cpuset_t wanted = machine.processors[index % machine.count]->cpuset;
    if (hwloc_get_cpubind(machine.topology, old, HWLOC_CPUBIND_THREAD) != 0 ||
        hwloc_set_cpubind(machine.topology, wanted, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) !=
            0) {
        hwloc_bitmap_free(old);
        return NULL;
    }
    return old;
}

bool rcl_bind_as_member(unsigned index)
{
    hwloc_cpuset_t old = bind_thread(index);
    hwloc_bitmap_free(old); /* NULL is legal */
    return old != NULL;
}

static void unbind_thread(hwloc_cpuset_t old)
{
    if (old != NULL) {
        hwloc_set_cpubind(machine.topology, old, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT);
        hwloc_bitmap_free(old);
    }
}

void rcl_team_start(void)
{
    unsigned threads = rcl_processors();
#pragma omp parallel num_threads(threads)
    {
        rcl_clobber(); /* an empty region would be dropped */
    }
}

/* ---- What the system says of the window ---- */

typedef struct system_ticks {
    uint64_t all, stolen;
} system_ticks;

/* The first line of /proc/stat: ticks of all processors since boot. Zeros where there is none. */
static system_ticks read_system_ticks(void)
{
    enum { FIELD_STEAL = 7, FIELDS = 8 };
    system_ticks ticks = {0, 0};
    char line[512];
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL) {
        return ticks;
    }
    if (fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu ", 4) == 0) {
        char *position = line + 4;
        for (unsigned i = 0; i < FIELDS; i++) {
            uint64_t value = strtoull(position, &position, 10);
            ticks.all += value;
            ticks.stolen += i == FIELD_STEAL ? value : 0;
        }
    }
    fclose(file);
    return ticks;
}

static double steal_percent(system_ticks before, system_ticks after)
{
    if (after.all <= before.all || after.stolen <= before.stolen) {
        return 0.0;
    }
    return 100.0 * (double)(after.stolen - before.stolen) / (double)(after.all - before.all);
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) {
        return 0;
    }
    return (uint64_t)used.tv_sec * UINT64_C(1000000000) + (uint64_t)used.tv_nsec;
}

static uint64_t thread_involuntary_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

/* ---- A team ---- */

/* What came of one thread; on lines of its own, for it is written while others are timed. */
typedef struct team_member {
    _Alignas(TEAM_ALIGNMENT) rcl_thread thread;
    uint64_t operations, elapsed_ns; /* counted */
    uint64_t wall_ns, cpu_ns;        /* of the whole window, what does not count included */
    uint64_t switches;
    bool pinned;
} team_member;

/* What failed first. */
typedef enum team_failure {
    TEAM_FINE,
    TEAM_NO_THREADS,
    TEAM_NO_SHARED,
    TEAM_NO_STATE,
    TEAM_NO_MEMORY_LEFT
} team_failure;

typedef struct team_call {
    const rcl_run *run;
    rcl_team team;
    team_member *members;
    _Atomic(unsigned) failure; /* a team_failure */
    _Alignas(TEAM_ALIGNMENT) _Atomic(unsigned) arrived;
    system_ticks before, after;
} team_call;

/* F1 RELAXED: the flag is the whole message. Who acts on it does so behind a barrier, which orders it
 * (OpenMP's, or B1). Only the first failure is kept. */
static void fail(team_call *call, team_failure failure)
{
    unsigned none = TEAM_FINE;
    atomic_compare_exchange_strong_explicit(&call->failure, &none, failure, memory_order_relaxed,
                                            memory_order_relaxed);
}

static bool failed(team_call *call)
{
    return atomic_load_explicit(&call->failure, memory_order_relaxed) != TEAM_FINE;
}

/* S1 RELAXED: it only ends loops. What a thread did is read behind OpenMP's barrier. */
static void stop(team_call *call)
{
    atomic_store_explicit(&call->team.stop, true, memory_order_relaxed);
}

static bool stopped(team_call *call)
{
    return atomic_load_explicit(&call->team.stop, memory_order_relaxed);
}

/* All threads leave it within a cache miss of each other, which a barrier that sleeps cannot do. */
static void spin_barrier(team_call *call)
{
    /* B1 ACQ_REL, B2 ACQUIRE: what a thread did before it arrived (F1) is seen by all that leave. */
    atomic_fetch_add_explicit(&call->arrived, 1, memory_order_acq_rel);
    unsigned spins = 0;
    while (atomic_load_explicit(&call->arrived, memory_order_acquire) < call->run->threads) {
        if (++spins % TEAM_SPINS == 0) {
            sched_yield();
        } else {
            rcl_pause();
        }
    }
}

static uint64_t batch_size(const rcl_workload *workload)
{
    return workload->batch > 0 ? workload->batch : TEAM_BATCH;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* False: memory was refused. Being told to stop early is fine. */
static bool ran_in_full(team_call *call, uint64_t done, uint64_t asked)
{
    if (done >= asked || stopped(call)) {
        return true;
    }
    fail(call, TEAM_NO_MEMORY_LEFT);
    stop(call);
    return false;
}

static void warm_up(team_call *call, team_member *member)
{
    const rcl_workload *workload = call->run->workload;
    uint64_t asked = min_u64(batch_size(workload), call->run->operations);
    uint64_t ignored_ns = 0;
    uint64_t done = workload->run_timed != NULL
                        ? workload->run_timed(&member->thread, asked, &ignored_ns)
                        : workload->run(&member->thread, asked);
    ran_in_full(call, done, asked);
    call->run->impl->quiesce();
}

/* Batches until this thread is done or another one was. */
static void run_batches(team_call *call, team_member *member)
{
    const rcl_run *run = call->run;
    uint64_t (*const run_batch)(rcl_thread *, uint64_t) = run->workload->run;
    void (*const quiesce)(void) = run->impl->quiesce;
    const uint64_t most = batch_size(run->workload);
    const uint64_t start_ns = rcl_now_ns();
    uint64_t done = 0;
    do {
        uint64_t asked = min_u64(most, run->operations - done);
        uint64_t batch = run_batch(&member->thread, asked);
        quiesce();
        uint64_t now_ns = rcl_now_ns();
        if (!ran_in_full(call, batch, asked)) {
            break;
        }
        if (stopped(call) && done > 0) {
            break; /* part of this batch ran without the others */
        }
        done += batch;
        member->operations = done;
        member->elapsed_ns = now_ns - start_ns;
    } while (done < run->operations && !stopped(call));
    stop(call);
}

static void run_own_clock(team_call *call, team_member *member)
{
    const rcl_run *run = call->run;
    uint64_t done = run->workload->run_timed(&member->thread, run->operations, &member->elapsed_ns);
    run->impl->quiesce();
    if (ran_in_full(call, done, run->operations)) {
        member->operations = done;
    }
    stop(call);
}

static void run_window(team_call *call, team_member *member)
{
    if (member->thread.index == 0) {
        call->before = read_system_ticks();
    }
    spin_barrier(call);
    if (failed(call)) {
        return; /* in a warm-up, or already in the window of a faster thread */
    }
    uint64_t switches = thread_involuntary_switches();
    uint64_t cpu_ns = thread_cpu_ns();
    uint64_t start_ns = rcl_now_ns();
    if (call->run->workload->run_timed != NULL) {
        run_own_clock(call, member);
    } else {
        run_batches(call, member);
    }
    member->wall_ns = rcl_now_ns() - start_ns;
    member->cpu_ns = thread_cpu_ns() - cpu_ns;
    member->switches = thread_involuntary_switches() - switches;
    if (member->thread.index == 0) {
        call->after = read_system_ticks();
    }
}

/* Zeroed, on lines of its own; the caller frees it. `size` may be 0. */
static void *new_lines(size_t size)
{
    size_t rounded = (size / TEAM_ALIGNMENT + 1) * TEAM_ALIGNMENT;
    void *lines = aligned_alloc(TEAM_ALIGNMENT, rounded);
    return lines == NULL ? NULL : memset(lines, 0, rounded);
}

static void set_up_shared(team_call *call)
{
    const rcl_workload *workload = call->run->workload;
    call->team.shared = new_lines(workload->shared_size);
    if (call->team.shared == NULL ||
        (workload->shared_setup != NULL && !workload->shared_setup(&call->team))) {
        fail(call, TEAM_NO_SHARED);
    }
}

static void take_down_shared(team_call *call)
{
    const rcl_workload *workload = call->run->workload;
    if (call->team.shared != NULL && workload->shared_teardown != NULL) {
        workload->shared_teardown(&call->team);
    }
    free(call->team.shared);
}

static void set_up_thread(team_call *call, team_member *member)
{
    const rcl_workload *workload = call->run->workload;
    member->thread.state = new_lines(workload->thread_size);
    if (member->thread.state == NULL ||
        (workload->thread_setup != NULL && !workload->thread_setup(&member->thread))) {
        fail(call, TEAM_NO_STATE);
    }
}

static void take_down_thread(team_call *call, team_member *member)
{
    const rcl_workload *workload = call->run->workload;
    if (member->thread.state != NULL && workload->thread_teardown != NULL) {
        workload->thread_teardown(&member->thread);
    }
    free(member->thread.state);
}

/* xorshift's state must not be 0, and neighbours must not be alike (splitmix64). */
static uint64_t thread_seed(uint64_t seed, unsigned index)
{
    uint64_t x = seed + (index + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x == 0 ? 1 : x;
}

/* Every thread of the team comes through here; the order of events is told in team.h. The barriers
 * are OpenMP's: all threads pass each of them, whatever fails. */
static void run_member(team_call *call, unsigned index)
{
    const rcl_run *run = call->run;
    team_member *member = &call->members[index];
    hwloc_cpuset_t old_binding = bind_thread(index);
    member->pinned = old_binding != NULL;
    member->thread.team = &call->team;
    member->thread.index = index;
    member->thread.random = thread_seed(run->seed, index);

    if (index == 0) {
        run->impl->thread_attach();
        set_up_shared(call);
    }
#pragma omp barrier
    if (index != 0) {
        run->impl->thread_attach();
    }
    bool shared_is_up = !failed(call); /* before anybody's setup can fail */
#pragma omp barrier
    if (shared_is_up) {
        set_up_thread(call, member);
    }
#pragma omp barrier
    bool all_is_up = !failed(call); /* before anybody's warm-up can fail: all decide alike */
#pragma omp barrier
    if (all_is_up) {
        if (run->impl->mark != NULL) {
            run->impl->mark();
        }
        warm_up(call, member);
        run_window(call, member);
    }
#pragma omp barrier
    if (shared_is_up) {
        take_down_thread(call, member);
    }
    run->impl->quiesce();
    if (index != 0) {
        run->impl->thread_detach();
    }
#pragma omp barrier
    if (index == 0) {
        take_down_shared(call);
        run->impl->quiesce();
        run->impl->thread_detach();
    }
    unbind_thread(old_binding);
}

/* ---- The result ---- */

__attribute__((format(printf, 4, 5))) static void
explain(const rcl_run *run, char *error, size_t error_size, const char *format, ...)
{
    int length = snprintf(error, error_size, "%s %s/%s, %u threads: ", run->impl->name,
                          run->workload->name, run->variant->name, run->threads);
    if (length < 0 || (size_t)length >= error_size) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error + length, error_size - (size_t)length, format, arguments);
    va_end(arguments);
}

static bool explain_failure(const team_call *call, char *error, size_t error_size)
{
    switch ((team_failure)atomic_load_explicit(&call->failure, memory_order_relaxed)) {
    case TEAM_FINE:
        return true;
    case TEAM_NO_THREADS:
        explain(call->run, error, error_size,
                "OpenMP gave fewer threads; raise OMP_THREAD_LIMIT, unset OMP_DYNAMIC");
        return false;
    case TEAM_NO_SHARED:
        explain(call->run, error, error_size,
                "memory refused while setting up what the threads share; take a smaller variant");
        return false;
    case TEAM_NO_STATE:
        explain(
            call->run, error, error_size,
            "memory refused while setting up a thread; take fewer threads or a smaller variant");
        return false;
    case TEAM_NO_MEMORY_LEFT:
        explain(call->run, error, error_size,
                "memory refused in the middle of a run; take fewer threads or a smaller variant");
        return false;
    }
    return false;
}

static bool sum_up(const team_call *call, rcl_window *window, char *error, size_t error_size)
{
    uint64_t wall_ns = 0;
    uint64_t cpu_ns = 0;
    double rate = 0.0; /* operations per ns, all threads together */
    *window =
        (rcl_window){.pinned = true, .steal_percent = steal_percent(call->before, call->after)};
    for (unsigned i = 0; i < call->run->threads; i++) {
        const team_member *member = &call->members[i];
        double elapsed_ns = member->elapsed_ns > 0 ? (double)member->elapsed_ns : 1.0;
        rate += (double)member->operations / elapsed_ns;
        window->operations += member->operations;
        window->elapsed_ns = elapsed_ns > window->elapsed_ns ? elapsed_ns : window->elapsed_ns;
        window->involuntary_switches += member->switches;
        window->pinned = window->pinned && member->pinned;
        wall_ns += member->wall_ns;
        cpu_ns += member->cpu_ns;
    }
    if (window->operations == 0) {
        explain(call->run, error, error_size, "no operation was done; ask for more operations");
        return false;
    }
    window->ns_per_operation = (double)call->run->threads / rate;
    window->utilisation = cpu_ns < wall_ns ? (double)cpu_ns / (double)wall_ns : 1.0;
    return true;
}

bool rcl_team_run(const rcl_run *run, rcl_window *window, char *error, size_t error_size)
{
    if (run->threads == 0 || run->operations == 0) {
        explain(run, error, error_size,
                "expected 1 or more threads and operations, got %u and %llu", run->threads,
                (unsigned long long)run->operations);
        return false;
    }
    rcl_processors(); /* reads the topology while nothing is bound */
    if (rcl_memory_used() != run->allocator) {
        rcl_memory_use(run->allocator);
    }
    team_call call = {
        .run = run,
        .team = {.threads = run->threads,
                 .sharing = run->sharing,
                 .variant = run->variant,
                 .input = run->input,
                 .delay = run->delay},
        .members = new_lines(run->threads * sizeof(team_member)),
    };
    if (call.members == NULL) {
        explain(run, error, error_size, "memory refused for the team; take fewer threads");
        return false;
    }
    team_call *shared_call = &call;
#pragma omp parallel num_threads(run->threads) default(none) firstprivate(shared_call, run)
    {
        if ((unsigned)omp_get_num_threads() == run->threads) {
            run_member(shared_call, (unsigned)omp_get_thread_num());
        } else {
            fail(shared_call, TEAM_NO_THREADS);
        }
    }
    bool measured =
        explain_failure(&call, error, error_size) && sum_up(&call, window, error, error_size);
    free(call.members);
    return measured;
}
