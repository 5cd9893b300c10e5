#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "record.h"

enum { LABEL_COLUMNS = 43, CELL_COLUMNS = 11, MAX_COLUMNS = 64, HEAD_LINES = 3 };

/* A cell, summarised. */
typedef struct entry {
    const rcl_cell *cell;
    rcl_summary summary;
    bool flagged; /* more than half of its repetitions */
} entry;

typedef struct table_view {
    const rcl_plan *plan;
    entry *entries; /* one for each cell of the plan, in its order */
    const rcl_impl *columns[MAX_COLUMNS];
    const char *conformance[MAX_COLUMNS]; /* of that column */
    unsigned column_count;
} table_view;

void rcl_cell_label(const rcl_cell *cell, char *label, size_t size)
{
    bool one = cell->variant->name[0] == '-';
    int used =
        snprintf(label, size, "%s%s%s, %u thread%s", cell->workload->name, one ? "" : " ",
                 one ? "" : cell->variant->name, cell->threads, cell->threads == 1 ? "" : "s");
    if (cell->threads > 1 && used > 0 && (size_t)used < size) {
        used += snprintf(label + used, size - (size_t)used, " %s", rcl_sharing_name(cell->sharing));
    }
    if (cell->workload->allocates && used > 0 && (size_t)used < size) {
        snprintf(label + used, size - (size_t)used, ", %s", rcl_allocator_name(cell->allocator));
    }
}

static bool table_make(table_view *table, const rcl_plan *plan)
{
    *table = (table_view){.plan = plan};
    table->entries = calloc(plan->count, sizeof *table->entries);
    if (table->entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        const rcl_cell *cell = &plan->cells[i];
        unsigned flagged = 0;
        table->entries[i].cell = cell;
        if (!rcl_cell_summary(cell, &table->entries[i].summary, &flagged)) {
            return false;
        }
        table->entries[i].flagged = flagged * 2 > cell->count;
        bool known = strcmp(cell->group, "floor") == 0;
        for (unsigned c = 0; c < table->column_count; c++) {
            known = known || table->columns[c] == cell->impl;
        }
        if (!known && table->column_count < MAX_COLUMNS) {
            table->conformance[table->column_count] = cell->conformance;
            table->columns[table->column_count++] = cell->impl;
        }
    }
    return true;
}

/* The part of a name that stands on line `line` of the head: names break after '_'. */
static void head_part(const char *name, unsigned line, char *part, size_t size)
{
    part[0] = '\0';
    for (unsigned at = 0; *name != '\0'; at++) {
        size_t length = 0;
        /* As many words as fit into the column, at least one. */
        for (;;) {
            size_t word = strcspn(name + length, "_");
            word += name[length + word] == '_' ? 1 : 0;
            if (word == 0 || (length > 0 && length + word > CELL_COLUMNS - 1)) {
                break;
            }
            length += word;
        }
        if (at == line) {
            snprintf(part, size, "%.*s", (int)(length < size ? length : size - 1), name);
            return;
        }
        name += length;
    }
}

static void print_head(FILE *out, const table_view *table, const char *title)
{
    for (unsigned line = 0; line < HEAD_LINES; line++) {
        bool any = line == 0;
        char part[CELL_COLUMNS];
        for (unsigned c = 0; c < table->column_count; c++) {
            head_part(table->columns[c]->name, line, part, sizeof part);
            any = any || part[0] != '\0';
        }
        if (!any) {
            break;
        }
        fprintf(out, "%-*s", LABEL_COLUMNS, line == 0 ? title : "");
        for (unsigned c = 0; c < table->column_count; c++) {
            head_part(table->columns[c]->name, line, part, sizeof part);
            fprintf(out, "%*s", CELL_COLUMNS, part);
        }
        fputc('\n', out);
    }
}

static void print_figure(FILE *out, double ns, const char *mark)
{
    char figure[32];
    int decimals = ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0;
    snprintf(figure, sizeof figure, "%.*f%-1s", decimals, ns, mark);
    fprintf(out, "%*s", CELL_COLUMNS, figure);
}

