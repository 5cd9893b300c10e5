#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

enum { AT_ONCE_MAX = 256, VERDICT_FD = 3 };

/* A deep recursion is to end soon, and everybody's at the same depth. */
static const rlim_t stack_bytes = (rlim_t)8 << 20;

/* A job that runs. */
typedef struct running {
    rcl_job *job; /* NULL: this place is free */
    pid_t pid;
    int output, verdict; /* -1: closed by the other side */
    uint64_t started_ns;
} running;

/* ---- In the child ---- */

/* The old limit with a lower soft value. */
static struct rlimit lowered(struct rlimit old, rlim_t value)
{
    return (struct rlimit){value < old.rlim_max ? value : old.rlim_max, old.rlim_max};
}

static void set_limits(void)
{
    struct rlimit old;
    struct rlimit now;
    if (getrlimit(RLIMIT_CORE, &old) == 0) {
        now = lowered(old, 0);
        setrlimit(RLIMIT_CORE, &now);
    }
    if (getrlimit(RLIMIT_STACK, &old) == 0) {
        now = lowered(old, stack_bytes);
        setrlimit(RLIMIT_STACK, &now);
    }
}

/* Last: from here on this process itself may be over the limit, and get no memory. */
static void set_memory_limit(const rcl_job *job)
{
    struct rlimit old;
    if (job->memory_bytes != 0 && getrlimit(RLIMIT_AS, &old) == 0) {
        struct rlimit now = lowered(old, job->memory_bytes);
        setrlimit(RLIMIT_AS, &now);
    }
}

/* Becomes the job's program. Descriptors below 3 and VERDICT_FD are the pipes; the rest close. */
_Noreturn static void become(const rcl_job *job, int output, int verdict)
{
    /* Out of the way first: either pipe may be VERDICT_FD itself. */
    int output_copy = fcntl(output, F_DUPFD_CLOEXEC, VERDICT_FD + 1);
    int verdict_copy = fcntl(verdict, F_DUPFD_CLOEXEC, VERDICT_FD + 1);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(output_copy, STDOUT_FILENO);
    dup2(output_copy, STDERR_FILENO);
    dup2(verdict_copy, VERDICT_FD);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    set_limits();
    if (job->fixed_addresses) {
        int now = personality(0xffffffff);
        if (now != -1) {
            personality((unsigned long)now | ADDR_NO_RANDOMIZE);
        }
    }
    for (const char *const *entry = job->environment; entry != NULL && *entry != NULL; entry++) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        setenv(name, *entry + length + 1, 1);
    }
    /* execvp takes pointers to what it does not write; its type is older than const. */
    union {
        const char *const *from;
        char *const *to;
    } arguments = {.from = job->arguments};
    set_memory_limit(job);
    execvp(job->arguments[0], arguments.to);
    fprintf(stderr, "%s: cannot be run: %s\n", job->arguments[0], strerror(errno));
    _exit(RCL_JOB_CANNOT_RUN_STATUS);
}

/* ---- In the parent ---- */

static bool start(running *place, rcl_job *job)
{
    int output[2] = {-1, -1};
    int verdict[2] = {-1, -1};
    if (job->output == NULL) {
        job->output = malloc(RCL_JOB_OUTPUT_BYTES);
    }
    pid_t pid = -1;
    if (job->output != NULL && pipe2(output, O_CLOEXEC) == 0 && pipe2(verdict, O_CLOEXEC) == 0) {
        pid = fork();
    }
    if (pid == 0) {
        become(job, output[1], verdict[1]);
    }
    int why = errno;
    close(output[1]);
    close(verdict[1]);
    if (pid < 0) {
        close(output[0]);
        close(verdict[0]);
        job->end = RCL_JOB_NOT_STARTED;
        if (job->output != NULL) {
            int used = snprintf(job->output, RCL_JOB_OUTPUT_BYTES, "cannot start a process: %s",
                                strerror(why));
            job->output_size = (size_t)used;
        }
        return false;
    }
    setpgid(pid, pid); /* here too: it may be killed before it gets so far */
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    fcntl(verdict[0], F_SETFL, O_NONBLOCK);
    *place = (running){.job = job,
                       .pid = pid,
                       .output = output[0],
                       .verdict = verdict[0],
                       .started_ns = rcl_now_ns()};
    return true;
}

/* Reads what there is; keeps what fits, with a zero behind it. Closes *fd at its end. */
static void drain(int *fd, char *text, size_t size, size_t *used)
{
    char surplus[4096];
    while (*fd >= 0) {
        bool room = *used + 1 < size;
        ssize_t got =
            room ? read(*fd, text + *used, size - 1 - *used) : read(*fd, surplus, sizeof surplus);
        if (got > 0) {
            *used += room ? (size_t)got : 0;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(*fd);
            *fd = -1;
        } else if (errno == EAGAIN) {
            break;
        }
    }
    text[*used] = '\0';
}

