#include "conform_verdict.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record.h"

enum { FILES_MAX = 64 };

static const char reference[] = RCL_SOURCE_DIR "/results/reference/conformance.csv";
static const char columns[] = "schema,impl,hash,verdict,clauses_passed,clauses_failed,"
                              "clauses_unsupported,clauses_untested\n";

/* ---- The sources of an implementation ---- */

typedef struct files {
    char *paths[FILES_MAX];
    unsigned count;
} files;

static void add_file(files *all, const char *path)
{
    char *real = realpath(path, NULL);
    if (real == NULL) {
        return;
    }
    for (unsigned i = 0; i < all->count; i++) {
        if (strcmp(all->paths[i], real) == 0) {
            free(real);
            return;
        }
    }
    if (all->count == FILES_MAX) {
        free(real);
        return;
    }
    all->paths[all->count++] = real;
}

/* Adds what the file includes in quotation marks: from its own folder, or from impls/. */
static void add_includes(files *all, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char name[256];
        char full[RCL_PATH_BYTES + 300];
        struct stat status;
        if (sscanf(line, " # include \"%255[^\"]\"", name) != 1) {
            continue;
        }
        snprintf(full, sizeof full, "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
        if (stat(full, &status) != 0) {
            snprintf(full, sizeof full, RCL_SOURCE_DIR "/impls/%s", name);
        }
        add_file(all, full);
    }
    fclose(file);
}

static void find_files(const char *header_path, files *all)
{
    static const char *const patterns[] = {"*.h", "*.hpp", "*.c", "*.cc", "*.cpp"};
    int folder = (int)(strrchr(header_path, '/') - header_path);
    add_file(all, header_path);
    for (unsigned i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char pattern[RCL_PATH_BYTES + 8];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%.*s/%s", folder, header_path, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t f = 0; f < found.gl_pathc; f++) {
                add_file(all, found.gl_pathv[f]);
            }
        }
        globfree(&found);
    }
    add_file(all, RCL_SOURCE_DIR "/impls/contract.h");
    for (unsigned i = 0; i < all->count; i++) { /* it grows meanwhile */
        add_includes(all, all->paths[i]);
    }
}

static bool hash_file(const char *path, uint64_t *hash)
{
    char block[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;) {
        for (size_t i = 0; i < got; i++) {
            *hash = (*hash ^ (unsigned char)block[i]) * UINT64_C(0x100000001b3);
        }
    }
    bool good = ferror(file) == 0;
    fclose(file);
    return good;
}

bool rcl_conform_hash(const char *header, uint64_t *hash)
{
    char path[RCL_PATH_BYTES];
    files all = {0};
    if (!rcl_battery_header_path(header, path, sizeof path)) {
        return false;
    }
    find_files(path, &all);
    *hash = UINT64_C(0xcbf29ce484222325);
    bool good = true;
    for (unsigned i = 0; i < all.count; i++) {
        good = hash_file(all.paths[i], hash) && good;
        free(all.paths[i]);
    }
    return good;
}

/* ---- Reading ---- */

static const char *verdict_word(const char *text)
{
    return strcmp(text, "pass") == 0 ? "pass" : strcmp(text, "fail") == 0 ? "fail" : NULL;
}

static const char *kept_verdict(const char *name, uint64_t hash)
{
    char path[RCL_PATH_BYTES];
    int schema = 0;
    char word[16];
    uint64_t of = 0;
    snprintf(path, sizeof path, RCL_BINARY_DIR "/conform/%s.verdict", name);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return NULL;
    }
    bool read = fscanf(file, "%d %15s %" SCNx64, &schema, word, &of) == 3;
    fclose(file);
    return read && schema == RCL_SCHEMA && of == hash ? verdict_word(word) : NULL;
}

