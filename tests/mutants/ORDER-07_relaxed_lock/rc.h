/* ORDER-07: a lock is RELAXED: its handle may lead to a payload that is not there yet. */
#define STEPS_ORDER_L1 memory_order_relaxed
#include "../base/steps.h"
