#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gbench.h"

/* Requests: run implementation workload variant threads sharing allocator operations seconds seed input
 *           space implementation allocator
 *           delay implementation workload variant allocator releases rate seed
 * Answers:  ok operations-of-each-thread operations ns elapsed utilisation switches steal pinned
 *           ok and the members of rcl_space, in order
 *           ok and the members of rcl_delay, in order, ns utilisation steal
 *           no why */
enum { LINE_BYTES = 8192 };

/* ---- The planner's side ---- */

bool rcl_worker_start(rcl_worker *worker, char *error, size_t error_size)
{
    int to[2] = {-1, -1};
    int from[2] = {-1, -1};
    *worker = (rcl_worker){0};
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        snprintf(error, error_size, "cannot make a pipe: %s", strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        signal(SIGINT, SIG_IGN); /* Ctrl-C is the planner's to handle */
        /* Idle threads must sleep: a spinning one would disturb single-threaded rows. */
        setenv("OMP_WAIT_POLICY", "passive", 1);
        unsetenv("OMP_PROC_BIND");
        unsetenv("OMP_PLACES");
        execl("/proc/self/exe", "rclab", RCL_WORKER_COMMAND, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    if (pid < 0) {
        close(to[1]);
        close(from[0]);
        snprintf(error, error_size, "cannot start a measuring process: %s", strerror(errno));
        return false;
    }
    *worker = (rcl_worker){.pid = pid, .to = to[1], .from = from[0]};
    return true;
}

void rcl_worker_stop(rcl_worker *worker)
{
    if (worker->pid == 0) {
        return;
    }
    close(worker->to);
    close(worker->from);
    kill(worker->pid, SIGKILL); /* it keeps nothing that could be lost */
    while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    worker->pid = 0;
}

static void say_how_it_died(rcl_worker *worker, char *error, size_t error_size)
{
    int status = 0;
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(worker->to);
    close(worker->from);
    worker->pid = 0;
    if (WIFSIGNALED(status)) {
        snprintf(error, error_size, "the measuring process died of signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(error, error_size, "the measuring process ended by itself with status %d",
                 WEXITSTATUS(status));
    }
}

/* Reads one line. 1: there; 0: the other end is closed; -1: stopped; -2: too late. */
static int read_line(int fd, char *line, size_t size, double timeout_seconds,
                     const volatile sig_atomic_t *stop)
{
    uint64_t deadline_ns = rcl_now_ns() + (uint64_t)(timeout_seconds * 1e9);
    size_t used = 0;
    while (used + 1 < size) {
        uint64_t now_ns = rcl_now_ns();
        if (*stop) {
            return -1;
        }
        if (now_ns >= deadline_ns) {
            return -2;
        }
        /* In slices: a signal that comes between the look at *stop and poll is seen soon. */
        uint64_t wait_ms = (deadline_ns - now_ns) / 1000000 + 1;
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, wait_ms < 200 ? (int)wait_ms : 200) <= 0) {
            continue;
        }
        ssize_t got = read(fd, line + used, size - 1 - used);
        if (got == 0) {
            return 0;
        }
        if (got > 0) {
            used += (size_t)got;
            line[used] = '\0';
            if (line[used - 1] == '\n') {
                line[used - 1] = '\0';
                return 1;
            }
        }
    }
    return 0;
}

/* Sends a request line and waits for its answer. MEASURED: `line` holds it. */
static rcl_answer ask(rcl_worker *worker, char *line, size_t size, int length,
                      double timeout_seconds, const volatile sig_atomic_t *stop, char *error,
                      size_t error_size)
{
    if (length < 0 || (size_t)length >= size) {
        snprintf(error, error_size, "the request is too long");
        return RCL_ANSWER_REFUSED;
    }
    if (write(worker->to, line, (size_t)length) != length) {
        say_how_it_died(worker, error, error_size);
        return RCL_ANSWER_DIED;
    }
    switch (read_line(worker->from, line, size, timeout_seconds, stop)) {
    case 1:
        break;
    case -1:
        rcl_worker_stop(worker);
        return RCL_ANSWER_INTERRUPTED;
    case -2:
        rcl_worker_stop(worker);
        snprintf(error, error_size, "no answer within %.0f s", timeout_seconds);
        return RCL_ANSWER_DIED;
    default:
        say_how_it_died(worker, error, error_size);
        return RCL_ANSWER_DIED;
    }
    if (strncmp(line, "ok ", 3) == 0) {
        return RCL_ANSWER_MEASURED;
    }
    snprintf(error, error_size, "%s", strncmp(line, "no ", 3) == 0 ? line + 3 : line);
    return RCL_ANSWER_REFUSED;
}

