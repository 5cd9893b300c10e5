/* replay_plan: a recording, compiled into programs that threads can play without parsing or looking
 * anything up.
 *
 * Every handle that the recorded program held gets a slot of its own: an index into an array of
 * handles. Which handle a record meant is not recorded, only whose count moved, so the compiler
 * replays the recording on a model and decides:
 *
 *   +   the new handle's slot is filled from a live one: the thread's own newest if it has one, else
 *       the handle inside a tensor, else another thread's
 *   -   lets go of the thread's own newest handle, else another thread's
 *   N   of a tensor: a handle of the storage that the thread holds moves into the tensor. If it holds
 *       none, the tensor's constructor has yet to take one: the thread's next + on that storage is it
 *       (FUND). If a - finds no handle outside tensors, it is one inside a tensor (UNFUND).
 *   d   no instruction of its own: the tensor's finalizer does it, inside the release of the tensor.
 *       Where another record touches the storage between the two, the release is a BRIDGED one: it
 *       takes a handle of the storage first, and d lets go of that one, so all counts stay as
 *       recorded.
 *
 * PLAYING ON SEVERAL THREADS
 *   Each thread's own order is kept. Of the order between threads these edges are kept, by WAIT and
 *   POST: a slot is filled before another thread uses it, and used before another thread lets go of
 *   it; every thread's last event on an object comes before its death; a death comes before a lock
 *   that failed; a lock that succeeded comes before the release of a handle that was held then.
 *   So the count cannot reach zero early: whoever makes a handle makes it from one that is live, and
 *   the handle that dies last is let go after all others. Every edge points forward in the recorded
 *   order, so there is no cycle, and a thread that waits is waiting for one that can go on.
 *
 * WINDOWS
 *   A recording of up to REPLAY_WINDOW_EVENTS events is one window: compiled once, played as often as
 *   you like, by any number of teams at once. A longer one is compiled window by window; all threads
 *   meet at each window's end. Slots are used again, so memory is bounded by the live handles and the
 *   window, not by the length of the recording.
 *
 * Nothing here depends on the implementation. The player is in workloads/replay.h.
 */
#ifndef RCL_REPLAY_PLAN_H
#define RCL_REPLAY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "rct.h"

enum {
    REPLAY_WINDOW_EVENTS = 64 * 1024,
    REPLAY_WINDOW_EVENTS_MAX = (1 << 24) - 1, /* an instruction has 24 bits for its event */
    REPLAY_THREADS_MAX = 1024
};

typedef enum replay_op {
    REPLAY_END,             /* of the program */
    REPLAY_RETAIN,          /* strong[a] = retain(strong[b]) */
    REPLAY_RELEASE,         /* release(strong[a]) */
    REPLAY_RELEASE_BRIDGED, /* strong[b] = retain(strong[c]), then release(strong[a]) */
    REPLAY_NEW_PLAIN,       /* strong[a] = new object of no special class */
    REPLAY_NEW_STORAGE,     /* strong[a] = new storage of b + (c << 32) bytes */
    REPLAY_NEW_TENSOR, /* strong[a] = new tensor; strong[b] moves into it, and stays in the slot as a
                                loan; c elements, 2^32 - 1 if more */
    REPLAY_NEW_TENSOR_BARE, /* strong[a] = new tensor without a storage */
    REPLAY_FUND,         /* strong[a] = retain(strong[b]), moves into tensor strong[c]; as above */
    REPLAY_UNFUND,       /* takes the storage out of tensor strong[a] and releases it */
    REPLAY_WEAK_NEW,     /* weak[a] = weak_new(strong[b]) */
    REPLAY_WEAK_RETAIN,  /* weak[a] = weak_retain(weak[b]) */
    REPLAY_WEAK_RELEASE, /* weak_release(weak[a]) */
    REPLAY_LOCK,         /* strong[a] = lock(weak[b]): succeeded */
    REPLAY_LOCK_UNSEEN,  /* strong[a] = lock of a weak handle older than the recording; made from
                                strong[b] and dropped again */
    REPLAY_LOCK_DEAD, /* lock(weak[a]): failed. If it succeeds here, the handle goes back at once */
    REPLAY_SHARE,     /* share(strong[a]) */
    REPLAY_WAIT,      /* until thread a has posted b or more */
    REPLAY_POST,      /* this thread's number is now b */
    REPLAY_CHECK_COUNT,  /* checking plans: strong[a] has b strong and c weak handles */
    REPLAY_CHECK_DEATHS, /* checking plans: b objects have died since the start of the pass */
    REPLAY_OPS
} replay_op;

