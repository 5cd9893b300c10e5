#include "measured.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gsl/gsl_statistics_double.h>
#include <jansson.h>

#include "record.h"

enum { PATH_BYTES = 4096 };

/* ---- raw.csv ---- */

enum column_name {
    COLUMN_LAUNCH,
    COLUMN_REPETITION,
    COLUMN_IMPL,
    COLUMN_WORKLOAD,
    COLUMN_VARIANT,
    COLUMN_THREADS,
    COLUMN_SHARING,
    COLUMN_ALLOCATOR,
    COLUMN_NS,
    COLUMN_FLAGGED,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "launch",  "repetition", "impl",      "workload",  "variant",
    "threads", "sharing",    "allocator", "ns_per_op", "flagged",
};

/* A row of raw.csv with the cell that it belongs to (its names alone). */
typedef struct named_row {
    rcl_measured_cell cell;
    rcl_measured_row row;
} named_row;

static int order_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

int rcl_measured_order(const rcl_measured_cell *left, const rcl_measured_cell *right,
                       bool with_impl)
{
    int order = strcmp(left->workload, right->workload);
    order = order != 0 ? order : strcmp(left->variant, right->variant);
    order = order != 0 ? order : strcmp(left->sharing, right->sharing);
    order = order != 0 ? order : order_numbers(left->threads, right->threads);
    order = order != 0 ? order : strcmp(left->allocator, right->allocator);
    return order != 0 || !with_impl ? order : strcmp(left->impl, right->impl);
}

static int order_rows(const void *a, const void *b)
{
    const named_row *left = a;
    const named_row *right = b;
    int order = rcl_measured_order(&left->cell, &right->cell, true);
    order = order != 0 ? order : order_numbers(left->row.launch, right->row.launch);
    return order != 0 ? order : order_numbers(left->row.repetition, right->row.repetition);
}

static bool read_row(const rcl_csv *csv, const int *columns, size_t at, named_row *into,
                     char *error, size_t error_size)
{
    static const unsigned whole[] = {COLUMN_LAUNCH, COLUMN_REPETITION, COLUMN_THREADS,
                                     COLUMN_FLAGGED};
    enum { WHOLE = sizeof whole / sizeof whole[0] };
    uint64_t numbers[WHOLE];
    for (unsigned i = 0; i < WHOLE; i++) {
        if (!rcl_csv_unsigned(csv, at, columns[whole[i]], &numbers[i], error, error_size)) {
            return false;
        }
        if (numbers[i] > (whole[i] == COLUMN_FLAGGED ? 1 : UINT_MAX - 1)) {
            snprintf(error, error_size, "%s:%zu: %s cannot be %llu", csv->path,
                     rcl_csv_line(csv, at), column_names[whole[i]], (unsigned long long)numbers[i]);
            return false;
        }
    }
    double ns = 0;
    if (!rcl_csv_double(csv, at, columns[COLUMN_NS], &ns, error, error_size)) {
        return false;
    }
    if (ns <= 0) {
        snprintf(error, error_size, "%s:%zu: ns_per_op is %g: nothing takes no time", csv->path,
                 rcl_csv_line(csv, at), ns);
        return false;
    }
    into->cell = (rcl_measured_cell){
        .impl = rcl_csv_text(csv, at, columns[COLUMN_IMPL]),
        .workload = rcl_csv_text(csv, at, columns[COLUMN_WORKLOAD]),
        .variant = rcl_csv_text(csv, at, columns[COLUMN_VARIANT]),
        .sharing = rcl_csv_text(csv, at, columns[COLUMN_SHARING]),
        .allocator = rcl_csv_text(csv, at, columns[COLUMN_ALLOCATOR]),
        .threads = (unsigned)numbers[2],
    };
    into->row = (rcl_measured_row){(unsigned)numbers[0], (unsigned)numbers[1], ns, numbers[3] == 1};
    return true;
}

