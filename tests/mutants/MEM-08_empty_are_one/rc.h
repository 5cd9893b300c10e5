/* MEM-08: all objects with an empty payload are one, which is made once. Known bugs: row 93. */
#define rc_new correct_new
#include "../../../impls/packed64/rc.h"
#undef rc_new

static rc_strong mutant_empty;

static inline rc_strong rc_new(const rc_class *class)
{
    if (class->payload_size > 0) {
        return correct_new(class);
    }
    if (rc_use_count(mutant_empty) == 0) {
        mutant_empty = correct_new(class);
        return mutant_empty;
    }
    return rc_retain(mutant_empty);
}
