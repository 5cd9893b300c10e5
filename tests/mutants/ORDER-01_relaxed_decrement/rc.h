/* ORDER-01: the decrement is RELAXED: neither our uses before it, nor theirs before finalize. Known
 * bugs: row 2. */
#define STEPS_ORDER_D1 memory_order_relaxed
#include "../base/steps.h"
