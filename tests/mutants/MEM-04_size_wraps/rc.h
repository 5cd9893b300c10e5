/* MEM-04: header and payload size are added without a look: the sum of a huge size is small. */
#define rc_new correct_new
#include "../../../impls/packed64/rc.h"
#undef rc_new

static inline rc_strong rc_new(const rc_class *class)
{
    packed64_header *header = rc_mem_alloc(sizeof *header + class->payload_size);
    if (header == NULL) {
        return rc_null();
    }
    atomic_init(&header->counts, UINT64_C(1) << 32 | 1);
    header->class = class;
    return (rc_strong){header + 1};
}