/* The rows in order, or NULL. */
static named_row *read_rows(const rcl_csv *csv, char *error, size_t error_size)
{
    int columns[COLUMN_COUNT];
    if (!rcl_csv_columns(csv, column_names, COLUMN_COUNT, columns, error, error_size)) {
        return NULL;
    }
    if (csv->row_count == 0) {
        snprintf(error, error_size, "%s has no rows: the run measured nothing", csv->path);
        return NULL;
    }
    named_row *rows = malloc(csv->row_count * sizeof *rows);
    if (rows == NULL) {
        snprintf(error, error_size, "%s: out of memory", csv->path);
        return NULL;
    }
    for (size_t row = 0; row < csv->row_count; row++) {
        if (!read_row(csv, columns, row, &rows[row], error, error_size)) {
            free(rows);
            return NULL;
        }
    }
    qsort(rows, csv->row_count, sizeof *rows, order_rows);
    return rows;
}

static void count_row(rcl_measured_cell *cell, const rcl_measured_row *row)
{
    bool first = cell->count == 0 || cell->rows[cell->count - 1].launch != row->launch;
    cell->launches += first ? 1 : 0;
    cell->flagged += row->flagged ? 1 : 0;
    cell->depth = row->repetition + 1 > cell->depth ? row->repetition + 1 : cell->depth;
    cell->count++;
}

static bool make_cells(rcl_measured *run, const named_row *named, size_t count)
{
    run->cells = malloc(count * sizeof *run->cells);
    run->rows = malloc(count * sizeof *run->rows);
    if (run->cells == NULL || run->rows == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        run->rows[i] = named[i].row;
        if (i == 0 || rcl_measured_order(&named[i - 1].cell, &named[i].cell, true) != 0) {
            run->cells[run->count] = named[i].cell;
            run->cells[run->count].rows = &run->rows[i];
            run->count++;
        }
        count_row(&run->cells[run->count - 1], &run->rows[i]);
    }
    return true;
}

static bool load_raw(rcl_measured *run, bool anyway, char *error, size_t error_size)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/raw.csv", run->folder);
    if (!rcl_csv_load(path, &run->csv, error, error_size) ||
        (!anyway && !rcl_csv_check_schema(&run->csv, RCL_SCHEMA, error, error_size))) {
        return false;
    }
    named_row *rows = read_rows(&run->csv, error, error_size);
    if (rows == NULL) {
        return false;
    }
    bool made = make_cells(run, rows, run->csv.row_count);
    free(rows);
    if (!made) {
        snprintf(error, error_size, "%s: out of memory", path);
    }
    return made;
}

/* ---- Launches ---- */

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The value of one launch, whose rows these are; `figures` has room for them. NAN if none is left. */
static double launch_value(const rcl_measured_row *rows, size_t count, bool flagged_too,
                           rcl_launch_statistic statistic, unsigned depth, double *figures)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].repetition < depth && (flagged_too || !rows[i].flagged)) {
            figures[kept++] = rows[i].ns;
        }
    }
    if (kept == 0) {
        return flagged_too ? NAN : launch_value(rows, count, true, statistic, depth, figures);
    }
    qsort(figures, kept, sizeof *figures, ascending);
    return statistic == RCL_LAUNCH_FASTEST ? figures[0]
                                           : gsl_stats_median_from_sorted_data(figures, 1, kept);
}

bool rcl_launch_values(const rcl_measured_cell *cell, rcl_launch_statistic statistic,
                       unsigned depth, double *values, size_t *count)
{
    *count = 0;
    double *figures = malloc(cell->count * sizeof *figures);
    if (figures == NULL) {
        return false;
    }
    for (size_t from = 0, to; from < cell->count; from = to) {
        for (to = from; to < cell->count && cell->rows[to].launch == cell->rows[from].launch;) {
            to++;
        }
        double value = launch_value(&cell->rows[from], to - from, false, statistic, depth, figures);
        if (!isnan(value)) {
            values[(*count)++] = value;
        }
    }
    free(figures);
    return true;
}

