/* interpret: a program as data, run through the calls that a compiler makes with -fsanitize=thread. */
#ifndef TRUST_INTERPRET_H
#define TRUST_INTERPRET_H

#include "explorer.h"
#include "program.h"

/* Searches it; the outcomes of all complete executions go into `outcomes`. */
void program_explore(const program *p, const rcx_limits *limits, rcx_result *result,
                     outcome_set *outcomes);

#endif
