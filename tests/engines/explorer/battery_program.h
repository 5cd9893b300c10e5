/* battery_program: the battery's scenarios as programs for the explorer. The one side, battery_program.c,
 * is compiled for an implementation and instrumented; the other, battery_main.c, is neither. */
#ifndef RCX_BATTERY_PROGRAM_H
#define RCX_BATTERY_PROGRAM_H

#include <stddef.h>

#include "explorer.h"

typedef struct rcx_scenario {
    const char *clause, *name;
    unsigned threads;
    const char *not_searched; /* why it is none for the search; or NULL */
} rcx_scenario;

/* False: there are not so many. */
bool rcx_battery_scenario(unsigned index, rcx_scenario *scenario);
/* The program; one at a time. */
rcx_program rcx_battery_program(unsigned index);
/* The memory that scenarios work on, for names in reports. */
void *rcx_battery_world(size_t *size);
/* Prints what the implementation has, and every scenario (scenarios.h). */
void rcx_battery_list(void);

/* battery_main.c: what is live when setup begins, and at the end of an execution. */
uint64_t rcx_battery_live_blocks(void);
_Noreturn void rcx_battery_leak(uint64_t blocks);

#endif
