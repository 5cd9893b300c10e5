/* The sections that show one file each: plots, costs, space, delay and the battery's verdicts. */
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "report_parts.h"
#include "report_svg.h"

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void put_absent(FILE *out, const char *what, const char *how)
{
    rcl_html(out, "<p class=\"absent\">Not there: %s. <span>%s</span></p>\n", what, how);
}

/* ---- Plots ---- */

typedef struct plot {
    const char *name, *question;
} plot;

static const plot plots[] = {
#define RCL_PLOT(name, question) {#name, question},
#include "../plots/plots.def"
#undef RCL_PLOT
};

enum { PLOT_COUNT = sizeof plots / sizeof plots[0] };

/* The name of a file without folder and extension. */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(stem, size, "%s", slash != NULL ? slash + 1 : path);
    stem[strcspn(stem, ".")] = '\0';
}

static void put_plot(const char *path, unsigned number, const char *label, FILE *out)
{
    char error[512];
    char prefix[32];
    snprintf(prefix, sizeof prefix, "p%u-", number);
    fputs("<figure><div class=\"scroll\">\n", out);
    if (!rcl_svg_inline(out, path, prefix, label, error, sizeof error)) {
        put_absent(out, error, "make plots draws it again.");
    }
    fputs("</div></figure>\n", out);
}

