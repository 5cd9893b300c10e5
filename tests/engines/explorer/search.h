/* search: takes every choice that an execution has, in turn.
 *
 * Threads run one at a time, each until it arrives at an atomic read (a load, a read-modify-write, a
 * lock); stores and fences are done at once. Then the first thread that is awake reads: any store that it
 * may see now, each in an execution of its own; or it goes to sleep, and reads only what is stored
 * later. So an execution graph, which says what each read has read and in which order each location was
 * written, comes about in one way only: a read either finds its store there, or sleeps until it is.
 * Where a store goes in modification order is the other choice.
 *
 * This header is for the rooms around it: abi.c comes in here, report.c reads the trace.
 */
#ifndef RCX_SEARCH_H
#define RCX_SEARCH_H

#include <signal.h>

#include "model.h"

/* ---- What the program does ---- */

/* An atomic operation; returns what it read. */
rcx_value rcx_atomic(const rcx_operation *operation, bool *success);
void rcx_fence(int order, rcx_place place);
void rcx_plain(uintptr_t address, size_t size, bool writes, rcx_place place);
void *rcx_allocate(size_t size, size_t alignment, rcx_place place);
void rcx_release_block(void *block, rcx_place place);
/* The caller is about to change memory of its own; every execution is to begin with what is there now. */
void rcx_private_write(uintptr_t address, size_t size);
/* rcx_fail, for what calls it in the name of the program: the place is the program's. */
_Noreturn void rcx_fail_at(rcx_failure_kind kind, const char *text, rcx_place place);
void rcx_enter(rcx_place caller); /* a function: for the trace */
void rcx_leave(void);
/* The model does not know what the program is about to do: there will be no verdict. Does not return. */
_Noreturn void rcx_unsupported(const char *text);

/* Set whenever an execution begins, for a watchdog to take away. */
extern volatile sig_atomic_t rcx_executions_seen;

/* ---- What came of one execution ---- */

enum { RCX_STACK_MAX = 24, RCX_STEPS_MAX = 4096 };

typedef enum rcx_step_kind {
    RCX_STEP_ATOMIC,
    RCX_STEP_SLEEP, /* waits for ever (deadlock) */
    RCX_STEP_ALLOCATE,
    RCX_STEP_FREE,
    RCX_STEP_PLAIN /* only the ones near what a failure names */
} rcx_step_kind;

typedef struct rcx_step {
    rcx_step_kind kind;
    unsigned thread; /* RCX_FIBER_MAIN: before or after */
    rcx_place place;
    unsigned depth; /* of callers */
    rcx_place callers[RCX_STACK_MAX];
    uintptr_t address;
    size_t size;
    rcx_operation operation; /* ATOMIC, SLEEP */
    rcx_event event;         /* ATOMIC; PLAIN: reads, writes */
    int source_step;         /* whose store was read; -1: what was there before */
    unsigned source_thread;  /* of that; RCX_NOBODY: before the threads */
    bool stale;              /* a later store in modification order was there */
    bool inserted;           /* stored before another one in modification order */
    int later_step; /* stale: the latest store there; inserted: the one behind it; -1: none */
    bool failed;    /* the failure is this access */
} rcx_step;

typedef struct rcx_trace {
    const rcx_program *program;
    rcx_failure_kind kind;
    const char *text;
    const char *schedule;
    unsigned failed_thread;
    rcx_place place; /* of the failure; 0: none */
    unsigned depth;
    rcx_place callers[RCX_STACK_MAX];
    bool other_known; /* the other access of a race, the free of a use after it */
    unsigned other_thread;
    rcx_place other_place;
    rcx_access access, other_access;
    uintptr_t address; /* of the failure; 0: none */
    unsigned step_count;
    rcx_step steps[RCX_STEPS_MAX];
} rcx_trace;

/* Of the latest failing search in this process, or NULL. */
const rcx_trace *rcx_last_trace(void);

#endif
