#include "conform_print.h"

#include <inttypes.h>
#include <string.h>

#include "wrap.h"

enum { SENTENCE_COLUMN = 23, WIDTH = 100, ALSO_MAX = 6 };

/* ---- The table ---- */

static int print_words(FILE *out, const char *text, int column, int indent)
{
    return rcl_print_words(out, text, column, indent, WIDTH);
}

static void print_labelled(FILE *out, const char *label, const char *text)
{
    fprintf(out, "    %-10s ", label);
    print_words(out, text, 15, 15);
    fputc('\n', out);
}

/* The command that shows a failure again. */
static void again(const rcl_conform_report *report, const rcl_clause_result *result,
                  const rcl_failure *failure, char *text, size_t size)
{
    if (failure->schedule[0] != '\0') {
        bool optimised = failure->flavour == RCL_FLAVOUR_EXPLORE;
        snprintf(text, size, "rclab explore %s --scenario %s/%s%s --schedule %s", report->again,
                 result->clause->id, failure->test, optimised ? "" : " --optimise 0 --checked",
                 failure->schedule);
        return;
    }
    snprintf(text, size, "rclab conform %s --clause %s --engine %s --seed %" PRIu64, report->again,
             result->clause->id, rcl_engine_name(failure->engine), report->seed);
}

static void print_failure(FILE *out, const rcl_conform_report *report,
                          const rcl_clause_result *result, const rcl_failure *failure)
{
    char text[RCL_PATH_BYTES + 2048];
    snprintf(text, sizeof text, "%s (%s, %s)", failure->test, rcl_engine_name(failure->engine),
             rcl_flavour_name(failure->flavour));
    print_labelled(out, "test", text);
    print_labelled(out, "expected", failure->expected);
    print_labelled(out, "came", failure->came);
    if (failure->where[0] != '\0') {
        print_labelled(out, "where", failure->where);
    }
    /* The explorer's lines need the width. */
    bool explored = failure->engine == RCL_ENGINE_EXPLORER;
    const char *label = explored ? "" : "stack";
    for (const char *line = failure->detail; *line != '\0'; label = "") {
        size_t length = strcspn(line, "\n");
        if (length == 0) {
            fputc('\n', out);
        } else {
            fprintf(out, "    %*s %.*s\n", explored ? -3 : -10, label, (int)length, line);
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    again(report, result, failure, text, sizeof text);
    fprintf(out, "    %-10s %s\n", "again", text);
}

/* What the explorer says of a clause in which it found no failure. False: nothing. */
static bool explored_words(const rcl_clause_result *result, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < result->failure_count; i++) {
        if (result->failures[i].engine == RCL_ENGINE_EXPLORER) {
            return false;
        }
    }
    rcl_explored_words(&result->explored, text, size);
    return text[0] != '\0';
}

/* The other tests that failed: names only. */
static void print_others(FILE *out, const rcl_clause_result *result)
{
    char text[1024] = "";
    size_t used = 0;
    size_t shown = result->failure_count < ALSO_MAX ? result->failure_count : (size_t)ALSO_MAX;
    for (size_t i = 1; i < shown && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", i > 1 ? ", " : "",
                                 result->failures[i].test,
                                 rcl_flavour_name(result->failures[i].flavour));
    }
    if (shown < result->failure_count && used < sizeof text) {
        snprintf(text + used, sizeof text - used, ", and %zu more (--verbose)",
                 result->failure_count - shown);
    }
    if (text[0] != '\0') {
        print_labelled(out, "also", text);
    }
}

