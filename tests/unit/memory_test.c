/* memory_test: the counted allocation front.
 *
 * Every test that allocates runs once for each allocator (loop index 0: libc, 1: jemalloc).
 */
#include <check.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_MALLOC_REPLACED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_MALLOC_REPLACED 1
#endif
#ifndef TEST_MALLOC_REPLACED
#define TEST_MALLOC_REPLACED 0
#endif

enum { ALLOCATORS = 2, BLOCKS = 100 };

/* A sanitizer puts its own malloc in libc's place, and glibc's figures stay at 0. */
static bool skipped_without_glibc(int allocator, const char *test)
{
    if (!TEST_MALLOC_REPLACED || allocator != (int)RCL_ALLOCATOR_LIBC) {
        return false;
    }
    printf("skipped: %s: the sanitizer replaces malloc\n", test);
    return true;
}

static void use(int allocator)
{
    rcl_memory_use((rcl_allocator)allocator);
    ck_assert_int_eq((int)rcl_memory_used(), allocator);
}

static void check_counts(uint64_t live_blocks, uint64_t live_bytes, uint64_t total_blocks,
                         uint64_t total_bytes, uint64_t refused_blocks)
{
    rcl_memory_counts counts = rcl_memory_read();
    ck_assert_uint_eq(counts.live_blocks, live_blocks);
    ck_assert_uint_eq(counts.live_bytes, live_bytes);
    ck_assert_uint_eq(counts.total_blocks, total_blocks);
    ck_assert_uint_eq(counts.total_bytes, total_bytes);
    ck_assert_uint_eq(counts.refused_blocks, refused_blocks);
}

/* ---- Counting ---- */

START_TEST(counts_are_exact)
{
    use(_i);
    rcl_memory_count(true);
    check_counts(0, 0, 0, 0, 0);
    void *first = rcl_memory_alloc(24);
    void *second = rcl_memory_alloc(100);
    void *empty = rcl_memory_alloc(0);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert_ptr_nonnull(empty);
    check_counts(3, 124, 3, 124, 0);
    rcl_memory_free(first, 24);
    check_counts(2, 100, 3, 124, 0);
    rcl_memory_free(NULL, 8); /* counts nothing */
    check_counts(2, 100, 3, 124, 0);
    rcl_memory_free(empty, 0);
    rcl_memory_free(second, 100);
    check_counts(0, 0, 3, 124, 0);
    rcl_memory_count(true); /* from zero again */
    check_counts(0, 0, 0, 0, 0);
}
END_TEST

START_TEST(counting_stops)
{
    use(_i);
    rcl_memory_count(true);
    rcl_memory_count(false);
    void *block = rcl_memory_alloc(24);
    ck_assert_ptr_nonnull(block);
    check_counts(0, 0, 0, 0, 0);
    rcl_memory_free(block, 24);
    check_counts(0, 0, 0, 0, 0);
    ck_assert_int_eq((int)rcl_memory_used(), _i); /* the allocator stays */
}
END_TEST

START_TEST(selecting_an_allocator_stops_counting)
{
    use(_i);
    rcl_memory_count(true);
    rcl_memory_refuse(1);
    use(_i);
    void *block = rcl_memory_alloc(24);
    ck_assert_ptr_nonnull(block);
    check_counts(0, 0, 0, 0, 0);
    rcl_memory_free(block, 24);
}
END_TEST

static void *allocate_and_free(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < BLOCKS; i++) {
        void *kept = rcl_memory_alloc(32);
        void *dropped = rcl_memory_alloc(8);
        rcl_memory_free(dropped, 8);
        rcl_memory_free(kept, 32);
    }
    return NULL;
}

START_TEST(counts_add_up_over_threads)
{
    use(_i);
    rcl_memory_count(true);
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_and_free, NULL), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    check_counts(0, 0, UINT64_C(2) * 2 * BLOCKS, UINT64_C(2) * BLOCKS * 40, 0);
}
END_TEST

/* ---- Refusal ---- */

START_TEST(exactly_the_kth_request_is_refused)
{
    use(_i);
    for (uint64_t k = 1; k <= 6; k++) {
        rcl_memory_count(true);
        rcl_memory_refuse(k);
        for (uint64_t request = 1; request <= 6; request++) {
            void *block = rcl_memory_alloc(48);
            ck_assert_msg((block == NULL) == (request == k), "k = %u: request %u was %s",
                          (unsigned)k, (unsigned)request, block == NULL ? "refused" : "granted");
            rcl_memory_free(block, 48);
        }
        check_counts(0, 0, 5, UINT64_C(5) * 48, 1); /* once, and nothing else counted for it */
    }
}
END_TEST