rcl_answer rcl_worker_run(rcl_worker *worker, const rcl_request *request, double timeout_seconds,
                          const volatile sig_atomic_t *stop, rcl_window *window,
                          uint64_t *operations, char *error, size_t error_size)
{
    const rcl_cell *cell = request->cell;
    char line[LINE_BYTES];
    int length = snprintf(
        line, sizeof line, "run %s %s %s %u %s %s %" PRIu64 " %.6f %" PRIu64 " %s\n",
        cell->impl->name, cell->workload->name, cell->asked_variant, cell->threads,
        rcl_sharing_name(cell->sharing), rcl_allocator_name(cell->allocator), request->operations,
        request->min_seconds, request->seed, request->input != NULL ? request->input : "-");
    rcl_answer answer =
        ask(worker, line, sizeof line, length, timeout_seconds, stop, error, error_size);
    if (answer != RCL_ANSWER_MEASURED) {
        return answer;
    }
    int pinned = 0;
    *window = (rcl_window){0};
    if (sscanf(line, "ok %" SCNu64 " %" SCNu64 " %lf %lf %lf %" SCNu64 " %lf %d", operations,
               &window->operations, &window->ns_per_operation, &window->elapsed_ns,
               &window->utilisation, &window->involuntary_switches, &window->steal_percent,
               &pinned) != 8) {
        snprintf(error, error_size, "the answer cannot be read: %s", line);
        return RCL_ANSWER_REFUSED;
    }
    window->pinned = pinned != 0;
    return RCL_ANSWER_MEASURED;
}

bool rcl_worker_space(rcl_worker *worker, const rcl_cell *cell, double timeout_seconds,
                      const volatile sig_atomic_t *stop, rcl_space *space, char *error,
                      size_t error_size)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "space %s %s\n", cell->impl->name,
                          rcl_allocator_name(cell->allocator));
    if (ask(worker, line, sizeof line, length, timeout_seconds, stop, error, error_size) !=
        RCL_ANSWER_MEASURED) {
        return false;
    }
    if (sscanf(line, "ok %zu %zu %zu %zu %zu %lf %lf %lf %lf %lf %lf", &space->handle_bytes,
               &space->weak_handle_bytes, &space->header_bytes, &space->tensor_impl_bytes,
               &space->storage_impl_bytes, &space->allocations_per_object,
               &space->allocations_per_tensor, &space->allocations_per_tensor_with_bytes,
               &space->requested_bytes_per_tensor, &space->taken_bytes_per_tensor,
               &space->gigabytes_400m_tensors) != 11) {
        snprintf(error, error_size, "the answer cannot be read: %s", line);
        return false;
    }
    return true;
}

rcl_answer rcl_worker_delay(rcl_worker *worker, const rcl_cell *cell, uint64_t releases,
                            double rate_per_s, uint64_t seed, double timeout_seconds,
                            const volatile sig_atomic_t *stop, rcl_delay *delay, rcl_window *window,
                            char *error, size_t error_size)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "delay %s %s %s %s %" PRIu64 " %.9g %" PRIu64 "\n",
                          cell->impl->name, cell->workload->name, cell->asked_variant,
                          rcl_allocator_name(cell->allocator), releases, rate_per_s, seed);
    rcl_answer answer =
        ask(worker, line, sizeof line, length, timeout_seconds, stop, error, error_size);
    if (answer != RCL_ANSWER_MEASURED) {
        return answer;
    }
    *window = (rcl_window){.operations = releases};
    if (sscanf(line, "ok %" SCNu64 " %" SCNu64 " %lf %lf %lf %lf %lf %lf %lf %lf", &delay->releases,
               &delay->kept, &delay->busy, &delay->p50_ns, &delay->p99_ns, &delay->p999_ns,
               &delay->max_ns, &window->ns_per_operation, &window->utilisation,
               &window->steal_percent) != 10) {
        snprintf(error, error_size, "the answer cannot be read: %s", line);
        return RCL_ANSWER_REFUSED;
    }
    return RCL_ANSWER_MEASURED;
}

/* ---- The worker's side ---- */

typedef struct repetition {
    rcl_run run;
    rcl_window window;
    bool failed;
    char error[512];
} repetition;

/* Google Benchmark's batch: its last call is the repetition, the others are its search. */
static double measure(void *context, uint64_t operations)
{
    repetition *now = context;
    now->run.operations = operations;
    if (!rcl_team_run(&now->run, &now->window, now->error, sizeof now->error)) {
        now->failed = true;
        return -1;
    }
    return now->window.ns_per_operation * 1e-9 * (double)operations;
}

static const rcl_impl *find_impl(const rcl_registry *registry, const char *name)
{
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (strcmp(registry->impls[i]->name, name) == 0) {
            return registry->impls[i];
        }
    }
    return strcmp(registry->floor->name, name) == 0 ? registry->floor : NULL;
}

/* Finds what the request names; false if it names nothing that is here. */
static bool find_cell(const rcl_registry *registry, const char *impl, const char *workload,
                      const char *variant, rcl_run *run)
{
    run->impl = find_impl(registry, impl);
    for (unsigned i = 0; run->impl != NULL && i < run->impl->workload_count; i++) {
        const rcl_workload *candidate = run->impl->workloads[i];
        for (unsigned v = 0; v < candidate->variant_count; v++) {
            if (strcmp(candidate->name, workload) == 0 &&
                strcmp(candidate->variants[v].name, variant) == 0) {
                run->workload = candidate;
                run->variant = &candidate->variants[v];
                return true;
            }
        }
    }
    return false;
}

