/* explorer: ORDER-08: attach is RELEASE only: when its company has left and it lets the wrapper go,
 * wrapper_release does not see what that company did. */
#define STEPS_ORDER_A1 memory_order_release
#include "../base/steps.h"