/* The ranked entry with the lowest median among those of one line; NULL if there is none. */
static const entry *best_of_line(const entry *first, size_t count)
{
    const entry *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (first[i].summary.launches > 0 && rcl_ranked(first[i].cell) &&
            (best == NULL || first[i].summary.median < best->summary.median)) {
            best = &first[i];
        }
    }
    return best;
}

static void print_line(FILE *out, const table_view *table, const entry *first, size_t count)
{
    char label[128];
    rcl_cell_label(first->cell, label, sizeof label);
    fprintf(out, "%-*s", LABEL_COLUMNS, label);
    const entry *best = best_of_line(first, count);
    for (unsigned c = 0; c < table->column_count; c++) {
        const entry *found = NULL;
        for (size_t i = 0; i < count; i++) {
            if (first[i].cell->impl == table->columns[c] && first[i].summary.launches > 0) {
                found = &first[i];
            }
        }
        if (found == NULL) {
            fprintf(out, "%*s", CELL_COLUMNS, "- ");
            continue;
        }
        /* What cannot be told from the best by this run is as good as the best. */
        bool winner =
            best != NULL && rcl_ranked(found->cell) && found->summary.low <= best->summary.high;
        bool fails = strcmp(table->conformance[c], "fail") == 0;
        print_figure(out, found->summary.median,
                     fails            ? "!"
                     : found->flagged ? "~"
                     : winner         ? "*"
                                      : " ");
    }
    fputc('\n', out);
}

static void print_floor(FILE *out, const table_view *table)
{
    bool any = false;
    for (size_t i = 0; i < table->plan->count; i++) {
        const entry *floor = &table->entries[i];
        if (strcmp(floor->cell->group, "floor") != 0 || floor->summary.launches == 0) {
            continue;
        }
        char label[128];
        rcl_cell_label(floor->cell, label, sizeof label);
        if (!any) {
            fprintf(out, "%-*s%*s\n", LABEL_COLUMNS + 12, "floor: what no strategy can beat",
                    CELL_COLUMNS, "ns");
            any = true;
        }
        fprintf(out, "%-*s", LABEL_COLUMNS + 12, label);
        print_figure(out, floor->summary.median, floor->flagged ? "~" : " ");
        fputc('\n', out);
    }
    if (any) {
        fputc('\n', out);
    }
}

/* Geometric mean of an implementation's medians over those of `base`, over the lines of a group that
 * both have; NAN if there are none. */
static double group_ratio(const table_view *table, const char *group, const rcl_impl *impl,
                          const rcl_impl *base)
{
    double sum = 0;
    unsigned count = 0;
    for (size_t i = 0; i < table->plan->count; i++) {
        const entry *mine = &table->entries[i];
        if (mine->cell->impl != impl || strcmp(mine->cell->group, group) != 0 ||
            mine->summary.median <= 0) {
            continue;
        }
        for (size_t j = 0; j < table->plan->count; j++) {
            const entry *other = &table->entries[j];
            if (other->cell->line == mine->cell->line && other->cell->impl == base &&
                other->summary.median > 0) {
                sum += log(mine->summary.median / other->summary.median);
                count++;
            }
        }
    }
    return count > 0 ? exp(sum / count) : NAN;
}

static void print_ratios(FILE *out, const table_view *table)
{
    const rcl_impl *base = NULL;
    for (unsigned c = 0; c < table->column_count; c++) {
        const rcl_impl *impl = table->columns[c];
        if (impl->counts && strcmp(table->conformance[c], "fail") != 0 &&
            (base == NULL || strcmp(impl->name, "packed64") == 0)) {
            base = impl;
        }
    }
    if (base == NULL || table->column_count < 2) {
        return;
    }
    char title[96];
    snprintf(title, sizeof title, "time over %s's, geometric mean", base->name);
    bool any = false;
    const char *group = "floor";
    for (size_t i = 0; i < table->plan->count; i++) {
        if (strcmp(table->plan->cells[i].group, group) == 0 ||
            strcmp(table->plan->cells[i].group, "floor") == 0 ||
            table->plan->cells[i].workload->delays) {
            continue;
        }
        group = table->plan->cells[i].group;
        if (!any) {
            print_head(out, table, title);
            any = true;
        }
        fprintf(out, "%-*s", LABEL_COLUMNS, group);
        for (unsigned c = 0; c < table->column_count; c++) {
            double ratio = group_ratio(table, group, table->columns[c], base);
            if (isnan(ratio)) {
                fprintf(out, "%*s", CELL_COLUMNS, "- ");
            } else {
                fprintf(out, "%*.2f%s", CELL_COLUMNS - 1, ratio,
                        strcmp(table->conformance[c], "fail") == 0 ? "!" : " ");
            }
        }
        fputc('\n', out);
    }
}

