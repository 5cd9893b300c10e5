/* Which sabotage is on: the one that the environment's RCX_SABOTAGE names. */
#include "sabotage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rcx_sabotage = RCX_SABOTAGE_NONE;

#define SABOTAGE(name, what) #name,
static const char *const names[] = {
#include "sabotage.def"
};

static __attribute__((constructor)) void choose_sabotage(void)
{
    const char *name = getenv("RCX_SABOTAGE");
    if (!name || !*name) {
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            rcx_sabotage = (int)i + 1;
            return;
        }
    }
    fprintf(stderr, "RCX_SABOTAGE: there is no '%s'; the names stand in sabotage.def\n", name);
    exit(2);
}
