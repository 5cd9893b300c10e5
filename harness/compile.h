/* compile: what every program needs that is built from an implementation by the user's own compiler.
 * CC and CXX name the compilers (cc and c++ by default). */
#ifndef RCL_COMPILE_H
#define RCL_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "jobs.h"

enum {
    RCL_PATH_BYTES = 4096,
    RCL_ARGUMENTS_MAX = 96,
    RCL_WORDS_BYTES = 8192,
    RCL_SOURCES_MAX = 64
};

/* A command line, with room for its words. Zeroed: empty. What does not fit is left out. */
typedef struct rcl_words {
    const char *arguments[RCL_ARGUMENTS_MAX]; /* NULL at the end */
    unsigned count;
    char text[RCL_WORDS_BYTES];
    size_t used;
} rcl_words;

void rcl_words_push(rcl_words *words, const char *word);
/* The words of `text`, which spaces and semicolons separate. */
void rcl_words_push_split(rcl_words *words, const char *text);

typedef struct rcl_source {
    char path[RCL_PATH_BYTES];
    bool cxx;
} rcl_source;

typedef struct rcl_sources {
    rcl_source list[RCL_SOURCES_MAX];
    unsigned count;
    bool any_cxx;
} rcl_sources;

/* Both false if there are more than RCL_SOURCES_MAX. */
bool rcl_sources_add(rcl_sources *all, const char *path, bool cxx);
/* Every *.c, *.cc and *.cpp in the folder of an rc.h: they belong to it. */
bool rcl_sources_add_beside(rcl_sources *all, const char *header_path);

/* What CC or CXX says, else cc or c++. */
const char *rcl_compiler(bool cxx);

/* What a compiler or linker that failed said, reduced to the lines that help. */
void rcl_compile_explain(const rcl_job *job, char *text, size_t size);
/* The name of the program that the job could not run, because it is not there; else NULL. */
const char *rcl_compile_missing(const rcl_job *job);

#endif
