/* gbench: Google Benchmark behind a C face.
 *
 * It decides how many operations make a repetition long enough, and runs them; what a repetition is
 * and what its clock says is ours (team.h), for a window counts only while all threads run. Calls
 * through this face happen once per repetition, never inside a timed operation.
 */
#ifndef RCL_GBENCH_H
#define RCL_GBENCH_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs `operations` operations and says how long they took as one thread sees it, in seconds.
 * Returns a negative number to stop with an error. */
typedef double (*rcl_gbench_batch)(void *context, uint64_t operations);

/* Runs one repetition under `name`. `operations` fixes its length; 0 lets Google Benchmark raise the
 * number until a repetition takes min_seconds. The calls before the last are its search; what the
 * last one measured is the caller's to keep. Returns the number of operations of the last call, or 0
 * if the batch reported an error. Not reentrant: the library keeps its list in static state. */
uint64_t rcl_gbench_run(const char *name, rcl_gbench_batch batch, void *context,
                        uint64_t operations, double min_seconds);

/* The library's version, a static string. */
const char *rcl_gbench_version(void);

#ifdef __cplusplus
}
#endif

#endif
