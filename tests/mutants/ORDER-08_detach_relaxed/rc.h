/* explorer: ORDER-08: detach is RELAXED: who sees that the wrapper has gone does not see what it left. */
#define STEPS_ORDER_A2 memory_order_relaxed
#include "../base/steps.h"
