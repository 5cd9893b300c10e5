/* arena_test: the shared arena of the memory front. */
#include "memory.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract.h"

/* Blocks are apart, aligned, counted, and refused when the arena is full. */
START_TEST(blocks)
{
    enum { BLOCKS = 16, SIZE = 100 };
    unsigned char *block[BLOCKS];
    rcl_memory_arena *arena = rcl_memory_arena_new(BLOCKS * 128);
    ck_assert_ptr_nonnull(arena);
    rcl_memory_arena_enter(arena);
    for (unsigned i = 0; i < BLOCKS; i++) {
        block[i] = rc_mem_alloc(SIZE);
        ck_assert_ptr_nonnull(block[i]);
        ck_assert_uint_eq((uintptr_t)block[i] % _Alignof(max_align_t), 0);
        memset(block[i], (int)i, SIZE);
    }
    ck_assert_ptr_null(rc_mem_alloc(SIZE));
    volatile size_t too_large = SIZE_MAX; /* volatile: the compiler would warn */
    ck_assert_ptr_null(rc_mem_alloc(too_large));
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(arena), BLOCKS);
    for (unsigned i = 0; i < BLOCKS; i++) {
        for (unsigned j = 0; j < SIZE; j++) {
            ck_assert_uint_eq(block[i][j], i);
        }
        rc_mem_free(block[i], SIZE);
    }
    rc_mem_free(NULL, 0);
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(arena), 0);
    rcl_memory_arena_leave();
    rcl_memory_arena_delete(arena);
}
END_TEST

/* Leave goes back to what was selected, counting included, and a leak in the arena joins the counts. */
START_TEST(leave)
{
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    rcl_memory_arena *arena = rcl_memory_arena_new(4096);
    ck_assert_ptr_nonnull(arena);
    rcl_memory_arena_enter(arena);
    void *lost = rc_mem_alloc(24);
    ck_assert_ptr_nonnull(lost);
    rcl_memory_arena_leave();
    ck_assert_uint_eq(rcl_memory_read().total_blocks, 0);
    void *outside = rc_mem_alloc(40);
    ck_assert_uint_eq(rcl_memory_read().total_blocks, 1);
    rc_mem_free(outside, 40);
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(arena), 1);
    rcl_memory_arena_delete(arena);
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 1);
    ck_assert_uint_eq(rcl_memory_read().live_bytes, 24);
    rcl_memory_count(false);
    rcl_memory_arena_delete(NULL);
}
END_TEST

/* A child writes, allocates and frees; this process sees it at the same addresses. */
START_TEST(processes)
{
    rcl_memory_arena *arena = rcl_memory_arena_new(4096);
    ck_assert_ptr_nonnull(arena);
    rcl_memory_arena_enter(arena);
    char *given = rc_mem_alloc(16);
    void **made = rc_mem_alloc(sizeof *made);
    ck_assert(given != NULL && made != NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        snprintf(given, 16, "from a child");
        *made = rc_mem_alloc(32);
        snprintf(*made, 32, "made by a child");
        rc_mem_free(given, 16);
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(given, "from a child");
    ck_assert_str_eq(*made, "made by a child");
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(arena), 2);
    rc_mem_free(*made, 32);
    rc_mem_free(made, sizeof *made);
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(arena), 0);
    rcl_memory_arena_leave();
    rcl_memory_arena_delete(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *cases = tcase_create("arena");
    tcase_add_test(cases, blocks);
    tcase_add_test(cases, leave);
    tcase_add_test(cases, processes);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
