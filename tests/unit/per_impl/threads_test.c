/* threads: what several threads can see of the contract, for one implementation.
 *
 * Plain pthreads, rounds between meeting points at which all start at once. Each round compares:
 * every object was finalized once, finalize saw what every owner wrote before its own release
 * (plain fields, so that ThreadSanitizer checks the order as well), and all memory is back. What
 * the machine happens not to interleave is not found here; that is the explorer's work. RCLAB_SEED
 * repeats a run's choices.
 */
#include "memory.h"
#include "contract.h"

#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "workload.h"

#define STRING2(a) #a
#define STRING(a) STRING2(a)
#define IMPL_NAME STRING(RCL_IMPL_NAME)

#if ((RC_IMPL_CAPS)&RC_CAP_THREADS) && !defined(RCL_IMPL_IS_NULL)

enum { most_threads = 3, objects = 8, rounds = 500 };

/* What the threads of a case share. Plain fields are written by thread 0 between two meetings, or
 * by one thread for itself. */
typedef struct team {
    unsigned threads;
    _Atomic(unsigned) arrived; /* at the meeting point */
    _Atomic(unsigned) meeting; /* how many there have been */
    unsigned round;
    rc_strong strong[objects][most_threads];
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak weak[objects][most_threads];
#endif
    bool used[objects][most_threads]; /* this thread had a strong handle and wrote */
    /* What finalize found. Written by the one thread that finalizes, read after a meeting. */
    unsigned found[objects][most_threads];
    _Atomic(unsigned) finalized;
    unsigned expected;              /* finalized objects, up to this round */
    bool said_unique[most_threads]; /* is_unique was true when it must not be */
} team;

typedef struct member {
    team *of;
    unsigned index;
    uint64_t random;
    void (*each_round)(struct member *self);
} member;

typedef struct shared_object {
    team *of;
    unsigned number;
    unsigned written[most_threads]; /* each by one owner, plain, before its release */
} shared_object;

static void record_finalize(void *payload)
{
    const shared_object *object = payload;
    for (unsigned i = 0; i < most_threads; i++) {
        object->of->found[object->number][i] = object->written[i];
    }
    /* F1 RELAXED: counts; the meeting orders it. */
    atomic_fetch_add_explicit(&object->of->finalized, 1, memory_order_relaxed);
}

static const rc_class shared_class = {
    .name = "shared", .payload_size = sizeof(shared_object), .finalize = record_finalize};

/* Waits for all threads; then all go at once. A kernel's barrier wakes them one after the other,
 * further apart than the operations that are to meet. */
static void meet(member *self)
{
    team *of = self->of;
    /* B0 RELAXED: it cannot change before this thread has arrived. */
    unsigned meeting = atomic_load_explicit(&of->meeting, memory_order_relaxed);
    /* B1 ACQ_REL: what everybody did before comes before the last one's B2. Pairs with B1. */
    if (atomic_fetch_add_explicit(&of->arrived, 1, memory_order_acq_rel) + 1 == of->threads) {
        /* RELAXED: published by B2. */
        atomic_store_explicit(&of->arrived, 0, memory_order_relaxed);
        /* B2 RELEASE: pairs with B3. */
        atomic_store_explicit(&of->meeting, meeting + 1, memory_order_release);
        return;
    }
    unsigned spins = 0;
    /* B3 ACQUIRE: pairs with B2. */
    while (atomic_load_explicit(&of->meeting, memory_order_acquire) == meeting) {
        spins++;
        if (spins % 128 == 0) {
            sched_yield(); /* there may be fewer processors than threads */
        } else {
            rcl_pause();
        }
    }
}

static rc_strong make_shared(team *of, const rc_class *class, unsigned number)
{
    rc_strong made = rc_new(class);
    ck_assert(!rc_is_null(made));
    *(shared_object *)rc_payload(made) = (shared_object){.of = of, .number = number};
    rc_share(made);
    return made;
}

static void write_own_field(const member *self, rc_strong object)
{
    ((shared_object *)rc_payload(object))->written[self->index] = self->of->round + 1;
}

/* A few steps of nothing, so that the threads' operations meet in ever other ways. */
static void stagger(member *self)
{
    for (uint32_t i = rcl_random_below(&self->random, 16); i > 0; i--) {
        rcl_pause();
    }
}

/* The round's objects have lost all their handles. Nothing is put off any more once all have
 * quiesced, so `count` objects more must be dead, and have seen everything. */
