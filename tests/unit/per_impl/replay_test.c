/* replay_test: an implementation lives through all eight recordings, in every mode. Compared: counts after
 * every record (serial), deaths, and blocks that are still live afterwards.
 *
 * Compiled once per implementation, checked, with test presets. */
#include "memory.h"
#include "contract.h"
#include "workload.h"

#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(uint64_t) deaths;

static void count_death(void)
{
    /* C1 RELAXED: read after the threads have met or were joined. */
    atomic_fetch_add_explicit(&deaths, 1, memory_order_relaxed);
}

static uint64_t deaths_so_far(void)
{
    /* C2 RELAXED: pairs with C1, on one thread or after a join. */
    return atomic_load_explicit(&deaths, memory_order_relaxed);
}

#define REPLAY_ON_DEATH count_death
#define REPLAY_CHECKING 1
#include "replay.h"

#define TEST_STRING2(a) #a
#define TEST_STRING(a) TEST_STRING2(a)
#define IMPL_NAME TEST_STRING(RCL_IMPL_NAME)

#ifdef RCL_IMPL_IS_NULL
enum { KEEPS_BLOCKS = 1 /* its slabs, for the next pass */ };
#else
enum { KEEPS_BLOCKS = 0 };
#endif

static const char *const recordings[] = {"mlp_adam",      "mlp_adam_all",    "tfm_adamw",
                                         "tfm_adamw_all", "inf_3threads",    "inf_3threads_all",
                                         "par_2threads",  "par_2threads_all"};
enum { RECORDINGS = sizeof recordings / sizeof recordings[0] };

static void recording_path(int which, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.rct.xz", rcl_trace_dir(), recordings[which]);
}

/* False, and a line about it, if the implementation does not claim what the case needs. */
static bool claims(unsigned needs, const char *test_case)
{
    static const struct {
        unsigned bit;
        const char *name;
    } caps[] = {{RC_CAP_THREADS, "RC_CAP_THREADS"}, {RC_CAP_WEAK, "RC_CAP_WEAK"}};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        if ((needs & ~(unsigned)(RC_IMPL_CAPS)&caps[i].bit) != 0) {
            printf("skipped: %s: %s does not claim %s\n", test_case, IMPL_NAME, caps[i].name);
            return false;
        }
    }
    return true;
}

static replay_plan *open_plan(const replay_options *options)
{
    rct_error error;
    replay_plan *plan = replay_plan_open(options, &error);
    ck_assert_msg(plan != NULL, "%s", error.message);
    return plan;
}

static void start_counting(void)
{
    atomic_store_explicit(&deaths, 0, memory_order_relaxed); /* C3 RELAXED: no other thread runs */
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    rc_thread_attach();
}

/* Everything must be gone: `objects` have died. */
static void finish_counting(uint64_t objects)
{
    rc_quiesce();
    rc_thread_detach();
    rcl_memory_counts counts = rcl_memory_read();
    rcl_memory_count(false);
    ck_assert_uint_eq(deaths_so_far(), objects);
    if (!KEEPS_BLOCKS) {
        ck_assert_uint_eq(counts.live_blocks, 0);
        ck_assert_uint_ge(counts.total_blocks, objects);
    }
}

/* ---- Serial, every count compared ---- */

static void check_serial(const char *path, uint32_t window_events, int passes)
{
    replay_plan *plan = open_plan(&(replay_options){
        .path = path, .mode = REPLAY_SERIAL, .checking = true, .window_events = window_events});
    if (replay_plan_uses_weak(plan) && !claims(RC_CAP_WEAK, "serial")) {
        replay_plan_close(plan);
        return;
    }
    uint64_t objects = replay_plan_births(plan);
    rct_error error;
    replay_slots slots = {0};
    replay_player player = {.deaths = deaths_so_far};
    uint64_t operations = 0;
    for (int pass = 0; pass < passes; pass++) {
        start_counting();
        const replay_setup *setup = replay_plan_setup(plan);
        ck_assert(replay_slots_reserve(&slots, setup->strong_slots, setup->weak_slots));
        replay_use_slots(&player, &slots);
        replay_play(&player, setup->program);
        const replay_window *window;
        do {
            window = replay_plan_next_window(plan, &error);
            ck_assert_msg(window != NULL, "%s", error.message);
            ck_assert(replay_slots_reserve(&slots, window->strong_slots, window->weak_slots));
            replay_use_slots(&player, &slots);
            replay_play(&player, &window->programs[0]);
            operations += window->programs[0].operations;
        } while (!window->last);
#if (RC_IMPL_CAPS) & RC_CAP_IMMEDIATE
        ck_assert_uint_eq(deaths_so_far(), replay_plan_deaths(plan));
#endif
        replay_play(&player, &window->teardown[0]);
        finish_counting(objects);
    }
    ck_assert_msg(player.wrong == 0, "%s: %" PRIu64 " counts differ; the first: %s", path,
                  player.wrong, player.first_wrong);
    ck_assert(!player.refused);
    ck_assert_uint_eq(operations, replay_plan_operations(plan) * (uint64_t)passes);
    replay_slots_free(&slots);
    replay_plan_close(plan);
}

