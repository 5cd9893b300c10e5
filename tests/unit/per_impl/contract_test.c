/* contract: what one thread can see of each promise in contract.h, for one implementation.
 *
 * Compiled once per implementation, in checked mode. Each case runs in a process of its own, counts
 * every hook and every block, and compares. A case that the implementation's capabilities exclude
 * is reported as skipped. Misuse runs in a child process: the right trap must end it. The
 * conformance battery goes further; this is what must hold before it is worth starting.
 */
#include "memory.h"
#include "contract.h"

#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRING2(a) #a
#define STRING(a) STRING2(a)
#define IMPL_NAME STRING(RCL_IMPL_NAME)

/* An allocation that is too large must be refused, as malloc does, and not end the process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- What hooks saw. Each case runs in a process of its own and finds it zeroed. ---- */

static struct {
    unsigned finalized;
    unsigned wrapper_retained, wrapper_released, wrapper_asked;
    void *last_payload; /* that a hook was called with */
} seen;

static uint64_t live_blocks(void)
{
    return rcl_memory_read().live_blocks;
}

/* A process that has never started a thread is a special case: libstdc++ counts without atomics
 * then. */
static void *do_nothing(void *argument)
{
    return argument;
}

static void start_a_thread(void)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, do_nothing, NULL), 0);
    pthread_join(thread, NULL);
}

static void setup(void)
{
    memset(&seen, 0, sizeof seen);
    start_a_thread();
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    rc_thread_attach();
}

/* Every case ends with all memory back: a case that leaves an object alive fails here. */
static void teardown(void)
{
    rc_thread_detach();
    ck_assert_uint_eq(live_blocks(), 0);
}

static void count_finalize(void *payload)
{
    seen.finalized++;
    seen.last_payload = payload;
}

static const rc_class plain_class = {
    .name = "plain", .payload_size = 40, .finalize = count_finalize};

static unsigned skips;

/* Unused for an implementation that nothing is excluded for. */
__attribute__((unused)) static void skip(const char *names, const char *reason)
{
    printf("skipped: %s: %s %s\n", names, IMPL_NAME, reason);
    skips++;
}

/* ---- Null handles, for every implementation ---- */

