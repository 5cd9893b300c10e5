/* replay_plan_test: programs made from recordings, run on a model in many interleavings.
 *
 * The model knows what each slot holds. In every interleaving that WAIT and POST allow, a handle is live
 * when it is used, a slot is free when it is filled, each object dies at the record that killed it and
 * nowhere else, locks come out as recorded, and an object is shared before another thread touches it.
 * Random traces and interleavings: the seed is printed, RCLAB_SEED takes one. */
#include "replay_plan.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 5 };

/* ---- Random numbers ---- */

static uint64_t random_state = 1;

static uint32_t below(uint32_t limit)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (uint32_t)((((random_state * UINT64_C(0x2545f4914f6cdd1d)) >> 32) * limit) >> 32);
}

static uint64_t seed_of_run;

/* One seed per run of the program; each test case begins with it, plus its number. */
static void seed_random(int test_case)
{
    random_state = seed_of_run * 1000003 + (uint64_t)test_case + 1;
    random_state = random_state == 0 ? 1 : random_state;
    below(2);
}

/* ---- What the recording says ---- */

typedef struct fate {
    rct_kind kind;
    uint64_t death; /* record at which it dies, or NEVER */
    uint64_t
        early; /* of a storage that a d killed: the tensor's death, where the finalizer does it */
} fate;

#define NEVER UINT64_MAX
enum { PRE_MOST = 4096 };

typedef struct expectation {
    fate *births; /* by record: fate of what was born there */
    fate pre[PRE_MOST];
    uint64_t records, deaths;
    unsigned pre_count;
} expectation;

typedef struct open_drop {
    uint64_t thread, death;
    uint32_t storage;
} open_drop;

static expectation *expect(const char *path)
{
    rct_error error;
    rct_event event;
    rct_reader *reader = rct_open(path, &error);
    ck_assert_msg(reader != NULL, "%s", error.message);
    expectation *e = calloc(1, sizeof *e);
    size_t room = 0;
    uint64_t *last_death = NULL; /* of a tensor over this storage */
    uint64_t *born = NULL;       /* record, or PRE index + NEVER / 2 */
    size_t objects_room = 0;
    static open_drop drops[4096];
    size_t drop_count = 0;
    ck_assert_ptr_nonnull(e);
    int got;
    while ((got = rct_next(reader, &event)) == 1) {
        if (event.operation != RCT_PRE && e->records == room) {
            room = room == 0 ? 1024 : room * 2;
            e->births = realloc(e->births, room * sizeof *e->births);
            ck_assert_ptr_nonnull(e->births);
        }
        if (event.object != RCT_NO_OBJECT && event.object >= objects_room) {
            objects_room = event.object * 2 + 64;
            born = realloc(born, objects_room * sizeof *born);
            last_death = realloc(last_death, objects_room * sizeof *last_death);
            ck_assert(born != NULL && last_death != NULL);
        }
        const fate alive = {event.kind, NEVER, NEVER};
        if (event.operation == RCT_PRE) {
            ck_assert_uint_lt(e->pre_count, PRE_MOST);
            born[event.object] = NEVER / 2 + e->pre_count;
            e->pre[e->pre_count++] = alive;
            continue;
        }
        if (event.operation == RCT_NEW) {
            born[event.object] = e->records;
            e->births[e->records] = alive;
        }
        uint64_t early = NEVER;
        if (event.operation == RCT_DROP) {
            size_t i = drop_count;
            do {
                i--; /* the reader has seen that there is one */
            } while (drops[i].storage != event.object || drops[i].thread != event.thread_id);
            /* Deaths may be nested: the last of them takes the storage along. */
            early = last_death[event.object];
            memmove(&drops[i], &drops[i + 1], (drop_count - i - 1) * sizeof drops[0]);
            drop_count--;
        }
        if ((event.operation == RCT_RELEASE || event.operation == RCT_DROP) && event.count == 0) {
            uint64_t b = born[event.object];
            fate *f = b >= NEVER / 2 ? &e->pre[b - NEVER / 2] : &e->births[b];
            f->death = e->records;
            f->early = early;
            e->deaths++;
            if (event.storage != RCT_NO_OBJECT) {
                ck_assert_uint_lt(drop_count, 4096);
                last_death[event.storage] = e->records;
                drops[drop_count++] = (open_drop){event.thread_id, e->records, event.storage};
            }
        }
        e->records++;
    }
    ck_assert_msg(got == 0, "%s", rct_reader_error(reader)->message);
    rct_close(reader);
    free(born);
    free(last_death);
    return e;
}

