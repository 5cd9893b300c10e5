#include "report.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "record.h"
#include "report_parts.h"

/* ---- The run ---- */

static void name_run(rcl_report *report)
{
    char *real = realpath(report->folder, NULL);
    const char *path = real != NULL ? real : report->folder;
    const char *slash = strrchr(path, '/');
    snprintf(report->name, sizeof report->name, "%s", slash != NULL ? slash + 1 : path);
    free(real);
}

static void load_machine(rcl_report *report)
{
    char path[sizeof report->folder + 32];
    json_error_t error;
    snprintf(path, sizeof path, "%s/machine.json", report->folder);
    report->machine = json_load_file(path, 0, &error);
    json_int_t schema = json_integer_value(json_object_get(report->machine, "schema"));
    if (report->machine == NULL) {
        snprintf(report->machine_error, sizeof report->machine_error, "%s", error.text);
    } else if (schema != RCL_SCHEMA) {
        snprintf(report->machine_error, sizeof report->machine_error,
                 "machine.json: schema %" JSON_INTEGER_FORMAT ", but this rclab reads schema %d",
                 schema, RCL_SCHEMA);
        json_decref(report->machine);
        report->machine = NULL;
    }
}

bool rcl_report_load(const rcl_registry *registry, const char *folder, rcl_report *report,
                     char *error, size_t error_size)
{
    struct stat status;
    char path[sizeof report->folder + 32];
    *report = (rcl_report){.registry = registry};
    if (strlen(folder) >= sizeof report->folder) {
        snprintf(error, error_size, "the name of the folder is too long");
        return false;
    }
    snprintf(report->folder, sizeof report->folder, "%s", folder);
    if (stat(folder, &status) != 0) {
        snprintf(error, error_size, "there is no folder %s; expected one that rclab bench wrote",
                 folder);
        return false;
    }
    if (!S_ISDIR(status.st_mode)) {
        snprintf(error, error_size, "%s is no folder; expected one that rclab bench wrote", folder);
        return false;
    }
    snprintf(path, sizeof path, "%s/summary.csv", folder);
    if (stat(path, &status) != 0) {
        snprintf(error, error_size,
                 "%s has no summary.csv; expected a folder that rclab bench wrote", folder);
        return false;
    }
    if (!rcl_view_load(registry, path, &report->view, error, error_size)) {
        return false;
    }
    name_run(report);
    load_machine(report);
    return true;
}

void rcl_report_free(rcl_report *report)
{
    rcl_view_free(&report->view);
    json_decref(report->machine);
    report->machine = NULL;
}

const char *rcl_report_fact(const rcl_report *report, const char *object, const char *member)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(report->machine, object), member));
    return text != NULL ? text : "unknown";
}

