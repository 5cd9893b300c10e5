/* locked: one function for each operation whose locked instructions are counted.
 *
 * Compiled once per implementation, unchecked, at the flags of the benchmark. locked.sh runs it under
 * callgrind with --collect-bus=yes and reads each function's inclusive count of locked instructions:
 * exact, the same on every run and machine. Each function is called CALLS times; nothing in it is
 * locked but what the operation does.
 */
#include "memory.h"
#include "contract.h"
#include "workload.h"

#include <pthread.h>
#include <stdio.h>

#define CALLS 1000
/* noipa, where the compiler has it: callgrind must find each function whole, under its own name.
 * The clobber in those that may be empty keeps the others from dropping the call. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define COUNTED __attribute__((noinline, noipa)) void
#endif
#endif
#ifndef COUNTED
#define COUNTED __attribute__((noinline)) void
#endif

static const rc_class class = {.name = "counted", .payload_size = 32};

static rc_strong kept;

COUNTED count_retain(rc_strong object);
COUNTED count_retain(rc_strong object)
{
    kept = rc_retain(object);
}

COUNTED count_release_shared(rc_strong object);
COUNTED count_release_shared(rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

COUNTED count_release_unique(rc_strong object);
COUNTED count_release_unique(rc_strong object)
{
    rc_release(object);
    rcl_clobber();
}

COUNTED count_new(void);
COUNTED count_new(void)
{
    kept = rc_new(&class);
}

COUNTED count_is_unique(rc_strong object);
COUNTED count_is_unique(rc_strong object)
{
    rcl_escape((const void *)(uintptr_t)rc_is_unique(object));
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
COUNTED count_weak_lock(rc_weak weak);
COUNTED count_weak_lock(rc_weak weak)
{
    kept = rc_weak_lock(weak);
}

static rc_weak kept_weak;

COUNTED count_weak_retain(rc_weak weak);
COUNTED count_weak_retain(rc_weak weak)
{
    kept_weak = rc_weak_retain(weak);
}

COUNTED count_weak_release(rc_weak weak);
COUNTED count_weak_release(rc_weak weak)
{
    rc_weak_release(weak);
    rcl_clobber();
}
#endif

static void *no_work(void *nothing)
{
    return nothing;
}

int main(void)
{
    /* Once a thread has run, no library counts more cheaply because the process has just one. */
    pthread_t thread;
    if (pthread_create(&thread, NULL, no_work, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        return 3;
    }
    rc_thread_attach();
    /* One at a time: the allocator serves it from its thread cache, which takes no lock. */
    for (unsigned i = 0; i < CALLS; i++) {
        count_new();
        count_release_unique(kept);
    }
    rc_strong object = rc_new(&class);
    for (unsigned i = 0; i < CALLS; i++) {
        count_is_unique(object);
        count_retain(object);
        count_release_shared(kept);
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak = rc_weak_new(object);
    for (unsigned i = 0; i < CALLS; i++) {
        count_weak_lock(weak);
        rc_release(kept);
        count_weak_retain(weak);
        count_weak_release(kept_weak);
    }
    rc_weak_release(weak);
#endif
    rc_release(object);
    rc_thread_detach();
    return 0;
}
