/* ORDER-06: the weak decrement and the look before it are RELAXED: the block is freed under
 * another's last use. Known bugs: row 2. */
#define STEPS_ORDER_D3 memory_order_relaxed
#define STEPS_ORDER_U2 memory_order_relaxed
#include "../base/steps.h"
