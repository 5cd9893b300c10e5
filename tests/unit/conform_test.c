/* clauses and conform_verdict: the specification as a table, and verdicts that belong to sources. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clauses.h"
#include "conform_verdict.h"
#include "contract.h"

/* ---- Clauses ---- */

START_TEST(ids_are_an_area_and_a_number)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const char *id = rcl_clauses[i].id;
        size_t letters = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        ck_assert_msg(letters > 0 && id[letters] == '-' &&
                          strspn(id + letters + 1, "0123456789") == 2 && strlen(id) == letters + 3,
                      "%s is no AREA-00", id);
        ck_assert_ptr_eq(rcl_clause_find(id), &rcl_clauses[i]); /* so there is no second one */
        ck_assert_msg(rcl_clauses[i].engines != 0, "%s names no engine", id);
        size_t length = strlen(rcl_clauses[i].sentence);
        ck_assert_msg(length > 0 && rcl_clauses[i].sentence[length - 1] == '.',
                      "%s: its sentence has no end", id);
    }
    ck_assert_uint_ge(rcl_clause_count, 50);
}
END_TEST

START_TEST(lists_name_ids_and_areas)
{
    const rcl_clause life = {.id = "LIFE-01"};
    size_t length = 0;
    ck_assert(rcl_clause_listed(NULL, &life));
    ck_assert(rcl_clause_listed("LIFE", &life));
    ck_assert(rcl_clause_listed("WEAK-01,LIFE-01", &life));
    ck_assert(!rcl_clause_listed("LIFE-02", &life));
    ck_assert(!rcl_clause_listed("LIF", &life));
    ck_assert(!rcl_clause_listed("LIFE-0", &life));
    ck_assert(!rcl_clause_listed("LIFE-01X", &life));
    ck_assert(!rcl_clause_listed("", &life));
    ck_assert_ptr_null(rcl_clause_list_error("LIFE,WEAK-01", &length));
    ck_assert_ptr_null(rcl_clause_list_error(NULL, &length));
    const char *unknown = rcl_clause_list_error("LIFE,WEAK-99,RAW", &length);
    ck_assert(unknown != NULL && length == 7 && strncmp(unknown, "WEAK-99", 7) == 0);
    ck_assert_ptr_nonnull(rcl_clause_list_error("", &length));
    ck_assert_ptr_nonnull(rcl_clause_list_error("LIFE,,WEAK", &length));
}
END_TEST

START_TEST(needs_may_be_an_absence)
{
    unsigned needs = RC_CAP_WEAK | RCL_WITHOUT(RC_CAP_THREADS);
    char names[128];
    ck_assert_uint_eq(rcl_needs_unmet(needs, RC_CAP_WEAK), 0);
    ck_assert_uint_eq(rcl_needs_unmet(needs, 0), RC_CAP_WEAK);
    ck_assert_uint_eq(rcl_needs_unmet(needs, RC_CAP_WEAK | RC_CAP_THREADS),
                      RCL_WITHOUT(RC_CAP_THREADS));
    ck_assert_uint_eq(rcl_needs_unmet(RCL_WITHOUT(RCL_NEEDS_SATURATION), RCL_NEEDS_SATURATION),
                      RCL_WITHOUT(RCL_NEEDS_SATURATION));
    rcl_needs_names(needs, names, sizeof names);
    ck_assert_str_eq(names, "RC_CAP_WEAK, no RC_CAP_THREADS");
    rcl_needs_names(RCL_NEEDS_SATURATION, names, sizeof names);
    ck_assert_str_eq(names, "RC_OVERFLOW_SATURATE");
}
END_TEST

START_TEST(engines_have_names)
{
    char names[96];
    rcl_engine engine = RCL_ENGINE_NATIVE;
    for (unsigned i = 0; i < RCL_ENGINE_COUNT; i++) {
        const char *name = rcl_engine_name((rcl_engine)(1u << i));
        ck_assert(rcl_engine_parse(name, strlen(name), &engine));
        ck_assert_uint_eq(engine, 1u << i);
    }
    ck_assert(!rcl_engine_parse("oracle,", 7, &engine));
    rcl_engine_names(RCL_ENGINE_ORACLE | RCL_ENGINE_SANITIZER, names, sizeof names);
    ck_assert_str_eq(names, "oracle, sanitizer");
}
END_TEST

