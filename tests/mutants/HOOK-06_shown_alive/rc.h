/* HOOK-06: what an object's finalize has released dies when that finalize returns, and can be
 * locked until then. Known bugs: row 78. */
#define rc_release correct_release
#include "../../../impls/packed64/rc.h"
#undef rc_release

enum { MUTANT_ROOM = 64 };

static _Thread_local rc_strong mutant_waiting[MUTANT_ROOM];
static _Thread_local unsigned mutant_count;
static _Thread_local bool mutant_inside;

static inline void rc_release(rc_strong handle)
{
    if (mutant_inside && mutant_count < MUTANT_ROOM) {
        mutant_waiting[mutant_count++] = handle;
        return;
    }
    bool outer = !mutant_inside;
    mutant_inside = true;
    correct_release(handle);
    while (outer && mutant_count > 0) {
        correct_release(mutant_waiting[--mutant_count]);
    }
    mutant_inside = mutant_inside && !outer;
}
