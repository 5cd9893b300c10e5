/* battery: the program that puts one implementation to the test, compiled for it in several flavours
 * (checked or not, sanitized or not). The runner starts it anew for every test.
 *
 *   battery list                        what it is and has
 *   battery run INDEX SEED ROUNDS       one scenario, natively
 *   battery oracle SEED OPERATIONS      random sequences against a model
 *   battery sequence TEXT               one sequence of the oracle's, as its report prints it
 *
 * The verdict goes to descriptor 3 (verdict.h).
 */
#include "contract.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "battery.h"
#include "world.h"

#include "scenarios.h"
#include "oracle.h"

/* ---- Crashes ---- */

/* A sanitizer has handlers of its own, and says more. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HANDLES_CRASHES 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HANDLES_CRASHES 0
#endif
#endif
#ifndef HANDLES_CRASHES
#define HANDLES_CRASHES 1
#endif

/* Room for the handler, which cannot run on a stack that is used up. Of main and of each thread. */
enum { HANDLER_STACK_BYTES = 32 << 10 };
static unsigned char handler_stacks[RCB_THREADS_MAX + 1][HANDLER_STACK_BYTES];

/* The end of the calling thread's stack; 0: not known. */
static _Thread_local uintptr_t stack_end;

/* Tells a recursion without end from another bad access, for the report, and lets the process die of
 * the signal as it would have. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    static const char words[] = "battery: stack overflow\n";
    const uintptr_t near = 1 << 20;
    uintptr_t at = (uintptr_t)info->si_addr;
    (void)number;
    (void)context;
    if (stack_end != 0 && at > stack_end - near && at < stack_end + near) {
        ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
        (void)written;
    }
    /* SA_RESETHAND: the access that failed is tried again, and ends the process. */
}