START_TEST(an_order_to_refuse_counts_from_now_and_can_be_taken_back)
{
    use(_i);
    rcl_memory_count(true);
    void *before = rcl_memory_alloc(8);
    rcl_memory_refuse(1);
    ck_assert_ptr_null(rcl_memory_alloc(8));
    rcl_memory_refuse(1);
    rcl_memory_refuse(0);
    void *after = rcl_memory_alloc(8);
    ck_assert_ptr_nonnull(after);
    rcl_memory_refuse(1);
    rcl_memory_count(true); /* takes it back too */
    void *counted_anew = rcl_memory_alloc(8);
    ck_assert_ptr_nonnull(counted_anew);
    rcl_memory_count(false);
    rcl_memory_free(before, 8);
    rcl_memory_free(after, 8);
    rcl_memory_free(counted_anew, 8);
}
END_TEST

/* ---- Blocks ---- */

START_TEST(blocks_are_aligned_for_any_object)
{
    for (unsigned counting = 0; counting < 2; counting++) {
        use(_i);
        rcl_memory_count(counting == 1);
        for (size_t size = 0; size <= 64; size++) {
            /* Several of a size: the first one of a page would be aligned in any case. */
            void *blocks[8];
            for (unsigned i = 0; i < 8; i++) {
                blocks[i] = rcl_memory_alloc(size);
                ck_assert_ptr_nonnull(blocks[i]);
                ck_assert_msg((uintptr_t)blocks[i] % alignof(max_align_t) == 0,
                              "size %u: %p is not aligned for any object", (unsigned)size,
                              blocks[i]);
                memset(blocks[i], 0xa5, size);
            }
            for (unsigned i = 0; i < 8; i++) {
                rcl_memory_free(blocks[i], size);
            }
        }
    }
}
END_TEST

START_TEST(no_two_live_blocks_overlap)
{
    use(_i);
    unsigned char *blocks[BLOCKS];
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = rcl_memory_alloc(i);
        ck_assert_ptr_nonnull(blocks[i]);
        memset(blocks[i], (int)i, i);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned byte = 0; byte < i; byte++) {
            ck_assert_uint_eq(blocks[i][byte], i);
        }
        rcl_memory_free(blocks[i], i);
    }
}
END_TEST

/* What each allocator says that it gave: here one can see that it was that one. */
START_TEST(blocks_come_from_the_allocator_selected)
{
    if (skipped_without_glibc(_i, "blocks_come_from_the_allocator_selected")) {
        return;
    }
    for (unsigned counting = 0; counting < 2; counting++) {
        use(_i);
        rcl_memory_count(counting == 1);
        uint64_t before = rcl_memory_taken_bytes();
        /* Larger than what glibc keeps for the thread: there a freed block still counts as taken. */
        void *block = rcl_memory_alloc(2000);
        uint64_t with = rcl_memory_taken_bytes();
        rcl_memory_free(block, 2000);
        uint64_t after = rcl_memory_taken_bytes();
        ck_assert_uint_ge(with, before + 2000);
        ck_assert_uint_le(with, before + 2100); /* jemalloc's class is 2,048; glibc adds 8 to 24 */
        ck_assert_uint_eq(after, before);
    }
}
END_TEST

/* A block that libc's malloc maps on its own is in its figure as well. */
START_TEST(taken_bytes_know_large_blocks)
{
    if (skipped_without_glibc(_i, "taken_bytes_know_large_blocks")) {
        return;
    }
    use(_i);
    const size_t size = (size_t)64 << 20;
    uint64_t before = rcl_memory_taken_bytes();
    void *block = rcl_memory_alloc(size);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_ge(rcl_memory_taken_bytes(), before + size);
    rcl_memory_free(block, size);
    ck_assert_uint_eq(rcl_memory_taken_bytes(), before);
}
END_TEST

/* ---- The external functions that compiled implementations link with ---- */

START_TEST(external_functions_use_the_same_front)
{
    void *(*volatile allocate)(size_t) = rc_mem_alloc;
    void (*volatile release)(void *, size_t) = rc_mem_free;
    use(_i);
    rcl_memory_count(true);
    void *block = allocate(40);
    ck_assert_ptr_nonnull(block);
    check_counts(1, 40, 1, 40, 0);
    rcl_memory_refuse(1);
    ck_assert_ptr_null(allocate(40));
    release(block, 40);
    check_counts(0, 0, 1, 40, 1);
}
END_TEST

/* ---- Names ---- */

static uint64_t looks; /* at the clock */

static uint64_t counting_clock(void)
{
    return ++looks;
}