/* ---- machine.json ---- */

static const rcl_fact known_facts[RCL_FACT_COUNT] = {
    {"machine", "cpu", "processor", true, ""},
    {"machine", "processors", "number of processors", true, ""},
    {"machine", "architecture", "architecture", true, ""},
    {"machine", "caches", "caches", true, ""},
    {"machine", "frequency_governor", "frequency governor", true, ""},
    {"build", "compiler", "compiler", true, ""},
    {"build", "flags", "flags", true, ""},
    {"build", "libc", "libc", true, ""},
    {"build", "jemalloc", "jemalloc", true, ""},
    {"machine", "kernel", "kernel", false, ""},
    {"build", "google_benchmark", "Google Benchmark", false, ""},
    {"build", "commit", "commit", false, ""},
    {"build", "changed_since_commit", "changed since the commit", false, ""},
};

static void fact_text(const json_t *value, char *text)
{
    char *dumped = NULL;
    if (json_is_string(value)) {
        snprintf(text, RCL_FACT_BYTES, "%s", json_string_value(value));
    } else if (value != NULL && (dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY |
                                                                JSON_SORT_KEYS)) != NULL) {
        snprintf(text, RCL_FACT_BYTES, "%s", dumped);
        free(dumped);
    } else {
        snprintf(text, RCL_FACT_BYTES, "unknown");
    }
}

static bool check_json_schema(const char *path, const json_t *root, char *error, size_t error_size)
{
    json_int_t schema = json_integer_value(json_object_get(root, "schema"));
    if (schema == RCL_SCHEMA) {
        return true;
    }
    snprintf(error, error_size, "%s: schema %lld, but this rclab reads schema %d", path,
             (long long)schema, RCL_SCHEMA);
    return false;
}

static bool load_facts(rcl_measured *run, bool anyway, char *error, size_t error_size)
{
    char path[PATH_BYTES];
    json_error_t why;
    snprintf(path, sizeof path, "%s/machine.json", run->folder);
    json_t *root = json_load_file(path, 0, &why);
    if (root == NULL && !anyway) {
        bool there = access(path, F_OK) == 0;
        snprintf(error, error_size,
                 "%s %s%s; it tells how and on which machine the run was made (--anyway compares "
                 "without it)",
                 path, there ? "cannot be read: " : "is missing", there ? why.text : "");
        return false;
    }
    bool good = anyway || check_json_schema(path, root, error, error_size);
    for (unsigned i = 0; i < RCL_FACT_COUNT; i++) {
        rcl_fact *fact = &run->facts[i];
        *fact = known_facts[i];
        fact_text(json_object_get(json_object_get(root, fact->object), fact->member), fact->value);
    }
    run->repetition_ms =
        json_number_value(json_object_get(json_object_get(root, "run"), "repetition_min_ms"));
    json_decref(root);
    return good;
}

bool rcl_measured_load(const char *folder, bool anyway, rcl_measured *run, char *error,
                       size_t error_size)
{
    *run = (rcl_measured){.folder = folder};
    if (strlen(folder) > PATH_BYTES - 32) {
        snprintf(error, error_size, "'%.40s...' is no name for a folder", folder);
        return false;
    }
    return load_raw(run, anyway, error, error_size) && load_facts(run, anyway, error, error_size);
}

void rcl_measured_free(rcl_measured *run)
{
    rcl_csv_free(&run->csv);
    free(run->cells);
    free(run->rows);
    *run = (rcl_measured){0};
}

const char *rcl_measured_fact(const rcl_measured *run, const char *object, const char *member)
{
    for (unsigned i = 0; i < RCL_FACT_COUNT; i++) {
        const rcl_fact *fact = &run->facts[i];
        if (strcmp(fact->object, object) == 0 && strcmp(fact->member, member) == 0) {
            return fact->value;
        }
    }
    return "unknown";
}
