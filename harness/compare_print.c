#include "compare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { LABEL_BYTES = 256, FEW = 3, FIGURE_BYTES = 32, LAUNCHES_ENOUGH = 5 };

static bool differs(const rcl_pair *pair)
{
    return pair->verdict == RCL_SLOWER || pair->verdict == RCL_FASTER;
}

static bool was_compared(const rcl_pair *pair)
{
    return differs(pair) || pair->verdict == RCL_NO_DIFFERENCE;
}

void rcl_pair_label(const rcl_pair *pair, char *label, size_t size)
{
    const rcl_measured_cell *cell = pair->cell;
    bool two = pair->before != NULL && pair->after != NULL &&
               strcmp(pair->before->impl, pair->after->impl) != 0;
    bool one_variant = strcmp(cell->variant, "-") == 0;
    snprintf(label, size, "%s%s%s  %s%s%s, %u thread%s %s, %s", cell->impl, two ? " -> " : "",
             two ? pair->after->impl : "", cell->workload, one_variant ? "" : " ",
             one_variant ? "" : cell->variant, cell->threads, cell->threads == 1 ? "" : "s",
             cell->sharing, cell->allocator);
}

/* ---- Which rows, in which order ---- */

typedef struct table_row {
    const rcl_pair *pair;
} table_row;

/* Slower ones first, the largest change first among them; then faster ones likewise; then the rest. */
static int by_change(const void *a, const void *b)
{
    const rcl_pair *left = ((const table_row *)a)->pair;
    const rcl_pair *right = ((const table_row *)b)->pair;
    if (left->verdict != right->verdict) {
        return (left->verdict > right->verdict) - (left->verdict < right->verdict);
    }
    double first = fabs(left->log_ratio);
    double second = fabs(right->log_ratio);
    if (differs(left) && first != second) {
        return first > second ? -1 : 1;
    }
    return (left > right) - (left < right); /* as they lie in the comparison */
}

/* The rows of the table; the caller frees them. */
static table_row *table_rows(const rcl_comparison *comparison, bool all, size_t *count)
{
    table_row *rows = malloc((comparison->count + 1) * sizeof *rows);
    *count = 0;
    if (rows == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < comparison->count; i++) {
        const rcl_pair *pair = &comparison->pairs[i];
        if (differs(pair) || (all && (was_compared(pair) || pair->verdict == RCL_CONTROL))) {
            rows[(*count)++].pair = pair;
        }
    }
    qsort(rows, *count, sizeof *rows, by_change);
    return rows;
}

/* ---- Words and figures ---- */

static void figure(double ns, char *text)
{
    int decimals = ns < 9.995 ? 3 : ns < 99.95 ? 2 : ns < 999.5 ? 1 : 0;
    snprintf(text, FIGURE_BYTES, "%.*f", decimals, ns);
}

static const char *verdict_words(rcl_verdict verdict)
{
    static const char *const words[RCL_VERDICT_COUNT] = {
        "slower", "faster", "-", "control", "flagged", "one launch", "only before", "only after",
    };
    return words[verdict];
}

static size_t left_out(const rcl_comparison *comparison)
{
    return comparison->counts[RCL_LEFT_FLAGGED] + comparison->counts[RCL_LEFT_ONE_LAUNCH];
}

/* One line, without its end. */
static void print_verdicts(FILE *out, const rcl_comparison *comparison)
{
    fprintf(out,
            "%zu cell%s compared: %zu slower, %zu faster, %zu with no difference that these runs "
            "can show",
            comparison->compared, comparison->compared == 1 ? "" : "s",
            comparison->counts[RCL_SLOWER], comparison->counts[RCL_FASTER],
            comparison->counts[RCL_NO_DIFFERENCE]);
    fprintf(out, " (half of the cells could have shown %.1f %% or less)",
            comparison->resolution * 100);
}

