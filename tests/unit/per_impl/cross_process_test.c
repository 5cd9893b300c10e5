/* cross_process_test: one object, several processes, over one implementation: the workload's processes
 * run, let go in the right order, and the last of them finalizes and frees, once. */
#include "memory.h"
#include "contract.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "workload.h"

#define STRING2(a) #a
#define STRING(a) STRING2(a)

#if (RC_IMPL_CAPS) & RC_CAP_SHM
#include "cross_process.h"

enum { OPERATIONS = 2000 };

/* Each variant: every process does something, one finalizer, no block left, all ended well. */
START_TEST(last_of_all_processes_finalizes)
{
    const rcl_variant *variant = &cross_process_variants[_i];
    cross_process_shared shared = {.child_count = 0};
    rcl_team team = {.threads = 1, .sharing = RCL_SHARED, .variant = variant, .shared = &shared};
    rcl_thread thread = {.team = &team};
    rcl_memory_use(RCL_ALLOCATOR_LIBC);
    rcl_memory_count(true);
    rc_thread_attach();
    ck_assert(cross_process_workload.shared_setup(&team));
    ck_assert_uint_eq(rcl_memory_read().total_blocks, 0); /* the object is in the arena */
    ck_assert_uint_gt(rcl_memory_arena_live_blocks(shared.arena), 0);
    ck_assert_uint_eq(shared.child_count, (unsigned)variant->parameter - 1);
    ck_assert_uint_eq(cross_process_workload.run(&thread, OPERATIONS), OPERATIONS);
    ck_assert_uint_eq(shared.sum, OPERATIONS);
    for (int64_t i = 1; i < variant->parameter; i++) {
        ck_assert_uint_gt(
            atomic_load_explicit(&shared.control->process[i].operations, memory_order_relaxed), 0);
    }
    ck_assert_uint_eq(atomic_load_explicit(&shared.control->finalized, memory_order_relaxed), 0);

    ck_assert(cross_process_stop(&shared));
    ck_assert_uint_eq(atomic_load_explicit(&shared.control->finalized, memory_order_relaxed), 1);
    ck_assert_uint_eq(rcl_memory_arena_live_blocks(shared.arena), 0);
    cross_process_workload.shared_teardown(&team);
    rc_thread_detach();
    ck_assert_uint_eq(rcl_memory_read().live_blocks, 0);
}
END_TEST
#endif

int main(void)
{
#if (RC_IMPL_CAPS) & RC_CAP_SHM
    setvbuf(stdout, NULL, _IONBF, 0); /* cases fork: nothing may wait in a buffer */
    Suite *suite = suite_create("cross_process over " STRING(RCL_IMPL_NAME));
    TCase *cases = tcase_create("processes");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, last_of_all_processes_finalizes, 0,
                        (int)(sizeof cross_process_variants / sizeof cross_process_variants[0]));
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
#else
    printf("skipped: last_of_all_processes_finalizes: %s does not claim RC_CAP_SHM\n",
           STRING(RCL_IMPL_NAME));
    return 0;
#endif
}