/* ---- Delays ---- */

/* False if all cells measure delays. */
static bool times_something(const rcl_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (!plan->cells[i].workload->delays) {
            return true;
        }
    }
    return false;
}

/* What looking at the clock takes: the median of many looks. 0 if memory was refused. */
static double clock_cost_ns(void)
{
    enum { LOOKS = 1001, EACH = 16 };
    double *costs = malloc(LOOKS * sizeof *costs);
    if (costs == NULL) {
        return 0;
    }
    for (unsigned i = 0; i < LOOKS; i++) {
        uint64_t start_ns = rcl_now_ns();
        uint64_t end_ns = start_ns;
        for (unsigned look = 0; look < EACH; look++) {
            end_ns = rcl_now_ns();
        }
        costs[i] = (double)(end_ns - start_ns) / EACH;
    }
    double median = gsl_stats_median(costs, 1, LOOKS);
    free(costs);
    return median;
}

/* The percentiles that the table has; the others stand in delay.csv. */
typedef enum delay_row { DELAY_P50, DELAY_P999, DELAY_ROWS } delay_row;

static const rcl_summary *delay_of_row(const rcl_delay_summary *summary, delay_row row)
{
    return row == DELAY_P50 ? &summary->p50 : &summary->p999;
}

/* The ranked cell with the lowest delay among `count` of one line; `count` if there is none. */
static size_t best_delay(const rcl_cell *cells, const rcl_delay_summary *summaries, size_t count,
                         delay_row row)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (summaries[i].known && rcl_ranked(&cells[i]) &&
            (best == count || delay_of_row(&summaries[i], row)->median <
                                  delay_of_row(&summaries[best], row)->median)) {
            best = i;
        }
    }
    return best;
}

static void print_delay_figure(FILE *out, const table_view *table, unsigned column,
                               const rcl_cell *cell, const rcl_delay_summary *summary,
                               delay_row row, const rcl_summary *best)
{
    if (summary->launches == 0) {
        fprintf(out, "%*s", CELL_COLUMNS, "- ");
    } else if (!summary->known) {
        fprintf(out, "%*s", CELL_COLUMNS, summary->kept > 0 ? "kept " : "saturated ");
    } else {
        const rcl_summary *figure = delay_of_row(summary, row);
        print_figure(out, figure->median,
                     strcmp(table->conformance[column], "fail") == 0                 ? "!"
                     : summary->flagged * 2 > summary->launches                      ? "~"
                     : best != NULL && rcl_ranked(cell) && figure->low <= best->high ? "*"
                                                                                     : " ");
    }
}

/* One question with one allocator: `count` cells from `cells` on. Sets *unknown if one of them has no
 * delays. */
static bool print_delay_line(FILE *out, const table_view *table, const rcl_cell *cells,
                             size_t count, bool *unknown)
{
    static const char *const names[DELAY_ROWS] = {"50 %", "99.9 %"};
    rcl_delay_summary *summaries = calloc(count, sizeof *summaries);
    bool summed = summaries != NULL;
    for (size_t i = 0; summed && i < count; i++) {
        summed = rcl_cell_delay_summary(&cells[i], &summaries[i]);
        *unknown = *unknown || (summed && summaries[i].launches > 0 && !summaries[i].known);
    }
    for (unsigned row = 0; summed && row < DELAY_ROWS; row++) {
        char label[160];
        bool one = cells->variant->name[0] == '-';
        snprintf(label, sizeof label, "%s%s%s, %s, %s", cells->workload->name, one ? "" : " ",
                 one ? "" : cells->variant->name, rcl_allocator_name(cells->allocator), names[row]);
        fprintf(out, "%-*s", LABEL_COLUMNS, label);
        size_t best = best_delay(cells, summaries, count, (delay_row)row);
        for (unsigned c = 0; c < table->column_count; c++) {
            size_t i = 0;
            while (i < count && cells[i].impl != table->columns[c]) {
                i++;
            }
            rcl_delay_summary none = {0};
            print_delay_figure(out, table, c, i < count ? &cells[i] : NULL,
                               i < count ? &summaries[i] : &none, (delay_row)row,
                               best < count ? delay_of_row(&summaries[best], (delay_row)row)
                                            : NULL);
        }
        fputc('\n', out);
    }
    free(summaries);
    return summed;
}