static void check_round(member *self, unsigned count)
{
    team *of = self->of;
    meet(self);
    rc_quiesce();
    meet(self);
    rc_quiesce(); /* what another thread's quiesce handed to this one */
    meet(self);
    if (self->index != 0) {
        return;
    }
    of->expected += count;
    ck_assert_uint_eq(atomic_load_explicit(&of->finalized, memory_order_relaxed), of->expected);
    for (unsigned o = 0; o < count; o++) {
        for (unsigned i = 0; i < of->threads; i++) {
            ck_assert_uint_eq(of->found[o][i], of->used[o][i] ? of->round + 1 : 0);
        }
    }
}

static void *run_member(void *argument)
{
    member *self = argument;
    rc_thread_attach();
    for (unsigned round = 0; round < rounds; round++) {
        if (self->index == 0) {
            self->of->round = round;
        }
        self->each_round(self);
    }
    rc_thread_detach();
    return NULL;
}

static uint64_t chosen_seed(void)
{
    const char *given = getenv("RCLAB_SEED");
    uint64_t seed = given == NULL ? (uint64_t)getpid() : (uint64_t)strtoull(given, NULL, 0);
    return seed == 0 ? 1 : seed;
}

/* Runs `each_round` on every thread; then nothing may be left. The caller's thread only waits. */
static void run_team(unsigned threads, void (*each_round)(member *self))
{
    uint64_t seed = chosen_seed();
    printf("%s: %u threads, RCLAB_SEED=%" PRIu64 "\n", IMPL_NAME, threads, seed);
    fflush(stdout);
    team *of = calloc(1, sizeof *of);
    ck_assert_ptr_nonnull(of);
    of->threads = threads;
    member members[most_threads];
    pthread_t started[most_threads];
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    for (unsigned i = 0; i < threads; i++) {
        members[i] = (member){of, i, seed * (2 * i + 1), each_round};
        ck_assert_int_eq(pthread_create(&started[i], NULL, run_member, &members[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(started[i], NULL);
    }
    for (unsigned i = 0; i < threads; i++) {
        ck_assert(!of->said_unique[i]);
    }
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
    free(of);
}

/* ---- The last release, wherever it falls ---- */

/* Every thread owns a handle of each object, retains and releases, writes, and lets go. */
static void release_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        for (unsigned o = 0; o < objects; o++) {
            of->strong[o][0] = make_shared(of, &shared_class, o);
            for (unsigned i = 0; i < of->threads; i++) {
                of->used[o][i] = true;
                of->strong[o][i] = i == 0 ? of->strong[o][0] : rc_retain(of->strong[o][0]);
            }
        }
    }
    meet(self);
    for (unsigned o = 0; o < objects; o++) {
        rc_strong mine = of->strong[o][self->index];
        if (rcl_random_below(&self->random, 4) == 0) {
            rc_release(rc_retain(mine));
        }
        write_own_field(self, mine);
        stagger(self);
        rc_release(mine);
    }
    check_round(self, objects);
}

START_TEST(last_release_races)
{
    run_team((unsigned)_i, release_round);
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* ---- Locks against the last release ---- */

/* Thread 0 owns the objects and lets them go; the others lock them, or come too late, and drop
 * their weak handles: the memory returns with the last of them, wherever that is. */
static void lock_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        for (unsigned o = 0; o < objects; o++) {
            of->strong[o][0] = make_shared(of, &shared_class, o);
            for (unsigned i = 0; i < of->threads; i++) {
                of->used[o][i] = i == 0;
                of->weak[o][i] = i == 0 ? rc_weak_null() : rc_weak_new(of->strong[o][0]);
            }
        }
    }
    meet(self);
    for (unsigned o = 0; o < objects; o++) {
        stagger(self);
        if (self->index == 0) {
            write_own_field(self, of->strong[o][0]);
            rc_release(of->strong[o][0]);
            continue;
        }
        rc_strong locked = rc_weak_lock(of->weak[o][self->index]);
        rc_weak second = rc_weak_retain(of->weak[o][self->index]);
        rc_weak_release(of->weak[o][self->index]);
        if (!rc_is_null(locked)) {
            of->used[o][self->index] = true;
            write_own_field(self, locked);
            rc_release(locked);
        }
        rc_weak_release(second);
    }
    check_round(self, objects);
}

START_TEST(lock_races_with_the_last_release)
{
    run_team((unsigned)_i, lock_round);
}
END_TEST

/* ---- Unique while another thread changes what it holds ---- */