/* ---- Verdicts ---- */

static char folder[1024];
static char header[1100];
static char name[64];

static void write_file(const char *file, const char *text)
{
    char path[2400];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

static void verdict_path(char *path, size_t size)
{
    snprintf(path, size, RCL_TEST_BINARY_DIR "/conform/%s.verdict", name);
}

static void setup(void)
{
    snprintf(folder, sizeof folder, RCL_TEST_BINARY_DIR "/rclab-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(header, sizeof header, "%s/rc.h", folder);
    snprintf(name, sizeof name, "test_%d", (int)getpid());
    write_file("rc.h", "#include \"detail.h\"\n");
    write_file("detail.h", "/* one */\n");
    write_file("part.c", "int part;\n");
}

static void teardown(void)
{
    static const char *const files[] = {"rc.h", "detail.h", "part.c"};
    char path[4200];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    verdict_path(path, sizeof path);
    unlink(path);
}

static void keep(bool passed)
{
    char error[512] = "";
    rcl_conform_report report = {.passed = passed};
    snprintf(report.name, sizeof report.name, "%s", name);
    snprintf(report.header, sizeof report.header, "%s", header);
    ck_assert_msg(rcl_conform_keep(&report, error, sizeof error), "%s", error);
}

START_TEST(a_verdict_is_kept)
{
    ck_assert_str_eq(rcl_conform_verdict(name, header), "untested");
    keep(true);
    ck_assert_str_eq(rcl_conform_verdict(name, header), "pass");
    keep(false);
    ck_assert_str_eq(rcl_conform_verdict(name, header), "fail");
    ck_assert_str_eq(rcl_conform_verdict("another", header), "untested");
    ck_assert_str_eq(rcl_conform_verdict(name, "/no/rc.h"), "untested");
    ck_assert_str_eq(rcl_conform_verdict(name, NULL), "untested");
}
END_TEST

/* Row i: a source that changes. */
static const char *const sources[] = {"rc.h", "detail.h", "part.c"};

START_TEST(a_change_makes_it_untested)
{
    keep(true);
    ck_assert_str_eq(rcl_conform_verdict(name, header), "pass");
    write_file(sources[_i], "/* changed */\n");
    ck_assert_str_eq(rcl_conform_verdict(name, header), "untested");
}
END_TEST

/* What is included from another folder counts too. */
START_TEST(included_sources_count)
{
    char text[2600];
    char other[1100];
    uint64_t before = 0;
    uint64_t after = 0;
    const char *base = strrchr(folder, '/') + 1;
    snprintf(other, sizeof other, "../%s.h", base);
    snprintf(text, sizeof text, "#include \"%s\"\n", other);
    write_file("rc.h", text);
    write_file(other, "/* one */\n");
    ck_assert(rcl_conform_hash(header, &before));
    write_file(other, "/* two */\n");
    ck_assert(rcl_conform_hash(header, &after));
    snprintf(text, sizeof text, "%s/%s", folder, other);
    ck_assert_int_eq(unlink(text), 0);
    ck_assert_uint_ne(before, after);
    ck_assert(!rcl_conform_hash("/no/rc.h", &after));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conform");
    TCase *clauses = tcase_create("clauses");
    tcase_add_test(clauses, ids_are_an_area_and_a_number);
    tcase_add_test(clauses, lists_name_ids_and_areas);
    tcase_add_test(clauses, needs_may_be_an_absence);
    tcase_add_test(clauses, engines_have_names);
    suite_add_tcase(suite, clauses);
    TCase *verdicts = tcase_create("verdicts");
    tcase_add_checked_fixture(verdicts, setup, teardown);
    tcase_add_test(verdicts, a_verdict_is_kept);
    tcase_add_loop_test(verdicts, a_change_makes_it_untested, 0, 3);
    tcase_add_test(verdicts, included_sources_count);
    suite_add_tcase(suite, verdicts);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