static void answer_run(const rcl_registry *registry, const char *line)
{
    char impl[64];
    char workload[64];
    char variant[64];
    char sharing[16];
    char allocator[16];
    uint64_t operations = 0;
    double min_seconds = 0;
    int input_at = 0;
    repetition now = {0};
    if (sscanf(line, "%63s %63s %63s %u %15s %15s %" SCNu64 " %lf %" SCNu64 " %n", impl, workload,
               variant, &now.run.threads, sharing, allocator, &operations, &min_seconds,
               &now.run.seed, &input_at) != 9 ||
        !find_cell(registry, impl, workload, variant, &now.run) ||
        !rcl_allocator_parse(allocator, &now.run.allocator)) {
        printf("no the worker cannot read the request: %s\n", line);
        return;
    }
    now.run.sharing = strcmp(sharing, "private") == 0 ? RCL_PRIVATE : RCL_SHARED;
    now.run.input = strcmp(line + input_at, "-") == 0 ? NULL : line + input_at;
    uint64_t each = rcl_gbench_run(workload, measure, &now, operations, min_seconds);
    if (now.failed || each == 0) {
        printf("no %s\n", now.failed ? now.error : "nothing was measured");
        return;
    }
    printf("ok %" PRIu64 " %" PRIu64 " %.9g %.9g %.6g %" PRIu64 " %.6g %d\n", each,
           now.window.operations, now.window.ns_per_operation, now.window.elapsed_ns,
           now.window.utilisation, now.window.involuntary_switches, now.window.steal_percent,
           now.window.pinned ? 1 : 0);
}

static void answer_space(const rcl_registry *registry, const char *line)
{
    char name[64];
    char allocator_name[16];
    rcl_allocator allocator = RCL_ALLOCATOR_LIBC;
    rcl_space space;
    const rcl_impl *impl = NULL;
    if (sscanf(line, "%63s %15s", name, allocator_name) != 2 ||
        (impl = find_impl(registry, name)) == NULL || impl->measure_space == NULL ||
        !rcl_allocator_parse(allocator_name, &allocator)) {
        printf("no the worker cannot read the request: %s\n", line);
        return;
    }
    rcl_memory_use(allocator);
    if (!impl->measure_space(&space)) {
        puts("no memory was refused");
        return;
    }
    printf("ok %zu %zu %zu %zu %zu %.6g %.6g %.6g %.10g %.10g %.10g\n", space.handle_bytes,
           space.weak_handle_bytes, space.header_bytes, space.tensor_impl_bytes,
           space.storage_impl_bytes, space.allocations_per_object, space.allocations_per_tensor,
           space.allocations_per_tensor_with_bytes, space.requested_bytes_per_tensor,
           space.taken_bytes_per_tensor, space.gigabytes_400m_tensors);
}

static void answer_delay(const rcl_registry *registry, const char *line)
{
    char impl[64];
    char workload[64];
    char variant[64];
    char allocator[16];
    char error[512];
    double rate_per_s = 0;
    rcl_run run = {.threads = 1, .sharing = RCL_PRIVATE};
    rcl_delay delay;
    rcl_window window;
    if (sscanf(line, "%63s %63s %63s %15s %" SCNu64 " %lf %" SCNu64, impl, workload, variant,
               allocator, &run.operations, &rate_per_s, &run.seed) != 7 ||
        !find_cell(registry, impl, workload, variant, &run) || !run.workload->delays ||
        !rcl_allocator_parse(allocator, &run.allocator)) {
        printf("no the worker cannot read the request: %s\n", line);
        return;
    }
    if (!rcl_memory_is_followed()) {
        rcl_memory_follow(rcl_now_ns);
    }
    if (!rcl_delay_measure(&run, rate_per_s, &delay, &window, error, sizeof error)) {
        printf("no %s\n", error);
        return;
    }
    printf("ok %" PRIu64 " %" PRIu64 " %.6g %.9g %.9g %.9g %.9g %.9g %.6g %.6g\n", delay.releases,
           delay.kept, delay.busy, delay.p50_ns, delay.p99_ns, delay.p999_ns, delay.max_ns,
           window.ns_per_operation, window.utilisation, window.steal_percent);
}

int rcl_worker_main(const rcl_registry *registry)
{
    char line[LINE_BYTES];
    rcl_team_start();
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "delay ", 6) == 0) {
            answer_delay(registry, line + 6);
        } else if (rcl_memory_is_followed()) {
            printf("no this worker follows blocks, and times nothing: %s\n", line);
        } else if (strncmp(line, "run ", 4) == 0) {
            answer_run(registry, line + 4);
        } else {
            answer_space(registry, strncmp(line, "space ", 6) == 0 ? line + 6 : line);
        }
        fflush(stdout);
    }
    return 0;
}
