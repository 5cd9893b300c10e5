/* battery_main: the program that searches the battery's scenarios, for one implementation.
 *
 *   explore list                      what it is and has
 *   explore run INDEX SEED EXECUTIONS [--random N] [--processes N] [--schedule S]
 *               [--json FILE] [--again COMMAND] [--progress FILE]
 *   explore orders [--executions N] [--processes N] [--csv FILE]      orders.h
 *
 * FILE of --json gets the trace of a failure; COMMAND with a schedule behind it shows the failure again;
 * FILE of --progress always begins with the number of executions that were searched (8 bytes).
 *
 * The verdict goes to descriptor 3 (verdict.h): "pass", the number of executions, and "exhaustive" or
 * what bounded it; "unsupported" and why; or "fail" as every engine says it, and the interleaving on
 * standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "contract.h"
#include "heap.h"
#include "verdict.h"

#include "abi.h"
#include "battery_program.h"
#include "orders.h"
#include "report.h"
#include "search.h"

/* ---- The battery's heap, over the explorer's ---- */

/* Changed by the program through rcx_private_write, so that every execution begins alike. */
static struct heap_counts {
    uint64_t requests, refuse_at;
} counts;

void rcb_heap_start(void)
{
}

void rcb_heap_reset(rcb_placement placement)
{
    (void)placement;
}

uint64_t rcb_heap_live_blocks(void)
{
    return rcx_heap_live_blocks();
}

uint64_t rcb_heap_requests(void)
{
    return counts.requests;
}

uint64_t rcb_heap_live_bytes(void)
{
    return rcx_heap_live_bytes();
}

void rcb_heap_refuse(uint64_t k)
{
    rcx_private_write((uintptr_t)&counts, sizeof counts);
    counts.refuse_at = k == 0 ? 0 : counts.requests + k;
}

/* A write after free is found when it happens. */
const char *rcb_heap_check(void)
{
    return NULL;
}

void *rcb_heap_shared(size_t size)
{
    return calloc(1, size);
}

void *rc_mem_alloc(size_t size)
{
    rcx_private_write((uintptr_t)&counts, sizeof counts);
    if (++counts.requests == counts.refuse_at) {
        return NULL;
    }
    return rcx_malloc(size);
}

void rc_mem_free(void *block, size_t size)
{
    rcx_block *dead = NULL;
    const rcx_block *found = block == NULL ? NULL : rcx_heap_block((uintptr_t)block, &dead);
    if (found != NULL && found->size != size) {
        char text[128];
        snprintf(text, sizeof text, "a block of %zu bytes was freed as one of %zu", found->size,
                 size);
        rcx_fail(RCX_BAD_FREE, text);
    }
    rcx_free(block);
}

uint64_t rcx_battery_live_blocks(void)
{
    return rcx_heap_live_blocks();
}

_Noreturn void rcx_battery_leak(uint64_t blocks)
{
    char text[96];
    snprintf(text, sizeof text, "%" PRIu64 " block%s still live at the end", blocks,
             blocks == 1 ? " is" : "s are");
    rcx_fail(RCX_LEAK, text);
}

/* ---- What scenarios say ---- */

void rcb_fail_clause(const char *clause, const char *file, int line, const char *expected,
                     const char *came)
{
    char text[512];
    const char *slash = strrchr(file, '/');
    (void)clause;
    snprintf(text, sizeof text, "%s:%d: expected %s; came %s", slash != NULL ? slash + 1 : file,
             line, expected, came);
    rcx_fail(RCX_ASSERTION, text);
}

void rcb_fail(const char *file, int line, const char *expected, const char *came)
{
    rcb_fail_clause("-", file, line, expected, came);
}

void rc_trap(rc_trap_kind kind, const void *payload)
{
    static const char *const names[] = {"no trap",
                                        "RC_TRAP_RETAIN_DEAD",
                                        "RC_TRAP_RELEASE_DEAD",
                                        "RC_TRAP_WEAK_RELEASE_DEAD",
                                        "RC_TRAP_STRONG_OVERFLOW",
                                        "RC_TRAP_WEAK_OVERFLOW",
                                        "RC_TRAP_FOREIGN",
                                        "RC_TRAP_WRAPPER",
                                        "RC_TRAP_THREAD"};
    char text[96];
    bool known = (size_t)kind < sizeof names / sizeof names[0];
    (void)payload;
    snprintf(text, sizeof text, "%s: a legal operation was taken for misuse",
             known ? names[kind] : "a trap");
    rcx_fail(RCX_TRAP, text);
}

/* ---- Command ---- */

static void speak(const char *line)
{
    size_t length = strlen(line);
    if (write(RCB_VERDICT_FD, line, length) != (ssize_t)length) {
        fputs(line, stdout); /* run by hand */
    }
}

static const char *kind_name(rcx_failure_kind kind)
{
    static const char *const names[] = {
        "nothing", "a data race", "a use after free", "a bad free", "an access out of bounds",
        "a leak",  "a deadlock",  "a broken promise", "a trap",     "a crash"};
    return names[kind];
}

static void tell(const rcx_result *result)
{
    char line[2048];
    const char *kind = kind_name(result->kind);
    const char *text = result->text;
    if (strncmp(text, kind, strlen(kind)) == 0 && strncmp(text + strlen(kind), ": ", 2) == 0) {
        text += strlen(kind) + 2; /* it says so itself */
    }
    switch (result->verdict) {
    case RCX_PASS:
        snprintf(line, sizeof line, "pass\t%" PRIu64 "\texhaustive\n", result->graphs);
        break;
    case RCX_BOUNDED:
        snprintf(line, sizeof line, "pass\t%" PRIu64 "\t%s\n", result->graphs, result->text);
        break;
    case RCX_UNSUPPORTED:
        snprintf(line, sizeof line, "unsupported\t%s\n", result->text);
        break;
    default:
        snprintf(line, sizeof line,
                 "fail\t-\t\tno interleaving and no memory order that C11 allows breaks it\t%s: %s "
                 "(schedule %s)\n",
                 kind, text, result->schedule);
        break;
    }
    speak(line);
}