static void expectation_free(expectation *e)
{
    free(e->births);
    free(e);
}

/* ---- The model ---- */

/* ck_assert reports its place each time, which costs a system call: not for a million instructions. */
#define REQUIRE_SAYING(condition, ...)                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg(__VA_ARGS__);                                                             \
        }                                                                                          \
    } while (0)
#define REQUIRE(condition) REQUIRE_SAYING(condition, "not so: %s", #condition)

typedef enum slot_state { EMPTY, UNIT, LOAN } slot_state;

typedef struct model_slot {
    slot_state state;
    uint32_t object;
} model_slot;

typedef struct model_object {
    const fate *fate;
    uint64_t count, weak;
    uint32_t held; /* slot inside this tensor, or NO_SLOT */
    unsigned maker;
    bool shared;
} model_object;

#define NO_SLOT UINT32_MAX

typedef struct machine {
    const expectation *expected;
    model_slot *strong, *weak;
    uint32_t strong_count, weak_count;
    model_object *objects;
    uint32_t object_count, object_room;
    uint32_t posted[THREADS_MOST];
    uint64_t base; /* record at which the window begins */
    uint64_t deaths;
    unsigned pre_born;
    bool tear_down;
    bool one_owner; /* setup and teardown: sharing is not judged */
} machine;

static model_object *touched(machine *m, uint32_t object, unsigned thread)
{
    model_object *o = &m->objects[object];
    REQUIRE_SAYING(m->one_owner || o->maker == thread || o->shared,
                   "thread %u touches an object of thread %u that was not shared", thread,
                   o->maker);
    return o;
}

/* A live handle is read. */
static uint32_t read_slot(machine *m, uint32_t slot, unsigned thread)
{
    REQUIRE(slot < m->strong_count);
    REQUIRE_SAYING(m->strong[slot].state != EMPTY, "slot %u is read, but holds nothing", slot);
    REQUIRE(touched(m, m->strong[slot].object, thread)->count > 0);
    return m->strong[slot].object;
}

static void fill_slot(machine *m, uint32_t slot, slot_state state, uint32_t object)
{
    REQUIRE(slot < m->strong_count);
    REQUIRE_SAYING(m->strong[slot].state == EMPTY, "slot %u is filled, but holds a handle", slot);
    m->strong[slot] = (model_slot){state, object};
}

static void drop_unit(machine *m, uint32_t object, uint64_t record, unsigned thread)
{
    model_object *o = touched(m, object, thread);
    REQUIRE(o->count > 0);
    o->count--;
    if (o->count > 0) {
        return;
    }
    m->deaths++;
    if (m->tear_down) {
        REQUIRE(o->fate->death == NEVER);
    } else {
        REQUIRE_SAYING(record == o->fate->death || record == o->fate->early,
                       "died at record %" PRIu64 ", should at %" PRIu64, record, o->fate->death);
    }
    if (o->held != NO_SLOT) {
        uint32_t held = o->held;
        uint32_t storage = m->strong[held].object;
        REQUIRE(m->strong[held].state == LOAN);
        m->strong[held].state = EMPTY;
        drop_unit(m, storage, record, thread);
    }
}

static void release_slot(machine *m, uint32_t slot, uint64_t record, unsigned thread)
{
    REQUIRE_SAYING(m->strong[slot].state == UNIT, "slot %u is released, but holds no unit", slot);
    m->strong[slot].state = EMPTY;
    drop_unit(m, m->strong[slot].object, record, thread);
}

static void retain_into(machine *m, uint32_t to, uint32_t from, unsigned thread)
{
    uint32_t object = read_slot(m, from, thread);
    m->objects[object].count++;
    fill_slot(m, to, UNIT, object);
}

static void put_inside(machine *m, uint32_t slot, uint32_t tensor)
{
    REQUIRE(m->strong[slot].state == UNIT);
    REQUIRE(m->objects[tensor].held == NO_SLOT);
    m->strong[slot].state = LOAN;
    m->objects[tensor].held = slot;
}