START_TEST(null_is_legal_everywhere)
{
    rc_strong null = rc_null();
    ck_assert(rc_is_null(null));
    ck_assert_ptr_null(rc_payload(null));
    ck_assert(rc_is_null(rc_retain(null)));
    rc_release(null);
    ck_assert(!rc_is_unique(null));
    ck_assert_uint_eq(rc_use_count(null), 0);
    rc_share(null);

    rc_strong slot = rc_null();
    rc_strong other = rc_null();
    rc_assign(&slot, null);
    rc_reset(&slot);
    rc_swap(&slot, &other);
    ck_assert(rc_is_null(slot));
    ck_assert_uint_eq(rcl_memory_read().total_blocks, 0);
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
START_TEST(weak_null_is_legal_everywhere)
{
    rc_weak null = rc_weak_null();
    ck_assert(rc_weak_is_null(null));
    ck_assert(rc_weak_is_null(rc_weak_new(rc_null())));
    ck_assert(rc_weak_is_null(rc_weak_retain(null)));
    ck_assert(rc_is_null(rc_weak_lock(null)));
    ck_assert(rc_weak_expired(null));
    ck_assert_uint_eq(rc_weak_count(rc_null()), 0);
    rc_weak_release(null);

    rc_weak slot = rc_weak_null();
    rc_weak other = rc_weak_null();
    rc_weak_assign(&slot, null);
    rc_weak_reset(&slot);
    rc_weak_swap(&slot, &other);
    ck_assert(rc_weak_is_null(slot));
}
END_TEST
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
START_TEST(raw_null_is_legal_everywhere)
{
    ck_assert_ptr_null(rc_into_raw(rc_null()));
    ck_assert(rc_is_null(rc_from_raw(NULL)));
    ck_assert(rc_is_null(rc_retain_raw(NULL)));
}
END_TEST
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
START_TEST(wrapper_null_is_legal_everywhere)
{
    rc_wrapper_attach(rc_null());
    ck_assert(!rc_has_wrapper(rc_null()));
    rc_wrapper_detach(rc_null());
}
END_TEST
#endif

/* ---- Memory, for every implementation ---- */

START_TEST(payloads_are_aligned_and_apart)
{
    static const size_t sizes[] = {0, 1, 8, 15, 16, 17, 4096};
    enum { count = sizeof sizes / sizeof sizes[0], copies = 3 };
    rc_class classes[count];
    rc_strong made[count * copies];
    for (size_t i = 0; i < count * copies; i++) {
        rc_class *class = &classes[i % count];
        *class = (rc_class){
            .name = "sized", .payload_size = sizes[i % count], .finalize = count_finalize};
        made[i] = rc_new(class);
        ck_assert(!rc_is_null(made[i]));
        ck_assert_ptr_nonnull(rc_payload(made[i]));
        ck_assert_uint_eq((uintptr_t)rc_payload(made[i]) % _Alignof(max_align_t), 0);
        memset(rc_payload(made[i]), (int)i + 1, class->payload_size);
    }
    for (size_t i = 0; i < count * copies; i++) {
        const unsigned char *bytes = rc_payload(made[i]);
        for (size_t j = 0; j < sizes[i % count]; j++) {
            ck_assert_uint_eq(bytes[j], i + 1);
        }
    }
    for (size_t i = 0; i < count * copies; i++) {
        rc_release(made[i]);
    }
    rc_thread_detach(); /* the classes live only in here */
    ck_assert_uint_eq(seen.finalized, count * copies);
    rc_thread_attach();
}
END_TEST

START_TEST(refused_memory_leaves_no_trace)
{
    rc_strong object = rc_null();
    uint64_t refused = 0;
    for (uint64_t k = 1; rc_is_null(object); k++) {
        ck_assert_uint_le(k, 8); /* more blocks than any strategy takes for one object */
        uint64_t before = live_blocks();
        rcl_memory_refuse(k);
        object = rc_new(&plain_class);
        rcl_memory_refuse(0);
        if (rc_is_null(object)) {
            refused++;
            ck_assert_uint_eq(rcl_memory_read().refused_blocks, refused);
            ck_assert_uint_eq(live_blocks(), before);
        }
    }
    ck_assert_uint_ge(refused, 1);
    ck_assert_uint_eq(seen.finalized, 0);
    rc_release(object);
}
END_TEST

START_TEST(sizes_that_would_wrap_are_refused)
{
    /* From beyond any header that a strategy might add to within all of them; volatile, or the
     * compiler sees the size and objects. */
    static const size_t below_max[] = {0, 1, 7, 8, 15, 16, 17, 23, 24, 31, 32, 47, 48, 63, 64, 128};
    for (size_t i = 0; i < sizeof below_max / sizeof below_max[0]; i++) {
        volatile size_t size = SIZE_MAX - below_max[i];
        rc_class class = {.name = "huge", .payload_size = size, .finalize = count_finalize};
        uint64_t before = live_blocks();
        ck_assert_msg(rc_is_null(rc_new(&class)), "a payload of SIZE_MAX - %zu bytes was granted",
                      below_max[i]);
        ck_assert_uint_eq(live_blocks(), before);
    }
}
END_TEST

#ifdef RCL_IMPL_LAYOUT_FAULT
START_TEST(foreign_layout_is_as_assumed)
{
    const char *fault = RCL_IMPL_LAYOUT_FAULT();
    ck_assert_msg(fault == NULL, "%s", fault == NULL ? "" : fault);
}
END_TEST
#endif

#ifdef RCL_IMPL_IS_NULL
/* ---- null: its own behaviour ---- */

typedef struct null_object {
    unsigned number;
    rc_strong other;
} null_object;

static unsigned null_next = 1; /* the number that must be finalized next */

static void null_finalize(void *payload)
{
    ck_assert_uint_eq(((const null_object *)payload)->number, null_next);
    null_next++;
    seen.finalized++;
    rc_release(((const null_object *)payload)->other);
}

static const rc_class null_class = {
    .name = "null", .payload_size = sizeof(null_object), .finalize = null_finalize};

static rc_strong null_make(const rc_class *class, unsigned number)
{
    rc_strong made = rc_new(class);
    ck_assert(!rc_is_null(made));
    *(null_object *)rc_payload(made) = (null_object){number, rc_null()};
    return made;
}

START_TEST(null_counts_nothing)
{
    rc_strong object = null_make(&null_class, 1);
    uint64_t blocks = rcl_memory_read().total_blocks;
    rc_strong copy = rc_retain(object);
    ck_assert_ptr_eq(rc_payload(copy), rc_payload(object));
    rc_weak weak = rc_weak_new(object);
    rc_release(copy);
    rc_release(object);
    ck_assert_uint_eq(seen.finalized, 0);
    ck_assert(!rc_weak_expired(weak));
    ck_assert_ptr_eq(rc_payload(rc_weak_lock(weak)), rc_payload(object));
    ck_assert_uint_eq(rc_use_count(object), 1);
    ck_assert(!rc_is_unique(object)); /* it cannot vouch for it */
    rc_weak_release(weak);
    ck_assert_uint_eq(rcl_memory_read().total_blocks, blocks);
    rc_thread_detach();
    ck_assert_uint_eq(seen.finalized, 1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(null_quiesce_finalizes_since_the_mark)
{
    /* Two that stay, in front of the mark; their turn comes at the end. */
    rc_strong kept = null_make(&null_class, 1000);
    null_make(&null_class, 1001);
    null_mark();
    void *first = NULL;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1; i <= 100; i++) {
            rc_strong made = null_make(&null_class, round * 100 + i);
            if (i == 1) {
                ck_assert(first == NULL || first == rc_payload(made)); /* the space is used again */
                first = rc_payload(made);
            }
        }
        ck_assert_uint_eq(seen.finalized, round * 100);
        rc_quiesce();
        ck_assert_uint_eq(seen.finalized, (round + 1) * 100);
        rc_quiesce(); /* nothing is left to do */
        ck_assert_uint_eq(seen.finalized, (round + 1) * 100);
    }
    ck_assert_uint_eq(((const null_object *)rc_payload(kept))->number, 1000);
    null_next = 1000;
    rc_thread_detach();
    ck_assert_uint_eq(seen.finalized, 302);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(null_without_a_mark_begins_at_birth)
{
    null_make(&null_class, 1);
    null_make(&null_class, 2);
    rc_quiesce();
    ck_assert_uint_eq(seen.finalized, 2);
    rc_thread_detach();
    ck_assert_uint_eq(seen.finalized, 2);
    rc_thread_attach(); /* once more from nothing */
    null_make(&null_class, 3);
    rc_thread_detach();
    ck_assert_uint_eq(seen.finalized, 3);
}
END_TEST

START_TEST(null_slabs_grow_and_are_reused)
{
    /* Payloads of all sizes, one beyond an ordinary slab, over a mark in the middle of a slab. */
    static const size_t sizes[] = {sizeof(null_object), 5000, 100000, 1000000, 70000};
    rc_class classes[5];
    for (unsigned i = 0; i < 5; i++) {
        classes[i] =
            (rc_class){.name = "null", .payload_size = sizes[i], .finalize = null_finalize};
    }
    null_make(&null_class, 5000);
    null_mark();
    uint64_t blocks = 0;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 1; i <= 50; i++) {
            size_t kind = (round < 2 ? i : i / 2) % 5; /* then two large ones in a row */
            rc_strong made = null_make(&classes[kind], round * 50 + i);
            null_object *object = rc_payload(made);
            /* the last byte too is the object's own */
            ((volatile char *)rc_payload(made))[sizes[kind] - 1] = (char)i;
            object->number = round * 50 + i;
        }
        rc_quiesce();
        ck_assert_uint_eq(seen.finalized, (round + 1) * 50);
        if (round % 2 == 0) {
            blocks = rcl_memory_read().total_blocks;
            ck_assert_uint_ge(blocks, 10); /* each of the ten large ones has a slab of its own */
        }
        ck_assert_uint_eq(rcl_memory_read().total_blocks, blocks); /* kept, and used again */
    }
    null_next = 5000;
    rc_thread_detach();
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

static void null_finalize_makes_another(void *payload)
{
    unsigned number = ((const null_object *)payload)->number;
    null_finalize(payload);
    if (number < 5) {
        extern const rc_class null_breeding_class;
        null_make(&null_breeding_class, number + 1);
    }
}

extern const rc_class null_breeding_class;
const rc_class null_breeding_class = {
    .name = "null", .payload_size = 100000, .finalize = null_finalize_makes_another};

START_TEST(null_finalizes_what_finalizers_make)
{
    null_make(&null_breeding_class, 1);
    rc_quiesce();
    ck_assert_uint_eq(seen.finalized, 5);
}
END_TEST

static void *null_other_thread(void *made)
{
    rc_thread_attach();
    null_mark();
    *(rc_strong *)made = null_make(&null_class, 7);
    rc_release(rc_retain(*(rc_strong *)made));
    rc_quiesce();
    *(unsigned *)rc_payload(*(rc_strong *)made) = 0;
    rc_thread_detach();
    return NULL;
}

START_TEST(null_regions_belong_to_threads)
{
    rc_strong mine = null_make(&null_class, 1);
    rc_strong theirs;
    null_next = 7;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, null_other_thread, &theirs), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(seen.finalized, 1); /* theirs only */
    ck_assert_uint_eq(((const null_object *)rc_payload(mine))->number, 1);
    null_next = 1;
}
END_TEST

static void add_counting(TCase *tc)
{
    tcase_add_test(tc, null_counts_nothing);
    tcase_add_test(tc, null_quiesce_finalizes_since_the_mark);
    tcase_add_test(tc, null_without_a_mark_begins_at_birth);
    tcase_add_test(tc, null_slabs_grow_and_are_reused);
    tcase_add_test(tc, null_finalizes_what_finalizers_make);
    tcase_add_test(tc, null_regions_belong_to_threads);
    skip("life, weak, raw, wrapper, slots, limits, traps", "counts nothing");
}

#else /* an implementation that counts */

#define IMMEDIATE (((RC_IMPL_CAPS)&RC_CAP_IMMEDIATE) != 0)
#define EXACT (((RC_IMPL_CAPS)&RC_CAP_EXACT_COUNT) != 0)