static const char *recorded_verdict(const char *name, uint64_t hash)
{
    char line[512];
    const char *verdict = NULL;
    FILE *file = fopen(reference, "r");
    if (file == NULL) {
        return NULL;
    }
    while (verdict == NULL && fgets(line, sizeof line, file) != NULL) {
        int schema = 0;
        char impl[64];
        char word[16];
        uint64_t of = 0;
        if (sscanf(line, "%d,%63[^,],%" SCNx64 ",%15[^,]", &schema, impl, &of, word) == 4 &&
            schema == RCL_SCHEMA && strcmp(impl, name) == 0 && of == hash) {
            verdict = verdict_word(word);
        }
    }
    fclose(file);
    return verdict;
}

const char *rcl_conform_verdict(const char *impl_name, const char *header)
{
    uint64_t hash = 0;
    if (header == NULL || !rcl_conform_hash(header, &hash)) {
        return "untested";
    }
    const char *verdict = kept_verdict(impl_name, hash);
    if (verdict == NULL) {
        verdict = recorded_verdict(impl_name, hash);
    }
    return verdict != NULL ? verdict : "untested";
}

/* ---- Writing ---- */

/* Puts the finished temporary file in place. */
static bool put_in_place(FILE *file, const char *temporary, const char *path, char *error,
                         size_t error_size)
{
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
        remove(temporary);
        return false;
    }
    return true;
}

bool rcl_conform_keep(const rcl_conform_report *report, char *error, size_t error_size)
{
    char path[RCL_PATH_BYTES];
    char temporary[RCL_PATH_BYTES];
    uint64_t hash = 0;
    mkdir(RCL_BINARY_DIR "/conform", 0777);
    snprintf(path, sizeof path, RCL_BINARY_DIR "/conform/%s.verdict", report->name);
    snprintf(temporary, sizeof temporary, RCL_BINARY_DIR "/conform/%s.new", report->name);
    FILE *file = fopen(temporary, "w");
    if (file == NULL || !rcl_conform_hash(report->header, &hash)) {
        snprintf(error, error_size, "cannot keep the verdict, %s: %s", temporary, strerror(errno));
        if (file != NULL) {
            fclose(file);
        }
        return false;
    }
    fprintf(file, "%d %s %016" PRIx64 "\n", RCL_SCHEMA, report->passed ? "pass" : "fail", hash);
    return put_in_place(file, temporary, path, error, error_size);
}

bool rcl_conform_record(const rcl_conform_report *report, char *error, size_t error_size)
{
    char line[512];
    char temporary[RCL_PATH_BYTES];
    uint64_t hash = 0;
    snprintf(temporary, sizeof temporary, "%s.new", reference);
    mkdir(RCL_SOURCE_DIR "/results/reference", 0777);
    FILE *file = fopen(temporary, "w");
    if (file == NULL || !rcl_conform_hash(report->header, &hash)) {
        snprintf(error, error_size, "cannot record the verdict, %s: %s", temporary,
                 strerror(errno));
        if (file != NULL) {
            fclose(file);
        }
        return false;
    }
    fputs(columns, file);
    FILE *old = fopen(reference, "r");
    bool first = true;
    while (old != NULL && fgets(line, sizeof line, old) != NULL) {
        char impl[64] = "";
        bool same = sscanf(line, "%*d,%63[^,]", impl) == 1 && strcmp(impl, report->name) == 0;
        if (!first && !same) {
            fputs(line, file);
        }
        first = false;
    }
    if (old != NULL) {
        fclose(old);
    }
    fprintf(file, "%d,%s,%016" PRIx64 ",%s,%u,%u,%u,%u\n", RCL_SCHEMA, report->name, hash,
            report->passed ? "pass" : "fail", report->counts[RCL_OUTCOME_PASS],
            report->counts[RCL_OUTCOME_FAIL], report->counts[RCL_OUTCOME_UNSUPPORTED],
            report->counts[RCL_OUTCOME_UNTESTED]);
    return put_in_place(file, temporary, reference, error, error_size);
}
