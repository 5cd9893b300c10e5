/* explorer: ORDER-08: a retain or a lock that finds the wrapper's bit goes on to the hook without
 * ACQUIRE: the hook may not see the wrapper that attach published. */
#define STEPS_BEFORE_HOOK(counts) ((void)(counts))
#include "../base/steps.h"
