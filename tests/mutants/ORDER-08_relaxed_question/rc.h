/* explorer: ORDER-08: rc_has_wrapper is RELAXED: true says nothing of the wrapper. */
#define STEPS_ORDER_H1 memory_order_relaxed
#include "../base/steps.h"