static uint32_t give_birth(machine *m, const replay_instruction *at, unsigned thread)
{
    if (m->object_count == m->object_room) {
        m->object_room = m->object_room * 2 + 64;
        m->objects = realloc(m->objects, m->object_room * sizeof *m->objects);
        REQUIRE(NULL != m->objects);
    }
    const fate *f = m->base == NEVER ? &m->expected->pre[m->pre_born++]
                                     : &m->expected->births[m->base + at->event];
    rct_kind kind = at->op == REPLAY_NEW_PLAIN     ? RCT_OTHER
                    : at->op == REPLAY_NEW_STORAGE ? RCT_STORAGE
                                                   : RCT_TENSOR;
    REQUIRE(f->kind == kind);
    m->objects[m->object_count] =
        (model_object){.fate = f, .count = 1, .held = NO_SLOT, .maker = thread};
    fill_slot(m, at->a, UNIT, m->object_count);
    return m->object_count++;
}

static uint32_t read_weak(machine *m, uint32_t slot, unsigned thread)
{
    REQUIRE(slot < m->weak_count);
    REQUIRE_SAYING(m->weak[slot].state == UNIT, "weak slot %u is used, but holds nothing", slot);
    touched(m, m->weak[slot].object, thread);
    return m->weak[slot].object;
}

static void fill_weak(machine *m, uint32_t slot, uint32_t object)
{
    REQUIRE(slot < m->weak_count);
    REQUIRE(m->weak[slot].state == EMPTY);
    m->weak[slot] = (model_slot){UNIT, object};
    m->objects[object].weak++;
}

/* One instruction. False: it has to wait. */
static bool step_machine(machine *m, const replay_instruction *at, unsigned thread)
{
    uint64_t record = m->base + at->event;
    uint32_t object;
    switch ((replay_op)at->op) {
    case REPLAY_RETAIN:
        retain_into(m, at->a, at->b, thread);
        break;
    case REPLAY_RELEASE_BRIDGED:
        retain_into(m, at->b, at->c, thread);
        release_slot(m, at->a, record, thread);
        break;
    case REPLAY_RELEASE:
        release_slot(m, at->a, record, thread);
        break;
    case REPLAY_NEW_PLAIN:
    case REPLAY_NEW_STORAGE:
    case REPLAY_NEW_TENSOR_BARE:
        give_birth(m, at, thread);
        break;
    case REPLAY_NEW_TENSOR:
        read_slot(m, at->b, thread);
        put_inside(m, at->b, give_birth(m, at, thread));
        break;
    case REPLAY_FUND:
        retain_into(m, at->a, at->b, thread);
        put_inside(m, at->a, read_slot(m, at->c, thread));
        break;
    case REPLAY_UNFUND: {
        model_object *tensor = &m->objects[read_slot(m, at->a, thread)];
        uint32_t held = tensor->held;
        REQUIRE(held != NO_SLOT);
        tensor->held = NO_SLOT;
        m->strong[held].state = EMPTY;
        drop_unit(m, m->strong[held].object, record, thread);
        break;
    }
    case REPLAY_WEAK_NEW:
        fill_weak(m, at->a, read_slot(m, at->b, thread));
        break;
    case REPLAY_WEAK_RETAIN:
        fill_weak(m, at->a, read_weak(m, at->b, thread));
        break;
    case REPLAY_WEAK_RELEASE:
        object = read_weak(m, at->a, thread);
        m->weak[at->a].state = EMPTY;
        m->objects[object].weak--;
        break;
    case REPLAY_LOCK:
    case REPLAY_LOCK_UNSEEN:
        object = at->op == REPLAY_LOCK ? read_weak(m, at->b, thread) : read_slot(m, at->b, thread);
        REQUIRE_SAYING(m->objects[object].count > 0, "a lock fails that succeeded");
        m->objects[object].count++;
        fill_slot(m, at->a, UNIT, object);
        break;
    case REPLAY_LOCK_DEAD:
        REQUIRE_SAYING(m->objects[read_weak(m, at->a, thread)].count == 0,
                       "a lock succeeds that failed");
        break;
    case REPLAY_SHARE:
        m->objects[read_slot(m, at->a, thread)].shared = true;
        REQUIRE(m->objects[m->strong[at->a].object].maker == thread);
        break;
    case REPLAY_WAIT:
        return m->posted[at->a] >= at->b;
    case REPLAY_POST:
        REQUIRE(at->b == m->posted[thread] + 1);
        m->posted[thread] = at->b;
        break;
    case REPLAY_CHECK_COUNT:
        REQUIRE(m->objects[read_slot(m, at->a, thread)].count == at->b);
        REQUIRE(m->objects[read_slot(m, at->a, thread)].weak == at->c);
        break;
    case REPLAY_CHECK_DEATHS:
        REQUIRE(m->deaths == at->b);
        break;
    case REPLAY_END:
    case REPLAY_OPS:
        ck_abort_msg("no such instruction");
    }
    return true;
}