/* A group's moment is that of its last block, and only then is the clock looked at. */
START_TEST(a_group_knows_when_its_last_block_went)
{
    rcl_memory_group first = {0};
    rcl_memory_group second = {0};
    rcl_memory_use((rcl_allocator)_i);
    rcl_memory_follow(counting_clock);
    ck_assert(rcl_memory_is_followed());
    rcl_memory_name_group(&first);
    void *a = rc_mem_alloc(64);
    void *b = rcl_memory_alloc(0);
    rcl_memory_name_group(&second);
    void *c = rc_mem_alloc(5000);
    rcl_memory_name_group(NULL);
    void *nobodys = rc_mem_alloc(64);
    ck_assert_uint_eq(first.live_blocks, 2);
    ck_assert_uint_eq(second.live_blocks, 1);
    ck_assert_uint_eq((uintptr_t)a % alignof(max_align_t), 0);
    ck_assert_uint_eq((uintptr_t)b % alignof(max_align_t), 0);

    rc_mem_free(a, 64);
    rc_mem_free(nobodys, 64);
    ck_assert_uint_eq(first.live_blocks, 1);
    ck_assert_uint_eq(looks, 0);
    rc_mem_free(c, 5000);
    rc_mem_free(b, 0);
    rc_mem_free(NULL, 0);
    ck_assert_uint_eq(second.freed_at, 1);
    ck_assert_uint_eq(first.freed_at, 2);
    ck_assert_uint_eq(first.live_blocks, 0);
    ck_assert_uint_eq(looks, 2);
    rcl_memory_follow(NULL);
}
END_TEST

START_TEST(following_outlives_a_change_of_allocator_and_can_end)
{
    rcl_memory_use((rcl_allocator)(1 - _i));
    rcl_memory_follow(counting_clock);
    rcl_memory_use((rcl_allocator)_i);
    ck_assert(rcl_memory_is_followed());
    ck_assert_int_eq((int)rcl_memory_used(), _i);
    rcl_memory_group group = {0};
    rcl_memory_name_group(&group);
    rc_mem_free(rc_mem_alloc(64), 64);
    ck_assert_uint_ne(group.freed_at, 0);
    rcl_memory_follow(NULL);
    ck_assert(!rcl_memory_is_followed());
    ck_assert_int_eq((int)rcl_memory_current_mode,
                     _i == 0 ? (int)RCL_MEMORY_LIBC : (int)RCL_MEMORY_JEMALLOC);
    group = (rcl_memory_group){0};
    rc_mem_free(rc_mem_alloc(64), 64);
    ck_assert_uint_eq(group.freed_at, 0);
}
END_TEST

START_TEST(names_are_parsed)
{
    rcl_allocator allocator = RCL_ALLOCATOR_JEMALLOC;
    ck_assert(rcl_allocator_parse("libc", &allocator));
    ck_assert_int_eq((int)allocator, (int)RCL_ALLOCATOR_LIBC);
    ck_assert(rcl_allocator_parse("jemalloc", &allocator));
    ck_assert_int_eq((int)allocator, (int)RCL_ALLOCATOR_JEMALLOC);
    static const char *const wrong[] = {"", "LIBC", "libc ", "jemallo", "jemalloc2", "tcmalloc"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(!rcl_allocator_parse(wrong[i], &allocator), "'%s' is no allocator", wrong[i]);
    }
    ck_assert_str_eq(rcl_allocator_name(RCL_ALLOCATOR_LIBC), "libc");
    ck_assert_str_eq(rcl_allocator_name(RCL_ALLOCATOR_JEMALLOC), "jemalloc");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *memory = tcase_create("memory");
    tcase_add_loop_test(memory, counts_are_exact, 0, ALLOCATORS);
    tcase_add_loop_test(memory, counting_stops, 0, ALLOCATORS);
    tcase_add_loop_test(memory, selecting_an_allocator_stops_counting, 0, ALLOCATORS);
    tcase_add_loop_test(memory, counts_add_up_over_threads, 0, ALLOCATORS);
    tcase_add_loop_test(memory, exactly_the_kth_request_is_refused, 0, ALLOCATORS);
    tcase_add_loop_test(memory, an_order_to_refuse_counts_from_now_and_can_be_taken_back, 0,
                        ALLOCATORS);
    tcase_add_loop_test(memory, blocks_are_aligned_for_any_object, 0, ALLOCATORS);
    tcase_add_loop_test(memory, no_two_live_blocks_overlap, 0, ALLOCATORS);
    tcase_add_loop_test(memory, blocks_come_from_the_allocator_selected, 0, ALLOCATORS);
    tcase_add_loop_test(memory, taken_bytes_know_large_blocks, 0, ALLOCATORS);
    tcase_add_loop_test(memory, external_functions_use_the_same_front, 0, ALLOCATORS);
    tcase_add_loop_test(memory, a_group_knows_when_its_last_block_went, 0, ALLOCATORS);
    tcase_add_loop_test(memory, following_outlives_a_change_of_allocator_and_can_end, 0,
                        ALLOCATORS);
    tcase_add_test(memory, names_are_parsed);
    suite_add_tcase(suite, memory);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
