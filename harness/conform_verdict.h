/* conform_verdict: what the battery last said of an implementation, kept so that tables can tell which
 * figures belong to a correct one.
 *
 * A verdict belongs to the sources that it was given for: the rc.h, everything beside it, what those
 * include, and contract.h. Change one of them and the implementation is untested again.
 */
#ifndef RCL_CONFORM_VERDICT_H
#define RCL_CONFORM_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform.h"

/* "pass", "fail" or "untested" for the implementation of that name, with its rc.h as it is now. Looks
 * into the build folder first, then into results/reference/conformance.csv. Static text. */
const char *rcl_conform_verdict(const char *impl_name, const char *header);

/* FNV-1a, 64 bits, over the sources. False if the header is not there. */
bool rcl_conform_hash(const char *header, uint64_t *hash);

/* Keeps the verdict of a run that was not narrowed in the build folder. False: `error` says why. */
bool rcl_conform_keep(const rcl_conform_report *report, char *error, size_t error_size);

/* The same in results/reference/conformance.csv, in place of an older row of that name. */
bool rcl_conform_record(const rcl_conform_report *report, char *error, size_t error_size);

#endif