static void run_alone(machine *m, const replay_program *program, unsigned thread)
{
    for (uint32_t i = 0; program->instructions[i].op != REPLAY_END; i++) {
        REQUIRE(step_machine(m, &program->instructions[i], thread));
    }
}

/* Runs the programs of a window interleaved, in stretches of random length. */
static void run_interleaved(machine *m, const replay_window *window)
{
    uint32_t at[THREADS_MOST] = {0};
    memset(m->posted, 0, sizeof m->posted);
    /* Some runs favour long stretches, some a thread: the far corners of the schedules. */
    uint32_t longest = 1u << below(12);
    unsigned favoured = below(2) ? below(window->threads) : THREADS_MOST;
    for (;;) {
        unsigned stuck = 0;
        unsigned first = favoured < THREADS_MOST ? favoured : below(window->threads);
        bool moved = false;
        for (unsigned k = 0; k < window->threads && !moved; k++) {
            unsigned t = (first + k) % window->threads;
            const replay_instruction *code = window->programs[t].instructions;
            if (code[at[t]].op == REPLAY_END) {
                continue;
            }
            for (uint32_t n = 1 + below(longest); n > 0 && code[at[t]].op != REPLAY_END; n--) {
                if (!step_machine(m, &code[at[t]], t)) {
                    break;
                }
                at[t]++;
                moved = true;
            }
            stuck += !moved;
        }
        if (!moved) {
            REQUIRE_SAYING(stuck == 0, "%u threads wait for each other", stuck);
            return;
        }
    }
}

static void grow_slots(machine *m, uint32_t strong, uint32_t weak)
{
    if (strong > m->strong_count) {
        m->strong = realloc(m->strong, strong * sizeof *m->strong);
        REQUIRE(NULL != m->strong);
        memset(m->strong + m->strong_count, 0, (strong - m->strong_count) * sizeof *m->strong);
        m->strong_count = strong;
    }
    if (weak > m->weak_count) {
        m->weak = realloc(m->weak, weak * sizeof *m->weak);
        REQUIRE(NULL != m->weak);
        memset(m->weak + m->weak_count, 0, (weak - m->weak_count) * sizeof *m->weak);
        m->weak_count = weak;
    }
}

/* A whole pass; returns the most slots there were. */
static uint32_t run_pass(replay_plan *plan, const expectation *expected)
{
    machine m = {.expected = expected, .base = NEVER, .one_owner = true};
    rct_error error;
    const replay_setup *setup = replay_plan_setup(plan);
    grow_slots(&m, setup->strong_slots, setup->weak_slots);
    run_alone(&m, setup->program, 0);
    m.base = 0;
    m.one_owner = false;
    uint64_t operations = 0;
    const replay_window *window;
    do {
        window = replay_plan_next_window(plan, &error);
        ck_assert_msg(window != NULL, "%s", error.message);
        ck_assert_uint_le(window->threads, THREADS_MOST);
        grow_slots(&m, window->strong_slots, window->weak_slots);
        for (unsigned t = 0; t < window->threads; t++) {
            run_alone(&m, &window->prologue[t], t);
        }
        run_interleaved(&m, window);
        m.base += window->events;
        operations += window->operations;
    } while (!window->last);
    ck_assert_uint_eq(m.base, expected->records);
    ck_assert_uint_eq(m.deaths, expected->deaths);
    ck_assert_uint_eq(m.deaths, replay_plan_deaths(plan));
    ck_assert_uint_eq(operations, replay_plan_operations(plan));
    ck_assert_uint_eq(m.object_count, replay_plan_births(plan));
    m.tear_down = true;
    for (unsigned t = 0; t < window->threads; t++) {
        run_alone(&m, &window->teardown[t], t);
    }
    ck_assert_uint_eq(m.deaths, m.object_count);
    for (uint32_t i = 0; i < m.object_count; i++) {
        ck_assert_uint_eq(m.objects[i].weak, 0);
    }
    free(m.strong);
    free(m.weak);
    free(m.objects);
    return m.strong_count;
}