static void drain_both(running *place)
{
    rcl_job *job = place->job;
    drain(&place->output, job->output, RCL_JOB_OUTPUT_BYTES, &job->output_size);
    drain(&place->verdict, job->verdict, sizeof job->verdict, &job->verdict_size);
}

/* Kills what is left of the group, keeps the last words, frees the place. */
static void finish(const rcl_jobs *jobs, running *place, rcl_job_end end, int status)
{
    rcl_job *job = place->job;
    kill(-place->pid, SIGKILL);
    drain_both(place);
    if (place->output >= 0) {
        close(place->output);
    }
    if (place->verdict >= 0) {
        close(place->verdict);
    }
    job->end = end;
    job->status = status;
    job->seconds = (double)(rcl_now_ns() - place->started_ns) * 1e-9;
    place->job = NULL;
    if (jobs->ended != NULL) {
        jobs->ended(jobs->context, job);
    }
}

static void kill_and_wait(const running *place)
{
    kill(-place->pid, SIGKILL);
    kill(place->pid, SIGKILL);
    while (waitpid(place->pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* True if the job in this place is over. */
static bool look(const rcl_jobs *jobs, running *place)
{
    int status = 0;
    drain_both(place);
    pid_t got = waitpid(place->pid, &status, WNOHANG);
    if (got == place->pid) {
        bool killed = WIFSIGNALED(status);
        finish(jobs, place, killed ? RCL_JOB_KILLED : RCL_JOB_EXITED,
               killed ? WTERMSIG(status) : WEXITSTATUS(status));
        return true;
    }
    if ((double)(rcl_now_ns() - place->started_ns) * 1e-9 > place->job->limit_seconds) {
        kill_and_wait(place);
        finish(jobs, place, RCL_JOB_LATE, SIGKILL);
        return true;
    }
    return false;
}

/* Sleeps until something may have happened. */
static void sleep_on(const running *places, unsigned count)
{
    struct pollfd ready[2 * AT_ONCE_MAX];
    nfds_t used = 0;
    int wait_ms = 50;
    for (unsigned i = 0; i < count; i++) {
        if (places[i].job == NULL) {
            continue;
        }
        if (places[i].output < 0 && places[i].verdict < 0) {
            wait_ms = 1; /* it is about to end */
        }
        if (places[i].output >= 0) {
            ready[used++] = (struct pollfd){.fd = places[i].output, .events = POLLIN};
        }
        if (places[i].verdict >= 0) {
            ready[used++] = (struct pollfd){.fd = places[i].verdict, .events = POLLIN};
        }
    }
    poll(ready, used, wait_ms);
}

/* Starts the next jobs while there is a free place. Returns how many were passed over. */
static size_t fill(const rcl_jobs *jobs, running *places, unsigned count, size_t *next)
{
    size_t passed = 0;
    for (unsigned i = 0; i < count && *next < jobs->count; i++) {
        while (places[i].job == NULL && *next < jobs->count) {
            rcl_job *job = &jobs->jobs[(*next)++];
            if (jobs->wanted != NULL && !jobs->wanted(jobs->context, job)) {
                job->end = RCL_JOB_SKIPPED;
                passed++;
            } else if (!start(&places[i], job)) {
                passed++;
                if (jobs->ended != NULL) {
                    jobs->ended(jobs->context, job);
                }
            }
        }
    }
    return passed;
}

bool rcl_jobs_run(const rcl_jobs *jobs)
{
    running places[AT_ONCE_MAX] = {0};
    unsigned count = jobs->at_once < 1             ? 1
                     : jobs->at_once > AT_ONCE_MAX ? (unsigned)AT_ONCE_MAX
                                                   : jobs->at_once;
    size_t next = 0;
    size_t done = 0;
    while (done < jobs->count && !*jobs->stop) {
        done += fill(jobs, places, count, &next);
        if (jobs->tick != NULL) {
            jobs->tick(jobs->context, done);
        }
        if (done == jobs->count) {
            break;
        }
        sleep_on(places, count);
        for (unsigned i = 0; i < count; i++) {
            if (places[i].job != NULL && look(jobs, &places[i])) {
                done++;
            }
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (places[i].job != NULL) {
            kill_and_wait(&places[i]);
            finish(jobs, &places[i], RCL_JOB_INTERRUPTED, SIGKILL);
        }
    }
    return !*jobs->stop;
}

void rcl_job_free(rcl_job *job)
{
    free(job->output);
    job->output = NULL;
}
