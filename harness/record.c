#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool rcl_is_flagged(const rcl_window *window)
{
    return window->utilisation < RCL_UTILISATION_MIN ||
           window->steal_percent > RCL_STEAL_MAX_PERCENT;
}

bool rcl_record_raw_header(FILE *file)
{
    return fputs("schema,launch,repetition,sequence,impl,workload,variant,threads,sharing,"
                 "allocator,operations,ns_per_op,elapsed_ms,utilisation,involuntary_switches,"
                 "steal_percent,pinned,flagged,seed\n",
                 file) >= 0 &&
           fflush(file) == 0;
}

static bool record_cell(FILE *file, const rcl_cell *cell)
{
    return fprintf(file, "%s,%s,%s,%u,%s,%s", cell->impl->name, cell->workload->name,
                   cell->variant->name, cell->threads, rcl_sharing_name(cell->sharing),
                   rcl_allocator_name(cell->allocator)) >= 0;
}

bool rcl_record_raw(FILE *file, const rcl_repetition *repetition)
{
    const rcl_window *window = &repetition->window;
    return fprintf(file, "%d,%u,%u,%u,", RCL_SCHEMA, repetition->launch, repetition->repetition,
                   repetition->sequence) >= 0 &&
           record_cell(file, repetition->cell) &&
           fprintf(file, ",%" PRIu64 ",%.4f,%.4f,%.4f,%" PRIu64 ",%.2f,%d,%d,%" PRIu64 "\n",
                   window->operations, window->ns_per_operation, window->elapsed_ns / 1e6,
                   window->utilisation, window->involuntary_switches, window->steal_percent,
                   window->pinned ? 1 : 0, repetition->flagged ? 1 : 0, repetition->seed) >= 0 &&
           fflush(file) == 0;
}

/* True if that launch has a repetition of the cell that is not flagged. */
static bool launch_is_clean(const rcl_cell *cell, unsigned launch)
{
    for (size_t i = 0; i < cell->count; i++) {
        if (cell->samples[i].launch == launch && !cell->sample_flagged[i]) {
            return true;
        }
    }
    return false;
}

bool rcl_cell_summary(const rcl_cell *cell, rcl_summary *summary, unsigned *flagged)
{
    *flagged = 0;
    rcl_sample *kept = malloc((cell->count > 0 ? cell->count : 1) * sizeof *kept);
    if (kept == NULL) {
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < cell->count; i++) {
        *flagged += cell->sample_flagged[i] ? 1 : 0;
        if (!cell->sample_flagged[i] || !launch_is_clean(cell, cell->samples[i].launch)) {
            kept[count++] = cell->samples[i];
        }
    }
    bool done = rcl_summarise(kept, count, summary);
    free(kept);
    return done;
}

bool rcl_ranked(const rcl_cell *cell)
{
    return cell->impl->counts && strcmp(cell->conformance, "fail") != 0;
}

const rcl_cell *rcl_null_cell(const rcl_plan *plan, const rcl_cell *cell)
{
    for (size_t i = 0; i < plan->count; i++) {
        const rcl_cell *other = &plan->cells[i];
        if (other->line == cell->line && !other->impl->counts && other->count > 0) {
            return other;
        }
    }
    return NULL;
}

static bool record_summary_row(FILE *file, const rcl_plan *plan, const rcl_cell *cell)
{
    rcl_summary summary;
    rcl_summary null_summary;
    unsigned flagged = 0;
    unsigned null_flagged = 0;
    if (!rcl_cell_summary(cell, &summary, &flagged)) {
        return false;
    }
    char over_null[32] = "";
    const rcl_cell *null_cell = rcl_null_cell(plan, cell);
    if (null_cell != NULL && null_cell != cell) {
        if (!rcl_cell_summary(null_cell, &null_summary, &null_flagged)) {
            return false;
        }
        snprintf(over_null, sizeof over_null, "%.4f", summary.median - null_summary.median);
    }
    return fprintf(file, "%d,", RCL_SCHEMA) >= 0 && record_cell(file, cell) &&
           fprintf(file, ",%u,%.4f,%.4f,%.4f,%.4f,%.4f,%u,%s,%s,%zu,%s,%s,%s\n", summary.launches,
                   summary.median, summary.mad, summary.low, summary.high, summary.minimum, flagged,
                   cell->conformance, cell->group, cell->count, cell->impl->called ? "yes" : "no",
                   rcl_ranked(cell) ? "yes" : "no", over_null) >= 0;
}

bool rcl_record_summary(FILE *file, const rcl_plan *plan)
{
    if (fputs("schema,impl,workload,variant,threads,sharing,allocator,launches,median_ns,mad_ns,"
              "ci95_low_ns,ci95_high_ns,min_ns,flagged,conformance,group,repetitions,called,ranked,"
              "over_null_ns\n",
              file) < 0) {
        return false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->cells[i].count > 0 && !record_summary_row(file, plan, &plan->cells[i])) {
            return false;
        }
    }
    return fflush(file) == 0;
}

bool rcl_record_space_header(FILE *file)
{
    return fputs("schema,impl,allocator,handle_bytes,weak_handle_bytes,header_bytes,"
                 "tensor_impl_bytes,storage_impl_bytes,allocations_per_object,"
                 "allocations_per_tensor,allocations_per_tensor_with_bytes,"
                 "requested_bytes_per_tensor,taken_bytes_per_tensor,gigabytes_400m_tensors\n",
                 file) >= 0;
}

bool rcl_record_space(FILE *file, const char *impl, const char *allocator, const rcl_space *space)
{
    return fprintf(file, "%d,%s,%s,%zu,%zu,%zu,%zu,%zu,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f\n", RCL_SCHEMA,
                   impl, allocator, space->handle_bytes, space->weak_handle_bytes,
                   space->header_bytes, space->tensor_impl_bytes, space->storage_impl_bytes,
                   space->allocations_per_object, space->allocations_per_tensor,
                   space->allocations_per_tensor_with_bytes, space->requested_bytes_per_tensor,
                   space->taken_bytes_per_tensor, space->gigabytes_400m_tensors) >= 0;
}
