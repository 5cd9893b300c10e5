/* jobs: other programs in processes of their own: how they end is told, what they say is kept, nothing
 * of them is left. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"

static volatile sig_atomic_t stop;

static rcl_job shell(const char *const *arguments, double limit_seconds)
{
    return (rcl_job){.arguments = arguments, .limit_seconds = limit_seconds};
}

/* Runs one shell script. */
static rcl_job run(const char *script, double limit_seconds)
{
    const char *arguments[] = {"sh", "-c", script, NULL};
    rcl_job job = shell(arguments, limit_seconds);
    stop = 0;
    ck_assert(rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = &stop}));
    return job;
}

START_TEST(ends_are_told_apart)
{
    rcl_job job = run("exit 7", 60);
    ck_assert_int_eq(job.end, RCL_JOB_EXITED);
    ck_assert_int_eq(job.status, 7);
    rcl_job_free(&job);
    job = run("kill -SEGV $$", 60);
    ck_assert_int_eq(job.end, RCL_JOB_KILLED);
    ck_assert_int_eq(job.status, SIGSEGV);
    rcl_job_free(&job);
    job = run("sleep 1000", 0.2);
    ck_assert_int_eq(job.end, RCL_JOB_LATE);
    rcl_job_free(&job);
}
END_TEST

START_TEST(a_program_that_is_not_there)
{
    const char *arguments[] = {"/no/such/program", NULL};
    rcl_job job = shell(arguments, 60);
    ck_assert(rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = &stop}));
    ck_assert_int_eq(job.end, RCL_JOB_EXITED);
    ck_assert_int_eq(job.status, 127);
    ck_assert_ptr_nonnull(strstr(job.output, "/no/such/program: cannot be run"));
    rcl_job_free(&job);
}
END_TEST

START_TEST(output_and_verdict_are_kept_apart)
{
    rcl_job job = run("echo out; echo err >&2; printf 'pass\\n' >&3; cat", 60);
    ck_assert_int_eq(job.end, RCL_JOB_EXITED); /* cat: standard input is empty */
    ck_assert_str_eq(job.output, "out\nerr\n");
    ck_assert_str_eq(job.verdict, "pass\n");
    ck_assert_uint_eq(job.output_size, 8);
    rcl_job_free(&job);
}
END_TEST

/* What is too long is cut, and the program that says it ends all the same. */
START_TEST(output_is_bounded)
{
    rcl_job job = run("head -c 1000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero >&3", 60);
    ck_assert_int_eq(job.end, RCL_JOB_EXITED);
    ck_assert_int_eq(job.status, 0);
    ck_assert_uint_eq(job.output_size, RCL_JOB_OUTPUT_BYTES - 1);
    ck_assert_uint_eq(strlen(job.output), RCL_JOB_OUTPUT_BYTES - 1);
    ck_assert_uint_eq(job.verdict_size, RCL_JOB_VERDICT_BYTES - 1);
    rcl_job_free(&job);
}
END_TEST

/* The process that the script names in its output: gone. Its parent may not have waited for it yet. */
static void check_gone(const rcl_job *job)
{
    pid_t child = (pid_t)atoi(job->output);
    ck_assert_int_gt(child, 1);
    for (unsigned tries = 0; kill(child, 0) == 0 && tries < 1000; tries++) {
        char path[64];
        char state = 'R';
        snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1 || state == 'Z') {
            if (file != NULL) {
                fclose(file);
            }
            return;
        }
        fclose(file);
        usleep(10000);
    }
    ck_assert_msg(kill(child, 0) != 0 && errno == ESRCH, "process %d is left", (int)child);
}

START_TEST(the_group_goes_with_the_job)
{
    rcl_job job = run("sleep 1000 & echo $!", 60); /* it holds the pipes */
    ck_assert_int_eq(job.end, RCL_JOB_EXITED);
    check_gone(&job);
    rcl_job_free(&job);
    job = run("sleep 1000 & echo $!; wait", 0.3);
    ck_assert_int_eq(job.end, RCL_JOB_LATE);
    check_gone(&job);
    rcl_job_free(&job);
}
END_TEST

START_TEST(memory_is_limited)
{
    const char *arguments[] = {"sh", "-c", "ulimit -v; ulimit -c; echo $LC_ALL", NULL};
    const char *environment[] = {"LC_ALL=C", NULL};
    rcl_job job = shell(arguments, 60);
    job.memory_bytes = UINT64_C(1) << 30;
    job.environment = environment;
    ck_assert(rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = &stop}));
    ck_assert_str_eq(job.output, "1048576\n0\nC\n");
    rcl_job_free(&job);
}
END_TEST

/* ---- Several ---- */

typedef struct ends {
    unsigned asked, ended;
} ends;

static bool every_second(void *context, rcl_job *job)
{
    ends *seen = context;
    (void)job;
    return seen->asked++ % 2 == 0;
}

static void count_end(void *context, rcl_job *job)
{
    ends *seen = context;
    seen->ended++;
    ck_assert_int_eq(job->end, RCL_JOB_EXITED);
}

START_TEST(all_run_but_those_not_wanted)
{
    const char *arguments[] = {"sh", "-c", "exit 3", NULL};
    rcl_job jobs[9];
    ends seen = {0};
    for (unsigned i = 0; i < 9; i++) {
        jobs[i] = shell(arguments, 60);
    }
    ck_assert(rcl_jobs_run(&(rcl_jobs){.jobs = jobs,
                                       .count = 9,
                                       .at_once = 4,
                                       .stop = &stop,
                                       .context = &seen,
                                       .wanted = every_second,
                                       .ended = count_end}));
    ck_assert_uint_eq(seen.asked, 9);
    ck_assert_uint_eq(seen.ended, 5);
    for (unsigned i = 0; i < 9; i++) {
        ck_assert_int_eq(jobs[i].end, i % 2 == 0 ? RCL_JOB_EXITED : RCL_JOB_SKIPPED);
        ck_assert_int_eq(jobs[i].status, i % 2 == 0 ? 3 : 0);
        rcl_job_free(&jobs[i]);
    }
}
END_TEST

static void stop_now(void *context, size_t done)
{
    (void)context;
    (void)done;
    stop = 1;
}

START_TEST(stopping_kills_what_runs)
{
    const char *arguments[] = {"sh", "-c", "echo $$; sleep 1000", NULL};
    rcl_job jobs[3];
    for (unsigned i = 0; i < 3; i++) {
        jobs[i] = shell(arguments, 1000);
    }
    ck_assert(!rcl_jobs_run(
        &(rcl_jobs){.jobs = jobs, .count = 3, .at_once = 2, .stop = &stop, .tick = stop_now}));
    ck_assert_int_eq(jobs[0].end, RCL_JOB_INTERRUPTED);
    ck_assert_int_eq(jobs[1].end, RCL_JOB_INTERRUPTED);
    ck_assert_int_eq(jobs[2].end, RCL_JOB_WAITING);
    for (unsigned i = 0; i < 3; i++) {
        rcl_job_free(&jobs[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("jobs");
    TCase *tcase = tcase_create("jobs");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, ends_are_told_apart);
    tcase_add_test(tcase, a_program_that_is_not_there);
    tcase_add_test(tcase, output_and_verdict_are_kept_apart);
    tcase_add_test(tcase, output_is_bounded);
    tcase_add_test(tcase, the_group_goes_with_the_job);
    tcase_add_test(tcase, memory_is_limited);
    tcase_add_test(tcase, all_run_but_those_not_wanted);
    tcase_add_test(tcase, stopping_kills_what_runs);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