/* Thread 1 always holds a handle of one kind or the other, so that nobody is alone with the object;
 * then it leaves, and thread 0 is. The others ask as well, with thread 0's handle on loan. */
static void unique_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        of->strong[0][0] = make_shared(of, &shared_class, 0);
        of->weak[0][1] = rc_weak_new(of->strong[0][0]);
        for (unsigned i = 0; i < of->threads; i++) {
            of->used[0][i] = i == 1;
        }
    }
    meet(self);
    rc_strong loan = of->strong[0][0];
    for (unsigned i = 0; i < 400; i++) {
        if (self->index != 1) {
            bool unique = rc_is_unique(loan);
            of->said_unique[self->index] = unique || of->said_unique[self->index];
            continue;
        }
        rc_strong locked = rc_weak_lock(of->weak[0][1]);
        rc_weak_release(of->weak[0][1]);
        write_own_field(self, locked);
        of->weak[0][1] = rc_weak_new(locked);
        rc_release(locked);
    }
    meet(self);
    if (self->index == 1) {
        rc_weak_release(of->weak[0][1]);
    }
    meet(self);
    /* All ask at once, and all must be right. */
    for (unsigned i = 0; i < 400; i++) {
        bool unique = rc_is_unique(loan);
        if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
            ck_assert(unique);
        }
    }
    meet(self);
    if (self->index == 0) {
        rc_release(loan);
    }
    check_round(self, 1);
}

START_TEST(unique_races_with_change_of_kind)
{
    run_team((unsigned)_i, unique_round);
}
END_TEST

/* Thread 1 uses the object and leaves, with no meeting after it. "Unique" is all that tells thread
 * 0 that it may write where thread 1 wrote. */
static void leaving_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        of->strong[0][0] = make_shared(of, &shared_class, 0);
        of->weak[0][1] = rc_weak_new(of->strong[0][0]);
        for (unsigned i = 0; i < of->threads; i++) {
            of->used[0][i] = i == 1;
        }
    }
    meet(self);
    if (self->index == 1) {
        rc_strong locked = rc_weak_lock(of->weak[0][1]);
        bool weak_first = rcl_random_below(&self->random, 2) == 0;
        if (weak_first) {
            rc_weak_release(of->weak[0][1]);
        }
        ((shared_object *)rc_payload(locked))->written[1] = 1;
        rc_release(locked);
        if (!weak_first) {
            rc_weak_release(of->weak[0][1]);
        }
    }
    if (self->index == 0) {
        rc_strong mine = of->strong[0][0];
        /* Exact: it becomes true. If it never does, the time limit of the test says so. */
        for (unsigned tries = 1; !rc_is_unique(mine); tries++) {
            if (tries % 128 == 0) {
                sched_yield();
            } else {
                rcl_pause();
            }
        }
        ((shared_object *)rc_payload(mine))->written[1] +=
            of->round; /* 1 before: makes round + 1 */
        rc_release(mine);
    }
    check_round(self, 1);
}

START_TEST(unique_orders_what_was_before)
{
    if (!((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT)) {
        printf("skipped: unique orders: %s does not claim RC_CAP_EXACT_COUNT\n", IMPL_NAME);
        return;
    }
    run_team((unsigned)_i, leaving_round);
}
END_TEST

/* ---- The first weak handle while another thread asks for unique ---- */

/* A strategy that locks the weak count to answer must keep rc_weak_new out meanwhile, and lose
 * none. */
static void first_weak_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        of->strong[0][0] = make_shared(of, &shared_class, 0);
        of->used[0][0] = true;
        for (unsigned i = 1; i < of->threads; i++) {
            of->used[0][i] = false;
        }
    }
    meet(self);
    rc_strong loan = of->strong[0][0];
    for (unsigned i = 0; i < 200; i++) {
        if (self->index != 1) {
            rc_is_unique(loan);
            continue;
        }
        rc_weak made = rc_weak_new(loan);
        ck_assert(!rc_is_unique(loan)); /* there is a weak handle, and this thread knows */
        rc_weak_release(made);
    }
    meet(self);
    if (self->index == 0) {
        if ((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) {
            ck_assert_uint_eq(rc_use_count(loan), 1);
            ck_assert_uint_eq(rc_weak_count(loan), 0);
        }
        write_own_field(self, loan);
        rc_release(loan);
    }
    check_round(self, 1);
}

START_TEST(first_weak_handle_races_with_unique)
{
    run_team((unsigned)_i, first_weak_round);
}
END_TEST
#endif

