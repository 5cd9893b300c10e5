/* steps: the base of many mutants, unchanged. It is correct, and must be found so: else a mutant that
 * is built on it could die of its base. */
#include "../../mutants/base/steps.h"