/* Drawings of others that lie beside ours. */
static unsigned put_other_plots(const rcl_report *report, unsigned number, FILE *out)
{
    char pattern[sizeof report->folder + 32];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/plots/*.svg", report->folder);
    if (glob(pattern, 0, NULL, &found) != 0) {
        return number;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char stem[256];
        bool known = false;
        stem_of(found.gl_pathv[i], stem, sizeof stem);
        for (unsigned p = 0; p < PLOT_COUNT; p++) {
            known = known || same(plots[p].name, stem);
        }
        if (!known) {
            put_plot(found.gl_pathv[i], number++, stem, out);
        }
    }
    globfree(&found);
    return number;
}

void rcl_report_plots(const rcl_report *report, FILE *out)
{
    unsigned number = 0;
    char path[sizeof report->folder + 64];
    fputs("<section id=\"plots\">\n<h2>Plots</h2>\n", out);
    for (unsigned p = 0; p < PLOT_COUNT; p++) {
        snprintf(path, sizeof path, "%s/plots/%s.svg", report->folder, plots[p].name);
        if (access(path, R_OK) == 0) {
            put_plot(path, number++, plots[p].question, out);
        }
    }
    if (put_other_plots(report, number, out) == 0) {
        put_absent(out, "this run has no plots", "make plots OUT=<this folder> draws them.");
    }
    fputs("</section>\n", out);
}

/* ---- CSV files ---- */

/* A CSV file of the run, or of results/reference; with a message if it cannot be used. False then. */
static bool load(const char *path, const char *const *names, size_t count, rcl_csv *csv,
                 int *columns, char *error, size_t error_size)
{
    return rcl_csv_load(path, csv, error, error_size) &&
           rcl_csv_columns(csv, names, count, columns, error, error_size) &&
           rcl_csv_check_schema(csv, RCL_SCHEMA, error, error_size);
}

/* True if an earlier row has the same in all `count` columns. */
static bool is_repeated(const rcl_csv *csv, size_t row, const int *columns, size_t count)
{
    for (size_t before = 0; before < row; before++) {
        bool equal = true;
        for (size_t i = 0; i < count; i++) {
            equal = equal &&
                    same(rcl_csv_text(csv, before, columns[i]), rcl_csv_text(csv, row, columns[i]));
        }
        if (equal) {
            return true;
        }
    }
    return false;
}

/* NAN for a field that is no number. */
static double figure_of(const rcl_csv *csv, size_t row, int column)
{
    char error[256];
    double value = NAN;
    return rcl_csv_double(csv, row, column, &value, error, sizeof error) ? value : NAN;
}

/* At most so many decimals, and none that are zero. */
static rcl_figure short_figure(double value, int decimals)
{
    if (isnan(value)) {
        return (rcl_figure){"–"};
    }
    rcl_figure figure = rcl_figure_ns(value, decimals);
    if (strchr(figure.text, '.') != NULL) {
        size_t length = strlen(figure.text);
        while (figure.text[length - 1] == '0') {
            length--;
        }
        length -= figure.text[length - 1] == '.' ? 1 : 0;
        figure.text[length] = '\0';
    }
    return figure;
}

/* ---- Costs ---- */

enum cost_column {
    COST_IMPL,
    COST_OPERATION,
    COST_COMPILER,
    COST_INSTRUCTIONS,
    COST_LOCKED,
    COST_READS,
    COST_WRITES,
    COST_COLUMNS
};
static const char *const cost_names[COST_COLUMNS] = {
    "impl", "operation", "compiler", "instructions", "locked", "reads", "writes"};

/* "GNU 12.2.0" of machine.json is "gcc-12.2.0" of costs.csv. */
static bool same_compiler(const char *measured, const char *counted)
{
    bool clang = strstr(measured, "lang") != NULL;
    size_t version = strcspn(measured, "0123456789");
    size_t other = strcspn(counted, "0123456789");
    return clang == (strstr(counted, "lang") != NULL) && measured[version] != '\0' &&
           same(measured + version, counted + other);
}

static void put_cost_cell(const rcl_csv *csv, const int *columns, size_t row, FILE *out)
{
    const char *locked = rcl_csv_text(csv, row, columns[COST_LOCKED]);
    rcl_html(out,
             "<td class=\"num\">%s<span class=\"locked%s\">%s</span><small>%s r, %s w</small></td>",
             short_figure(figure_of(csv, row, columns[COST_INSTRUCTIONS]), 2).text,
             same(locked, "0") ? " zero" : "",
             short_figure(figure_of(csv, row, columns[COST_LOCKED]), 2).text,
             short_figure(figure_of(csv, row, columns[COST_READS]), 2).text,
             short_figure(figure_of(csv, row, columns[COST_WRITES]), 2).text);
}

static bool is_cell(const rcl_csv *csv, const int *columns, size_t row, const char *impl,
                    const char *operation, const char *compiler)
{
    return same(rcl_csv_text(csv, row, columns[COST_IMPL]), impl) &&
           same(rcl_csv_text(csv, row, columns[COST_OPERATION]), operation) &&
           same(rcl_csv_text(csv, row, columns[COST_COMPILER]), compiler);
}

static void put_cost_row(const rcl_csv *csv, const int *columns, const char *operation,
                         const char *compiler, FILE *out)
{
    rcl_html(out, "<tr><th scope=\"row\">%s</th>", operation);
    for (size_t i = 0; i < csv->row_count; i++) {
        if (is_repeated(csv, i, &columns[COST_IMPL], 1)) {
            continue;
        }
        bool found = false;
        for (size_t row = 0; row < csv->row_count && !found; row++) {
            found = is_cell(csv, columns, row, rcl_csv_text(csv, i, columns[COST_IMPL]), operation,
                            compiler);
            if (found) {
                put_cost_cell(csv, columns, row, out);
            }
        }
        fputs(found ? "" : "<td class=\"num\">–</td>", out);
    }
    fputs("</tr>\n", out);
}

static void put_costs_of(const rcl_report *report, const rcl_csv *csv, const int *columns,
                         const char *compiler, FILE *out)
{
    rcl_html(out,
             "<div class=\"scroll\"><table class=\"costs\"><caption>%s</caption><thead><tr><th "
             "scope=\"col\">Operation</th>",
             compiler);
    for (size_t row = 0; row < csv->row_count; row++) {
        if (!is_repeated(csv, row, &columns[COST_IMPL], 1)) {
            rcl_report_name(report, out, rcl_csv_text(csv, row, columns[COST_IMPL]), "col");
        }
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t row = 0; row < csv->row_count; row++) {
        if (!is_repeated(csv, row, &columns[COST_OPERATION], 1)) {
            put_cost_row(csv, columns, rcl_csv_text(csv, row, columns[COST_OPERATION]), compiler,
                         out);
        }
    }
    fputs("</tbody></table></div>\n", out);
}

/* Writes the tables of one file, `only` for the run's compiler if so wanted. Returns how many. */
static unsigned put_cost_tables(const rcl_report *report, const rcl_csv *csv, const int *columns,
                                const char *only, FILE *out)
{
    unsigned count = 0;
    for (size_t row = 0; row < csv->row_count; row++) {
        const char *compiler = rcl_csv_text(csv, row, columns[COST_COMPILER]);
        if (is_repeated(csv, row, &columns[COST_COMPILER], 1) ||
            (only != NULL && !same_compiler(only, compiler))) {
            continue;
        }
        if (count == 0) {
            fputs(only != NULL ? "<p>This run has no <code>costs.csv</code>. These were counted "
                                 "elsewhere, with the same compiler "
                                 "(<code>results/reference/costs.csv</code>): they are the shipped "
                                 "strategies' as they were then.</p>\n"
                               : "",
                  out);
            fputs(
                "<p>Instructions that one operation executes, counted, not timed: the same on "
                "every run. <span class=\"locked\">1</span> is how many of them are locked; r and "
                "w are reads and writes of memory.</p>\n",
                out);
        }
        put_costs_of(report, csv, columns, compiler, out);
        count++;
    }
    return count;
}

void rcl_report_costs(const rcl_report *report, FILE *out)
{
    static const char reference[] = RCL_SOURCE_DIR "/results/reference/costs.csv";
    static const char how[] = "rclab cost counts them, with valgrind.";
    const char *compiler = rcl_report_fact(report, "build", "compiler");
    char path[sizeof report->folder + 16];
    char error[512];
    int columns[COST_COLUMNS];
    rcl_csv csv = {0};
    fputs("<section id=\"costs\">\n<h2>What an operation executes</h2>\n", out);
    snprintf(path, sizeof path, "%s/costs.csv", report->folder);
    bool own = access(path, F_OK) == 0;
    if (!own && access(reference, F_OK) != 0) {
        put_absent(out, "this run has no costs.csv", how);
    } else if (!load(own ? path : reference, cost_names, COST_COLUMNS, &csv, columns, error,
                     sizeof error)) {
        put_absent(out, error, how);
    } else if (put_cost_tables(report, &csv, columns, own ? NULL : compiler, out) == 0) {
        put_absent(out,
                   own ? "costs.csv has no rows"
                       : "this run has no costs.csv, and the counts that are kept are of another "
                         "compiler",
                   how);
    }
    rcl_csv_free(&csv);
    fputs("</section>\n", out);
}

/* ---- Space ---- */

enum space_column {
    SPACE_IMPL,
    SPACE_ALLOCATOR,
    SPACE_HANDLE,
    SPACE_WEAK,
    SPACE_HEADER,
    SPACE_PER_OBJECT,
    SPACE_PER_TENSOR,
    SPACE_WITH_BYTES,
    SPACE_REQUESTED,
    SPACE_TAKEN,
    SPACE_GIGABYTES,
    SPACE_COLUMNS
};
static const char *const space_names[SPACE_COLUMNS] = {
    "impl",
    "allocator",
    "handle_bytes",
    "weak_handle_bytes",
    "header_bytes",
    "allocations_per_object",
    "allocations_per_tensor",
    "allocations_per_tensor_with_bytes",
    "requested_bytes_per_tensor",
    "taken_bytes_per_tensor",
    "gigabytes_400m_tensors",
};

static void put_space_row(const rcl_report *report, const rcl_csv *csv, const int *columns,
                          size_t row, double longest, FILE *out)
{
    static const int decimals[SPACE_COLUMNS] = {[SPACE_PER_OBJECT] = 2,
                                                [SPACE_PER_TENSOR] = 2,
                                                [SPACE_WITH_BYTES] = 2,
                                                [SPACE_GIGABYTES] = 1};
    const char *impl = rcl_csv_text(csv, row, columns[SPACE_IMPL]);
    size_t strategy = rcl_report_find(report, impl);
    fputs("<tr>", out);
    rcl_report_name(report, out, impl, "row");
    rcl_html(out, "<td>%s</td>", rcl_csv_text(csv, row, columns[SPACE_ALLOCATOR]));
    for (int c = SPACE_HANDLE; c < SPACE_COLUMNS; c++) {
        double value = figure_of(csv, row, columns[c]);
        bool always = c == SPACE_GIGABYTES && !isnan(value);
        rcl_html(out, "<td class=\"num\">%s</td>",
                 always ? rcl_figure_ns(value, 1).text : short_figure(value, decimals[c]).text);
    }
    double taken = figure_of(csv, row, columns[SPACE_TAKEN]);
    rcl_html(out,
             "<td class=\"bars\"><svg class=\"bar %s\" aria-hidden=\"true\"><rect width=\"%.1f%%\" "
             "height=\"100%%\"/></svg></td></tr>\n",
             strategy < SIZE_MAX ? rcl_report_colour(report, strategy).text : "none",
             isnan(taken) ? 0 : taken / longest * 100);
}

static void put_space(const rcl_report *report, const rcl_csv *csv, const int *columns, FILE *out)
{
    double longest = 0;
    for (size_t row = 0; row < csv->row_count; row++) {
        longest = fmax(longest, figure_of(csv, row, columns[SPACE_TAKEN]));
    }
    fputs(
        "<div class=\"scroll\"><table class=\"space\"><caption>A tensor here is a TensorImpl with "
        "a StorageImpl of its own, without the bytes of its elements</caption><thead><tr><th "
        "scope=\"col\" rowspan=\"2\">Strategy</th><th scope=\"col\" rowspan=\"2\">Allocator</th>"
        "<th scope=\"colgroup\" colspan=\"3\" class=\"over\">Bytes</th><th scope=\"colgroup\" "
        "colspan=\"3\" class=\"over\">Allocations</th><th scope=\"colgroup\" colspan=\"2\" "
        "class=\"over\">Bytes of a tensor</th><th scope=\"col\" rowspan=\"2\" class=\"num\">GB for"
        "<br>400 million</th><th rowspan=\"2\" class=\"bars\"></th></tr>\n<tr><th scope=\"col\" "
        "class=\"num\">handle</th><th scope=\"col\" class=\"num\">weak handle</th><th "
        "scope=\"col\" class=\"num\">header</th><th scope=\"col\" class=\"num\">object</th><th "
        "scope=\"col\" class=\"num\">tensor</th><th scope=\"col\" class=\"num\">with "
        "elements</th><th scope=\"col\" class=\"num\">asked for</th><th scope=\"col\" "
        "class=\"num\">taken</th></tr></thead><tbody>\n",
        out);
    for (size_t row = 0; row < csv->row_count; row++) {
        bool first = row > 0 && !same(rcl_csv_text(csv, row, columns[SPACE_ALLOCATOR]),
                                      rcl_csv_text(csv, row - 1, columns[SPACE_ALLOCATOR]));
        fputs(first ? "</tbody><tbody>\n" : "", out);
        put_space_row(report, csv, columns, row, longest, out);
    }
    fputs("</tbody></table></div>\n<p class=\"note\">A weak handle of 0 bytes: the strategy has "
          "none.</p>\n",
          out);
}

void rcl_report_space(const rcl_report *report, FILE *out)
{
    char path[sizeof report->folder + 16];
    char error[512];
    int columns[SPACE_COLUMNS];
    rcl_csv csv = {0};
    fputs("<section id=\"space\">\n<h2>What it weighs</h2>\n", out);
    snprintf(path, sizeof path, "%s/space.csv", report->folder);
    if (load(path, space_names, SPACE_COLUMNS, &csv, columns, error, sizeof error) &&
        csv.row_count > 0) {
        put_space(report, &csv, columns, out);
    } else {
        put_absent(out,
                   csv.column_count > 0 && csv.row_count == 0 ? "space.csv has no rows" : error,
                   "rclab bench writes it.");
    }
    rcl_csv_free(&csv);
    fputs("</section>\n", out);
}

/* ---- Delay ---- */

enum delay_column {
    DELAY_IMPL,
    DELAY_WORKLOAD,
    DELAY_VARIANT,
    DELAY_ALLOCATOR,
    DELAY_LAUNCHES,
    DELAY_RELEASES,
    DELAY_RATE,
    DELAY_P50,
    DELAY_P99,
    DELAY_P999,
    DELAY_MAX,
    DELAY_FLAGGED,
    DELAY_COLUMNS
};
static const char *const delay_names[DELAY_COLUMNS] = {
    "impl",       "workload", "variant", "allocator", "launches", "releases",
    "rate_per_s", "p50_ns",   "p99_ns",  "p999_ns",   "max_ns",   "flagged",
};

/* Where a delay lies on the axis, in percent: logarithmic, so that a median and a maximum have both
 * room. */
static double place_on_axis(double ns, double low, double high)
{
    return high > low ? log(ns / low) / log(high / low) * 96 + 2 : 50;
}

static void put_delay_range(const rcl_csv *csv, const int *columns, size_t row, double low,
                            double high, const char *colour, FILE *out)
{
    double p50 = place_on_axis(figure_of(csv, row, columns[DELAY_P50]), low, high);
    double p999 = place_on_axis(figure_of(csv, row, columns[DELAY_P999]), low, high);
    double most = place_on_axis(figure_of(csv, row, columns[DELAY_MAX]), low, high);
    fputs("<td class=\"bars wide\">", out);
    if (!isnan(p50) && !isnan(p999) && !isnan(most)) {
        rcl_html(out,
                 "<svg class=\"bar range %s\" aria-hidden=\"true\"><line x1=\"%.1f%%\" "
                 "x2=\"%.1f%%\" y1=\"50%%\" y2=\"50%%\"/><rect x=\"%.1f%%\" width=\"%.1f%%\" "
                 "y=\"25%%\" height=\"50%%\"/><circle cx=\"%.1f%%\" cy=\"50%%\" r=\"4\"/></svg>",
                 colour, p50, most, p50, fmax(p999 - p50, 0), p50);
    }
    fputs("</td>", out);
}

static rcl_figure delay_figure(const rcl_csv *csv, size_t row, int column)
{
    double ns = figure_of(csv, row, column);
    return isnan(ns) ? rcl_figure_ratio(NAN) : rcl_figure_time(ns);
}

static void put_delay_row(const rcl_report *report, const rcl_csv *csv, const int *columns,
                          size_t row, double low, double high, FILE *out)
{
    const char *impl = rcl_csv_text(csv, row, columns[DELAY_IMPL]);
    size_t strategy = rcl_report_find(report, impl);
    double flagged = figure_of(csv, row, columns[DELAY_FLAGGED]);
    double launches = figure_of(csv, row, columns[DELAY_LAUNCHES]);
    fputs("<tr>", out);
    rcl_report_name(report, out, impl, "row");
    put_delay_range(csv, columns, row, low, high,
                    strategy < SIZE_MAX ? rcl_report_colour(report, strategy).text : "none", out);
    for (int c = DELAY_P50; c <= DELAY_MAX; c++) {
        bool disturbed = c == DELAY_P50 && flagged * 2 > launches;
        rcl_html(out, "<td class=\"num\">%s", delay_figure(csv, row, columns[c]).text);
        fputs(disturbed ? "<abbr title=\"most launches were disturbed\">~</abbr></td>" : "</td>",
              out);
    }
    rcl_html(out, "<td class=\"num\">%s</td><td class=\"num\">%s</td></tr>\n",
             rcl_csv_text(csv, row, columns[DELAY_RELEASES]),
             short_figure(figure_of(csv, row, columns[DELAY_RATE]), 0).text);
}

static bool is_of_delay(const rcl_csv *csv, const int *columns, size_t row, size_t first)
{
    return same(rcl_csv_text(csv, row, columns[DELAY_WORKLOAD]),
                rcl_csv_text(csv, first, columns[DELAY_WORKLOAD])) &&
           same(rcl_csv_text(csv, row, columns[DELAY_VARIANT]),
                rcl_csv_text(csv, first, columns[DELAY_VARIANT])) &&
           same(rcl_csv_text(csv, row, columns[DELAY_ALLOCATOR]),
                rcl_csv_text(csv, first, columns[DELAY_ALLOCATOR]));
}

static void put_delays_of(const rcl_report *report, const rcl_csv *csv, const int *columns,
                          size_t first, double low, double high, FILE *out)
{
    const char *variant = rcl_csv_text(csv, first, columns[DELAY_VARIANT]);
    bool one = variant[0] == '-';
    rcl_html(out,
             "<div class=\"scroll\"><table class=\"delay\"><caption>%s%s%s, %s</caption><thead><tr>"
             "<th scope=\"col\">Strategy</th><th scope=\"col\" class=\"bars wide\">%s – %s, "
             "logarithmic</th><th scope=\"col\" class=\"num\">50 %%</th><th scope=\"col\" "
             "class=\"num\">99 %%</th><th scope=\"col\" class=\"num\">99.9 %%</th><th "
             "scope=\"col\" class=\"num\">longest</th><th scope=\"col\" "
             "class=\"num\">releases</th><th scope=\"col\" class=\"num\">per second</th></tr>"
             "</thead><tbody>\n",
             rcl_csv_text(csv, first, columns[DELAY_WORKLOAD]), one ? "" : " ", one ? "" : variant,
             rcl_csv_text(csv, first, columns[DELAY_ALLOCATOR]), rcl_figure_time(low).text,
             rcl_figure_time(high).text);
    for (size_t row = first; row < csv->row_count; row++) {
        if (is_of_delay(csv, columns, row, first)) {
            put_delay_row(report, csv, columns, row, low, high, out);
        }
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_delays(const rcl_report *report, const rcl_csv *csv, const int *columns, FILE *out)
{
    double low = INFINITY;
    double high = 0;
    for (size_t row = 0; row < csv->row_count; row++) {
        double p50 = figure_of(csv, row, columns[DELAY_P50]);
        low = p50 > 0 ? fmin(low, p50) : low; /* false for NAN */
        high = fmax(high, figure_of(csv, row, columns[DELAY_MAX]));
    }
    low = isfinite(low) ? low : 1;
    fputs("<p>From the moment of an object's last release until its memory is back at the "
          "allocator. The dot is the median, the bar reaches to the 99.9th percentile, the line to "
          "the longest delay of all; all panels have the same axis. – stands where delays could "
          "not be told: the memory was kept, or the schedule could not be met.</p>\n",
          out);
    const int key[] = {columns[DELAY_WORKLOAD], columns[DELAY_VARIANT], columns[DELAY_ALLOCATOR]};
    for (size_t row = 0; row < csv->row_count; row++) {
        if (!is_repeated(csv, row, key, 3)) {
            put_delays_of(report, csv, columns, row, low, high, out);
        }
    }
}

void rcl_report_delay(const rcl_report *report, FILE *out)
{
    char path[sizeof report->folder + 16];
    char error[512];
    int columns[DELAY_COLUMNS];
    rcl_csv csv = {0};
    fputs("<section id=\"delay\">\n<h2>How late memory comes back</h2>\n", out);
    snprintf(path, sizeof path, "%s/delay.csv", report->folder);
    if (access(path, F_OK) != 0) {
        put_absent(out, "this run has no delay.csv",
                   "It was made without the workloads that measure delays.");
    } else if (!load(path, delay_names, DELAY_COLUMNS, &csv, columns, error, sizeof error)) {
        put_absent(out, error, "rclab bench writes it.");
    } else if (csv.row_count == 0) {
        put_absent(out, "delay.csv has no rows", "rclab bench writes them.");
    } else {
        put_delays(report, &csv, columns, out);
    }
    rcl_csv_free(&csv);
    fputs("</section>\n", out);
}

/* ---- The battery's verdicts ---- */

enum verdict_column {
    VERDICT_IMPL,
    VERDICT_VERDICT,
    VERDICT_PASSED,
    VERDICT_FAILED,
    VERDICT_UNSUPPORTED,
    VERDICT_UNTESTED,
    VERDICT_COLUMNS
};
static const char *const verdict_names[VERDICT_COLUMNS] = {
    "impl",
    "verdict",
    "clauses_passed",
    "clauses_failed",
    "clauses_unsupported",
    "clauses_untested",
};

/* The recorded row that says what the run says of the strategy, or SIZE_MAX: a strategy whose source
 * has changed since has none. */
static size_t recorded(const rcl_csv *csv, const int *columns, const rcl_strategy *strategy)
{
    for (size_t row = 0; row < csv->row_count; row++) {
        if (same(rcl_csv_text(csv, row, columns[VERDICT_IMPL]), strategy->name) &&
            same(rcl_csv_text(csv, row, columns[VERDICT_VERDICT]), strategy->conformance)) {
            return row;
        }
    }
    return SIZE_MAX;
}

static void put_clauses(const rcl_csv *csv, const int *columns, size_t row, FILE *out)
{
    static const char *const parts[] = {"passed", "failed", "unsupported", "untested"};
    double counts[4];
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        counts[i] = figure_of(csv, row, columns[VERDICT_PASSED + i]);
        sum += counts[i];
        rcl_html(out, "<td class=\"num\">%s</td>", short_figure(counts[i], 0).text);
    }
    fputs("<td class=\"bars wide\"><svg class=\"bar parts\" aria-hidden=\"true\">", out);
    double at = 0;
    for (int i = 0; i < 4 && sum > 0; i++) {
        rcl_html(out, "<rect class=\"%s\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"100%%\"/>",
                 parts[i], at, counts[i] / sum * 100);
        at += counts[i] / sum * 100;
    }
    fputs("</svg></td>", out);
}

static void put_verdicts(const rcl_report *report, const rcl_csv *csv, const int *columns,
                         FILE *out)
{
    const rcl_summary_view *view = &report->view;
    bool any_missing = false;
    fputs(
        "<div class=\"scroll\"><table class=\"verdicts\"><caption>Clauses of the contract</caption>"
        "<thead><tr><th scope=\"col\">Strategy</th><th scope=\"col\">Verdict</th><th "
        "scope=\"col\" class=\"num\">passed</th><th scope=\"col\" class=\"num\">failed</th><th "
        "scope=\"col\" class=\"num\">unsupported</th><th scope=\"col\" "
        "class=\"num\">untested</th><th class=\"bars wide\"></th></tr></thead><tbody>\n",
        out);
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_strategy *strategy = &view->strategies[s];
        if (same(strategy->conformance, "exempt")) {
            continue;
        }
        fputs("<tr>", out);
        rcl_report_name(report, out, strategy->name, "row");
        rcl_html(out, "<td class=\"verdict %s\">%s</td>",
                 same(strategy->conformance, "pass")   ? "pass"
                 : same(strategy->conformance, "fail") ? "fail"
                                                       : "open",
                 same(strategy->conformance, "pass")   ? "passes"
                 : same(strategy->conformance, "fail") ? "fails"
                                                       : "not tested");
        size_t row = csv != NULL ? recorded(csv, columns, strategy) : SIZE_MAX;
        if (row < SIZE_MAX) {
            put_clauses(csv, columns, row, out);
        } else {
            fputs("<td class=\"num\">–</td><td class=\"num\">–</td><td class=\"num\">–</td><td "
                  "class=\"num\">–</td><td></td>",
                  out);
            any_missing = true;
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (any_missing) {
        fputs("<p class=\"note\">– No verdict with counts is on record for this source. "
              "<code>rclab conform --impl NAME</code> gives one.</p>\n",
              out);
    }
}

void rcl_report_verdicts(const rcl_report *report, FILE *out)
{
    static const char path[] = RCL_SOURCE_DIR "/results/reference/conformance.csv";
    char error[512];
    int columns[VERDICT_COLUMNS];
    rcl_csv csv = {0};
    fputs("<section id=\"verdicts\">\n<h2>What the battery says</h2>\n<p>Speed counts only of what "
          "is right: <code>rclab conform</code> puts each strategy to the test, clause by clause. "
          "<em>Unsupported</em>: the clause needs a capability that the strategy does not claim. "
          "<em>Untested</em>: nothing ran that could have found it broken.</p>\n",
          out);
    bool there = load(path, verdict_names, VERDICT_COLUMNS, &csv, columns, error, sizeof error);
    put_verdicts(report, there ? &csv : NULL, columns, out);
    rcl_csv_free(&csv);
    fputs("</section>\n", out);
}