static replay_plan *open_plan(const replay_options *options)
{
    rct_error error;
    replay_plan *plan = replay_plan_open(options, &error);
    ck_assert_msg(plan != NULL, "%s", error.message);
    return plan;
}

static void check_file(const char *path, unsigned interleavings, bool small)
{
    expectation *expected = expect(path);
    static const uint32_t windows[] = {0, 300, 13, 1};
    for (size_t w = 0; w < (small ? 4 : 2); w++) {
        replay_plan *plan = open_plan(&(replay_options){
            .path = path, .mode = REPLAY_SERIAL, .checking = true, .window_events = windows[w]});
        run_pass(plan, expected);
        run_pass(plan, expected); /* a second pass is as the first */
        replay_plan_close(plan);
        for (unsigned threads = 2; threads <= THREADS_MOST; threads++) {
            plan = open_plan(&(replay_options){.path = path,
                                               .mode = REPLAY_RECORDED,
                                               .threads = threads,
                                               .window_events = windows[w]});
            ck_assert_uint_eq(replay_plan_threads(plan), threads);
            for (unsigned i = 0; i < interleavings; i++) {
                run_pass(plan, expected);
            }
            replay_plan_close(plan);
        }
    }
    expectation_free(expected);
}

START_TEST(recordings)
{
    static const char *const names[] = {"mlp_adam_all", "inf_3threads", "inf_3threads_all",
                                        "par_2threads", "par_2threads_all"};
    char path[4096];
    seed_random(_i);
    snprintf(path, sizeof path, "%s/%s.rct.xz", rcl_trace_dir(), names[_i]);
    check_file(path, 2, false);
}
END_TEST

/* ---- Random traces ---- */

enum { LIVE_MOST = 24, HEAD_PRE = 3 };

typedef struct sketch_object {
    rct_kind kind;
    uint64_t id;
    unsigned count, weak, inside; /* inside: units in tensors, or owed by dead ones */
    int storage;                  /* of a tensor; -1: none */
    bool used;
} sketch_object;

typedef struct sketch_drop {
    int storage;
    unsigned thread;
} sketch_drop;

typedef struct sketch {
    sketch_object objects[LIVE_MOST];
    sketch_drop drops[64];
    unsigned drop_count;
    uint64_t next_id, events;
    FILE *file;
} sketch;

static int find_place(const sketch *s)
{
    for (int i = 0; i < LIVE_MOST; i++) {
        if (!s->objects[i].used) {
            return i;
        }
    }
    return -1;
}

static void put_birth(sketch *s, unsigned thread)
{
    int place = find_place(s);
    if (place < 0) {
        return;
    }
    rct_kind kind = (rct_kind)below(3);
    int storage = -1;
    if (kind == RCT_TENSOR && below(8) != 0) {
        storage = (int)below(LIVE_MOST);
        const sketch_object *o = &s->objects[storage];
        if (!o->used || o->kind != RCT_STORAGE || o->count == 0 || o->inside >= o->count + 1) {
            return;
        }
    }
    s->objects[place] = (sketch_object){kind, s->next_id++, 1, 0, 0, storage, true};
    fprintf(s->file, "%u N %" PRIu64 " %u", thread, s->objects[place].id, (unsigned)kind);
    if (kind == RCT_STORAGE) {
        fprintf(s->file, " bytes=%u", below(5000));
    } else if (storage >= 0) {
        s->objects[storage].inside++;
        fprintf(s->file, " s%" PRIu64 " off=%u n=%u", s->objects[storage].id, below(9), below(99));
    }
    fputc('\n', s->file);
    s->events++;
}

static void put_release(sketch *s, unsigned thread, int place, char letter)
{
    sketch_object *o = &s->objects[place];
    o->count--;
    fprintf(s->file, "%u %c %" PRIu64 " %u\n", thread, letter, o->id, o->count);
    s->events++;
    if (o->count > 0) {
        return;
    }
    if (o->storage >= 0) {
        s->drops[s->drop_count++] = (sketch_drop){o->storage, thread};
    }
    o->used = o->weak > 0;
}

