/* ORDER-02: the short cut for a unique object looks RELAXED: what the others did before they left
 * is not ordered. Known bugs: row 11. */
#define STEPS_ORDER_U1 memory_order_relaxed
#include "../base/steps.h"
