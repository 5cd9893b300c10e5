/* THREAD-01: a thread that has detached stays so: what it makes afterwards is refused. */
#define rc_thread_detach correct_thread_detach
#define rc_new correct_new
#include "../../../impls/packed64/rc.h"
#undef rc_thread_detach
#undef rc_new

static _Thread_local bool mutant_detached;

static inline void rc_thread_detach(void)
{
    mutant_detached = true;
}

static inline rc_strong rc_new(const rc_class *class)
{
    return mutant_detached ? rc_null() : correct_new(class);
}
