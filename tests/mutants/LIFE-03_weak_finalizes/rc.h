/* LIFE-03: the last weak handle of a dead object finalizes it again before it frees. */
#define rc_weak_release correct_weak_release
#include "../../../impls/packed64/rc.h"
#undef rc_weak_release

static inline void rc_weak_release(rc_weak weak)
{
    if (weak.payload != NULL && rc_weak_expired(weak)) {
        packed64_header *header = packed64_header_of(weak.payload);
        if (header->class->finalize != NULL) {
            header->class->finalize(weak.payload);
        }
    }
    correct_weak_release(weak);
}
