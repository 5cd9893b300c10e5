#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The file as text ---- */

/* Reads all of `file` into csv->text and ends it with NUL. */
static bool read_all(FILE *file, rcl_csv *csv, size_t *length, char *error, size_t error_size)
{
    size_t room = 0;
    for (*length = 0; !feof(file);) {
        if (*length + 1 >= room) {
            room = room == 0 ? 1 << 16 : room * 2;
            char *more = realloc(csv->text, room);
            if (more == NULL) {
                snprintf(error, error_size, "%s: out of memory", csv->path);
                return false;
            }
            csv->text = more;
        }
        *length += fread(csv->text + *length, 1, room - *length - 1, file);
        if (ferror(file)) {
            snprintf(error, error_size, "cannot read %s: %s", csv->path, strerror(errno));
            return false;
        }
    }
    csv->text[*length] = '\0';
    return true;
}

static bool load_text(rcl_csv *csv, char *error, size_t error_size)
{
    FILE *file = fopen(csv->path, "re");
    struct stat status;
    if (file == NULL) {
        snprintf(error, error_size, "cannot read %s: %s", csv->path, strerror(errno));
        return false;
    }
    size_t length = 0;
    bool good = true;
    if (fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        snprintf(error, error_size, "%s is a folder, not a CSV file", csv->path);
        good = false;
    }
    good = good && read_all(file, csv, &length, error, error_size);
    fclose(file);
    if (good && strlen(csv->text) != length) {
        snprintf(error, error_size, "%s is not a text file", csv->path);
        good = false;
    }
    return good;
}

/* ---- Lines and fields ---- */

/* Ends the line at *at, a CR before its LF included; returns it and moves *at to the next. */
static char *take_line(char **at)
{
    char *line = *at;
    size_t length = strcspn(line, "\n");
    *at = line + length + (line[length] == '\n' ? 1 : 0);
    line[length] = '\0';
    if (length > 0 && line[length - 1] == '\r') {
        line[length - 1] = '\0';
    }
    return line;
}

static size_t count_fields(const char *line)
{
    size_t count = 1;
    for (; *line != '\0'; line++) {
        count += *line == ',' ? 1 : 0;
    }
    return count;
}

static void split_line(char *line, const char **fields)
{
    for (size_t i = 0;; i++) {
        fields[i] = line;
        line += strcspn(line, ",");
        if (*line == '\0') {
            return;
        }
        *line++ = '\0';
    }
}

static bool check_line(const rcl_csv *csv, const char *line, size_t number, bool last, char *error,
                       size_t error_size)
{
    if (strchr(line, '"') != NULL) {
        snprintf(error, error_size,
                 "%s:%zu: a quotation mark; the files of a run have none, so another program has "
                 "written this one",
                 csv->path, number);
        return false;
    }
    if (number > 1 && count_fields(line) != csv->column_count) {
        snprintf(error, error_size, "%s:%zu: %zu fields, where the first line names %zu columns%s",
                 csv->path, number, count_fields(line), csv->column_count,
                 last ? "; the file may be cut off" : "");
        return false;
    }
    return true;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; count++) {
        text += strcspn(text, "\n");
        text += *text == '\n' ? 1 : 0;
    }
    return count;
}

static bool split_text(rcl_csv *csv, char *error, size_t error_size)
{
    char *at = csv->text;
    size_t lines = count_lines(at);
    if (lines == 0) {
        snprintf(error, error_size, "%s is empty", csv->path);
        return false;
    }
    char *line = take_line(&at);
    if (!check_line(csv, line, 1, lines == 1, error, error_size)) {
        return false;
    }
    csv->column_count = count_fields(line);
    csv->columns = calloc(csv->column_count, sizeof *csv->columns);
    csv->fields = calloc(csv->column_count * lines, sizeof *csv->fields);
    if (csv->columns == NULL || csv->fields == NULL) {
        snprintf(error, error_size, "%s: out of memory", csv->path);
        return false;
    }
    split_line(line, csv->columns);
    for (size_t number = 2; number <= lines; number++) {
        line = take_line(&at);
        if (!check_line(csv, line, number, number == lines, error, error_size)) {
            return false;
        }
        split_line(line, csv->fields + csv->row_count * csv->column_count);
        csv->row_count++;
    }
    return true;
}

