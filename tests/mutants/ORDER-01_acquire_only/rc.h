/* ORDER-01: the decrement is ACQUIRE without RELEASE: an owner's last use may come after it. Known
 * bugs: row 4. */
#define STEPS_ORDER_D1 memory_order_acquire
#include "../base/steps.h"