START_TEST(serial_counts_are_as_recorded)
{
    char path[4096];
    recording_path(_i, path, sizeof path);
    check_serial(path, 0, 2);
}
END_TEST

START_TEST(serial_counts_are_as_recorded_in_small_windows)
{
    char path[4096];
    recording_path(_i, path, sizeof path);
    check_serial(path, 7, 2);
    check_serial(path, 500, 1);
}
END_TEST

/* What the recordings have rarely or not at all: each line is a case of replay_plan.h. */
START_TEST(serial_rare_records)
{
    static const char *const traces[] = {
        /* unfunded tensor, funded by the next + */
        "0 N 0 0 bytes=8\n0 N 1 1 s0 off=0 n=2\n0 N 2 1 s0 off=0 n=1\n0 + 0 2\n0 - 1 0\n0 d 0 1\n"
        "0 - 2 0\n0 d 0 0\nend 8 0\n",
        /* a - that can only be of a handle inside a tensor; then funded again */
        "0 N 0 0 bytes=8\n0 + 0 2\n0 N 1 1 s0 off=0 n=2\n0 N 2 1 s0 off=0 n=1\n0 - 0 1\n0 + 0 2\n"
        "0 - 1 0\n0 d 0 1\n0 - 2 0\n0 d 0 0\nend 10 0\n",
        /* never funded: d is of a handle outside */
        "0 N 0 0 bytes=8\n0 N 1 1 s0 off=0 n=2\n0 N 2 1 s0 off=0 n=1\n0 - 2 0\n0 + 0 2\n0 d 0 1\n"
        "0 - 1 0\n0 d 0 0\nend 8 0\n",
        /* two dead tensors owe at once; a + between death and drop */
        "0 N 0 0 bytes=8\n0 + 0 2\n0 N 1 1 s0 off=0 n=2\n0 N 2 1 s0 off=0 n=1\n0 - 1 0\n0 - 2 0\n"
        "0 + 0 3\n0 d 0 2\n0 d 0 1\n0 - 0 0\nend 10 0\n",
        /* the storage dies before its tensor, which lives on to the end */
        "0 N 0 0 bytes=8\n0 N 1 1 s0 off=0 n=2\n0 - 0 0\nend 3 1\n",
        /* weak handles: of a live object, copied when it is dead, locked before and after; a lock through a
         * handle that is older than the recording */
        "0 N 0 2\n0 w 0\n0 l 0 1\n0 - 0 1\n0 w 0\n0 v 0\n0 - 0 0\n0 w 0\n0 l 0 0\n0 v 0\n0 v 0\n"
        "0 N 1 2\n0 l 1 1\nend 13 1\n",
        /* several units at the start, and two tensors over one storage */
        "pre 0 0 3 bytes=8\npre 1 1 2 s0 off=0 n=2\npre 2 1 1 s0 off=0 n=2\n0 - 0 2\n0 - 2 0\n0 d 0 1\n"
        "0 - 1 1\n0 - 1 0\n0 d 0 0\nend 6 0\n",
        /* tensors without a storage */
        "0 N 1 1\n0 + 1 2\n0 - 1 1\n0 - 1 0\nend 4 0\n",
    };
    char path[] = "/tmp/replay_test_XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    FILE *stream = fdopen(file, "w");
    ck_assert_ptr_nonnull(stream);
    fprintf(stream, "rct 1 text\norder total\nclass 0 storage\nclass 1 tensor\nclass 2 other\n%s",
            traces[_i]);
    fclose(stream);
    check_serial(path, 0, 2);
    check_serial(path, 1, 2);
    remove(path);
}
END_TEST

/* ---- Through the workload, as the harness does it ---- */

typedef struct member {
    rcl_thread thread;
    replay_state state;
    pthread_t id;
    uint64_t asked, done, elapsed_ns;
    bool set_up;
} member;

static void member_runs(member *m)
{
    rcl_thread *thread = &m->thread;
    m->set_up = replay_workload.thread_setup(thread);
    m->done = replay_workload.run_timed(thread, m->asked, &m->elapsed_ns);
    replay_workload.thread_teardown(thread);
    rc_quiesce();
}

static void *member_main(void *argument)
{
    rc_thread_attach();
    member_runs(argument);
    rc_thread_detach();
    return NULL;
}