bool rcl_csv_load(const char *path, rcl_csv *csv, char *error, size_t error_size)
{
    *csv = (rcl_csv){.path = strdup(path)};
    if (csv->path == NULL) {
        snprintf(error, error_size, "%s: out of memory", path);
        return false;
    }
    return load_text(csv, error, error_size) && split_text(csv, error, error_size);
}

void rcl_csv_free(rcl_csv *csv)
{
    free(csv->path);
    free(csv->text);
    free(csv->columns);
    free(csv->fields);
    *csv = (rcl_csv){0};
}

/* ---- Columns ---- */

int rcl_csv_column(const rcl_csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->column_count; i++) {
        if (strcmp(csv->columns[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

bool rcl_csv_columns(const rcl_csv *csv, const char *const *names, size_t count, int *columns,
                     char *error, size_t error_size)
{
    for (size_t i = 0; i < count; i++) {
        columns[i] = rcl_csv_column(csv, names[i]);
        if (columns[i] < 0) {
            snprintf(error, error_size,
                     "%s has no column '%s': it is not the file that rclab writes", csv->path,
                     names[i]);
            return false;
        }
    }
    return true;
}

bool rcl_csv_check_schema(const rcl_csv *csv, int schema, char *error, size_t error_size)
{
    static const char *const names[] = {"schema"};
    int column = -1;
    if (!rcl_csv_columns(csv, names, 1, &column, error, error_size)) {
        return false;
    }
    for (size_t row = 0; row < csv->row_count; row++) {
        uint64_t version = 0;
        if (!rcl_csv_unsigned(csv, row, column, &version, error, error_size)) {
            return false;
        }
        if (version != (uint64_t)schema) {
            snprintf(error, error_size, "%s:%zu: schema %llu, but this rclab reads schema %d: %s",
                     csv->path, rcl_csv_line(csv, row), (unsigned long long)version, schema,
                     version > (uint64_t)schema ? "a newer one wrote it"
                                                : "an older one wrote it; measure again");
            return false;
        }
    }
    return true;
}

/* ---- Fields ---- */

const char *rcl_csv_text(const rcl_csv *csv, size_t row, int column)
{
    return csv->fields[row * csv->column_count + (size_t)column];
}

size_t rcl_csv_line(const rcl_csv *csv, size_t row)
{
    (void)csv;
    return row + 2;
}

/* Always false: the message about a field that is not what it should be. */
static bool refuse(const rcl_csv *csv, size_t row, int column, const char *expected, char *error,
                   size_t error_size)
{
    snprintf(error, error_size, "%s:%zu: %s is '%.40s', not %s", csv->path, rcl_csv_line(csv, row),
             csv->columns[column], rcl_csv_text(csv, row, column), expected);
    return false;
}

bool rcl_csv_double(const rcl_csv *csv, size_t row, int column, double *value, char *error,
                    size_t error_size)
{
    const char *text = rcl_csv_text(csv, row, column);
    char *end = NULL;
    errno = 0;
    *value = strtod(text, &end);
    bool good = *text != '\0' && *end == '\0' && errno == 0 && isfinite(*value) &&
                strchr(" \t\n\v\f\r", *text) == NULL;
    return good || refuse(csv, row, column, "a number", error, error_size);
}

bool rcl_csv_unsigned(const rcl_csv *csv, size_t row, int column, uint64_t *value, char *error,
                      size_t error_size)
{
    const char *text = rcl_csv_text(csv, row, column);
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *value = number;
    bool good = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    return good || refuse(csv, row, column, "a whole number", error, error_size);
}
