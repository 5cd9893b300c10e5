/* battery_main: the program that searches the battery's scenarios, for one implementation.
 *
 *   explore list                      what it is and has
 *   explore run INDEX SEED EXECUTIONS [--random N] [--processes N] [--schedule S] [--json FILE]
 *
 * The verdict goes to descriptor 3 (verdict.h): "pass", the number of executions, and "exhaustive" or
 * what bounded it; "unsupported" and why; or "fail" as every engine says it, and the interleaving on
 * standard output.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "heap.h"
#include "verdict.h"

#include "abi.h"
#include "battery_program.h"
#include "search.h"

/* In functions that the program calls: the place in the program. */
#define CALLER ((rcx_place)((uintptr_t)__builtin_return_address(0) - 1))

enum { MALLOC_ALIGNMENT = 16 };

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
    return rcx_allocate(size, MALLOC_ALIGNMENT, CALLER);
}

void rc_mem_free(void *block, size_t size)
{
    rcx_block *dead = NULL;
    const rcx_block *found = block == NULL ? NULL : rcx_heap_block((uintptr_t)block, &dead);
    if (found != NULL && found->size != size) {
        char text[128];
        snprintf(text, sizeof text, "a block of %zu bytes was freed as one of %zu", found->size,
                 size);
        rcx_fail_at(RCX_BAD_FREE, text, CALLER);
    }
    rcx_release_block(block, CALLER);
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

_Noreturn static void fail_from(const char *file, int line, const char *expected, const char *came,
                                rcx_place place)
{
    char text[512];
    const char *slash = strrchr(file, '/');
    snprintf(text, sizeof text, "%s:%d: expected %s; came %s", slash != NULL ? slash + 1 : file,
             line, expected, came);
    rcx_fail_at(RCX_ASSERTION, text, place);
}

void rcb_fail_clause(const char *clause, const char *file, int line, const char *expected,
                     const char *came)
{
    (void)clause;
    fail_from(file, line, expected, came, CALLER);
}

void rcb_fail(const char *file, int line, const char *expected, const char *came)
{
    fail_from(file, line, expected, came, CALLER);
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
    rcx_fail_at(RCX_TRAP, text, CALLER);
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
                 kind_name(result->kind), result->text, result->schedule);
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

static int usage(void)
{
    fputs("usage: explore list | run INDEX SEED EXECUTIONS [--random N] [--processes N]\n"
          "       [--schedule S] [--json FILE]\n",
          stderr);
    return 2;
}

static int run(int argc, char **argv)
{
    rcx_limits limits = {.spurious = 1};
    uint64_t index = 0;
    uint64_t processes = 1;
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
    rcx_result result;
    size_t size = 0;
    void *world = rcx_battery_world(&size);
    rcx_undo_region(world, size);
    rcx_explore(&program, &limits, &result);
    tell(&result);
    printf("%s %s: %" PRIu64 " executions, %" PRIu64 " blocked, %.3f s\n", scenario.clause,
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
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    return argc >= 5 && strcmp(argv[1], "run") == 0 ? run(argc - 2, argv + 2) : usage();
}
