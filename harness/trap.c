/* trap: the end of a checked build that saw misuse. */
#include <stdio.h>
#include <stdlib.h>

#include "contract.h"

static const char *trap_text(rc_trap_kind kind)
{
    switch (kind) {
    case RC_TRAP_RETAIN_DEAD:
        return "RC_TRAP_RETAIN_DEAD: a reference was taken to an object that is already dead";
    case RC_TRAP_RELEASE_DEAD:
        return "RC_TRAP_RELEASE_DEAD: a strong reference was released that nobody holds";
    case RC_TRAP_WEAK_RELEASE_DEAD:
        return "RC_TRAP_WEAK_RELEASE_DEAD: a weak reference was released that nobody holds";
    case RC_TRAP_STRONG_OVERFLOW:
        return "RC_TRAP_STRONG_OVERFLOW: more strong references than RC_IMPL_STRONG_MAX";
    case RC_TRAP_WEAK_OVERFLOW:
        return "RC_TRAP_WEAK_OVERFLOW: more weak references than RC_IMPL_WEAK_MAX";
    case RC_TRAP_FOREIGN:
        return "RC_TRAP_FOREIGN: a payload was adopted that rc_new did not make";
    case RC_TRAP_WRAPPER:
        return "RC_TRAP_WRAPPER: a wrapper was attached twice, or detached without being attached";
    case RC_TRAP_THREAD:
        return "RC_TRAP_THREAD: an object was used by a second thread without RC_CAP_THREADS";
    }
    return "RC_TRAP_?: a kind that the contract does not have";
}

void rc_trap(rc_trap_kind kind, const void *payload)
{
    fprintf(stderr, "rclab: %s (payload %p)\n", trap_text(kind), payload);
    abort();
}