static bool number(const char *text, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

/* ---- How far it is ---- */

enum { PROGRESS_STEP = 256 };

static _Atomic(uint64_t) *searched; /* in a file, for all processes of the search; or NULL */
static uint64_t not_told;

static void count_execution(void *context)
{
    (void)context;
    if (searched != NULL && ++not_told == PROGRESS_STEP) {
        not_told = 0;
        atomic_fetch_add_explicit(searched, PROGRESS_STEP, memory_order_relaxed);
    }
}

/* A loop without an atomic operation is never given up by the search. */
static void watch(int signal_number)
{
    static const char line[] =
        "fail\t-\t\tevery execution ends\ta loop without end: one execution has taken 10 s of "
        "processor time, without an atomic operation that the explorer could stop\n";
    (void)signal_number;
    if (!rcx_executions_seen) {
        speak(line);
        _exit(1);
    }
    rcx_executions_seen = 0;
}

/* Processor time: on a busy machine it takes longer, and nothing else changes. */
static void start_watchdog(void)
{
    const struct timeval interval = {.tv_sec = 10};
    const struct itimerval timer = {interval, interval};
    struct sigaction action = {.sa_handler = watch};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

static bool start_progress(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, sizeof *searched) != 0) {
        return false;
    }
    void *memory = mmap(NULL, sizeof *searched, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    searched = memory == MAP_FAILED ? NULL : memory;
    return searched != NULL;
}

/* ---- The interleaving ---- */

/* False: the file cannot be written. */
static bool report_failure(const rcx_result *result, const char *again, const char *json)
{
    const rcx_trace *trace = rcx_last_trace();
    char command[8192];
    if (trace == NULL) {
        return true;
    }
    if (again != NULL) {
        snprintf(command, sizeof command, "%s --schedule %s", again, result->schedule);
        again = command;
    }
    rcx_report_text(stdout, trace, NULL, again);
    if (json == NULL) {
        return true;
    }
    FILE *file = fopen(json, "w");
    if (file == NULL) {
        return false;
    }
    rcx_report_json(file, trace, NULL, again);
    bool good = ferror(file) == 0;
    return fclose(file) == 0 && good;
}

static int usage(void)
{
    fputs("usage: explore list | run INDEX SEED EXECUTIONS [--random N] [--processes N]\n"
          "       [--schedule S] [--json FILE] [--again COMMAND] [--progress FILE]\n",
          stderr);
    return 2;
}

static int run(int argc, char **argv)
{
    rcx_limits limits = {.spurious = 1};
    uint64_t index = 0;
    uint64_t processes = 1;
    const char *json = NULL;
    const char *again = NULL;
    if (!number(argv[0], &index) || !number(argv[1], &limits.seed) ||
        !number(argv[2], &limits.executions)) {
        return usage();
    }
    for (int i = 3; i < argc; i += 2) {
        bool known = i + 1 < argc;
        if (known && strcmp(argv[i], "--random") == 0) {
            known = number(argv[i + 1], &limits.random);
        } else if (known && strcmp(argv[i], "--processes") == 0) {
            known = number(argv[i + 1], &processes);
        } else if (known && strcmp(argv[i], "--schedule") == 0) {
            limits.schedule = argv[i + 1];
        } else if (known && strcmp(argv[i], "--json") == 0) {
            json = argv[i + 1];
        } else if (known && strcmp(argv[i], "--again") == 0) {
            again = argv[i + 1];
        } else if (known && strcmp(argv[i], "--progress") == 0) {
            known = start_progress(argv[i + 1]);
        } else {
            known = false;
        }
        if (!known) {
            return usage();
        }
    }
    limits.processes = (unsigned)processes;
    rcx_scenario scenario;
    if (!rcx_battery_scenario((unsigned)index, &scenario) || scenario.not_searched != NULL) {
        fprintf(stderr, "explore: scenario %" PRIu64 " is not searched\n", index);
        return 2;
    }
    rcx_program program = rcx_battery_program((unsigned)index);
    program.done = count_execution;
    rcx_result result;
    if (processes <= 1) { /* else this one only waits */
        start_watchdog();
    }
    rcx_explore(&program, &limits, &result);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_interval = {0}}, NULL);
    tell(&result);
    if (result.verdict == RCX_FAIL && !report_failure(&result, again, json)) {
        fprintf(stderr, "explore: cannot write %s: %s\n", json, strerror(errno));
    }
    printf("%s %s: %" PRIu64 " executions, %" PRIu64 " blocked, %.4f s\n", scenario.clause,
           scenario.name, result.graphs, result.blocked, result.seconds);
    return result.verdict == RCX_FAIL ? 1 : 0;
}

/* The battery's list, and of each scenario whether it is searched. */
static void list(void)
{
    rcx_scenario scenario;
    rcx_battery_list();
    for (unsigned i = 0; rcx_battery_scenario(i, &scenario); i++) {
        if (scenario.not_searched == NULL) {
            printf("searched\t%u\t%s\t%s\n", i, scenario.clause, scenario.name);
        } else {
            printf("left\t%u\t%s\t%s\t%s\n", i, scenario.clause, scenario.name,
                   scenario.not_searched);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "orders") == 0) {
        return rcx_orders_main(argc - 2, argv + 2);
    }
    return argc >= 5 && strcmp(argv[1], "run") == 0 ? run(argc - 2, argv + 2) : usage();
}