typedef struct replay_instruction {
    uint32_t op : 8;
    uint32_t event : 24; /* number of the record in its window, for messages and tests */
    uint32_t a, b, c;
} replay_instruction;

typedef struct replay_program {
    const replay_instruction *instructions; /* the last is REPLAY_END */
    uint32_t count;                         /* with REPLAY_END */
    uint64_t operations;                    /* records played: all but M; a d counts */
} replay_program;

typedef enum replay_mode {
    REPLAY_SERIAL,     /* all records on one thread, in the recorded order */
    REPLAY_REPLICATED, /* each thread plays all records; the pre objects are shared between them, each
                          thread has its own handles of them; what is born later is private */
    REPLAY_RECORDED    /* the recorded threads, dealt out to the threads asked for */
} replay_mode;

/* One stretch of the recording. A loan from the plan until the next window is asked for. */
typedef struct replay_window {
    /* One per thread of the plan; REPLAY_SERIAL and REPLAY_REPLICATED have one. `prologue`: SHAREs, to be
     * played before any thread begins. The progress that WAIT and POST use starts at 0. */
    const replay_program *prologue, *programs;
    unsigned threads;
    bool last;                         /* then comes `teardown` */
    const replay_program *teardown;    /* one per thread, in any order, untimed; NULL unless last */
    uint32_t strong_slots, weak_slots; /* the arrays must have this many, old contents kept */
    uint64_t events;                   /* records in this window, marks too */
    uint64_t operations;               /* of all programs together */
} replay_window;

/* What comes before the first window, played by one thread. */
typedef struct replay_setup {
    const replay_program *program;
    /* Slots filled by it: handles outside tensors, and loans of those inside. For REPLAY_REPLICATED: every
     * further thread retains the first and copies the second. */
    const uint32_t *units, *loans;
    uint32_t unit_count, loan_count;
    uint32_t strong_slots, weak_slots;
} replay_setup;

typedef struct replay_options {
    const char *path; /* "-": standard input, kept in an unnamed temporary file */
    replay_mode mode;
    unsigned threads; /* for REPLAY_RECORDED: 0 means as many as were recorded; else 1 or more */
    bool checking;    /* adds REPLAY_CHECK_...; not with several threads */
    uint32_t window_events; /* 0: REPLAY_WINDOW_EVENTS */
} replay_options;

typedef struct replay_plan replay_plan;

/* Opens a recording and compiles its first window. A longer one is read to its end first, so that a bad
 * file is refused before anything is played. NULL: *error says why. The caller closes. */
replay_plan *replay_plan_open(const replay_options *options, rct_error *error);
void replay_plan_close(replay_plan *plan);

/* What holds for every pass. `threads` is the number of programs. */
unsigned replay_plan_threads(const replay_plan *plan);
replay_mode replay_plan_mode(const replay_plan *plan);
uint64_t replay_plan_operations(const replay_plan *plan); /* of one pass, all programs together */
uint64_t replay_plan_births(const replay_plan *plan);     /* pre objects included */
uint64_t replay_plan_deaths(const replay_plan *plan); /* recorded ones; teardown brings the rest */
bool replay_plan_uses_weak(const replay_plan *plan);  /* w, v or l occur */
const replay_setup *replay_plan_setup(const replay_plan *plan);

/* The recording is one window: replay_plan_next_window changes nothing, and may be called by any number
 * of threads at once. */
bool replay_plan_is_single(const replay_plan *plan);

/* The next window; after the last one of a pass, the first of the next pass. NULL: the file changed or
 * cannot be read any more, or memory was refused; *error says so, and the plan is of no more use but to
 * be closed. One thread at a time, unless the plan is single: then it gives its one window every time. */
const replay_window *replay_plan_next_window(replay_plan *plan, rct_error *error);

/* A plan that is shared by the whole process: the first call for a path, mode and number of threads
 * opens it, later ones get the same. Only single plans are kept, for good; another is opened for each
 * caller. Give it back with replay_plan_release. Any thread: guarded by a lock. */
replay_plan *replay_plan_acquire(const replay_options *options, rct_error *error);
void replay_plan_release(replay_plan *plan);

#endif
