/* LIFE-05: claims that finalizers run inside the last release, and puts releases off until the
 * thread quiesces. */
#define DEFERRED_CAPS RC_CAP_IMMEDIATE
#include "../../controls/deferred/rc.h"