static void put_drop(sketch *s, unsigned which)
{
    sketch_drop drop = s->drops[which];
    s->drops[which] = s->drops[--s->drop_count];
    sketch_object *o = &s->objects[drop.storage];
    o->inside--;
    if (o->count == 1 && o->inside > 0) { /* other tensors' references must not be in vain */
        o->count++;
        fprintf(s->file, "%u + %" PRIu64 " %u\n", drop.thread, o->id, o->count);
        s->events++;
    }
    put_release(s, drop.thread, drop.storage, 'd');
}

/* A random legal record. `tidy`: drops follow deaths at once, as they nearly always do. */
static void put_record(sketch *s, unsigned threads, bool tidy)
{
    unsigned thread = below(threads);
    while (s->drop_count > 0 && (tidy || s->drop_count > 6 || below(4) == 0)) {
        put_drop(s, below(s->drop_count));
    }
    int place = (int)below(LIVE_MOST);
    sketch_object *o = &s->objects[place];
    unsigned what = below(16);
    if (what < 3) {
        put_birth(s, thread);
        return;
    }
    if (!o->used) {
        return;
    }
    bool alive = o->count > 0;
    if (what < 7 && alive && o->count < 9) {
        o->count++;
        fprintf(s->file, "%u + %" PRIu64 " %u\n", thread, o->id, o->count);
        s->events++;
    } else if (what < 12 && alive &&
               (o->count > o->inside || (o->count > 1 && below(4) == 0 && o->count >= o->inside))) {
        if (o->count > 1 || o->inside == 0) {
            put_release(s, thread, place, '-');
        }
    } else if (what == 12 && (alive || o->weak > 0) && o->weak < 5) {
        o->weak++;
        fprintf(s->file, "%u w %" PRIu64 "\n", thread, o->id);
        s->events++;
    } else if (what == 13 && o->weak > 0) {
        o->weak--;
        fprintf(s->file, "%u v %" PRIu64 "\n", thread, o->id);
        s->events++;
        o->used = alive || o->weak > 0;
    } else if (what == 14 && (o->weak > 0 || (alive && below(3) == 0))) {
        o->count += alive;
        fprintf(s->file, "%u l %" PRIu64 " %d\n", thread, o->id, alive);
        s->events++;
    } else if (what == 15) {
        fprintf(s->file, "%u M mark\n", thread);
        s->events++;
    }
}

static void write_random_trace(FILE *file, unsigned records, unsigned threads, bool tidy)
{
    static sketch s;
    s = (sketch){.file = file};
    fprintf(file, "rct 1 text\norder total\nclass 0 tensor\nclass 1 storage\nclass 2 other\n");
    for (int i = 0; i < HEAD_PRE; i++) {
        bool storage = i == 0;
        s.objects[i] = (sketch_object){.kind = storage ? RCT_STORAGE : RCT_TENSOR,
                                       .id = s.next_id++,
                                       .count = 1 + below(3),
                                       .storage = storage ? -1 : 0,
                                       .used = true};
        fprintf(file, "pre %d %u %u %s\n", i, (unsigned)s.objects[i].kind, s.objects[i].count,
                storage ? "bytes=64" : "s0 off=0 n=1");
        s.objects[0].inside += !storage;
    }
    while (s.events < records) {
        put_record(&s, threads, tidy);
    }
    while (s.drop_count > 0) {
        put_drop(&s, 0);
    }
    unsigned live = 0;
    for (int i = 0; i < LIVE_MOST; i++) {
        live += s.objects[i].used && s.objects[i].count > 0;
    }
    fprintf(file, "end %" PRIu64 " %u\n", s.events, live);
    fclose(file);
}

START_TEST(random_traces)
{
    seed_random(100 + _i);
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    write_random_trace(file, 50 + below(1500), 1 + below(THREADS_MOST), _i % 2 == 0);
    rct_summary summary;
    rct_error error;
    bool good = rct_check(path, &summary, &error);
    rct_summary_free(&summary);
    ck_assert_msg(good, "seed %" PRIu64 ": %s", seed_of_run, error.message);
    check_file(path, 4, true);
    remove(path);
}
END_TEST

/* ---- Bounds, bridges, refusals ---- */