static void print_clause(FILE *out, const rcl_conform_report *report,
                         const rcl_clause_result *result, bool verbose)
{
    char engines[96];
    char tail[512] = "";
    char explored[1024];
    fprintf(out, "%-10s %-11s ", result->clause->id, rcl_outcome_name(result->outcome));
    int column = print_words(out, result->clause->sentence, SENTENCE_COLUMN, SENTENCE_COLUMN);
    rcl_engine_names(result->engines, engines, sizeof engines);
    if (result->outcome == RCL_OUTCOME_PASS || result->outcome == RCL_OUTCOME_FAIL) {
        if (verbose) {
            snprintf(tail, sizeof tail, " (%s; %u tests passed, %.1f s%s)", engines, result->passed,
                     result->seconds,
                     result->clause->level == RCL_LEVEL_NOTED ? "; noted only" : "");
        } else {
            snprintf(tail, sizeof tail, " (%s%s)", engines,
                     result->clause->level == RCL_LEVEL_NOTED ? "; noted only" : "");
        }
    } else {
        snprintf(tail, sizeof tail, " (%s)", result->reason);
    }
    print_words(out, tail + 1, column, SENTENCE_COLUMN);
    fputc('\n', out);
    if (explored_words(result, explored, sizeof explored)) {
        print_labelled(out, "explorer", explored);
    }
    size_t shown = result->failure_count > 0 && !verbose ? 1 : result->failure_count;
    for (size_t i = 0; i < shown; i++) {
        print_failure(out, report, result, &result->failures[i]);
    }
    if (!verbose) {
        print_others(out, result);
    }
}

void rcl_conform_print_summary(FILE *out, const rcl_conform_report *report)
{
    fprintf(out, "%s: %s: %u passed, %u failed, %u unsupported, %u untested, in %.0f s%s\n",
            report->name, report->passed ? "PASSED" : "FAILED", report->counts[RCL_OUTCOME_PASS],
            report->counts[RCL_OUTCOME_FAIL], report->counts[RCL_OUTCOME_UNSUPPORTED],
            report->counts[RCL_OUTCOME_UNTESTED], report->seconds,
            report->narrowed ? "; narrowed: not a verdict on all of it" : "");
}

void rcl_conform_print(FILE *out, const rcl_conform_report *report, bool verbose)
{
    char caps[256];
    rcl_needs_names(report->caps, caps, sizeof caps);
    fprintf(out, "%s (%s), seed %" PRIu64 "\n", report->name, report->header, report->seed);
    fputs("claims     ", out);
    print_words(out, caps, 11, 11);
    fputs("\n\n", out);
    const char *area = "";
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause_result *result = &report->results[i];
        if (!result->wanted) {
            continue;
        }
        if (*area != '\0' && strncmp(area, result->clause->id, strcspn(area, "-") + 1) != 0) {
            fputc('\n', out);
        }
        area = result->clause->id;
        print_clause(out, report, result, verbose);
    }
    fprintf(out, "\n%s", report->notes);
    if (report->missing > 0) {
        fprintf(out, "%u clause%s that must hold %s untested%s\n", report->missing,
                report->missing == 1 ? "" : "s", report->missing == 1 ? "is" : "are",
                report->narrowed ? ": the run was narrowed" : ", which counts as not passed");
    }
    rcl_conform_print_summary(out, report);
}

/* ---- TAP ---- */

void rcl_conform_tap(FILE *out, const rcl_conform_report *report, unsigned *number)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause_result *result = &report->results[i];
        if (!result->wanted) {
            continue;
        }
        bool noted = result->clause->level == RCL_LEVEL_NOTED;
        bool untested = result->outcome == RCL_OUTCOME_UNTESTED && !report->narrowed && !noted;
        bool failed = result->outcome == RCL_OUTCOME_FAIL || untested;
        fprintf(out, "%s %u - %s %s: %s", failed ? "not ok" : "ok", ++*number, report->name,
                result->clause->id, result->clause->sentence);
        if (result->outcome == RCL_OUTCOME_FAIL && noted) {
            fputs(" # TODO noted only", out);
        } else if (untested) {
            fprintf(out, " (untested: %s)", result->reason);
        } else if (result->outcome != RCL_OUTCOME_FAIL && result->outcome != RCL_OUTCOME_PASS) {
            fprintf(out, " # SKIP %s: %s",
                    result->outcome == RCL_OUTCOME_UNTESTED ? "untested" : "unsupported",
                    result->reason);
        }
        fputc('\n', out);
        char explored[1024];
        if (explored_words(result, explored, sizeof explored)) {
            fprintf(out, "# explorer: %s\n", explored);
        }
        for (size_t f = 0; f < result->failure_count; f++) {
            const rcl_failure *failure = &result->failures[f];
            char text[RCL_PATH_BYTES + 2048];
            again(report, result, failure, text, sizeof text);
            fprintf(out,
                    "# %s (%s, %s)\n#   expected %s\n#   came %s\n#   where %s\n#   again %s\n",
                    failure->test, rcl_engine_name(failure->engine),
                    rcl_flavour_name(failure->flavour), failure->expected, failure->came,
                    failure->where[0] != '\0' ? failure->where : "-", text);
        }
    }
}