#if ((RC_IMPL_CAPS)&RC_CAP_WRAPPER) && ((RC_IMPL_CAPS)&RC_CAP_WEAK)
/* ---- The wrapper's edge ---- */

/* All RELAXED: counts; the meetings order them. Each case runs in a process of its own. */
static _Atomic(int) wrapper_references; /* that the object holds on its wrapper */
static _Atomic(unsigned) wrapper_asked;

static void take_wrapper(void *payload)
{
    (void)payload;
    atomic_fetch_add_explicit(&wrapper_references, 1, memory_order_relaxed);
}

static void drop_wrapper(void *payload)
{
    (void)payload;
    atomic_fetch_sub_explicit(&wrapper_references, 1, memory_order_relaxed);
}

static bool try_take_wrapper(void *payload)
{
    if (atomic_fetch_add_explicit(&wrapper_asked, 1, memory_order_relaxed) % 4 == 3) {
        return false;
    }
    take_wrapper(payload);
    return true;
}

static const rc_class wrapped_class = {.name = "wrapped",
                                       .payload_size = sizeof(shared_object),
                                       .finalize = record_finalize,
                                       .wrapper_retain = take_wrapper,
                                       .wrapper_release = drop_wrapper,
                                       .wrapper_try_retain = try_take_wrapper};

/* Thread 0 has the wrapper's handle; the others cross its edge by retain and by lock. However they
 * meet, what is taken is given back; attach and detach in the middle of it included. */
static void wrapper_round(member *self)
{
    team *of = self->of;
    if (self->index == 0) {
        of->strong[0][0] = make_shared(of, &wrapped_class, 0);
        for (unsigned i = 0; i < of->threads; i++) {
            of->used[0][i] = false;
            of->weak[0][i] = rc_weak_new(of->strong[0][0]);
        }
    }
    meet(self);
    rc_strong loan = of->strong[0][0]; /* until the next meeting */
    for (unsigned i = 0; i < 40; i++) {
        if (self->index == 0) {
            rc_wrapper_attach(loan);
            stagger(self);
            rc_wrapper_detach(loan);
        } else if (rcl_random_below(&self->random, 2) == 0) {
            rc_release(rc_weak_lock(of->weak[0][self->index]));
        } else {
            rc_strong held = rc_retain(loan);
            rc_release(rc_retain(held));
            rc_release(held);
        }
    }
    if (self->index == 0) {
        rc_wrapper_attach(loan);
    }
    rc_weak_release(of->weak[0][self->index]);
    meet(self);
    ck_assert_int_eq(atomic_load_explicit(&wrapper_references, memory_order_relaxed), 0);
    meet(self);
    if (self->index == 0) {
        ck_assert(rc_has_wrapper(loan));
        rc_release(loan); /* 1 -> 0: no edge */
    }
    check_round(self, 1);
    ck_assert_int_eq(atomic_load_explicit(&wrapper_references, memory_order_relaxed), 0);
}

START_TEST(wrapper_edges_race)
{
    run_team((unsigned)_i, wrapper_round);
}
END_TEST
#endif

/* Each case with two threads, which then really run at once, up to the most. */
static void add_case(TCase *tc, const TTest *test)
{
    tcase_add_loop_test(tc, test, 2, most_threads + 1);
}

static void add_cases(TCase *tc)
{
    add_case(tc, last_release_races);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    add_case(tc, lock_races_with_the_last_release);
    add_case(tc, unique_races_with_change_of_kind);
    add_case(tc, unique_orders_what_was_before);
    add_case(tc, first_weak_handle_races_with_unique);
#else
    printf("skipped: lock and unique races: %s does not claim RC_CAP_WEAK\n", IMPL_NAME);
#endif
#if ((RC_IMPL_CAPS)&RC_CAP_WRAPPER) && ((RC_IMPL_CAPS)&RC_CAP_WEAK)
    add_case(tc, wrapper_edges_race);
#else
    printf("skipped: wrapper races: %s does not claim RC_CAP_WRAPPER\n", IMPL_NAME);
#endif
}

#else

static void add_cases(TCase *tc)
{
    (void)tc;
#ifdef RCL_IMPL_IS_NULL
    printf("skipped: all races: %s counts nothing\n", IMPL_NAME);
#else
    printf("skipped: all races: %s does not claim RC_CAP_THREADS\n", IMPL_NAME);
#endif
}
#endif

int main(void)
{
    Suite *suite = suite_create("threads " IMPL_NAME);
    TCase *tc = tcase_create(IMPL_NAME);
    tcase_set_timeout(tc, 120);
    add_cases(tc);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
