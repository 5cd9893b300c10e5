/* space_test: what rcl_measure_space measures agrees with what can be known otherwise. */
#include "memory.h"
#include "contract.h"
#include "tensor.h"
#include "space_measure.h"

#include <check.h>

#define STRING2(a) #a
#define STRING(a) STRING2(a)

/* ThreadSanitizer and AddressSanitizer replace malloc, and glibc's statistics then know nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(RC_INTERNAL_TSAN)
#define LIBC_IS_REPLACED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIBC_IS_REPLACED true
#endif
#endif
#ifndef LIBC_IS_REPLACED
#define LIBC_IS_REPLACED false
#endif

static bool is_close(double value, double expected)
{
    return value > expected - 1e-9 && value < expected + 1e-9;
}

START_TEST(agrees)
{
    const rcl_allocator allocator = (rcl_allocator)_i;
    rcl_space space = {0};
    rcl_memory_use(allocator);
    ck_assert(rcl_measure_space(&space));
    ck_assert_int_eq(rcl_memory_used(), allocator);
    ck_assert_uint_eq(space.handle_bytes, sizeof(rc_strong));
    ck_assert_uint_eq(space.tensor_impl_bytes, sizeof(tensor_impl));
    ck_assert_uint_eq(space.storage_impl_bytes, sizeof(tensor_storage_impl));
#if (RC_IMPL_CAPS) & RC_CAP_WEAK
    ck_assert_uint_eq(space.weak_handle_bytes, sizeof(rc_weak));
#else
    ck_assert_uint_eq(space.weak_handle_bytes, 0);
#endif
    ck_assert(is_close(space.gigabytes_400m_tensors, space.taken_bytes_per_tensor * 0.4));
#ifdef RCL_IMPL_IS_NULL
    printf("skipped: exact figures: null cuts its objects from slabs\n");
#else
    ck_assert(is_close(space.allocations_per_tensor, 2 * space.allocations_per_object));
    ck_assert(is_close(space.allocations_per_tensor_with_bytes, space.allocations_per_tensor + 1));
    ck_assert_uint_ge(space.header_bytes, sizeof(void *));
    ck_assert_uint_lt(space.header_bytes, 128);
    ck_assert_msg(is_close(space.requested_bytes_per_tensor,
                           (double)(2 * space.header_bytes + space.tensor_impl_bytes +
                                    space.storage_impl_bytes)),
                  "%f bytes requested for a tensor, header %zu", space.requested_bytes_per_tensor,
                  space.header_bytes);
    if (allocator == RCL_ALLOCATOR_LIBC && LIBC_IS_REPLACED) {
        printf("skipped: taken bytes: %s: a sanitizer replaces the allocator\n",
               STRING(RCL_IMPL_NAME));
    } else {
        /* Both allocators round up, to 16 bytes or a size class, by less than half. */
        ck_assert(space.taken_bytes_per_tensor >= space.requested_bytes_per_tensor);
        ck_assert(space.taken_bytes_per_tensor <
                  1.5 * space.requested_bytes_per_tensor + 32 * space.allocations_per_tensor);
    }
#endif
    /* Nothing is left behind, and it says the same again. */
    rcl_space again = {0};
    ck_assert(rcl_measure_space(&again));
    ck_assert(is_close(again.requested_bytes_per_tensor, space.requested_bytes_per_tensor));
    ck_assert_uint_eq(again.header_bytes, space.header_bytes);
    ck_assert(again.taken_bytes_per_tensor > space.taken_bytes_per_tensor - 1 &&
              again.taken_bytes_per_tensor < space.taken_bytes_per_tensor + 1);
}
END_TEST

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* cases fork: nothing may wait in a buffer */
    Suite *suite = suite_create("space of " STRING(RCL_IMPL_NAME));
    TCase *cases = tcase_create("space");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, agrees, 0, 2); /* each allocator */
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
