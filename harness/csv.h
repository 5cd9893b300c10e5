/* csv: reads the CSV files of a run (their form: results/README.md). Columns are found by name, so
 * that a column added at the end, or one more of somebody else's, does no harm.
 *
 * What can go wrong is said in one line with the file, and the line where there is one; functions that
 * take `error` write it there and return false. */
#ifndef RCL_CSV_H
#define RCL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rcl_csv {
    char *path;
    char *text;           /* the whole file, its separators made into ends of strings */
    const char **columns; /* names in the first line, `column_count` of them */
    size_t column_count;
    const char **fields; /* row by row; an empty field is "" */
    size_t row_count;    /* without the header */
} rcl_csv;

/* Reads a whole file. A line that ends in CR LF, and a last line without an end, are taken as well;
 * a field with a quotation mark is not, for no file of ours has one. A file with a header alone has
 * zero rows. rcl_csv_free in any case. */
bool rcl_csv_load(const char *path, rcl_csv *csv, char *error, size_t error_size);
void rcl_csv_free(rcl_csv *csv);

/* The column of that name, or -1. */
int rcl_csv_column(const rcl_csv *csv, const char *name);

/* Finds `count` columns at once; false names the first that is missing. */
bool rcl_csv_columns(const rcl_csv *csv, const char *const *names, size_t count, int *columns,
                     char *error, size_t error_size);

/* False unless every row's `schema` is this one; says whether the file is of an older or a newer
 * version. A file without rows passes if it has the column. */
bool rcl_csv_check_schema(const rcl_csv *csv, int schema, char *error, size_t error_size);

/* A field as text; `row` from 0, `column` as rcl_csv_column gave it. Lives as long as the csv. */
const char *rcl_csv_text(const rcl_csv *csv, size_t row, int column);

/* A field as a number; false if it is none (an empty one is none, nor is inf or nan). The decimal
 * mark is a point whatever the locale. */
bool rcl_csv_double(const rcl_csv *csv, size_t row, int column, double *value, char *error,
                    size_t error_size);
bool rcl_csv_unsigned(const rcl_csv *csv, size_t row, int column, uint64_t *value, char *error,
                      size_t error_size);

/* The line in the file on which a row stands, from 1: for messages. */
size_t rcl_csv_line(const rcl_csv *csv, size_t row);

#endif
