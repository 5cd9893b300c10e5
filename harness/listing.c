#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "compile.h"

enum { FUNCTIONS_MAX = 64, NAME_BYTES = 256 };

static const double objdump_limit_seconds = 60;

/* Called, but not shown: the allocator, the hooks, what ends the process or words an error. */
static const char *const not_shown[] = {"rc_mem_alloc",
                                        "rc_mem_free",
                                        "rc_trap",
                                        "tensor_fail",
                                        "uncounted_wrapper_retain",
                                        "uncounted_wrapper_release"};

/* The functions of one listing, in the order in which they were met. */
typedef struct queue {
    char names[FUNCTIONS_MAX][NAME_BYTES];
    unsigned count;
} queue;

static void queue_add(queue *functions, const char *name, size_t length)
{
    if (functions->count == FUNCTIONS_MAX || length >= NAME_BYTES) {
        return;
    }
    for (unsigned i = 0; i < sizeof not_shown / sizeof not_shown[0]; i++) {
        if (strlen(not_shown[i]) == length && memcmp(not_shown[i], name, length) == 0) {
            return;
        }
    }
    for (unsigned i = 0; i < functions->count; i++) {
        if (strlen(functions->names[i]) == length &&
            memcmp(functions->names[i], name, length) == 0) {
            return;
        }
    }
    memcpy(functions->names[functions->count], name, length);
    functions->names[functions->count++][length] = '\0';
}

/* ---- One line ---- */

/* An instruction as objdump prints it: "    25c6:\tje     25d8 <f+0x18>". False: another line. */
static bool parse_instruction(const char *line, unsigned long *address, const char **text)
{
    size_t blanks = strspn(line, " ");
    size_t digits = strspn(line + blanks, "0123456789abcdef");
    const char *behind = line + blanks + digits;
    if (blanks == 0 || digits == 0 || behind[0] != ':' || behind[1] != '\t') {
        return false;
    }
    *address = strtoul(line, NULL, 16);
    *text = behind + 2;
    return true;
}

/* lock in front, or an exchange with memory, which locks without it. */
static bool is_locked(const char *text, size_t length)
{
    return strncmp(text, "lock ", 5) == 0 ||
           (strncmp(text, "xchg ", 5) == 0 &&
            (memchr(text, '[', length) != NULL || memchr(text, '(', length) != NULL));
}

static bool is_call(const char *text)
{
    return strncmp(text, "call", 4) == 0;
}

/* A jump or a call with its target's name: "je +18", "call rc_mem_free". Else the text as it is. */
static void print_text(FILE *out, const char *text, size_t length, const char *function,
                       queue *functions)
{
    const char *open = memchr(text, '<', length);
    const char *close = open != NULL ? memchr(open, '>', length - (size_t)(open - text)) : NULL;
    if (close == NULL || (!is_call(text) && text[0] != 'j')) {
        const char *comment = memchr(text, '#', length);
        fprintf(out, "%.*s", (int)(comment != NULL ? (size_t)(comment - text) : length), text);
        if (open != NULL && close != NULL && comment != NULL) {
            fprintf(out, "# %.*s", (int)(close - open - 1), open + 1);
        }
        return;
    }
    const char *name = open + 1;
    size_t name_length = (size_t)(close - name);
    size_t verb = strcspn(text, " ");
    size_t own = strlen(function);
    if (name_length > own && memcmp(name, function, own) == 0 && name[own] == '+') {
        fprintf(out, "%-6.*s %.*s", (int)verb, text, (int)(name_length - own - 3), name + own + 3);
        return;
    }
    fprintf(out, "%-6.*s %.*s", (int)verb, text, (int)name_length, name);
    if (memchr(name, '@', name_length) == NULL) {
        const char *plus = memchr(name, '+', name_length);
        queue_add(functions, name, plus != NULL ? (size_t)(plus - name) : name_length);
    }
}

/* ---- One function ---- */

typedef struct counts {
    unsigned instructions, locked;
    double executed;
} counts;

static void print_source(FILE *out, const char *line, size_t length)
{
    if (length > 0) {
        fprintf(out, "              ; %.*s\n", (int)length, line);
    }
}

/* How often the instruction is executed, and that in front of it: a bar, and the number if it is not 1. */
static double print_mark(FILE *out, const rcl_executed *executed, uint64_t address)
{
    double times = executed != NULL ? rcl_executed_times(executed, address) : 0;
    if (executed == NULL) {
        fputs("  ", out);
    } else if (times == 0 || times == 1) {
        fprintf(out, "%4s %s ", "", times == 0 ? " " : "|");
    } else {
        fprintf(out, "%4.3g | ", times);
    }
    return times;
}

