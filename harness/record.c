#include "record.h"

#include <inttypes.h>
#include <math.h>
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

/* With fewer launches the interval is their range: Student's t has no place among tails. */
enum { DELAY_INTERVAL_LAUNCHES = 6 };

/* The median over launches of the percentile that stands `offset` bytes into an rcl_delay. Flagged
 * launches are left out if there is any other. */
static bool summarise_percentile(const rcl_cell *cell, bool flagged_too, size_t offset,
                                 rcl_sample *room, rcl_summary *summary)
{
    size_t count = 0;
    for (size_t i = 0; i < cell->delay_count; i++) {
        const rcl_cell_delay *one = &cell->delays[i];
        if (one->flagged && !flagged_too) {
            continue;
        }
        memcpy(&room[count].value, (const char *)&one->delay + offset, sizeof room[count].value);
        room[count++].launch = one->launch;
    }
    if (!rcl_summarise(room, count, summary)) {
        return false;
    }
    if (count < DELAY_INTERVAL_LAUNCHES) {
        summary->low = summary->high = count > 0 ? room[0].value : 0;
        for (size_t i = 1; i < count; i++) {
            summary->low = fmin(summary->low, room[i].value);
            summary->high = fmax(summary->high, room[i].value);
        }
    }
    return true;
}

bool rcl_cell_delay_summary(const rcl_cell *cell, rcl_delay_summary *summary)
{
    *summary = (rcl_delay_summary){.launches = (unsigned)cell->delay_count};
    for (size_t i = 0; i < cell->delay_count; i++) {
        const rcl_cell_delay *one = &cell->delays[i];
        summary->flagged += one->flagged ? 1 : 0;
        summary->saturated += one->delay.busy >= RCL_DELAY_BUSY_MAX ? 1 : 0;
        summary->releases += one->delay.releases;
        summary->kept += one->delay.kept;
    }
    const bool flagged_too = summary->flagged == summary->launches;
    for (size_t i = 0; i < cell->delay_count; i++) {
        const rcl_cell_delay *one = &cell->delays[i];
        if (flagged_too || !one->flagged) {
            summary->max_ns = fmax(summary->max_ns, one->delay.max_ns);
        }
    }
    summary->known =
        summary->launches > 0 && summary->kept == 0 && summary->saturated * 2 <= summary->launches;
    if (!summary->known) {
        return true;
    }
    rcl_sample *room = malloc(cell->delay_count * sizeof *room);
    bool done =
        room != NULL &&
        summarise_percentile(cell, flagged_too, offsetof(rcl_delay, p50_ns), room, &summary->p50) &&
        summarise_percentile(cell, flagged_too, offsetof(rcl_delay, p99_ns), room, &summary->p99) &&
        summarise_percentile(cell, flagged_too, offsetof(rcl_delay, p999_ns), room, &summary->p999);
    free(room);
    return done;
}

static bool record_delay_row(FILE *file, const rcl_cell *cell)
{
    rcl_delay_summary summary;
    char figures[128] = ",,,";
    if (!rcl_cell_delay_summary(cell, &summary)) {
        return false;
    }
    if (summary.known) {
        snprintf(figures, sizeof figures, "%.1f,%.1f,%.1f,%.1f", summary.p50.median,
                 summary.p99.median, summary.p999.median, summary.max_ns);
    }
    return fprintf(file, "%d,%s,%s,%s,%s,%u,%" PRIu64 ",%.0f,%s,%u\n", RCL_SCHEMA, cell->impl->name,
                   cell->workload->name, cell->variant->name, rcl_allocator_name(cell->allocator),
                   summary.launches, summary.releases, cell->rate_per_s, figures,
                   summary.flagged) >= 0;
}

bool rcl_record_delay(FILE *file, const rcl_plan *plan)
{
    if (fputs("schema,impl,workload,variant,allocator,launches,releases,rate_per_s,p50_ns,p99_ns,"
              "p999_ns,max_ns,flagged\n",
              file) < 0) {
        return false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->cells[i].delay_count > 0 && !record_delay_row(file, &plan->cells[i])) {
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