/* Two passes of a team; returns how many objects must have died. */
static uint64_t run_team(const char *path, rcl_sharing sharing, bool several, unsigned threads)
{
    enum { MOST = 5 };
    static member members[MOST];
    ck_assert_uint_le(threads, MOST);
    replay_shared shared = {0};
    rcl_variant variant = {.name = "-",
                           .parameter = several ? REPLAY_SEVERAL_THREADS : REPLAY_ONE_THREAD};
    rcl_team team = {.threads = threads,
                     .sharing = sharing,
                     .variant = &variant,
                     .shared = &shared,
                     .input = path};
    ck_assert(replay_workload.shared_setup(&team));
    uint64_t share = replay_share_of_pass(&team);
    for (unsigned i = 0; i < threads; i++) {
        members[i] = (member){.thread = {.team = &team, .index = i, .state = &members[i].state},
                              .asked = share + 1};
    }
    for (unsigned i = 1; i < threads; i++) {
        ck_assert_int_eq(pthread_create(&members[i].id, NULL, member_main, &members[i]), 0);
    }
    member_runs(&members[0]);
    for (unsigned i = 1; i < threads; i++) {
        pthread_join(members[i].id, NULL);
    }
    for (unsigned i = 0; i < threads; i++) {
        ck_assert_uint_eq(members[i].done, 2 * share); /* asked for one more than a pass */
        ck_assert_uint_gt(members[i].elapsed_ns, 0);
    }
    uint64_t births = replay_plan_births(shared.plan);
    uint64_t pre = 0;
    const replay_program *setup = replay_plan_setup(shared.plan)->program;
    for (uint32_t i = 0; i < setup->count; i++) {
        replay_op op = setup->instructions[i].op;
        pre += op == REPLAY_NEW_PLAIN || op == REPLAY_NEW_STORAGE || op == REPLAY_NEW_TENSOR ||
               op == REPLAY_NEW_TENSOR_BARE;
    }
    uint64_t objects = births;
    if (replay_plan_mode(shared.plan) == REPLAY_SERIAL) {
        objects = births * threads;
    } else if (replay_plan_mode(shared.plan) == REPLAY_REPLICATED) {
        objects = (births - pre) * threads + pre;
    }
    replay_workload.shared_teardown(&team);
    return 2 * objects;
}

/* Any of the recordings may be played in any mode. */
static void check_team(int which, rcl_sharing sharing, bool several, unsigned threads,
                       const char *name)
{
    char path[4096];
    unsigned needs = strstr(recordings[which], "_all") != NULL ? RC_CAP_WEAK : 0;
    needs |= sharing == RCL_SHARED ? RC_CAP_THREADS : 0;
    if (!claims(needs, name)) {
        return;
    }
    recording_path(which, path, sizeof path);
    start_counting();
    finish_counting(run_team(path, sharing, several, threads));
}

START_TEST(private_copies)
{
    check_team(_i, RCL_PRIVATE, false, 1, "private_copies");
    check_team(_i, RCL_PRIVATE, false, 2, "private_copies");
}
END_TEST

START_TEST(replicated)
{
    check_team(_i, RCL_SHARED, false, 2, "replicated");
    check_team(_i, RCL_SHARED, false, 3, "replicated");
}
END_TEST

START_TEST(recorded)
{
    for (unsigned threads = 1; threads <= 5; threads++) {
        check_team(_i, RCL_SHARED, true, threads, "recorded");
    }
}
END_TEST

/* ---- Memory refused ---- */

START_TEST(refused_memory_leaks_nothing)
{
    char path[4096];
    if (!claims(RC_CAP_WEAK, "refused_memory_leaks_nothing")) {
        return;
    }
    recording_path(1, path, sizeof path);
    replay_plan *plan = open_plan(&(replay_options){.path = path, .mode = REPLAY_SERIAL});
    rct_error error;
    for (uint64_t k = 1; k < 400; k += 7) {
        replay_slots slots = {0};
        replay_player player = {0};
        start_counting();
        const replay_window *window = replay_plan_next_window(plan, &error);
        ck_assert(replay_slots_reserve(&slots, window->strong_slots, window->weak_slots));
        replay_use_slots(&player, &slots);
        rcl_memory_refuse(k);
        replay_play(&player, replay_plan_setup(plan)->program);
        replay_play(&player, &window->programs[0]);
        replay_play(&player, &window->teardown[0]);
        rc_quiesce();
        rc_thread_detach();
        rcl_memory_counts counts = rcl_memory_read();
        rcl_memory_count(false);
        ck_assert(KEEPS_BLOCKS || counts.refused_blocks == 1);
        ck_assert_msg(KEEPS_BLOCKS || counts.live_blocks == 0,
                      "request %" PRIu64 " refused: %" PRIu64 " blocks left", k,
                      counts.live_blocks);
        replay_slots_free(&slots);
    }
    replay_plan_close(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay " IMPL_NAME);
    TCase *serial = tcase_create("serial");
    tcase_set_timeout(serial, 120);
    tcase_add_loop_test(serial, serial_counts_are_as_recorded, 0, RECORDINGS);
    tcase_add_loop_test(serial, serial_counts_are_as_recorded_in_small_windows, 0, RECORDINGS);
    tcase_add_loop_test(serial, serial_rare_records, 0, 8);
    tcase_add_test(serial, refused_memory_leaks_nothing);
    suite_add_tcase(suite, serial);
    TCase *teams = tcase_create("teams");
    tcase_set_timeout(teams, 120);
    tcase_add_loop_test(teams, private_copies, 0, RECORDINGS);
    tcase_add_loop_test(teams, replicated, 0, RECORDINGS);
    tcase_add_loop_test(teams, recorded, 0, RECORDINGS);
    suite_add_tcase(suite, teams);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
