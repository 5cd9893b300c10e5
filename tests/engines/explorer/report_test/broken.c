/* A reference count that is broken in the way that BREAK names; the comment FIRST or SECOND stands in the
 * line that its report must name. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "explorer.h"

#define RELAXED_RELEASE 1
#define FREED_TWICE 2
#define USED_AFTER_FREE 3
#define LEAKED 4
#define LOCKED_FOR_EVER 5
#define STALE 6

typedef struct object {
    _Atomic uint64_t count;
    int field;
} object;

static object *shared;
static pthread_mutex_t one, other;
static _Atomic uint32_t data, flag;
static uint32_t seen_flag, seen_data;

static void setup(void *context)
{
    (void)context;
    shared = malloc(sizeof *shared); /* BORN */
    shared->field = 0;
    atomic_store_explicit(&shared->count, UINT64_C(0x100000002), memory_order_relaxed);
    atomic_store_explicit(&data, 0, memory_order_relaxed);
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
}

#if BREAK == RELAXED_RELEASE || BREAK == LEAKED
static void release(object *from)
{
    if ((uint32_t)atomic_fetch_sub_explicit(&from->count, 1, memory_order_relaxed) == 1) {
        from->field = -1; /* RACE SECOND */
        if (BREAK != LEAKED) {
            free(from);
        }
    }
}
#endif

static void thread(void *context, unsigned index)
{
    (void)context;
#if BREAK == RELAXED_RELEASE
    if (index == 0) {
        shared->field = 1; /* RACE FIRST */
    }
    release(shared);
#elif BREAK == LEAKED
    if (index == 0) {
        release(shared);
    }
#elif BREAK == FREED_TWICE
    free(shared); /* TWICE */
    (void)index;
#elif BREAK == USED_AFTER_FREE
    if (index == 0) {
        atomic_store_explicit(&flag, 1, memory_order_release);
        free(shared); /* USE FIRST */
    } else if (atomic_load_explicit(&flag, memory_order_acquire) == 1) {
        atomic_fetch_add_explicit(&shared->count, 1, memory_order_relaxed); /* USE SECOND */
    }
#elif BREAK == LOCKED_FOR_EVER
    pthread_mutex_lock(index == 0 ? &one : &other);
    pthread_mutex_lock(index == 0 ? &other : &one); /* WAITS */
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&other);
#else
    if (index == 0) {
        atomic_store_explicit(&data, 7, memory_order_relaxed);
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    } else {
        seen_flag = atomic_load_explicit(&flag, memory_order_acquire); /* STALE FIRST */
        seen_data = atomic_load_explicit(&data, memory_order_relaxed); /* STALE SECOND */
    }
#endif
}

static void check(void *context)
{
    (void)context;
    if (BREAK == STALE && seen_flag == 1 && seen_data == 0) {
        rcx_fail(RCX_ASSERTION, "a \"flag\" without its data"); /* NOTICED */
    }
    if (BREAK == LEAKED) {
        rcx_fail(RCX_LEAK, "1 block is still live at the end");
    }
}

const rcx_program broken = {.threads = 2, .setup = setup, .thread = thread, .check = check};