rcl_figure rcl_report_number(const rcl_report *report, const char *object, const char *member)
{
    const json_t *value = json_object_get(json_object_get(report->machine, object), member);
    rcl_figure figure = {"unknown"};
    if (json_is_integer(value)) {
        snprintf(figure.text, sizeof figure.text, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(figure.text, sizeof figure.text, "%.3g", json_real_value(value));
    }
    return figure;
}

static bool is_true(const rcl_report *report, const char *object, const char *member)
{
    return json_is_true(json_object_get(json_object_get(report->machine, object), member));
}

/* ---- Names ---- */

size_t rcl_report_find(const rcl_report *report, const char *name)
{
    for (size_t s = 0; s < report->view.strategy_count; s++) {
        if (strcmp(report->view.strategies[s].name, name) == 0) {
            return s;
        }
    }
    return SIZE_MAX;
}

rcl_figure rcl_report_colour(const rcl_report *report, size_t strategy)
{
    rcl_figure colour;
    snprintf(colour.text, sizeof colour.text, "c%zu%s", strategy % RCL_REPORT_COLOURS,
             report->view.strategies[strategy].ranked ? "" : " none");
    return colour;
}

void rcl_report_name(const rcl_report *report, FILE *out, const char *name, const char *scope)
{
    size_t s = rcl_report_find(report, name);
    const rcl_strategy *strategy = s < SIZE_MAX ? &report->view.strategies[s] : NULL;
    rcl_html(out, "<th scope=\"%s\" class=\"name\"><i class=\"sw %s\"></i>", scope,
             strategy != NULL ? rcl_report_colour(report, s).text : "none");
    /* Names break after an underscore, if at all. */
    for (const char *at = name; *at != '\0';) {
        size_t part = strcspn(at, "_");
        part += at[part] == '_' ? 1 : 0;
        rcl_html(out, "%.*s", (int)part, at);
        at += part;
        fputs(*at != '\0' ? "<wbr>" : "", out);
    }
    if (strategy != NULL) {
        fputs(strategy->called ? "&nbsp;†" : "", out);
        fputs(strcmp(strategy->conformance, "fail") == 0       ? " <b class=\"tag\">fails</b>"
              : strcmp(strategy->conformance, "untested") == 0 ? " <b class=\"tag\">untested</b>"
                                                               : "",
              out);
    }
    fputs("</th>", out);
}

/* ---- The machine, and how to repeat it ---- */

static void put_caches(const rcl_report *report, FILE *out)
{
    const json_t *caches = json_object_get(json_object_get(report->machine, "machine"), "caches");
    fputs("<dt>Caches</dt><dd>", out);
    for (size_t i = 0; i < json_array_size(caches); i++) {
        const json_t *cache = json_array_get(caches, i);
        double bytes = (double)json_integer_value(json_object_get(cache, "bytes"));
        rcl_html(out, "%sL%zu %.0f %s", i > 0 ? ", " : "",
                 (size_t)json_integer_value(json_object_get(cache, "level")),
                 bytes < 1048576 ? bytes / 1024 : bytes / 1048576, bytes < 1048576 ? "KiB" : "MiB");
    }
    fputs(json_array_size(caches) == 0 ? "unknown</dd>\n" : "</dd>\n", out);
}

static void put_facts(const rcl_report *report, FILE *out)
{
    const char *const machine = "machine";
    const char *const build = "build";
    const char *const run = "run";
    const char *jemalloc = rcl_report_fact(report, build, "jemalloc");
    rcl_html(out, "<dl class=\"facts\">\n<dt>Processor</dt><dd>%s, %s logical, %s%s</dd>\n",
             rcl_report_fact(report, machine, "cpu"),
             rcl_report_number(report, machine, "processors").text,
             rcl_report_fact(report, machine, "architecture"),
             is_true(report, machine, "virtual") ? ", virtual" : "");
    put_caches(report, out);
    rcl_html(out, "<dt>System</dt><dd>Linux %s, frequency governor %s</dd>\n",
             rcl_report_fact(report, machine, "kernel"),
             rcl_report_fact(report, machine, "frequency_governor"));
    rcl_html(out, "<dt>Compiler</dt><dd>%s, <code>%s</code></dd>\n",
             rcl_report_fact(report, build, "compiler"), rcl_report_fact(report, build, "flags"));
    rcl_html(out, "<dt>Allocators</dt><dd>glibc %s, jemalloc %.*s</dd>\n",
             rcl_report_fact(report, build, "libc"), (int)strcspn(jemalloc, "-"), jemalloc);
    rcl_html(out, "<dt>Commit</dt><dd><code>%s</code>%s</dd>\n",
             rcl_report_fact(report, build, "commit"),
             is_true(report, build, "changed_since_commit") ? ", with changes that are not in it"
                                                            : "");
    rcl_html(out, "<dt>Run</dt><dd>%s, %s s%s</dd>\n", rcl_report_fact(report, run, "finished"),
             rcl_report_number(report, run, "elapsed_s").text,
             is_true(report, run, "interrupted") ? ", interrupted before its end" : "");
    rcl_html(out,
             "<dt>Plan</dt><dd>%s launches of %s repetitions, each %s ms or longer; seed %s</dd>\n",
             rcl_report_number(report, run, "launches").text,
             rcl_report_number(report, run, "repetitions_per_launch").text,
             rcl_report_number(report, run, "repetition_min_ms").text,
             rcl_report_number(report, run, "seed").text);
    fputs("</dl>\n", out);
    const json_t *failures = json_object_get(json_object_get(report->machine, run), "failures");
    for (size_t i = 0; i < json_array_size(failures); i++) {
        const char *text = json_string_value(json_array_get(failures, i));
        rcl_html(out, "<p class=\"absent\">Given up: %s</p>\n", text != NULL ? text : "?");
    }
}

/* Half an interval's width over its median, in percent: of every cell that has an interval. Returns
 * how many; `widths` has room for all. */
static size_t take_widths(const rcl_summary_view *view, double *widths)
{
    size_t count = 0;
    for (size_t i = 0; i < view->question_count * view->strategy_count; i++) {
        const rcl_answered *answer = &view->answers[i];
        if (answer->launches > 1) {
            widths[count++] = (answer->high - answer->low) / answer->median * 50;
        }
    }
    return count;
}

static void put_noise(const rcl_report *report, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    uint64_t flagged = 0;
    uint64_t repetitions = 0;
    size_t cells = 0;
    size_t disturbed = 0;
    for (size_t i = 0; i < view->question_count * view->strategy_count; i++) {
        const rcl_answered *answer = &view->answers[i];
        flagged += answer->flagged;
        repetitions += answer->repetitions;
        cells += answer->launches > 0 ? 1 : 0;
        disturbed += answer->launches > 0 && rcl_disturbed(answer) ? 1 : 0;
    }
    rcl_html(
        out,
        "<h3>How quiet it was</h3>\n<p>Of %.0f repetitions %.0f (%.1f %%) were disturbed: "
        "their threads did not have the processors to themselves. In %zu of %zu cells that was "
        "more than half of them.",
        (double)repetitions, (double)flagged,
        repetitions > 0 ? (double)flagged / (double)repetitions * 100 : 0, disturbed, cells);
    double *widths = calloc(cells + 1, sizeof *widths);
    size_t count = widths != NULL ? take_widths(view, widths) : 0;
    if (count > 0) {
        gsl_sort(widths, 1, count);
        rcl_html(
            out,
            " The 95 %% interval is within ±%.1f %% of the median in half of the cells, and within ±%.1f %% in nine of ten.",
            gsl_stats_median_from_sorted_data(widths, 1, count),
            gsl_stats_quantile_from_sorted_data(widths, 1, count, 0.9));
    }
    fputs("</p>\n", out);
    free(widths);
}

static void put_repeat(const rcl_report *report, FILE *out)
{
    fputs("<h3>How to repeat it</h3>\n<pre class=\"scroll\"><code>", out);
    const char *commit = rcl_report_fact(report, "build", "commit");
    if (strcmp(commit, "unknown") != 0) {
        rcl_html(out, "git checkout %s\n", commit);
    }
    fputs("make deps build\n", out);
    const char *command = rcl_report_fact(report, "run", "command");
    if (strcmp(command, "unknown") != 0) {
        rcl_html(out, "build/%s\n", command);
    } else {
        fputs("build/rclab bench\n", out);
    }
    fputs("make report</code></pre>\n<p class=\"note\">A folder that holds a run is not written to "
          "again: give <code>--out</code> another name. The order of the cells and the workloads' "
          "random numbers repeat with the seed; the times do so only within their intervals, and "
          "only on the same machine.</p>\n",
          out);
}

static void put_limits(FILE *out)
{
    fputs(
        "<h3>What the figures do not say</h3>\n<ul>\n"
        "<li>They are of the machine above. Compare with the floors and with <code>null</code> in "
        "the same run, not with a number from another machine.</li>\n"
        "<li>A difference within the intervals means nothing. An interval covers what changed "
        "between launches of one run, not what another day or another compiler would change.</li>\n"
        "<li>The workloads are small and hot on purpose: counting weighs as much there as it ever "
        "can. <code>working_set</code> shows what cache misses do, <code>replay</code> what real "
        "programs did.</li>\n"
        "<li>A mean over workloads is no workload of yours. Read the row that is most like "
        "it.</li>\n</ul>\n",
        out);
}

void rcl_report_machine(const rcl_report *report, FILE *out)
{
    fputs("<section id=\"machine\">\n<h2>Where and how it was measured</h2>\n", out);
    if (report->machine != NULL) {
        put_facts(report, out);
    } else {
        rcl_html(out,
                 "<p class=\"absent\">Not there: the machine's description. <span>%s</span></p>\n",
                 report->machine_error);
    }
    put_noise(report, out);
    put_repeat(report, out);
    put_limits(out);
    fputs("</section>\n", out);
}

/* ---- The page ---- */

static void put_head(const rcl_report *report, FILE *out)
{
    rcl_html(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
             "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
             "name=\"generator\" content=\"rclab report\">\n<title>rclab: %s</title>\n",
             report->name);
    fprintf(out, "<style>\n%s</style>\n</head>\n<body>\n", rcl_report_style);
    rcl_html(out,
             "<header>\n<p class=\"kicker\">rclab report</p>\n<h1>Reference counting, measured: "
             "%s</h1>\n",
             report->name);
    if (report->machine != NULL) {
        const char *finished = rcl_report_fact(report, "run", "finished");
        rcl_html(
            out, "<p class=\"where\">%s, %s logical processors · %s, %s · %.0f cells · %.*s</p>\n",
            rcl_report_fact(report, "machine", "cpu"),
            rcl_report_number(report, "machine", "processors").text,
            rcl_report_fact(report, "build", "compiler"), rcl_report_fact(report, "build", "flags"),
            (double)report->view.csv.row_count, (int)strcspn(finished, "T"), finished);
    }
    fputs(
        "<nav aria-label=\"Contents\"><a href=\"#finding\">Finding</a> <a href=\"#ranking\">Ranking</a> "
        "<a href=\"#plots\">Plots</a> <a href=\"#costs\">Costs</a> <a href=\"#space\">Space</a> "
        "<a href=\"#delay\">Delay</a> <a href=\"#verdicts\">Battery</a> <a "
        "href=\"#machine\">Machine</a></nav>\n</header>\n<main>\n",
        out);
}

bool rcl_report_write(const rcl_report *report, FILE *out)
{
    put_head(report, out);
    if (!rcl_report_finding(report, out) || !rcl_report_ranking(report, out)) {
        return false;
    }
    rcl_report_plots(report, out);
    rcl_report_costs(report, out);
    rcl_report_space(report, out);
    rcl_report_delay(report, out);
    rcl_report_verdicts(report, out);
    rcl_report_machine(report, out);
    fputs(
        "</main>\n<footer><p>Made by <code>rclab report</code> from the files of the run: "
        "<code>summary.csv</code>, <code>space.csv</code>, <code>machine.json</code> and what lies "
        "beside them. No figure was typed.</p></footer>\n</body>\n</html>\n",
        out);
    return true;
}