/* `index` RCB_THREADS_MAX: main. */
static void watch_crashes(unsigned index)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (!HANDLES_CRASHES) {
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        stack_end = pthread_attr_getstack(&attributes, &start, &size) == 0 ? (uintptr_t)start : 0;
        pthread_attr_destroy(&attributes);
    }
    stack_t stack = {.ss_sp = handler_stacks[index], .ss_size = HANDLER_STACK_BYTES};
    struct sigaction action = {.sa_sigaction = on_crash,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- Native engine ---- */

enum { SPINS_BEFORE_YIELD = 200, DELAY_MAX = 64, DELAY_SHIFTS = 3, DELAY_SHIFT_BITS = 5 };

typedef struct native {
    const rcb_scenario *scenario;
    rcb_world *world;
    unsigned threads;
    uint64_t rounds, seed;
    _Alignas(64) _Atomic(uint64_t) arrived; /* of threads and main, over all rounds */
} native;

/* All of threads and main wait for each other. `nth` counts the barriers that the caller has passed.
 * B1 ACQ_REL, B2 ACQUIRE: what came before a barrier is seen behind it; pairs with each other. */
static void barrier(native *engine, uint64_t nth)
{
    uint64_t wanted = (nth + 1) * (engine->threads + 1);
    atomic_fetch_add_explicit(&engine->arrived, 1, memory_order_acq_rel);
    for (unsigned spins = 0; atomic_load_explicit(&engine->arrived, memory_order_acquire) < wanted;
         spins++) {
        if (spins >= SPINS_BEFORE_YIELD) {
            sched_yield();
        }
    }
}

typedef struct native_thread {
    native *engine;
    uint32_t index;
} native_thread;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* How long a thread waits in a round, in turns of an empty loop. Short delays let threads meet at every
 * step of each other; long ones let one be through before the other begins, as a handle must be gone
 * before its owner can be found gone. */
static uint64_t next_delay(uint64_t *random)
{
    uint64_t shift = next_random(random) % DELAY_SHIFTS * DELAY_SHIFT_BITS;
    return next_random(random) % ((uint64_t)DELAY_MAX << shift);
}

static void *native_thread_main(void *argument)
{
    const native_thread *self = argument;
    native *engine = self->engine;
    rcb_current_thread = self->index;
    watch_crashes(self->index);
    uint64_t random = (engine->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + self->index + 1;
    for (uint64_t round = 0; round < engine->rounds; round++) {
        barrier(engine, 2 * round);
        for (uint64_t delay = next_delay(&random); delay > 0; delay--) {
            __asm__ volatile("" ::: "memory");
        }
        rc_thread_attach();
        engine->scenario->thread[self->index](engine->world);
        rc_quiesce();
        rc_thread_detach();
        barrier(engine, 2 * round + 1);
    }
    return NULL;
}

/* What must hold after every scenario. */
static void check_heap(const rcb_scenario *scenario)
{
    rc_quiesce();
    const char *wrong = rcb_heap_check();
    RCB_EXPECT(wrong == NULL, "freed memory is left alone", "%s", wrong);
    if ((scenario->flags & RCB_KEEPS_MEMORY) == 0) {
        RCB_EXPECT(rcb_heap_live_blocks() == 0, "all memory has come back",
                   "%" PRIu64 " blocks with %" PRIu64 " bytes are still live",
                   rcb_heap_live_blocks(), rcb_heap_live_bytes());
    }
}

static void begin_round(const rcb_scenario *scenario, rcb_world *world, uint64_t round)
{
    if ((scenario->flags & RCB_OWN_HEAP) == 0) {
        rcb_heap_reset(round % 2 == 0 ? RCB_PLACE_GUARDED : RCB_PLACE_TIGHT);
    }
    rcb_world_clear(world);
    if (scenario->setup != NULL) {
        scenario->setup(world);
    }
}

static void end_round(const rcb_scenario *scenario, rcb_world *world)
{
    rc_quiesce();
    if (scenario->check != NULL) {
        scenario->check(world);
    }
    check_heap(scenario);
}

/* One thread: everything on main, so that strategies for one thread can run it too. */
static void run_sequential(const rcb_scenario *scenario, rcb_world *world, uint64_t rounds)
{
    for (uint64_t round = 0; round < rounds; round++) {
        begin_round(scenario, world, round);
        if (scenario->thread[0] != NULL) {
            rcb_current_thread = 0;
            scenario->thread[0](world);
            rcb_current_thread = RCB_MAIN;
        }
        if (scenario->trap != 0) {
            rcb_fail(__FILE__, __LINE__, "misuse is trapped", "the operation returned");
        }
        end_round(scenario, world);
    }
}

static void run_threads(native *engine)
{
    pthread_t threads[RCB_THREADS_MAX];
    native_thread arguments[RCB_THREADS_MAX];
    for (unsigned i = 0; i < engine->threads; i++) {
        arguments[i] = (native_thread){engine, i};
        if (pthread_create(&threads[i], NULL, native_thread_main, &arguments[i]) != 0) {
            fputs("battery: cannot start a thread\n", stderr);
            exit(3);
        }
    }
    for (uint64_t round = 0; round < engine->rounds; round++) {
        begin_round(engine->scenario, engine->world, round);
        barrier(engine, 2 * round);
        barrier(engine, 2 * round + 1);
        end_round(engine->scenario, engine->world);
    }
    for (unsigned i = 0; i < engine->threads; i++) {
        pthread_join(threads[i], NULL);
    }
}

static void *nothing(void *argument)
{
    return argument;
}

static void run_scenario(unsigned index, uint64_t seed, uint64_t rounds)
{
    const rcb_scenario *scenario = rcb_scenario_at(index);
    if (scenario == NULL) {
        fprintf(stderr, "battery: there is no scenario %u\n", index);
        exit(2);
    }
    native engine = {
        .scenario = scenario,
        .world = rcb_heap_shared(sizeof *engine.world),
        .threads = rcb_thread_count(scenario),
        .rounds = (scenario->flags & RCB_HEAVY) != 0 ? 1 : rounds,
        .seed = seed,
    };
    /* Libraries that count more cheaply while a process has one thread must not do so here. */
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    rc_thread_attach();
    if (engine.threads <= 1) {
        uint64_t enough = (scenario->flags & RCB_ONE_ROUND) != 0 ? 1 : 2;
        run_sequential(scenario, engine.world, engine.rounds < enough ? engine.rounds : enough);
    } else {
        run_threads(&engine);
    }
    rc_thread_detach();
    rcb_pass();
}

/* ---- Command ---- */

int main(int argc, char **argv)
{
    rcb_heap_start();
    watch_crashes(RCB_THREADS_MAX);
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        rcb_list();
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "run") == 0) {
        run_scenario((unsigned)strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
                     strtoull(argv[4], NULL, 10));
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "oracle") == 0) {
        rcb_oracle(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "sequence") == 0) {
        rcb_oracle_sequence(argv[2]);
        return 0;
    }
    fputs("usage: battery list | run INDEX SEED ROUNDS | oracle SEED OPERATIONS | sequence TEXT\n",
          stderr);
    return 2;
}
