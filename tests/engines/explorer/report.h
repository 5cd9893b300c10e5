/* report: the interleaving of a failure, for people and for programs.
 *
 * Both write the trace that the latest failing search left (rcx_last_trace), before the next search
 * begins: blocks of the setup are still known then.
 */
#ifndef RCX_REPORT_H
#define RCX_REPORT_H

#include <stdio.h>

#include "search.h"

typedef struct rcx_name {
    uintptr_t address;
    size_t size; /* bytes */
    const char *name;
} rcx_name;

typedef struct rcx_names {
    const rcx_name *items;
    size_t count;
} rcx_names;

/* `names`, or NULL, comes before what the report finds itself: heap blocks are B0, B1, ..., static
 * variables have their symbol. `again`, or NULL: a command that shows the failure again.
 * 110 columns at most; in colour only on a terminal. */
void rcx_report_text(FILE *out, const rcx_trace *trace, const rcx_names *names, const char *again);

/* One JSON object. Steps are numbered from 1, as in the text; values are strings, as in the text. */
void rcx_report_json(FILE *out, const rcx_trace *trace, const rcx_names *names, const char *again);

#endif
