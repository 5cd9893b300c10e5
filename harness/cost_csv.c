/* costs.csv, as results/README.md describes it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"

static const char header_line[] =
    "schema,impl,operation,compiler,instructions,locked,reads,writes\n";

enum { SCHEMA = 1, FIELDS = 8, LINE_BYTES = 1024 };

const char *const rcl_cost_column_names[RCL_COST_COLUMNS] = {"instructions", "locked", "reads",
                                                             "writes"};

rcl_cost_row *rcl_cost_find(rcl_cost_row *rows, size_t count, const char *impl,
                            const char *compiler)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].impl, impl) == 0 && strcmp(rows[i].compiler, compiler) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* ---- Writing ---- */

void rcl_cost_write(FILE *out, const rcl_cost_row *rows, size_t count, const bool *wanted,
                    bool header)
{
    if (header) {
        fputs(header_line, out);
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned o = 0; o < rcl_counted_operation_count; o++) {
            const rcl_cost *cost = &rows[i].costs[o];
            if (!cost->there || !wanted[o]) {
                continue;
            }
            fprintf(out, "%d,%s,%s,%s", SCHEMA, rows[i].impl, rcl_counted_operations[o].name,
                    rows[i].compiler);
            for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
                /* Enough for every fraction of 512. */
                fprintf(out, ",%.15g", cost->figures[c]);
            }
            fputc('\n', out);
        }
    }
}

bool rcl_cost_save(const char *path, const rcl_cost_row *rows, size_t count, const bool *wanted,
                   char *error, size_t error_size)
{
    char temporary[RCL_PATH_BYTES];
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (file == NULL) {
        snprintf(error, error_size, "cannot write %s: %s", temporary, strerror(errno));
        return false;
    }
    rcl_cost_write(file, rows, count, wanted, true);
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
        remove(temporary);
        return false;
    }
    return true;
}

/* ---- Reading ---- */

/* Cuts a line at its commas. Returns how many fields there are. */
static unsigned split(char *line, char **fields)
{
    unsigned count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && count <= FIELDS; count++) {
        char *comma = strchr(at, ',');
        if (count < FIELDS) {
            fields[count] = at;
        }
        if (comma != NULL) {
            *comma = '\0';
        }
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

/* The row for that implementation and compiler, made if it is new; NULL without memory. */
static rcl_cost_row *row_for(rcl_cost_row **rows, size_t *count, const char *impl,
                             const char *compiler)
{
    rcl_cost_row *row = rcl_cost_find(*rows, *count, impl, compiler);
    if (row != NULL) {
        return row;
    }
    rcl_cost_row *grown = realloc(*rows, (*count + 1) * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    *rows = grown;
    row = &grown[(*count)++];
    *row = (rcl_cost_row){0};
    snprintf(row->impl, sizeof row->impl, "%s", impl);
    snprintf(row->compiler, sizeof row->compiler, "%s", compiler);
    return row;
}

/* NULL if the line is good, else what is wrong with it. An operation that there is no more is passed
 * over. */
static const char *read_line(char *line, rcl_cost_row **rows, size_t *count)
{
    char *fields[FIELDS];
    char *end = NULL;
    if (split(line, fields) != FIELDS) {
        return "it has not 8 fields";
    }
    if (strcmp(fields[0], "1") != 0) {
        return "its schema is not 1";
    }
    rcl_cost_row *row = row_for(rows, count, fields[1], fields[3]);
    if (row == NULL) {
        return "out of memory";
    }
    int operation = rcl_counted_operation_find(fields[2], strlen(fields[2]));
    if (operation < 0) {
        return NULL;
    }
    rcl_cost *cost = &row->costs[operation];
    cost->there = true;
    for (unsigned c = 0; c < RCL_COST_COLUMNS; c++) {
        cost->figures[c] = strtod(fields[4 + c], &end);
        if (end == fields[4 + c] || *end != '\0') {
            return "a figure is no number";
        }
    }
    return NULL;
}

bool rcl_cost_read(const char *path, rcl_cost_row **rows, size_t *count, char *error,
                   size_t error_size)
{
    char line[LINE_BYTES];
    const char *wrong = NULL;
    unsigned number = 1;
    *rows = NULL;
    *count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(error, error_size, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    if (fgets(line, sizeof line, file) == NULL || strcmp(line, header_line) != 0) {
        wrong = "it is not the header of a costs.csv";
    }
    while (wrong == NULL && fgets(line, sizeof line, file) != NULL) {
        number++;
        wrong = read_line(line, rows, count);
    }
    fclose(file);
    if (wrong != NULL) {
        snprintf(error, error_size, "%s, line %u: %s", path, number, wrong);
        free(*rows);
        *rows = NULL;
        *count = 0;
        return false;
    }
    return true;
}