/* "12 left out, most repetitions flagged: a; b; c and 9 more" for one verdict, if it has cells. */
static void print_others(FILE *out, const rcl_comparison *comparison, rcl_verdict verdict,
                         const char *words, bool all, const char *end)
{
    size_t count = comparison->counts[verdict];
    if (count == 0) {
        return;
    }
    fprintf(out, "%zu %s:", count, words);
    size_t named = 0;
    for (size_t i = 0; i < comparison->count && (all || named < FEW); i++) {
        const rcl_pair *pair = &comparison->pairs[i];
        if (pair->verdict == verdict) {
            char label[LABEL_BYTES];
            rcl_pair_label(pair, label, sizeof label);
            fprintf(out, "%s %s", named++ > 0 ? ";" : "", label);
        }
    }
    if (named < count) {
        fprintf(out, "; and %zu more (--all)", count - named);
    }
    fputs(end, out);
}

static void print_unmatched(FILE *out, const rcl_comparison *comparison, rcl_verdict verdict,
                            const rcl_measured *run, const char *impl, bool all, const char *end)
{
    char words[LABEL_BYTES];
    snprintf(words, sizeof words, impl != NULL ? "only of %.200s" : "only in %.200s",
             impl != NULL ? impl : run->folder);
    print_others(out, comparison, verdict, words, all, end);
}

static void print_all_others(FILE *out, const rcl_compare_request *request,
                             const rcl_comparison *comparison, bool all, const char *end)
{
    print_others(out, comparison, RCL_LEFT_FLAGGED, "left out, most repetitions flagged", all, end);
    print_others(out, comparison, RCL_LEFT_ONE_LAUNCH, "left out, one launch shows no spread", all,
                 end);
    print_unmatched(out, comparison, RCL_ONLY_BEFORE, request->before, request->impl_before, all,
                    end);
    print_unmatched(out, comparison, RCL_ONLY_AFTER, request->after, request->impl_after, all, end);
}

/* How far the machine moved between the runs, and for which numbers of threads that cannot be seen. */
static void print_spreads(FILE *out, const rcl_compare_request *request,
                          const rcl_comparison *comparison, const char *end)
{
    if (request->before == request->after) {
        fprintf(out,
                "One run, its cells measured in turns: the machine's changes are in the launches' "
                "spread.%s",
                end);
        return;
    }
    size_t controls = 0;
    for (size_t i = 0; i < comparison->spread_count; i++) {
        controls += comparison->spreads[i].controls;
    }
    if (controls == 0) {
        fprintf(out,
                "No row of null or floor tells whether the machine changed between the "
                "runs: differences may be the machine's.%s",
                end);
        return;
    }
    fputs("The machine between the runs, from null and floor:", out);
    for (size_t i = 0; i < comparison->spread_count; i++) {
        const rcl_run_spread *spread = &comparison->spreads[i];
        fprintf(out, "%s %u thread%s ", i > 0 ? "," : "", spread->threads,
                spread->threads == 1 ? "" : "s");
        if (spread->controls > 0) {
            fprintf(out, "%.1f %%", spread->spread * 100);
        } else {
            fputs("not known", out);
        }
    }
    fprintf(out, " beyond what launches explain (%zu rows); it is in the intervals.%s", controls,
            end);
}

static void print_confidence(FILE *out, const rcl_comparison *comparison, const char *end)
{
    fprintf(out,
            "Intervals hold the true ratio with %.4g %%, so that of the cells called different "
            "on average at most %.0f %% are so by chance.%s",
            comparison->confidence * 100, RCL_COMPARE_FALSE_SHARE * 100, end);
}

static const char *statistic_words(const rcl_compare_request *request)
{
    return request->statistic == RCL_LAUNCH_FASTEST ? "fastest repetition"
                                                    : "median of the repetitions";
}

static unsigned depth_of(const rcl_measured *run)
{
    unsigned depth = 0;
    for (size_t i = 0; i < run->count; i++) {
        depth = run->cells[i].depth > depth ? run->cells[i].depth : depth;
    }
    return depth;
}