/* Without RC_CAP_IMMEDIATE an object may die only here. */
static void settle(void)
{
    rc_quiesce();
}

/* `strong` handles, counted exactly only where the implementation claims it. */
static void check_use_count(rc_strong object, uint64_t strong)
{
    if (EXACT) {
        ck_assert_uint_eq(rc_use_count(object), strong);
    }
}

static void check_unique(rc_strong object, bool unique)
{
    if (!unique) {
        ck_assert(!rc_is_unique(object));
    } else if (EXACT) {
        ck_assert(rc_is_unique(object));
    }
}

/* The object has just lost its last strong handle; `finalized` must have died by now. */
static void check_finalized(unsigned finalized)
{
    if (IMMEDIATE) {
        ck_assert_uint_eq(seen.finalized, finalized);
    }
    settle();
    ck_assert_uint_eq(seen.finalized, finalized);
}

/* ---- Life ---- */

START_TEST(birth)
{
    rc_strong object = rc_new(&plain_class);
    ck_assert(!rc_is_null(object));
    ck_assert_uint_ge(live_blocks(), 1);
    ck_assert_uint_ge(rcl_memory_read().live_bytes, plain_class.payload_size);
    check_use_count(object, 1);
    check_unique(object, true);
    settle();
    ck_assert_uint_eq(seen.finalized, 0);
    void *payload = rc_payload(object);
    rc_release(object);
    check_finalized(1);
    ck_assert_ptr_eq(seen.last_payload, payload);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(each_handle_counts)
{
    enum { most = 5 };
    rc_strong handles[most];
    handles[0] = rc_new(&plain_class);
    void *payload = rc_payload(handles[0]);
    memset(payload, 0x5a, plain_class.payload_size);
    for (unsigned i = 1; i < most; i++) {
        handles[i] = rc_retain(handles[i / 2]);
        ck_assert_ptr_eq(rc_payload(handles[i]), payload);
        check_use_count(handles[0], i + 1);
        check_unique(handles[i], false);
    }
    for (unsigned i = most - 1; i > 0; i--) {
        rc_release(handles[i]);
        settle();
        ck_assert_uint_eq(seen.finalized, 0);
        check_use_count(handles[0], i);
        check_unique(handles[0], i == 1);
    }
    for (size_t i = 0; i < plain_class.payload_size; i++) {
        ck_assert_uint_eq(((unsigned char *)payload)[i], 0x5a);
    }
    rc_release(handles[0]);
    check_finalized(1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(class_without_finalize)
{
    static const rc_class class = {.name = "bare", .payload_size = 1};
    rc_strong object = rc_new(&class);
    rc_release(rc_retain(object));
    rc_release(object);
    check_finalized(0);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

typedef struct node {
    rc_strong child;
    int number;
    int *order; /* where its death is written */
} node;

static void node_finalize(void *payload)
{
    node *self = payload;
    self->order[seen.finalized] = self->number;
    seen.finalized++;
    rc_release(self->child);
}

static const rc_class node_class = {
    .name = "node", .payload_size = sizeof(node), .finalize = node_finalize};

START_TEST(finalize_releases_others)
{
    int order[3] = {0, 0, 0};
    rc_strong chain = rc_null();
    for (int i = 3; i >= 1; i--) {
        rc_strong made = rc_new(&node_class);
        *(node *)rc_payload(made) = (node){chain, i, order};
        chain = made;
    }
    rc_release(chain);
    settle();
    settle();
    check_finalized(3);
    ck_assert_int_eq(order[0], 1); /* a parent dies before what only it holds */
    ck_assert_int_eq(order[1], 2);
    ck_assert_int_eq(order[2], 3);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(attach_again_and_share)
{
    rc_strong object = rc_new(&plain_class);
    rc_share(object);
    rc_share(object); /* idempotent */
    check_use_count(object, 1);
    rc_release(object);
    check_finalized(1);
    rc_thread_detach();
    rc_thread_attach();
    object = rc_new(&plain_class);
    rc_release(object);
    check_finalized(2);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

/* ---- Slots ---- */

static const rc_strong *watched_slot;
static void *found_in_slot;

static void slot_finalize(void *payload)
{
    count_finalize(payload);
    found_in_slot = rc_payload(*watched_slot);
}

static const rc_class slot_class = {.name = "slot", .payload_size = 8, .finalize = slot_finalize};

START_TEST(slot_holds_the_new_value_before_the_old_dies)
{
    rc_strong slot = rc_new(&slot_class);
    rc_strong value = rc_new(&plain_class);
    watched_slot = &slot;
    rc_assign(&slot, value);
    check_finalized(1);
    ck_assert_ptr_eq(found_in_slot, rc_payload(value));
    check_use_count(slot, 1); /* the slot took the unit over */

    rc_assign(&slot, rc_new(&slot_class));
    check_finalized(2);
    found_in_slot = &slot;
    rc_reset(&slot);
    check_finalized(3);
    ck_assert_ptr_null(found_in_slot);
    ck_assert(rc_is_null(slot));
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(slot_assigned_to_itself)
{
    rc_strong slot = rc_new(&plain_class);
    void *payload = rc_payload(slot);
    rc_assign(&slot, rc_retain(slot));
    settle();
    ck_assert_uint_eq(seen.finalized, 0);
    ck_assert_ptr_eq(rc_payload(slot), payload);
    check_use_count(slot, 1);
    rc_swap(&slot, &slot);
    ck_assert_ptr_eq(rc_payload(slot), payload);
    rc_reset(&slot);
    check_finalized(1);
}
END_TEST

START_TEST(slots_swap)
{
    rc_strong a = rc_new(&plain_class);
    rc_strong b = rc_null();
    void *payload = rc_payload(a);
    rc_swap(&a, &b);
    ck_assert(rc_is_null(a));
    ck_assert_ptr_eq(rc_payload(b), payload);
    check_use_count(b, 1);
    rc_reset(&b);
    check_finalized(1);
}
END_TEST

typedef struct self_owner {
    rc_strong self;
} self_owner;

static const rc_class self_owner_class = {
    .name = "self_owner", .payload_size = sizeof(self_owner), .finalize = count_finalize};

START_TEST(slot_inside_its_own_target)
{
    rc_strong object = rc_new(&self_owner_class);
    self_owner *payload = rc_payload(object);
    payload->self = object; /* the only handle: the object keeps itself */
    rc_reset(&payload->self);
    check_finalized(1); /* and nothing touched the slot afterwards: a sanitizer would tell */
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

/* ---- Misuse: in a child process, which the right trap must end ---- */

/* Runs `misuse` in a child. Waits for what is put off too, and for the end of the thread. */
static void expect_trap(void (*misuse)(void), const char *kind)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        misuse();
        settle();
        rc_thread_detach();
        _exit(0);
    }
    close(ends[1]);
    char text[4096];
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    close(ends[0]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s:", kind);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, wanted),
                  "expected the trap %s; the child %s %d and wrote: %s", kind,
                  WIFSIGNALED(status) ? "was ended by signal" : "exited with",
                  WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), text);
}

/* What the misuse of a case is done to. */
static rc_strong victim;
static rc_strong victim_copy;

static void make_victim(void)
{
    victim = rc_new(&plain_class);
    ck_assert(!rc_is_null(victim));
}

static void drop_victim(void)
{
    rc_release(victim);
    settle();
    ck_assert_uint_eq(live_blocks(), 0);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
/* ---- Weak handles ---- */

START_TEST(weak_handle_of_a_live_object)
{
    rc_strong object = rc_new(&plain_class);
    rc_weak weak = rc_weak_new(object);
    ck_assert(!rc_weak_is_null(weak));
    ck_assert(!rc_weak_expired(weak));
    check_use_count(object, 1);
    check_unique(object, false); /* it could be locked while the caller writes */
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(object), 1);
    }
    rc_weak second = rc_weak_retain(weak);
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(object), 2);
    }
    rc_strong locked = rc_weak_lock(second);
    ck_assert_ptr_eq(rc_payload(locked), rc_payload(object));
    check_use_count(object, 2);
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(object), 2); /* the weak handle stays the caller's */
    }
    rc_weak_release(second);
    rc_weak_release(weak);
    check_unique(object, false); /* two strong ones */
    rc_release(object);
    check_unique(locked, true);
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(locked), 0);
    }
    ck_assert_uint_eq(seen.finalized, 0);
    rc_release(locked);
    check_finalized(1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(weak_handle_outlives_the_object)
{
    static const rc_class large = {
        .name = "large", .payload_size = 4096, .finalize = count_finalize};
    rc_strong object = rc_new(&large);
    rc_weak weak = rc_weak_new(object);
    rc_release(object);
    check_finalized(1);
    ck_assert(rc_weak_expired(weak));
    ck_assert(rc_is_null(rc_weak_lock(weak)));
    ck_assert_uint_ge(live_blocks(), 1); /* something must know that the object is dead */
    if ((RC_IMPL_CAPS)&RC_CAP_EARLY_FREE) {
        ck_assert_uint_lt(rcl_memory_read().live_bytes, large.payload_size);
    }
    rc_weak second = rc_weak_retain(weak);
    rc_weak_release(weak);
    ck_assert_uint_ge(live_blocks(), 1);
    ck_assert(rc_weak_expired(second));
    ck_assert(rc_is_null(rc_weak_lock(second)));
    rc_weak_release(second);
    settle();
    ck_assert_uint_eq(live_blocks(), 0);
    ck_assert_uint_eq(seen.finalized, 1);
}
END_TEST

START_TEST(weak_handles_before_the_last_release)
{
    rc_strong object = rc_new(&plain_class);
    rc_weak weak = rc_weak_new(object);
    rc_weak_release(weak);
    ck_assert_uint_eq(seen.finalized, 0);
    check_unique(object, true);
    rc_release(object);
    check_finalized(1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(weak_slots)
{
    rc_strong object = rc_new(&plain_class);
    rc_weak slot = rc_weak_new(object);
    rc_weak other = rc_weak_null();
    rc_weak_assign(&slot, rc_weak_retain(slot)); /* itself */
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(object), 1);
    }
    rc_weak_swap(&slot, &slot);
    rc_weak_swap(&slot, &other);
    ck_assert(rc_weak_is_null(slot));
    ck_assert(!rc_weak_expired(other));
    rc_weak_assign(&other, rc_weak_null());
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(object), 0);
    }
    other = rc_weak_new(object);
    rc_release(object);
    check_finalized(1);
    rc_weak_reset(&other);
    ck_assert(rc_weak_is_null(other));
    settle();
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(refused_memory_for_a_weak_handle)
{
    rc_strong object = rc_new(&plain_class);
    rc_weak weak = rc_weak_null();
    for (uint64_t k = 1; rc_weak_is_null(weak); k++) {
        ck_assert_uint_le(k, 8);
        uint64_t before = live_blocks();
        rcl_memory_refuse(k);
        weak = rc_weak_new(object);
        rcl_memory_refuse(0);
        if (rc_weak_is_null(weak)) {
            ck_assert_uint_eq(rcl_memory_read().refused_blocks, k);
            ck_assert_uint_eq(live_blocks(), before);
            check_unique(object, true);
        }
    }
    rc_release(object);
    rc_weak_release(weak);
    settle();
    ck_assert_uint_eq(seen.finalized, 1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

/* An object that does things with weak handles while it dies. */
typedef struct dying {
    rc_weak self;   /* to itself; or null */
    rc_strong held; /* to another object; or null */
    rc_weak kept;   /* made while dying, taken out by the test */
} dying;

static rc_weak dying_survivor; /* a weak handle that a finalizer passed on */
static bool dying_lock_failed, dying_expired;

static void dying_finalize(void *payload)
{
    dying *self = payload;
    count_finalize(payload);
    dying_expired = rc_weak_expired(self->self);
    dying_lock_failed = rc_is_null(rc_weak_lock(self->self));
    rc_weak_reset(&self->self);
    if (!rc_is_null(self->held)) {
        rc_weak taken = rc_weak_new(self->held);
        rc_weak_release(rc_weak_retain(taken));
        dying_survivor = taken;
        rc_reset(&self->held);
    }
}

static const rc_class dying_class = {
    .name = "dying", .payload_size = sizeof(dying), .finalize = dying_finalize};

START_TEST(finalize_drops_its_own_weak_handle)
{
    for (int outside = 0; outside < 2; outside++) {
        rc_strong object = rc_new(&dying_class);
        *(dying *)rc_payload(object) = (dying){rc_weak_new(object), rc_null(), rc_weak_null()};
        rc_weak weak = outside ? rc_weak_new(object) : rc_weak_null();
        dying_lock_failed = dying_expired = false;
        rc_release(object);
        check_finalized((unsigned)outside + 1);
        ck_assert(dying_lock_failed); /* already, when finalize runs */
        ck_assert(dying_expired);
        ck_assert((live_blocks() > 0) == (outside != 0));
        rc_weak_release(weak);
        settle();
        ck_assert_uint_eq(live_blocks(), 0);
    }
}
END_TEST

START_TEST(finalize_takes_weak_handles_to_others)
{
    rc_strong other = rc_new(&plain_class);
    rc_strong object = rc_new(&dying_class);
    *(dying *)rc_payload(object) = (dying){rc_weak_null(), rc_retain(other), rc_weak_null()};
    rc_release(object);
    check_finalized(1);
    ck_assert(!rc_weak_expired(dying_survivor));
    check_use_count(other, 1);
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(other), 1);
    }
    rc_release(other);
    check_finalized(2);
    ck_assert(rc_weak_expired(dying_survivor));
    rc_weak_release(dying_survivor);
    settle();
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

static void passing_finalize(void *payload)
{
    dying *self = payload;
    count_finalize(payload);
    dying_survivor = rc_weak_retain(self->self);
    rc_weak_reset(&self->self);
}

static const rc_class passing_class = {
    .name = "passing", .payload_size = sizeof(dying), .finalize = passing_finalize};

START_TEST(finalize_keeps_a_weak_handle_to_itself)
{
    rc_strong object = rc_new(&passing_class);
    *(dying *)rc_payload(object) = (dying){rc_weak_new(object), rc_null(), rc_weak_null()};
    rc_release(object);
    check_finalized(1);
    ck_assert(rc_weak_expired(dying_survivor));
    ck_assert(rc_is_null(rc_weak_lock(dying_survivor)));
    ck_assert_uint_ge(live_blocks(), 1);
    rc_weak_release(dying_survivor);
    settle();
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

/* ---- Misuse that needs a weak handle: it keeps what a stale strong handle points to ---- */

static rc_weak victim_weak;

static void make_dead_victim(void)
{
    make_victim();
    victim_weak = rc_weak_new(victim);
    rc_release(victim);
    settle();
    ck_assert_uint_eq(seen.finalized, 1);
}

static void retain_dead(void)
{
    rc_retain(victim);
}

static void release_dead(void)
{
    rc_release(victim);
}

static void weak_new_of_dead(void)
{
    rc_weak_new(victim);
}

START_TEST(stale_strong_handles_trap)
{
    make_dead_victim();
    ck_assert(!rc_is_unique(victim));
    ck_assert_uint_eq(rc_use_count(victim), 0);
    expect_trap(retain_dead, "RC_TRAP_RETAIN_DEAD");
    expect_trap(weak_new_of_dead, "RC_TRAP_RETAIN_DEAD");
    expect_trap(release_dead, "RC_TRAP_RELEASE_DEAD");
    rc_weak_release(victim_weak);
}
END_TEST

static void weak_release_twice(void)
{
    rc_weak_release(victim_weak);
    rc_weak_release(victim_weak);
}

START_TEST(weak_release_below_zero_traps)
{
    make_victim();
    victim_weak = rc_weak_new(victim);
    expect_trap(weak_release_twice, "RC_TRAP_WEAK_RELEASE_DEAD");
    victim_copy = rc_retain(victim);
    expect_trap(weak_release_twice, "RC_TRAP_WEAK_RELEASE_DEAD");
    rc_release(victim_copy);
    rc_weak_release(victim_weak);
    drop_victim();
}
END_TEST

/* An object whose finalizer misuses it: in the time between the last release and the end. */
static void (*misuse_in_finalize)(void);

static void misusing_finalize(void *payload)
{
    (void)payload;
    misuse_in_finalize();
}

static const rc_class misusing_class = {
    .name = "misusing", .payload_size = 40, .finalize = misusing_finalize};

static void die_misusing(void)
{
    victim = rc_new(&misusing_class);
    victim_weak = rc_weak_new(victim);
    rc_release(victim);
}

START_TEST(misuse_in_finalize_traps)
{
    misuse_in_finalize = retain_dead;
    expect_trap(die_misusing, "RC_TRAP_RETAIN_DEAD");
    misuse_in_finalize = weak_new_of_dead;
    expect_trap(die_misusing, "RC_TRAP_RETAIN_DEAD");
    misuse_in_finalize = release_dead;
    expect_trap(die_misusing, "RC_TRAP_RELEASE_DEAD");
    /* The implicit weak, which is held meanwhile, is nobody's to release. */
    misuse_in_finalize = weak_release_twice;
    expect_trap(die_misusing, "RC_TRAP_WEAK_RELEASE_DEAD");
}
END_TEST
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
/* ---- Units as bare pointers ---- */

START_TEST(raw_round_trip)
{
    rc_strong object = rc_new(&plain_class);
    void *payload = rc_payload(object);
    void *raw = rc_into_raw(object);
    ck_assert_ptr_eq(raw, payload);
    rc_strong back = rc_from_raw(raw);
    ck_assert_ptr_eq(rc_payload(back), payload);
    check_use_count(back, 1); /* no count has changed */
    check_unique(back, true);
    rc_strong second = rc_retain_raw(payload);
    check_use_count(back, 2);
    raw = rc_into_raw(second);
    check_use_count(back, 2);
    rc_release(rc_from_raw(raw));
    check_use_count(back, 1);
    settle();
    ck_assert_uint_eq(seen.finalized, 0);
    rc_release(back);
    check_finalized(1);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

/* A payload that rc_new did not make, with the readable zeros in front of it that a test must
 * give. */
static _Alignas(max_align_t) char foreign_memory[128];

static void adopt_foreign(void)
{
    rc_from_raw(foreign_memory + 64);
}

static void retain_foreign(void)
{
    rc_retain_raw(foreign_memory + 64);
}

START_TEST(foreign_payloads_trap)
{
    expect_trap(adopt_foreign, "RC_TRAP_FOREIGN");
    expect_trap(retain_foreign, "RC_TRAP_FOREIGN");
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void retain_raw_dead(void)
{
    rc_retain_raw(rc_payload(victim));
}

START_TEST(raw_retain_of_a_dead_object_traps)
{
    make_dead_victim();
    expect_trap(retain_raw_dead, "RC_TRAP_RETAIN_DEAD");
    rc_weak_release(victim_weak);
}
END_TEST
#endif
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
/* ---- A wrapper ---- */

static rc_strong wrapped;              /* the wrapper's handle */
static bool wrapper_grants;            /* what wrapper_try_retain answers */
static bool bit_at_retain;             /* rc_has_wrapper, as wrapper_retain found it */
static bool bit_at_release;            /* the same in wrapper_release */
static uint64_t use_at_release;        /* rc_use_count, as wrapper_release found it */
static rc_strong (*while_asked)(void); /* what another owner does while the wrapper is asked */
static rc_strong made_while_asked;

static void on_wrapper_retain(void *payload)
{
    seen.wrapper_retained++;
    seen.last_payload = payload;
    bit_at_retain = rc_has_wrapper(wrapped);
}

static void on_wrapper_release(void *payload)
{
    seen.wrapper_released++;
    seen.last_payload = payload;
    bit_at_release = rc_has_wrapper(wrapped);
    use_at_release = rc_use_count(wrapped);
}

static bool on_wrapper_try_retain(void *payload)
{
    seen.wrapper_asked++;
    seen.last_payload = payload;
    if (while_asked != NULL) {
        made_while_asked = while_asked();
    }
    return wrapper_grants;
}

static const rc_class wrapped_class = {.name = "wrapped",
                                       .payload_size = 40,
                                       .finalize = count_finalize,
                                       .wrapper_retain = on_wrapper_retain,
                                       .wrapper_release = on_wrapper_release,
                                       .wrapper_try_retain = on_wrapper_try_retain};

static void check_hooks(unsigned asked, unsigned retained, unsigned released)
{
    ck_assert_uint_eq(seen.wrapper_asked, asked);
    ck_assert_uint_eq(seen.wrapper_retained, retained);
    ck_assert_uint_eq(seen.wrapper_released, released);
}

START_TEST(wrapper_edges_of_retain_and_release)
{
    wrapped = rc_new(&wrapped_class);
    ck_assert(!rc_has_wrapper(wrapped));
    rc_release(rc_retain(wrapped));
    check_hooks(0, 0, 0); /* nobody is attached yet */
    rc_wrapper_attach(wrapped);
    ck_assert(rc_has_wrapper(wrapped));
    check_hooks(0, 0, 0);
    check_use_count(wrapped, 1); /* the count has not moved */
    check_unique(wrapped, true); /* the wrapper's bit is ignored */
    for (unsigned round = 1; round <= 2; round++) {
        rc_strong second = rc_retain(wrapped); /* 1 -> 2 */
        check_hooks(0, round, round - 1);
        ck_assert_ptr_eq(seen.last_payload, rc_payload(wrapped));
        rc_strong third = rc_retain(second); /* 2 -> 3 */
        rc_release(second);                  /* 3 -> 2 */
        check_hooks(0, round, round - 1);
        check_use_count(wrapped, 2);
        seen.last_payload = NULL;
        rc_release(third); /* 2 -> 1 */
        check_hooks(0, round, round);
        ck_assert_ptr_eq(seen.last_payload, rc_payload(wrapped));
        if (EXACT) {
            ck_assert_uint_eq(use_at_release, 1); /* this thread had given its reference up */
        }
    }
    rc_release(wrapped); /* 1 -> 0: no edge */
    check_finalized(1);
    check_hooks(0, 2, 2);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

START_TEST(wrapper_attached_to_a_shared_object)
{
    for (unsigned others = 1; others <= 3; others++) {
        memset(&seen, 0, sizeof seen);
        rc_strong other[3];
        wrapped = rc_new(&wrapped_class);
        for (unsigned i = 0; i < others; i++) {
            other[i] = rc_retain(wrapped);
        }
        bit_at_retain = true;
        rc_wrapper_attach(wrapped);
        check_hooks(0, 1, 0);
        ck_assert(!bit_at_retain); /* retained before the bit could be seen */
        check_use_count(wrapped, others + 1);
        for (unsigned i = 0; i < others; i++) {
            check_hooks(0, 1, 0);
            rc_release(other[i]);
        }
        check_hooks(0, 1, 1);
        rc_wrapper_detach(wrapped); /* with strong 1: nothing to give back */
        check_hooks(0, 1, 1);
        ck_assert(!rc_has_wrapper(wrapped));
        check_use_count(wrapped, 1);
        rc_release(wrapped);
        check_finalized(1);
    }
}
END_TEST

START_TEST(wrapper_detached_from_a_shared_object)
{
    wrapped = rc_new(&wrapped_class);
    rc_wrapper_attach(wrapped);
    rc_strong second = rc_retain(wrapped);
    rc_strong third = rc_retain(wrapped);
    check_hooks(0, 1, 0);
    bit_at_release = true;
    rc_wrapper_detach(wrapped);
    check_hooks(0, 1, 1);
    ck_assert(!bit_at_release); /* called afterwards */
    check_use_count(wrapped, 3);
    rc_release(third);
    rc_release(second);
    rc_release(rc_retain(wrapped));
    check_hooks(0, 1, 1);       /* no edges any more */
    rc_wrapper_attach(wrapped); /* and a second wrapper may come */
    rc_release(rc_retain(wrapped));
    check_hooks(0, 2, 2);
    rc_release(wrapped);
    check_finalized(1);
}
END_TEST

START_TEST(wrapper_without_hooks)
{
    rc_strong object = rc_new(&plain_class);
    rc_strong second = rc_retain(object);
    rc_wrapper_attach(object);
    rc_release(second);
    rc_release(rc_retain(object));
    second = rc_retain(object);
    rc_wrapper_detach(object);
    rc_release(second);
    rc_release(object);
    check_finalized(1);
}
END_TEST

static void release_wrapped(void *payload)
{
    seen.wrapper_released++;
    seen.last_payload = payload;
    rc_reset(&wrapped); /* the other runtime let its object go, and that one held the last handle */
}

static const rc_class fading_class = {.name = "fading",
                                      .payload_size = 40,
                                      .finalize = count_finalize,
                                      .wrapper_retain = on_wrapper_retain,
                                      .wrapper_release = release_wrapped};

START_TEST(wrapper_release_takes_the_object_along)
{
    wrapped = rc_new(&fading_class);
    rc_wrapper_attach(wrapped);
    rc_strong second = rc_retain(wrapped);
    rc_release(second); /* 2 -> 1, then 1 -> 0 inside the hook */
    check_finalized(1);
    check_hooks(0, 1, 1);
    ck_assert_uint_eq(live_blocks(), 0);

    wrapped = rc_new(&fading_class);
    second = rc_retain(wrapped);
    rc_wrapper_attach(wrapped);
    check_hooks(0, 2, 1);
    rc_release(second);
    check_finalized(2);
    ck_assert_uint_eq(live_blocks(), 0);
}
END_TEST

static void attach_twice(void)
{
    rc_wrapper_attach(victim);
    rc_wrapper_attach(victim);
}

static void detach_without_attach(void)
{
    rc_wrapper_detach(victim);
}

static void detach_twice(void)
{
    rc_wrapper_attach(victim);
    rc_wrapper_detach(victim);
    rc_wrapper_detach(victim);
}

START_TEST(wrapper_misuse_traps)
{
    make_victim();
    expect_trap(attach_twice, "RC_TRAP_WRAPPER");
    expect_trap(detach_without_attach, "RC_TRAP_WRAPPER");
    expect_trap(detach_twice, "RC_TRAP_WRAPPER");
    drop_victim();
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_RAW
START_TEST(wrapper_edges_of_raw_units)
{
    wrapped = rc_new(&wrapped_class);
    rc_wrapper_attach(wrapped);
    rc_strong second = rc_retain_raw(rc_payload(wrapped)); /* 1 -> 2 */
    check_hooks(0, 1, 0);
    void *raw = rc_into_raw(second);
    second = rc_from_raw(raw);
    check_hooks(0, 1, 0); /* no count has changed */
    rc_strong third = rc_retain_raw(raw);
    check_hooks(0, 1, 0);
    rc_release(third);
    rc_release(second);
    check_hooks(0, 1, 1);
    rc_release(wrapped);
    check_finalized(1);
}
END_TEST
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
START_TEST(wrapper_edges_of_lock)
{
    wrapper_grants = true;
    wrapped = rc_new(&wrapped_class);
    rc_weak weak = rc_weak_new(wrapped);
    rc_release(rc_weak_lock(weak));
    check_hooks(0, 0, 0);
    rc_wrapper_attach(wrapped);
    rc_strong second = rc_weak_lock(weak); /* 1 -> 2: asked, and that was the retain */
    ck_assert_ptr_eq(rc_payload(second), rc_payload(wrapped));
    check_hooks(1, 0, 0);
    rc_strong third = rc_weak_lock(weak); /* 2 -> 3 */
    check_hooks(1, 0, 0);
    rc_release(second);
    check_hooks(1, 0, 0);
    rc_release(third);
    check_hooks(1, 0, 1);
    rc_release(wrapped);
    check_finalized(1);
    ck_assert(rc_is_null(rc_weak_lock(weak)));
    check_hooks(1, 0, 1); /* a dead object's wrapper is not asked */
    rc_weak_release(weak);
}
END_TEST

START_TEST(wrapper_refuses_a_lock)
{
    wrapper_grants = false;
    wrapped = rc_new(&wrapped_class);
    rc_weak weak = rc_weak_new(wrapped);
    rc_wrapper_attach(wrapped);
    ck_assert(rc_is_null(rc_weak_lock(weak)));
    check_hooks(1, 0, 0);
    check_use_count(wrapped, 1); /* no trace */
    if (EXACT) {
        ck_assert_uint_eq(rc_weak_count(wrapped), 1);
    }
    ck_assert(!rc_weak_expired(weak));
    rc_strong second = rc_retain(wrapped);
    check_hooks(1, 1, 0);
    rc_strong third = rc_weak_lock(weak); /* 2 -> 3: nobody to ask */
    ck_assert(!rc_is_null(third));
    check_hooks(1, 1, 0);
    rc_release(second);
    rc_release(third);
    check_hooks(1, 1, 1);
    rc_weak_release(weak);
    rc_release(wrapped);
    check_finalized(1);
}
END_TEST

START_TEST(wrapper_without_try_is_retained_by_lock)
{
    static const rc_class class = {.name = "no_try",
                                   .payload_size = 40,
                                   .finalize = count_finalize,
                                   .wrapper_retain = on_wrapper_retain,
                                   .wrapper_release = on_wrapper_release};
    wrapped = rc_new(&class);
    rc_weak weak = rc_weak_new(wrapped);
    rc_wrapper_attach(wrapped);
    rc_strong second = rc_weak_lock(weak);
    ck_assert(!rc_is_null(second));
    check_hooks(0, 1, 0);
    rc_release(second);
    check_hooks(0, 1, 1);
    rc_weak_release(weak);
    rc_release(wrapped);
    check_finalized(1);
}
END_TEST

static rc_strong retain_wrapped(void)
{
    return rc_retain(wrapped);
}

static rc_strong detach_wrapped(void)
{
    rc_wrapper_detach(wrapped);
    return rc_null();
}

START_TEST(wrapper_grant_that_became_surplus_is_given_back)
{
    /* While the wrapper is asked, another owner comes: the lock then raises 2 -> 3. */
    wrapper_grants = true;
    while_asked = retain_wrapped;
    wrapped = rc_new(&wrapped_class);
    rc_weak weak = rc_weak_new(wrapped);
    rc_wrapper_attach(wrapped);
    rc_strong locked = rc_weak_lock(weak);
    ck_assert(!rc_is_null(locked));
    check_use_count(wrapped, 3);
    check_hooks(1, 1, 1); /* granted once, retained at the other owner's edge, once given back */
    rc_release(locked);
    rc_release(made_while_asked);
    check_hooks(1, 1, 2);

    /* While it is asked, it is detached: no edge is crossed at all. */
    while_asked = detach_wrapped;
    locked = rc_weak_lock(weak);
    check_use_count(wrapped, 2);
    check_hooks(2, 1, 3);
    rc_release(locked);
    check_hooks(2, 1, 3);
    rc_weak_release(weak);
    rc_release(wrapped);
    check_finalized(1);
}
END_TEST
#endif
#endif

/* ---- Limits ---- */

#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET

#define SATURATES ((RC_IMPL_OVERFLOW) == RC_OVERFLOW_SATURATE)
#define STRONG_MAX ((uint64_t)(RC_IMPL_STRONG_MAX))

static void raise_by_retain(void)
{
    rc_retain(victim);
}

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static void raise_by_raw(void)
{
    rc_retain_raw(rc_payload(victim));
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
#define WEAK_MAX ((uint64_t)(RC_IMPL_WEAK_MAX))

static void raise_by_lock(void)
{
    rc_weak_lock(victim_weak);
}

static void raise_weak_by_new(void)
{
    rc_weak_new(victim);
}

static void raise_weak_by_retain(void)
{
    rc_weak_retain(victim_weak);
}
#endif

/* One more than the most: what RC_IMPL_OVERFLOW says. */
static void check_strong_limit(void (*raise)(void))
{
    rc_test_preset(victim, STRONG_MAX - 1, 1);
    raise(); /* the last one that fits, with no carry into what lies beside it */
    ck_assert_uint_eq(rc_use_count(victim), STRONG_MAX);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    ck_assert_uint_eq(rc_weak_count(victim), 1);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    ck_assert(!rc_has_wrapper(victim));
#endif
    if (!SATURATES) {
        expect_trap(raise, "RC_TRAP_STRONG_OVERFLOW");
        return;
    }
    raise();
    ck_assert_uint_eq(rc_use_count(victim), STRONG_MAX);
    for (int i = 0; i < 3; i++) {
        rc_release(victim); /* pinned: it does not come down again */
        ck_assert_uint_eq(rc_use_count(victim), STRONG_MAX);
    }
    ck_assert_uint_eq(seen.finalized, 0);
}

START_TEST(strong_limit)
{
    make_victim();
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    victim_weak = rc_weak_new(victim);
#endif
    check_strong_limit(raise_by_retain);
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    check_strong_limit(raise_by_raw);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    check_strong_limit(raise_by_lock);
#endif
    rc_test_preset(victim, 1, 0);
    drop_victim();
    ck_assert_uint_eq(seen.finalized, 1);
}
END_TEST

START_TEST(preset_sets_what_queries_say)
{
    make_victim();
    rc_test_preset(victim, 7, 0);
    ck_assert_uint_eq(rc_use_count(victim), 7);
    rc_test_preset(victim, 2, 0);
    rc_release(victim);
    settle();
    ck_assert_uint_eq(seen.finalized, 0);
    ck_assert_uint_eq(rc_use_count(victim), 1);
    check_unique(victim, true);
    drop_victim();
    ck_assert_uint_eq(seen.finalized, 1);
}
END_TEST

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void check_weak_limit(void (*raise)(void))
{
    rc_test_preset(victim, 1, WEAK_MAX - 1);
    raise();
    ck_assert_uint_eq(rc_weak_count(victim), WEAK_MAX);
    ck_assert_uint_eq(rc_use_count(victim), 1);
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    ck_assert(!rc_has_wrapper(victim));
#endif
    if (!SATURATES) {
        expect_trap(raise, "RC_TRAP_WEAK_OVERFLOW");
        return;
    }
    raise();
    rc_weak_release(victim_weak);
    ck_assert_uint_eq(rc_weak_count(victim), WEAK_MAX);
}

START_TEST(weak_limit)
{
    make_victim();
    victim_weak = rc_weak_new(victim);
    check_weak_limit(raise_weak_by_new);
    check_weak_limit(raise_weak_by_retain);
    rc_test_preset(victim, 1, 0);
    drop_victim();
}
END_TEST

static void die_with_most_weak_handles(void)
{
    make_victim();
    victim_weak = rc_weak_new(victim);
    rc_test_preset(victim, 1, WEAK_MAX - 1);
    rc_release(victim);
    settle();
    rc_weak_retain(victim_weak); /* the last one that fits */
}

static void one_weak_handle_more_when_dead(void)
{
    die_with_most_weak_handles();
    rc_weak_retain(victim_weak);
}

static void one_weak_handle_more_in_finalize(void)
{
    rc_weak_retain(victim_weak);
    rc_weak_retain(victim_weak);
}

static void die_at_weak_limit(void)
{
    victim = rc_new(&misusing_class);
    victim_weak = rc_weak_new(victim);
    rc_test_preset(victim, 1, WEAK_MAX - 1);
    rc_release(victim);
}

static rc_weak never_released; /* of a block that stays: it has WEAK_MAX weak handles */

START_TEST(weak_limit_of_a_dead_object)
{
    if (SATURATES) {
        return;
    }
    expect_trap(one_weak_handle_more_when_dead, "RC_TRAP_WEAK_OVERFLOW");
    misuse_in_finalize = one_weak_handle_more_in_finalize;
    expect_trap(die_at_weak_limit, "RC_TRAP_WEAK_OVERFLOW");

    /* and one fewer does not trap, in finalize nor later */
    misuse_in_finalize = raise_weak_by_retain;
    die_at_weak_limit();
    never_released = victim_weak;
    die_with_most_weak_handles();
    ck_assert(rc_weak_expired(victim_weak));
    ck_assert(rc_weak_expired(never_released));
    rcl_memory_count(true); /* both blocks stay, and are meant to */
}
END_TEST
#endif
#endif

/* ---- A second thread ---- */

#if !((RC_IMPL_CAPS)&RC_CAP_THREADS)
static void (*second_thread_does)(void);

static void *second_thread(void *argument)
{
    second_thread_does();
    return argument;
}

static void on_second_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, second_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
}

static void use_retain(void)
{
    rc_retain(victim);
}

static void use_release(void)
{
    rc_release(victim);
}

static void use_unique(void)
{
    rc_is_unique(victim);
}

static void use_count(void)
{
    rc_use_count(victim);
}

#if (RC_IMPL_CAPS) & RC_CAP_WEAK
static void use_weak_new(void)
{
    rc_weak_new(victim);
}

static void use_weak_retain(void)
{
    rc_weak_retain(victim_weak);
}

static void use_weak_release(void)
{
    rc_weak_release(victim_weak);
}

static void use_weak_lock(void)
{
    rc_weak_lock(victim_weak);
}

static void use_weak_expired(void)
{
    rc_weak_expired(victim_weak);
}

static void use_weak_count(void)
{
    rc_weak_count(victim);
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_RAW
static void use_retain_raw(void)
{
    rc_retain_raw(rc_payload(victim));
}

static void use_from_raw(void)
{
    rc_from_raw(rc_payload(victim));
}
#endif

#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
static void use_attach(void)
{
    rc_wrapper_attach(victim);
}

static void use_has_wrapper(void)
{
    rc_has_wrapper(victim);
}
#endif

static void (*const uses[])(void) = {
    use_retain,       use_release,     use_unique,       use_count,
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    use_weak_new,     use_weak_retain, use_weak_release, use_weak_lock,
    use_weak_expired, use_weak_count,
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    use_retain_raw,   use_from_raw,
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    use_attach,       use_has_wrapper,
#endif
};

START_TEST(use_from_a_second_thread_traps)
{
    make_victim();
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    victim_weak = rc_weak_new(victim);
#endif
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        second_thread_does = uses[i];
        expect_trap(on_second_thread, "RC_TRAP_THREAD");
    }
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    rc_weak_release(victim_weak);
#endif
    drop_victim();
}
END_TEST
#endif

static void add_life(TCase *tc)
{
    tcase_add_test(tc, birth);
    tcase_add_test(tc, each_handle_counts);
    tcase_add_test(tc, class_without_finalize);
    tcase_add_test(tc, finalize_releases_others);
    tcase_add_test(tc, attach_again_and_share);
    tcase_add_test(tc, slot_holds_the_new_value_before_the_old_dies);
    tcase_add_test(tc, slot_assigned_to_itself);
    tcase_add_test(tc, slots_swap);
    tcase_add_test(tc, slot_inside_its_own_target);
}

static void add_weak(TCase *tc)
{
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(tc, weak_handle_of_a_live_object);
    tcase_add_test(tc, weak_handle_outlives_the_object);
    tcase_add_test(tc, weak_handles_before_the_last_release);
    tcase_add_test(tc, weak_slots);
    tcase_add_test(tc, refused_memory_for_a_weak_handle);
    tcase_add_test(tc, finalize_drops_its_own_weak_handle);
    tcase_add_test(tc, finalize_takes_weak_handles_to_others);
    tcase_add_test(tc, finalize_keeps_a_weak_handle_to_itself);
    tcase_add_test(tc, stale_strong_handles_trap);
    tcase_add_test(tc, weak_release_below_zero_traps);
    tcase_add_test(tc, misuse_in_finalize_traps);
#else
    (void)tc;
    skip("weak handles, stale handles", "does not claim RC_CAP_WEAK");
#endif
}

static void add_raw(TCase *tc)
{
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    tcase_add_test(tc, raw_round_trip);
    tcase_add_test(tc, foreign_payloads_trap);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(tc, raw_retain_of_a_dead_object_traps);
#endif
#else
    (void)tc;
    skip("raw units, foreign payloads", "does not claim RC_CAP_RAW");
#endif
}

static void add_wrapper(TCase *tc)
{
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    tcase_add_test(tc, wrapper_edges_of_retain_and_release);
    tcase_add_test(tc, wrapper_attached_to_a_shared_object);
    tcase_add_test(tc, wrapper_detached_from_a_shared_object);
    tcase_add_test(tc, wrapper_without_hooks);
    tcase_add_test(tc, wrapper_release_takes_the_object_along);
    tcase_add_test(tc, wrapper_misuse_traps);
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    tcase_add_test(tc, wrapper_edges_of_raw_units);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(tc, wrapper_edges_of_lock);
    tcase_add_test(tc, wrapper_refuses_a_lock);
    tcase_add_test(tc, wrapper_without_try_is_retained_by_lock);
    tcase_add_test(tc, wrapper_grant_that_became_surplus_is_given_back);
#endif
#else
    (void)tc;
    skip("wrapper", "does not claim RC_CAP_WRAPPER");
#endif
}

static void add_limits(TCase *tc)
{
#if ((RC_IMPL_CAPS)&RC_CAP_PRESET) && RC_PRESET
    tcase_add_test(tc, preset_sets_what_queries_say);
    tcase_add_test(tc, strong_limit);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(tc, weak_limit);
    tcase_add_test(tc, weak_limit_of_a_dead_object);
#endif
#else
    (void)tc;
    skip("limits", "does not claim RC_CAP_PRESET");
#endif
}

static void add_threads(TCase *tc)
{
#if (RC_IMPL_CAPS) & RC_CAP_THREADS
    (void)tc;
    skip("use from a second thread traps", "claims RC_CAP_THREADS");
#else
    tcase_add_test(tc, use_from_a_second_thread_traps);
#endif
}

static void add_counting(TCase *tc)
{
    add_life(tc);
    add_weak(tc);
    add_raw(tc);
    add_wrapper(tc);
    add_limits(tc);
    add_threads(tc);
}
#endif

static void add_every(TCase *tc)
{
    tcase_add_test(tc, null_is_legal_everywhere);
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    tcase_add_test(tc, weak_null_is_legal_everywhere);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_RAW
    tcase_add_test(tc, raw_null_is_legal_everywhere);
#endif
#if (RC_IMPL_CAPS) & RC_CAP_WRAPPER
    tcase_add_test(tc, wrapper_null_is_legal_everywhere);
#endif
    tcase_add_test(tc, payloads_are_aligned_and_apart);
    tcase_add_test(tc, refused_memory_leaves_no_trace);
    tcase_add_test(tc, sizes_that_would_wrap_are_refused);
#ifdef RCL_IMPL_LAYOUT_FAULT
    tcase_add_test(tc, foreign_layout_is_as_assumed);
#endif
}

int main(void)
{
    Suite *suite = suite_create("contract " IMPL_NAME);
    TCase *tc = tcase_create(IMPL_NAME);
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    add_every(tc);
    add_counting(tc);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%u groups of cases skipped\n", skips);
    return failed == 0 ? 0 : 1;
}