static bool print_delays(FILE *out, const table_view *table)
{
    bool any = false;
    bool unknown = false;
    for (size_t i = 0, count = 0; i < table->plan->count; i += count) {
        const rcl_cell *cells = &table->plan->cells[i];
        for (count = 1; i + count < table->plan->count && cells[count].line == cells->line;) {
            count++;
        }
        if (!cells->workload->delays) {
            continue;
        }
        if (!any) {
            fprintf(
                out,
                "%sNanoseconds from the scheduled last release to the return of the memory: "
                "half of the releases, and\n99.9 %% of them, were not later. One thread, the "
                "same schedule for all, by which packed64 is busy\nfor %.0f %% of the time. A "
                "look at the clock, %.0f ns, is in it once or twice. The rest is in delay.csv.\n\n",
                times_something(table->plan) ? "\n" : "", 100 * RCL_DELAY_LOAD, clock_cost_ns());
            print_head(out, table, "reclamation");
            any = true;
        }
        if (!print_delay_line(out, table, cells, count, &unknown)) {
            return false;
        }
    }
    if (unknown) {
        fputs(
            "\nsaturated: did not keep up with the schedule.  kept: memory was left after the last "
            "rc_quiesce.\n",
            out);
    }
    return true;
}

/* "label: a, b": the implementations of which the battery says this; nothing if there are none. */
static void print_judged(FILE *out, const table_view *table, const char *verdict, const char *label)
{
    bool any = false;
    for (unsigned c = 0; c < table->column_count; c++) {
        if (strcmp(table->conformance[c], verdict) == 0) {
            fprintf(out, "%s%s", any ? ", " : label, table->columns[c]->name);
            any = true;
        }
    }
    fputs(any ? "\n" : "", out);
}

bool rcl_table_print(FILE *out, const rcl_plan *plan)
{
    table_view table;
    if (!table_make(&table, plan)) {
        free(table.entries);
        return false;
    }
    fputs(times_something(plan)
              ? "Nanoseconds for one operation as one thread sees it, median over launches.\n"
              : "",
          out);
    fputs("*: best, or not to be told from it by this run.  ~: most repetitions were disturbed.\n"
          "null counts nothing: it is what the harness costs, and is never ranked.\n",
          out);
    print_judged(out, &table, "fail", "!: failed the battery (rclab conform), never ranked: ");
    print_judged(out, &table, "untested", "Not tested by the battery as they are now: ");
    fputc('\n', out);
    const char *group = "floor";
    for (size_t i = 0; i < plan->count;) {
        size_t count = 1;
        while (i + count < plan->count && plan->cells[i + count].line == plan->cells[i].line) {
            count++;
        }
        if (strcmp(plan->cells[i].group, "floor") != 0 && !plan->cells[i].workload->delays) {
            if (strcmp(plan->cells[i].group, group) != 0) {
                if (strcmp(group, "floor") != 0) {
                    fputc('\n', out);
                }
                group = plan->cells[i].group;
                print_head(out, &table, group);
            }
            print_line(out, &table, &table.entries[i], count);
        }
        i += count;
    }
    fputs(strcmp(group, "floor") != 0 ? "\n" : "", out);
    print_floor(out, &table);
    print_ratios(out, &table);
    bool printed = print_delays(out, &table);
    free(table.entries);
    return printed;
}
