/* What compilers and programs call is what the explorer does: every case of abi_subject.c, as each compiler
 * compiled it.
 *
 * usage: abi_test [--verbose]
 */
#include <stdio.h>
#include <string.h>

#include "abi_subject.h"
#include "subjects.h"

#define DECLARE(name) extern const abi_subject name;
#define LIST(name) &name,
#define COUNT(name) +1
ABI_SUBJECTS(DECLARE)
static const abi_subject *const subjects[] = {ABI_SUBJECTS(LIST)};
enum { subject_count = 0 ABI_SUBJECTS(COUNT) };

static bool check(const abi_case *c, const abi_subject *subject, bool verbose)
{
    rcx_program p = {
        .threads = c->threads, .setup = subject->setup, .thread = c->thread, .check = c->check};
    rcx_limits limits = {.spurious = 1, .brief = true, .hashes = true};
    rcx_result got;
    rcx_explore(&p, &limits, &got);
    bool right = got.verdict == c->verdict && got.kind == c->kind && got.twice == 0;
    if (!right || verbose) {
        printf("%s %s (%s): verdict %d of kind %d, wanted %d of kind %d; %llu executions%s%s\n",
               right ? "fine" : "WRONG", c->name, subject->build, got.verdict, got.kind, c->verdict,
               c->kind, (unsigned long long)got.graphs, got.text[0] ? ": " : "", got.text);
    }
    return right;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "--verbose") == 0;
    size_t failed = 0;
    size_t done = 0;
    for (size_t s = 0; s < subject_count; s++) {
        for (size_t i = 0; i < subjects[s]->count; i++) {
            done++;
            failed += !check(&subjects[s]->cases[i], subjects[s], verbose);
        }
    }
    printf("abi: %zu cases, as %d builds have them; %zu wrong\n", done, subject_count, failed);
    return failed != 0 || done == 0;
}