static void write_file(char *path, const char *text)
{
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

#define HEAD "rct 1 text\norder total\nclass 0 storage\nclass 1 tensor\nclass 2 other\n"

static unsigned count_op(const replay_window *window, replay_op op)
{
    unsigned n = 0;
    for (unsigned t = 0; t < window->threads; t++) {
        for (uint32_t i = 0; i < window->programs[t].count; i++) {
            n += window->programs[t].instructions[i].op == op;
        }
    }
    return n;
}

/* Objects go from thread to thread for ever: slots and waits stay few. */
START_TEST(slots_are_used_again)
{
    enum { OBJECTS = 20000 };
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(file);
    fputs(HEAD, file);
    for (unsigned i = 0; i < OBJECTS; i++) {
        unsigned from = i / 100 % 3;
        fprintf(file, "%u N %u 2\n%u + %u 2\n%u - %u 1\n%u - %u 0\n", from, i, (from + 1) % 3, i,
                from, i, (from + 1) % 3, i);
    }
    fprintf(file, "end %u 0\n", OBJECTS * 4);
    fclose(file);
    seed_random(50);
    expectation *expected = expect(path);
    replay_plan *plan = open_plan(&(replay_options){
        .path = path, .mode = REPLAY_RECORDED, .threads = 3, .window_events = 1000});
    ck_assert(!replay_plan_is_single(plan));
    uint32_t slots = run_pass(plan, expected);
    ck_assert_uint_le(slots, 3 * 1000); /* of 40,000 handles */
    ck_assert_uint_eq(run_pass(plan, expected), slots);
    replay_plan_close(plan);
    /* On one thread two slots do. */
    plan = open_plan(&(replay_options){.path = path, .mode = REPLAY_SERIAL});
    ck_assert_uint_le(run_pass(plan, expected), 16);
    replay_plan_close(plan);
    expectation_free(expected);
    remove(path);
}
END_TEST

/* A thread takes the storage out of another's tensor, whose thread then puts it in again. */
START_TEST(taken_out_before_it_is_put_in_again)
{
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    write_file(path, HEAD "0 N 0 0 bytes=4\n0 + 0 2\n0 N 1 1 s0 off=0 n=1\n0 N 2 1 s0 off=0 n=1\n"
                          "1 - 0 1\n0 + 0 2\n0 - 1 0\n0 d 0 1\n0 - 2 0\n0 d 0 0\nend 10 0\n");
    seed_random(70);
    check_file(path, 40, true);
    remove(path);
}
END_TEST

START_TEST(one_bridge_where_it_is_needed)
{
    rct_error error;
    char path[4096];
    snprintf(path, sizeof path, "%s/par_2threads.rct.xz", rcl_trace_dir());
    replay_plan *plan = open_plan(&(replay_options){.path = path, .mode = REPLAY_RECORDED});
    ck_assert_uint_eq(replay_plan_threads(plan), 3);
    ck_assert(replay_plan_is_single(plan));
    const replay_window *window = replay_plan_next_window(plan, &error);
    ck_assert_uint_eq(count_op(window, REPLAY_RELEASE_BRIDGED), 1);
    ck_assert_uint_gt(count_op(window, REPLAY_WAIT), 0);
    ck_assert_uint_le(count_op(window, REPLAY_POST), count_op(window, REPLAY_WAIT));
    ck_assert_uint_gt(count_op(window, REPLAY_FUND), 0);
    replay_plan_close(plan);
    snprintf(path, sizeof path, "%s/mlp_adam.rct.xz", rcl_trace_dir());
    plan = open_plan(&(replay_options){.path = path, .mode = REPLAY_RECORDED});
    window = replay_plan_next_window(plan, &error);
    ck_assert_uint_eq(count_op(window, REPLAY_RELEASE_BRIDGED), 0);
    ck_assert_uint_eq(count_op(window, REPLAY_WAIT) + count_op(window, REPLAY_POST), 0);
    replay_plan_close(plan);
}
END_TEST

/* Nothing of a bad file is played, though its beginning is good and longer than a window. */
START_TEST(bad_files_are_refused_at_once)
{
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    write_file(path, HEAD "0 N 0 2\n0 + 0 2\n0 - 0 1\n0 - 0 1\nend 4 0\n");
    rct_error error;
    replay_plan *plan = replay_plan_open(
        &(replay_options){.path = path, .mode = REPLAY_SERIAL, .window_events = 1}, &error);
    ck_assert_ptr_null(plan);
    ck_assert_int_eq(error.reason, RCT_COUNT);
    ck_assert_uint_eq(error.line, 9);
    remove(path);
    ck_assert_ptr_null(
        replay_plan_open(&(replay_options){.path = path, .mode = REPLAY_SERIAL}, &error));
    ck_assert_int_eq(error.reason, RCT_CANNOT_READ);
}
END_TEST

START_TEST(cannot_be_replicated)
{
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    write_file(path, HEAD "pre 0 0 1 bytes=4\npre 1 1 1 s0 off=0 n=1\n0 - 0 0\nend 1 1\n");
    rct_error error;
    ck_assert_ptr_null(
        replay_plan_open(&(replay_options){.path = path, .mode = REPLAY_REPLICATED}, &error));
    ck_assert_int_eq(error.reason, RCT_CANNOT_REPLAY);
    ck_assert_uint_eq(error.line, 8);
    replay_plan *plan = open_plan(&(replay_options){.path = path, .mode = REPLAY_SERIAL});
    replay_plan_close(plan);
    remove(path);
    write_file(strcpy(path, "/tmp/replay_plan_test_XXXXXX"), HEAD "pre 0 2 99999999999\nend 0 1\n");
    ck_assert_ptr_null(
        replay_plan_open(&(replay_options){.path = path, .mode = REPLAY_SERIAL}, &error));
    ck_assert_int_eq(error.reason, RCT_CANNOT_REPLAY);
    remove(path);
}
END_TEST

START_TEST(kept_plans_are_the_same)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/inf_3threads.rct.xz", rcl_trace_dir());
    rct_error error;
    replay_options options = {.path = path, .mode = REPLAY_RECORDED, .threads = 2};
    replay_plan *first = replay_plan_acquire(&options, &error);
    ck_assert_ptr_nonnull(first);
    replay_plan_release(first);
    ck_assert_ptr_eq(replay_plan_acquire(&options, &error), first);
    options.threads = 3;
    replay_plan *other = replay_plan_acquire(&options, &error);
    ck_assert_ptr_ne(other, first);
    ck_assert_uint_eq(replay_plan_threads(other), 3);
    options.mode = REPLAY_SERIAL;
    ck_assert_ptr_ne(replay_plan_acquire(&options, &error), other);
}
END_TEST

