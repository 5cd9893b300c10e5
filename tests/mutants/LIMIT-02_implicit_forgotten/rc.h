/* LIMIT-02: RC_IMPL_WEAK_MAX is the field's last value, and leaves no room for the implicit weak. */
#include "../../../impls/packed64/rc.h"

#undef RC_IMPL_WEAK_MAX
#define RC_IMPL_WEAK_MAX UINT64_C(0x7fffffff)