static size_t launches_of(const rcl_measured *run)
{
    size_t launches = 0;
    for (size_t i = 0; i < run->count; i++) {
        launches = run->cells[i].launches > launches ? run->cells[i].launches : launches;
    }
    return launches;
}

static void print_run(FILE *out, const char *name, const rcl_measured *run, const char *impl,
                      const char *end)
{
    bool changed = strcmp(rcl_measured_fact(run, "build", "changed_since_commit"), "true") == 0;
    fprintf(out, "%s %s%s%s  commit %.12s%s, %zu launches of %u repetition%s", name, run->folder,
            impl != NULL ? ", " : "", impl != NULL ? impl : "",
            rcl_measured_fact(run, "build", "commit"), changed ? " (changed)" : "",
            launches_of(run), depth_of(run), depth_of(run) == 1 ? "" : "s");
    if (run->repetition_ms > 0) {
        fprintf(out, " of %.1f ms", run->repetition_ms);
    }
    fputs(end, out);
}

/* Facts that differ, those that both runs show in print_run left out. */
static void print_differing_facts(FILE *out, const rcl_compare_request *request, const char *end)
{
    for (unsigned i = 0; i < RCL_FACT_COUNT; i++) {
        const rcl_fact *before = &request->before->facts[i];
        const rcl_fact *after = &request->after->facts[i];
        bool shown = strcmp(before->member, "commit") == 0 ||
                     strcmp(before->member, "changed_since_commit") == 0;
        if (!shown && strcmp(before->value, after->value) != 0) {
            fprintf(out, "Differs: %s, %s before, %s after%s", before->name, before->value,
                    after->value, end);
        }
    }
}

static void print_head(FILE *out, const rcl_compare_request *request, const char *end)
{
    bool one = request->before == request->after;
    print_run(out, "before", request->before, request->impl_before, end);
    print_run(out, "after ", request->after, request->impl_after, end);
    if (!one) {
        print_differing_facts(out, request, end);
    }
    fprintf(out, "Time after / time before, by the %s of each launch.%s", statistic_words(request),
            end);
}

/* ---- Terminal ---- */

static void print_row(FILE *out, const rcl_pair *pair, int width)
{
    char label[LABEL_BYTES];
    char before[FIGURE_BYTES];
    char after[FIGURE_BYTES];
    rcl_pair_label(pair, label, sizeof label);
    figure(pair->before_ns, before);
    figure(pair->after_ns, after);
    fprintf(out, "%-*s %10s %10s %8.3f  %6.3f to %-7.3f %s\n", width, label, before, after,
            pair->ratio, pair->low, pair->high, verdict_words(pair->verdict));
}

bool rcl_compare_print(FILE *out, const rcl_compare_request *request,
                       const rcl_comparison *comparison, bool all)
{
    size_t count = 0;
    table_row *rows = table_rows(comparison, all, &count);
    if (rows == NULL) {
        return false;
    }
    int width = 0;
    for (size_t i = 0; i < count; i++) {
        char label[LABEL_BYTES];
        rcl_pair_label(rows[i].pair, label, sizeof label);
        int length = (int)strlen(label);
        width = length > width ? length : width;
    }
    print_head(out, request, "\n");
    if (count > 0) {
        fprintf(out, "\n%-*s %10s %10s %8s  %s\n", width, "", "before ns", "after ns", "ratio",
                "interval");
    }
    for (size_t i = 0; i < count; i++) {
        print_row(out, rows[i].pair, width);
    }
    fputc('\n', out);
    print_verdicts(out, comparison);
    fputs(".\n", out);
    print_all_others(out, request, comparison, all, "\n");
    print_spreads(out, request, comparison, "\n");
    print_confidence(out, comparison, "\n");
    if (launches_of(request->before) < LAUNCHES_ENOUGH ||
        launches_of(request->after) < LAUNCHES_ENOUGH) {
        fputs("So few launches show large differences only: measure with bench --launches 6 or "
              "more.\n",
              out);
    }
    free(rows);
    return true;
}

