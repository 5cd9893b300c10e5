/* ORDER-04: rc_is_unique looks RELAXED: the caller's writes may come before another's last use.
 * Known bugs: row 1. */
#define STEPS_ORDER_U3 memory_order_relaxed
#include "../base/steps.h"