static void print_lines(FILE *out, const char *output, const rcl_listing_options *options,
                        const char *function, queue *functions, counts *seen)
{
    const bool source = options->source;
    unsigned long start = 0;
    bool inside = false;
    while (*output != '\0') {
        const char *text = NULL;
        unsigned long address = 0;
        size_t length = strcspn(output, "\n");
        if (parse_instruction(output, &address, &text)) {
            size_t rest = length - (size_t)(text - output);
            start = seen->instructions == 0 ? address : start;
            bool locked = is_locked(text, rest);
            seen->executed += print_mark(out, options->executed, address);
            fprintf(out, "%s %4lx  ", locked ? "LOCK" : "    ", address - start);
            print_text(out, text, rest, function, functions);
            fputc('\n', out);
            seen->instructions++;
            seen->locked += locked ? 1 : 0;
            inside = true;
        } else if (source && output[0] != '\0' && strstr(output, ">:\n") != output + length - 2) {
            bool heading = strncmp(output, "Disassembly of section", 22) == 0 ||
                           (!inside && strstr(output, "file format") != NULL &&
                            strstr(output, "file format") < output + length);
            print_source(out, output, heading ? 0 : length);
        }
        output += length + (output[length] == '\n' ? 1 : 0);
    }
}

static const char *headline(const char *name, bool first)
{
    return first                           ? ""
           : strstr(name, ".cold") != NULL ? "  (out of line: the compiler takes it for rare)"
                                           : "  (called: a function of its own)";
}

static void fill_job(const rcl_listing_options *options, const char *function, rcl_words *words,
                     rcl_job *job)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    char text[NAME_BYTES + 32];
    *words = (rcl_words){0};
    rcl_words_push(words, "objdump");
    rcl_words_push(words, options->source ? "-dSl" : "-d");
    rcl_words_push(words, "--no-show-raw-insn");
    if (!options->att) {
        rcl_words_push(words, "-Mintel");
    }
    snprintf(text, sizeof text, "--disassemble=%s", function);
    rcl_words_push(words, text);
    rcl_words_push(words, options->program);
    *job = (rcl_job){.arguments = words->arguments,
                     .environment = environment,
                     .limit_seconds = objdump_limit_seconds};
}

static rcl_listing_end print_function(FILE *out, const rcl_listing_options *options,
                                      const char *function, bool first, queue *functions,
                                      char *error, size_t error_size)
{
    static rcl_words words;
    rcl_job job;
    counts seen = {0};
    rcl_listing_end end = RCL_LISTING_DONE;
    fill_job(options, function, &words, &job);
    if (!rcl_jobs_run(&(rcl_jobs){.jobs = &job, .count = 1, .at_once = 1, .stop = options->stop})) {
        end = RCL_LISTING_INTERRUPTED;
    } else if (rcl_compile_missing(&job) != NULL) {
        snprintf(error, error_size,
                 "objdump is missing: run make deps, or apt-get install binutils");
        end = RCL_LISTING_ENVIRONMENT;
    } else if (job.end != RCL_JOB_EXITED || job.status != 0) {
        snprintf(error, error_size, "objdump failed: %.300s",
                 job.output != NULL ? job.output : "it was not started");
        end = RCL_LISTING_ENVIRONMENT;
    } else {
        char *lines = NULL;
        size_t size = 0;
        FILE *body = open_memstream(&lines, &size);
        if (body != NULL) {
            print_lines(body, job.output, options, function, functions, &seen);
            fclose(body);
        }
        if (seen.instructions > 0) {
            fprintf(out, "\n%s%s\n%s", function, headline(function, first), lines);
            fprintf(out, "  %u instructions, %u locked", seen.instructions, seen.locked);
            if (options->executed != NULL) {
                fprintf(out, "; %.6g executed in one operation", seen.executed);
            }
            fputc('\n', out);
            if (job.output_size + 1 >= RCL_JOB_OUTPUT_BYTES) {
                fputs("  (cut off here)\n", out);
            }
        } else {
            end = RCL_LISTING_NO_FUNCTION;
        }
        free(lines);
    }
    rcl_job_free(&job);
    return end;
}

rcl_listing_end rcl_listing_print(FILE *out, const rcl_listing_options *options,
                                  const char *function, char *error, size_t error_size)
{
    queue *functions = calloc(1, sizeof *functions);
    if (functions == NULL) {
        snprintf(error, error_size, "out of memory");
        return RCL_LISTING_ENVIRONMENT;
    }
    queue_add(functions, function, strlen(function));
    rcl_listing_end end = RCL_LISTING_DONE;
    for (unsigned i = 0; i < functions->count && end == RCL_LISTING_DONE; i++) {
        end =
            print_function(out, options, functions->names[i], i == 0, functions, error, error_size);
        if (end == RCL_LISTING_NO_FUNCTION && i > 0) {
            end = RCL_LISTING_DONE; /* of a library: not the program's own code */
        }
    }
    free(functions);
    return end;
}