/* A trace that comes through a pipe can be played again and again. */
START_TEST(standard_input)
{
    char path[] = "/tmp/replay_plan_test_XXXXXX";
    write_file(path, HEAD "0 N 0 2\n1 + 0 2\n0 - 0 1\n1 - 0 0\nend 4 0\n");
    expectation *expected = expect(path);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    static const char text[] = HEAD "0 N 0 2\n1 + 0 2\n0 - 0 1\n1 - 0 0\nend 4 0\n";
    ck_assert_int_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    ck_assert_int_ge(dup2(ends[0], STDIN_FILENO), 0);
    replay_plan *plan =
        open_plan(&(replay_options){.path = "-", .mode = REPLAY_RECORDED, .window_events = 2});
    seed_random(60);
    for (int i = 0; i < 5; i++) {
        run_pass(plan, expected);
    }
    replay_plan_close(plan);
    expectation_free(expected);
    remove(path);
}
END_TEST

int main(void)
{
    const char *named = getenv("RCLAB_SEED");
    seed_of_run = named != NULL ? strtoull(named, NULL, 0) : (uint64_t)time(NULL);
    printf("seed: RCLAB_SEED=%" PRIu64 "\n", seed_of_run);
    fflush(stdout);
    Suite *suite = suite_create("replay_plan");
    TCase *cases = tcase_create("plan");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, recordings, 0, 5);
    tcase_add_loop_test(cases, random_traces, 0, 40);
    tcase_add_test(cases, slots_are_used_again);
    tcase_add_test(cases, taken_out_before_it_is_put_in_again);
    tcase_add_test(cases, one_bridge_where_it_is_needed);
    tcase_add_test(cases, bad_files_are_refused_at_once);
    tcase_add_test(cases, cannot_be_replicated);
    tcase_add_test(cases, kept_plans_are_the_same);
    tcase_add_test(cases, standard_input);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
