/* csv: what it reads, and what it says of a file that is not what it should be. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"

static char error[512];

/* Loads `length` bytes through a file of their own. */
static bool load_bytes(const char *bytes, size_t length, rcl_csv *csv)
{
    char path[] = "/tmp/rclab_csv_test_XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes, length), (ssize_t)length);
    close(descriptor);
    error[0] = '\0';
    bool loaded = rcl_csv_load(path, csv, error, sizeof error);
    unlink(path);
    return loaded;
}

static bool load(const char *text, rcl_csv *csv)
{
    return load_bytes(text, strlen(text), csv);
}

static void refused(const char *text, const char *why)
{
    rcl_csv csv;
    ck_assert_msg(!load(text, &csv), "taken: %s", text);
    ck_assert_msg(strstr(error, why) != NULL, "'%s' does not say '%s'", error, why);
    rcl_csv_free(&csv);
}

START_TEST(reads_by_name)
{
    rcl_csv csv;
    ck_assert(load("schema,impl,ns\n1,a,2.5\n1,b,\n", &csv));
    ck_assert_uint_eq(csv.row_count, 2);
    int impl = rcl_csv_column(&csv, "impl");
    int ns = rcl_csv_column(&csv, "ns");
    double value = 0;
    ck_assert_int_eq(rcl_csv_column(&csv, "n"), -1);
    ck_assert_str_eq(rcl_csv_text(&csv, 1, impl), "b");
    ck_assert(rcl_csv_double(&csv, 0, ns, &value, error, sizeof error));
    ck_assert_double_eq(value, 2.5);
    ck_assert(!rcl_csv_double(&csv, 1, ns, &value, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, ":3: ns is '', not a number"));
    ck_assert(rcl_csv_check_schema(&csv, 1, error, sizeof error));
    rcl_csv_free(&csv);
}
END_TEST

/* A file that went through another system, and one without an end of its last line. */
START_TEST(takes_other_ends_of_lines)
{
    rcl_csv csv;
    ck_assert(load("a,b\r\n1,2\r\n3,4", &csv));
    ck_assert_uint_eq(csv.row_count, 2);
    ck_assert_str_eq(csv.columns[1], "b");
    ck_assert_str_eq(rcl_csv_text(&csv, 0, 1), "2");
    ck_assert_str_eq(rcl_csv_text(&csv, 1, 1), "4");
    rcl_csv_free(&csv);
}
END_TEST

START_TEST(header_alone_has_no_rows)
{
    rcl_csv csv;
    ck_assert(load("schema,a\n", &csv));
    ck_assert_uint_eq(csv.row_count, 0);
    ck_assert(rcl_csv_check_schema(&csv, 1, error, sizeof error));
    rcl_csv_free(&csv);
}
END_TEST

START_TEST(refuses_what_is_no_table)
{
    rcl_csv csv;
    refused("", "is empty");
    refused("a,b\n1\n2,3\n", ":2: 1 fields, where the first line names 2 columns");
    refused("a,b\n1,2\n3", "the file may be cut off");
    refused("a,b\n\"1\",2\n", ":2: a quotation mark");
    ck_assert(!load_bytes("a,b\n1\0,2\n", 9, &csv));
    ck_assert_ptr_nonnull(strstr(error, "is not a text file"));
    rcl_csv_free(&csv);
    ck_assert(!rcl_csv_load("/tmp", &csv, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "is a folder"));
    rcl_csv_free(&csv);
    ck_assert(!rcl_csv_load("/nowhere/raw.csv", &csv, error, sizeof error));
    ck_assert_ptr_nonnull(strstr(error, "/nowhere/raw.csv"));
    rcl_csv_free(&csv);
}
END_TEST

START_TEST(refuses_other_schemas)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"schema,a\n1,1\n2,1\n", ":3: schema 2, but this rclab reads schema 1: a newer one"},
        {"schema,a\n0,1\n", "an older one wrote it"},
        {"schema,a\nx,1\n", ":2: schema is 'x', not a whole number"},
        {"a,b\n1,1\n", "has no column 'schema'"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rcl_csv csv;
        ck_assert(load(cases[i].text, &csv));
        ck_assert(!rcl_csv_check_schema(&csv, 1, error, sizeof error));
        ck_assert_msg(strstr(error, cases[i].why) != NULL, "%s", error);
        rcl_csv_free(&csv);
    }
}
END_TEST

START_TEST(refuses_what_is_no_number)
{
    static const char *const bad[] = {"x", "1x", " 1", "nan", "inf", "1e999", ""};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rcl_csv csv;
        char text[64];
        double value = 0;
        uint64_t number = 0;
        snprintf(text, sizeof text, "a,b\n%s,-1\n", bad[i]);
        ck_assert(load(text, &csv));
        ck_assert_msg(!rcl_csv_double(&csv, 0, 0, &value, error, sizeof error), "%s", bad[i]);
        ck_assert(!rcl_csv_unsigned(&csv, 0, 0, &number, error, sizeof error));
        ck_assert(!rcl_csv_unsigned(&csv, 0, 1, &number, error, sizeof error));
        rcl_csv_free(&csv);
    }
}
END_TEST

START_TEST(grows_with_the_file)
{
    enum { ROWS = 20000 };
    char *text = malloc(ROWS * 16);
    ck_assert_ptr_nonnull(text);
    size_t used = (size_t)sprintf(text, "n\n");
    for (unsigned i = 0; i < ROWS; i++) {
        used += (size_t)sprintf(text + used, "%u\n", i);
    }
    rcl_csv csv;
    uint64_t last = 0;
    ck_assert(load(text, &csv));
    ck_assert_uint_eq(csv.row_count, ROWS);
    ck_assert(rcl_csv_unsigned(&csv, ROWS - 1, 0, &last, error, sizeof error));
    ck_assert_uint_eq(last, ROWS - 1);
    rcl_csv_free(&csv);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *tcase = tcase_create("reader");
    tcase_add_test(tcase, reads_by_name);
    tcase_add_test(tcase, takes_other_ends_of_lines);
    tcase_add_test(tcase, header_alone_has_no_rows);
    tcase_add_test(tcase, refuses_what_is_no_table);
    tcase_add_test(tcase, refuses_other_schemas);
    tcase_add_test(tcase, refuses_what_is_no_number);
    tcase_add_test(tcase, grows_with_the_file);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
