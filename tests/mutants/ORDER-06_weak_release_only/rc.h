/* ORDER-06: the weak decrement is RELEASE without ACQUIRE, and the look before it RELAXED: only the
 * strong side was repaired. Known bugs: row 3. */
#define STEPS_ORDER_D3 memory_order_release
#define STEPS_ORDER_U2 memory_order_relaxed
#include "../base/steps.h"