/* ---- Markdown ---- */

bool rcl_compare_print_markdown(FILE *out, const rcl_compare_request *request,
                                const rcl_comparison *comparison, bool all)
{
    size_t count = 0;
    table_row *rows = table_rows(comparison, all, &count);
    if (rows == NULL) {
        return false;
    }
    fputs("**", out);
    print_verdicts(out, comparison);
    fputs(".**\n\n", out);
    if (count > 0) {
        fputs("| Implementation | Cell | before, ns | after, ns | after / before | interval | |\n"
              "|---|---|--:|--:|--:|:-:|---|\n",
              out);
    }
    for (size_t i = 0; i < count; i++) {
        char label[LABEL_BYTES];
        char before[FIGURE_BYTES];
        char after[FIGURE_BYTES];
        rcl_pair_label(rows[i].pair, label, sizeof label);
        char *cell = strstr(label, "  ");
        *cell = '\0';
        figure(rows[i].pair->before_ns, before);
        figure(rows[i].pair->after_ns, after);
        fprintf(out, "| %s | %s | %s | %s | %.3f | %.3f to %.3f | %s |\n", label, cell + 2, before,
                after, rows[i].pair->ratio, rows[i].pair->low, rows[i].pair->high,
                verdict_words(rows[i].pair->verdict));
    }
    fputs(count > 0 ? "\n" : "", out);
    fputs("- ", out);
    print_run(out, "before:", request->before, request->impl_before, "\n");
    fputs("- ", out);
    print_run(out, "after:", request->after, request->impl_after, "\n");
    if (left_out(comparison) + comparison->counts[RCL_ONLY_BEFORE] +
            comparison->counts[RCL_ONLY_AFTER] >
        0) {
        fputc('\n', out);
        print_all_others(out, request, comparison, all, "\n\n");
    }
    fputc('\n', out);
    print_differing_facts(out, request, "\n\n");
    fprintf(out, "By the %s of each launch. ", statistic_words(request));
    print_spreads(out, request, comparison, " ");
    print_confidence(out, comparison, "\n");
    free(rows);
    return true;
}

/* ---- CSV ---- */

static bool write_row(FILE *out, const rcl_pair *pair)
{
    const rcl_measured_cell *cell = pair->cell;
    if (fprintf(out, "%d,%s,%s,%s,%s,%u,%s,%s,%s,", RCL_SCHEMA,
                pair->before != NULL ? pair->before->impl : "",
                pair->after != NULL ? pair->after->impl : "", cell->workload, cell->variant,
                cell->threads, cell->sharing, cell->allocator,
                rcl_verdict_name(pair->verdict)) < 0) {
        return false;
    }
    if (!was_compared(pair) && pair->verdict != RCL_CONTROL) {
        return fputs(",,,,,,,,,,\n", out) >= 0;
    }
    return fprintf(out, "%zu,%zu,%.4f,%.4f,%.5f,%.5f,%.5f,%.5f,%.5f,%.3g,%.3g\n",
                   pair->launches_before, pair->launches_after, pair->before_ns, pair->after_ns,
                   pair->ratio, pair->low, pair->high, pair->ci95_low, pair->ci95_high, pair->p,
                   pair->p_adjusted) >= 0;
}

bool rcl_compare_write_csv(FILE *out, const rcl_comparison *comparison)
{
    bool good = fputs("schema,impl_before,impl_after,workload,variant,threads,sharing,allocator,"
                      "verdict,launches_before,launches_after,before_ns,after_ns,ratio,low,high,"
                      "ci95_low,ci95_high,p,p_adjusted\n",
                      out) >= 0;
    for (size_t i = 0; good && i < comparison->count; i++) {
        good = write_row(out, &comparison->pairs[i]);
    }
    return good && fflush(out) == 0;
}