/* ---- JUnit ---- */

/* Text that is well-formed in XML whatever an implementation has printed. */
static void print_escaped(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((*c < 0x20 && *c != '\n' && *c != '\t') || *c >= 0x7f ? '?' : (int)*c, out);
            break;
        }
    }
}

void rcl_conform_junit_begin(FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rclab conform\">\n", out);
}

void rcl_conform_junit_end(FILE *out)
{
    fputs("</testsuites>\n", out);
}

static void junit_case(FILE *out, const rcl_conform_report *report, const rcl_clause_result *result)
{
    char text[RCL_PATH_BYTES + 2048];
    int area = (int)strcspn(result->clause->id, "-");
    fprintf(out, "    <testcase classname=\"%s.%.*s\" name=\"", report->name, area,
            result->clause->id);
    snprintf(text, sizeof text, "%s: %s", result->clause->id, result->clause->sentence);
    print_escaped(out, text);
    fprintf(out, "\" time=\"%.3f\">\n", result->seconds);
    bool noted = result->clause->level == RCL_LEVEL_NOTED;
    if (result->outcome == RCL_OUTCOME_FAIL && noted) {
        fputs("      <skipped message=\"noted only: it does not hold\"/>\n", out);
    } else if (result->outcome == RCL_OUTCOME_UNTESTED ||
               result->outcome == RCL_OUTCOME_UNSUPPORTED) {
        fputs("      <skipped message=\"", out);
        snprintf(text, sizeof text, "%s: %s",
                 result->outcome == RCL_OUTCOME_UNTESTED ? "untested" : "unsupported",
                 result->reason);
        print_escaped(out, text);
        fputs("\"/>\n", out);
    }
    for (size_t i = 0; i < result->failure_count && !noted; i++) {
        const rcl_failure *failure = &result->failures[i];
        fputs("      <failure message=\"expected ", out);
        print_escaped(out, failure->expected);
        fputs("; came ", out);
        print_escaped(out, failure->came);
        fprintf(out, "\" type=\"%s\">", rcl_engine_name(failure->engine));
        snprintf(text, sizeof text, "%s (%s) %s\n", failure->test,
                 rcl_flavour_name(failure->flavour), failure->where);
        print_escaped(out, text);
        print_escaped(out, failure->detail);
        fputs("\nagain: ", out);
        again(report, result, failure, text, sizeof text);
        print_escaped(out, text);
        fputs("</failure>\n", out);
    }
    char explored[1024];
    if (explored_words(result, explored, sizeof explored)) {
        fputs("      <system-out>explorer: ", out);
        print_escaped(out, explored);
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

void rcl_conform_junit(FILE *out, const rcl_conform_report *report, const char *error)
{
    unsigned tests = 0;
    unsigned failures = 0;
    unsigned skipped = 0;
    for (size_t i = 0; i < rcl_clause_count && error == NULL; i++) {
        const rcl_clause_result *result = &report->results[i];
        bool noted = result->clause->level == RCL_LEVEL_NOTED;
        bool failed = result->outcome == RCL_OUTCOME_FAIL;
        if (result->wanted) {
            tests++;
            failures += failed && !noted ? 1 : 0;
            skipped += (failed && noted) || result->outcome == RCL_OUTCOME_UNSUPPORTED ||
                               result->outcome == RCL_OUTCOME_UNTESTED
                           ? 1
                           : 0;
        }
    }
    fputs("  <testsuite name=\"", out);
    print_escaped(out, report->name);
    fprintf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%d\" skipped=\"%u\" time=\"%.3f\">\n",
            error != NULL ? 1 : tests, failures, error != NULL ? 1 : 0, skipped, report->seconds);
    if (error != NULL) {
        fprintf(out,
                "    <testcase classname=\"%s\" name=\"builds\"><error message=\"does not build\">",
                report->name);
        print_escaped(out, error);
        fputs("</error></testcase>\n", out);
    }
    for (size_t i = 0; i < rcl_clause_count && error == NULL; i++) {
        if (report->results[i].wanted) {
            junit_case(out, report, &report->results[i]);
        }
    }
    fputs("  </testsuite>\n", out);
}
