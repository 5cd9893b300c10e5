/* explorer: runs a small program of threads in every way that C11 allows.
 *
 * The program is ordinary code, compiled with -fsanitize=thread and linked with this room in place of
 * ThreadSanitizer's library (abi.c): the compiler tells every atomic operation with its order, and every
 * plain access. Threads are fibers of one process (fiber.h); what a read may see is decided by a model
 * of C11's memory (model.h); the search takes every choice in turn (search.c).
 *
 * The model is RC11 (Lahav and others, "Repairing sequential consistency in C/C++11", 2017) with the
 * release sequences of C++20. So out-of-thin-air values and load buffering do not occur, and consume is
 * acquire. A read-modify-write reads the store that it follows in modification order.
 *
 * One search at a time in a process. Linux on x86-64.
 */
#ifndef RCX_EXPLORER_H
#define RCX_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RCX_THREADS_MAX = 4 };

/* All three run instrumented. `context` is the caller's. */
typedef struct rcx_program {
    unsigned threads;                              /* 1 to RCX_THREADS_MAX */
    void (*setup)(void *context);                  /* once, before the search; or NULL */
    void (*thread)(void *context, unsigned index); /* each at the same time as the others */
    void (*check)(void *context);                  /* after each execution, all joined; or NULL */
    void (*done)(void *context);                   /* not instrumented: after check; or NULL */
    void *context;
    void *memory; /* static memory that begins every execution as setup left it; or NULL */
    size_t memory_size;
} rcx_program;

struct rcx_operation;

typedef struct rcx_limits {
    uint64_t executions; /* at most so many, blocked ones included; 0: no limit */
    uint64_t random;     /* so many random ones when that limit was met */
    uint64_t seed;       /* of those */
    unsigned steps;      /* atomic operations of one thread in one execution; 0: 256 */
    unsigned spurious;   /* failures without reason of weak compare-exchanges, of one thread in one
                          * execution */
    unsigned processes; /* that share the search; 0 or 1: this one alone. `done` then runs in all of
                          * them. */
    bool naive;         /* every order of every operation: the oracle for the search */
    bool brief;         /* of a failure only the verdict: it is not made short, and not traced */
    /* Called before each atomic operation and fence of a thread (model.h), which may change its orders;
     * a fence that is RELAXED is none. True: a read-modify-write is done as a load and then a store. Or
     * NULL. */
    bool (*alter)(struct rcx_operation *operation);
    bool hashes;        /* keep the hash of every execution's graph and count those seen twice */
    const char *schedule; /* run this one execution alone, and trace it; or NULL */
} rcx_limits;

typedef enum rcx_verdict {
    RCX_PASS,       /* every execution was tried */
    RCX_BOUNDED,    /* none failed of those that were tried; `text` says what was left out */
    RCX_FAIL,       /* `kind`, `text` and `schedule` say what and how */
    RCX_UNSUPPORTED /* `text` says what the model does not know */
} rcx_verdict;

typedef enum rcx_failure_kind {
    RCX_NO_FAILURE,
    RCX_RACE,           /* two accesses, one of them plain, one of them writing, without order */
    RCX_USE_AFTER_FREE, /* ordered after the free, or not ordered with it */
    RCX_BAD_FREE,       /* twice, or of what was never allocated */
    RCX_OUT_OF_BOUNDS,
    RCX_LEAK,
    RCX_DEADLOCK,
    RCX_ASSERTION, /* rcx_fail was called */
    RCX_TRAP,      /* the same, by a trap of the program's own */
    RCX_CRASH      /* a signal */
} rcx_failure_kind;

typedef struct rcx_result {
    rcx_verdict verdict;
    rcx_failure_kind kind;
    uint64_t graphs;  /* complete executions; with `naive`, of them different ones */
    uint64_t blocked; /* executions given up because another one is the same */
    uint64_t twice;   /* graphs that came more than once (`hashes`); none, if the search is right */
    uint64_t seen;    /* naive: complete executions, the same ones included */
    double seconds;   /* of the search, by the clock */
    char text[512];
    char schedule[1024]; /* "0.2.1": choices that lead to the failure */
} rcx_result;

/* Searches. Cost: 2 to 20 us an execution of some ten operations. */
void rcx_explore(const rcx_program *program, const rcx_limits *limits, rcx_result *result);

/* Called by the program, in any phase: the execution has failed. Does not return. */
_Noreturn void rcx_fail(rcx_failure_kind kind, const char *text);

/* In `check` and `done`: the canonical hash of this execution's graph: each thread's atomic operations,
 * from which store each read, and each location's modification order. */
uint64_t rcx_graph_hash(void);

#endif
