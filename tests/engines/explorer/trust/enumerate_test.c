/* The enumeration against the published answers, without the explorer. */
#include <stdio.h>
#include <string.h>

#include "enumerate.h"
#include "litmus.h"

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "--verbose") == 0;
    program_answer answer = {.graphs = 0};
    unsigned failed = 0;
    for (size_t i = 0; i < litmus_count; i++) {
        const litmus *l = &litmus_list[i];
        bool whole = program_enumerate(&l->program, UINT64_C(10000000), &answer);
        bool shown = litmus_shows(l, &answer.outcomes);
        bool right = whole && answer.bad == litmus_bad(l->verdict) &&
                     (litmus_bad(l->verdict) || shown == (l->verdict == LITMUS_ALLOWED));
        failed += !right;
        if (!right || verbose) {
            printf("%s %s: %llu executions, %zu outcomes, %s%s\n", right ? "fine" : "WRONG",
                   l->name, (unsigned long long)answer.graphs, answer.outcomes.count,
                   shown ? "the outcome occurs" : "the outcome does not occur",
                   answer.bad ? ", faulty" : "");
        }
        if (!right) {
            program_print(&l->program, stdout);
        }
    }
    outcome_set_free(&answer.outcomes);
    printf("enumeration: %zu litmus programs, %u wrong\n", litmus_count, failed);
    return failed != 0;
}
