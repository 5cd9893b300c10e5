/* explorer: ORDER-08: attach is ACQUIRE only: who sees the bit need not see the wrapper. */
#define STEPS_ORDER_A1 memory_order_acquire
#include "../base/steps.h"
