#include "compile.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELPFUL_LINES = 6 };

/* ---- Command lines ---- */

void rcl_words_push(rcl_words *words, const char *word)
{
    size_t size = strlen(word) + 1;
    if (words->count + 1 < RCL_ARGUMENTS_MAX && words->used + size <= sizeof words->text) {
        memcpy(words->text + words->used, word, size);
        words->arguments[words->count++] = words->text + words->used;
        words->arguments[words->count] = NULL;
        words->used += size;
    }
}

void rcl_words_push_split(rcl_words *words, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ;\t");
        if (length > 0) {
            char word[RCL_PATH_BYTES];
            snprintf(word, sizeof word, "%.*s", (int)length, text);
            rcl_words_push(words, word);
        }
        text += length + (text[length] != '\0' ? 1 : 0);
    }
}

const char *rcl_compiler(bool cxx)
{
    const char *named = getenv(cxx ? "CXX" : "CC");
    return named != NULL && *named != '\0' ? named : cxx ? "c++" : "cc";
}

/* ---- Sources ---- */

bool rcl_sources_add(rcl_sources *all, const char *path, bool cxx)
{
    if (all->count == RCL_SOURCES_MAX) {
        return false;
    }
    rcl_source *next = &all->list[all->count++];
    snprintf(next->path, sizeof next->path, "%s", path);
    next->cxx = cxx;
    all->any_cxx = all->any_cxx || cxx;
    return true;
}

bool rcl_sources_add_beside(rcl_sources *all, const char *header_path)
{
    static const char *const patterns[] = {"*.c", "*.cc", "*.cpp"};
    bool good = true;
    int folder = (int)(strrchr(header_path, '/') - header_path);
    for (unsigned i = 0; i < 3; i++) {
        char pattern[RCL_PATH_BYTES + 8];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%.*s/%s", folder, header_path, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t f = 0; f < found.gl_pathc; f++) {
                good = good && rcl_sources_add(all, found.gl_pathv[f], i > 0);
            }
        }
        globfree(&found);
    }
    return good;
}

/* ---- What the compiler says ---- */

static bool helps(const char *line, size_t length, bool contract)
{
    static const char *const signs[] = {
        "error:",           "undefined reference", "multiple definition",
        "undefined symbol", "cannot find",         "cannot be run"};
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)length, line);
    bool of_contract = strstr(text, "contract: ") != NULL;
    /* The line of the source that gcc shows below an error has a bar in front. */
    if (strstr(text, " | ") != NULL || strstr(text, "note:") != NULL) {
        return false;
    }
    if (contract) {
        return of_contract;
    }
    for (unsigned i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (strstr(text, signs[i]) != NULL) {
            return !of_contract;
        }
    }
    return false;
}

/* Appends lines of `output` that help, each indented. Returns how many. */
static unsigned pick_lines(const char *output, bool contract, unsigned limit, char *text,
                           size_t size)
{
    unsigned count = 0;
    while (*output != '\0' && count < limit) {
        size_t length = strcspn(output, "\n");
        if (length > 0 && helps(output, length, contract)) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%.*s", used > 0 ? "\n" : "", (int)length, output);
            count++;
        }
        output += length + (output[length] == '\n' ? 1 : 0);
    }
    return count;
}

void rcl_compile_explain(const rcl_job *job, char *text, size_t size)
{
    text[0] = '\0';
    if (job->end == RCL_JOB_LATE) {
        snprintf(text, size, "the compiler did not end within %.0f s", job->limit_seconds);
        return;
    }
    unsigned count = pick_lines(job->output, true, HELPFUL_LINES, text, size);
    count += pick_lines(job->output, false, HELPFUL_LINES - count, text, size);
    if (count == 0) {
        snprintf(text, size, "%.400s",
                 job->output_size > 0 ? job->output : "the compiler failed and said nothing");
    }
}

const char *rcl_compile_missing(const rcl_job *job)
{
    return job->end == RCL_JOB_EXITED && job->status == RCL_JOB_CANNOT_RUN_STATUS &&
                   strstr(job->output, ": cannot be run: ") != NULL
               ? job->arguments[0]
               : NULL;
}
