/* usage: show text|json [SCHEDULE]: searches the program `broken` and reports. Exits 1 if it fails, 0 if
 * it does not. */
#include <stdio.h>
#include <string.h>

#include "report.h"

extern const rcx_program broken;

int main(int argc, char **argv)
{
    const rcx_limits limits = {.executions = 10000, .schedule = argc > 2 ? argv[2] : NULL};
    rcx_result result;
    char again[sizeof result.schedule + 16];
    rcx_explore(&broken, &limits, &result);
    const rcx_trace *trace = rcx_last_trace();
    if (trace == NULL) {
        return 0;
    }
    snprintf(again, sizeof again, "show text %s", result.schedule);
    if (argc > 1 && strcmp(argv[1], "json") == 0) {
        rcx_report_json(stdout, trace, NULL, again);
    } else {
        rcx_report_text(stdout, trace, NULL, again);
    }
    return 1;
}
