#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_verdict.h"
#include "contract.h"

enum { MAX_THREAD_COUNTS = 32 };

/* A setup longer than this is too slow for a quick run. */
enum { SLOW_SETUP_MS = 20 };

/* ---- Lists of names ---- */

/* The next name of a comma-separated list: its start, with *length; NULL at the end. */
static const char *next_name(const char **list, size_t *length)
{
    const char *name = *list;
    if (name == NULL || *name == '\0') {
        return NULL;
    }
    *length = strcspn(name, ",");
    *list = name + *length + (name[*length] == ',' ? 1 : 0);
    return name;
}

static bool same(const char *name, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(name, other, length) == 0;
}

/* True if `list` is NULL or has `name`. */
static bool listed(const char *list, const char *name)
{
    if (list == NULL) {
        return true;
    }
    size_t length = 0;
    for (const char *entry; (entry = next_name(&list, &length)) != NULL;) {
        if (same(entry, length, name)) {
            return true;
        }
    }
    return false;
}

static void append(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", word);
}

static bool check_impls(const rcl_registry *registry, const char *list, char *error, size_t size)
{
    size_t length = 0;
    bool any = list == NULL;
    for (const char *entry; (entry = next_name(&list, &length)) != NULL; any = true) {
        bool known = false;
        for (unsigned i = 0; i < registry->impl_count; i++) {
            known = known || same(entry, length, registry->impls[i]->name);
        }
        if (!known) {
            char names[512] = "";
            for (unsigned i = 0; i < registry->impl_count; i++) {
                append(names, sizeof names, registry->impls[i]->name);
            }
            snprintf(error, size, "there is no implementation '%.*s'; there are: %s", (int)length,
                     entry, names);
            return false;
        }
    }
    if (!any) {
        snprintf(error, size, "the list of implementations is empty");
    }
    return any;
}

static bool check_workloads(const rcl_registry *registry, const char *list, char *error,
                            size_t size)
{
    size_t length = 0;
    bool any = list == NULL;
    for (const char *entry; (entry = next_name(&list, &length)) != NULL; any = true) {
        bool known = false;
        for (unsigned i = 0; i < registry->workload_count; i++) {
            known = known || same(entry, length, registry->workloads[i].name) ||
                    same(entry, length, registry->workloads[i].group);
        }
        if (!known) {
            char names[1024] = "";
            for (unsigned i = 0; i < registry->workload_count; i++) {
                append(names, sizeof names, registry->workloads[i].name);
            }
            snprintf(error, size, "there is no workload or group '%.*s'; there are: %s",
                     (int)length, entry, names);
            return false;
        }
    }
    if (!any) {
        snprintf(error, size, "the list of workloads is empty");
    }
    return any;
}

/* ---- Thread counts and allocators ---- */

typedef struct thread_counts {
    unsigned values[MAX_THREAD_COUNTS];
    unsigned count;
} thread_counts;

static thread_counts default_threads(const rcl_selection *selection)
{
    thread_counts threads = {.values = {1}, .count = 1};
    if (!selection->quick) {
        for (unsigned n = 2; n < selection->processors; n *= 2) {
            threads.values[threads.count++] = n;
        }
    }
    if (selection->processors > 1) {
        threads.values[threads.count++] = selection->processors;
    }
    return threads;
}

static bool parse_threads(const rcl_selection *selection, thread_counts *threads, char *error,
                          size_t size)
{
    const char *list = selection->threads;
    if (list == NULL) {
        *threads = default_threads(selection);
        return true;
    }
    threads->count = 0;
    size_t length = 0;
    for (const char *entry; (entry = next_name(&list, &length)) != NULL;) {
        char *end = NULL;
        errno = 0;
        unsigned long n = strtoul(entry, &end, 10);
        if (*entry < '0' || *entry > '9' || end != entry + length || n < 1 || errno != 0) {
            snprintf(error, size, "'%.*s' is no number of threads; give numbers from 1, as in 1,2",
                     (int)length, entry);
            return false;
        }
        if (n > selection->processors) {
            snprintf(error, size,
                     "%lu threads, but this process may use %u processor%s: threads that wait for "
                     "each other's turn measure the scheduler",
                     n, selection->processors, selection->processors == 1 ? "" : "s");
            return false;
        }
        if (threads->count == MAX_THREAD_COUNTS) {
            snprintf(error, size, "more than %d numbers of threads", MAX_THREAD_COUNTS);
            return false;
        }
        threads->values[threads->count++] = (unsigned)n;
    }
    if (threads->count == 0) {
        snprintf(error, size, "the list of numbers of threads is empty");
    }
    return threads->count > 0;
}

/* Bit i: allocator i. */
static bool parse_allocators(const rcl_selection *selection, unsigned *mask, char *error,
                             size_t size)
{
    const char *name = selection->allocators;
    rcl_allocator one = RCL_ALLOCATOR_LIBC;
    if (name == NULL) {
        *mask = selection->quick ? 1u << RCL_ALLOCATOR_LIBC : 3;
        return true;
    }
    if (strcmp(name, "both") == 0) {
        *mask = 3;
        return true;
    }
    if (!rcl_allocator_parse(name, &one)) {
        snprintf(error, size, "there is no allocator '%s'; there are: libc, jemalloc, both", name);
        return false;
    }
    *mask = 1u << one;
    return true;
}

/* ---- Cells ---- */

const char *rcl_sharing_name(rcl_sharing sharing)
{
    return sharing == RCL_PRIVATE ? "private" : "shared";
}

bool rcl_can_run(const rcl_impl *impl, const rcl_workload *workload, const rcl_variant *variant,
                 unsigned threads, rcl_sharing sharing)
{
    unsigned needs = workload->needs | variant->needs;
    unsigned has = impl->caps | (impl->counts ? RCL_NEEDS_COUNTING : 0);
    if (sharing == RCL_SHARED && threads > 1) {
        needs |= RC_CAP_THREADS;
    }
    return workload->run != NULL || workload->run_timed != NULL ? (needs & ~has) == 0 : false;
}

/* A workload that can be private is asked for shared objects only where somebody shares them. */
static bool makes_sense(const rcl_workload *workload, const rcl_variant *variant, unsigned threads,
                        rcl_sharing sharing)
{
    if ((workload->sharing & sharing) == 0 || threads < workload->threads_min ||
        (workload->threads_max != 0 && threads > workload->threads_max) ||
        (variant->threads != 0 && variant->threads != threads) ||
        (variant->sharing != 0 && (variant->sharing & sharing) == 0)) {
        return false;
    }
    return !(sharing == RCL_SHARED && threads == 1 && (workload->sharing & RCL_PRIVATE) != 0);
}

static bool plan_add(rcl_plan *plan, size_t *room, rcl_cell cell)
{
    if (plan->count == *room) {
        size_t more = *room == 0 ? 256 : *room * 2;
        rcl_cell *cells = realloc(plan->cells, more * sizeof *cells);
        if (cells == NULL) {
            return false;
        }
        plan->cells = cells;
        *room = more;
    }
    plan->cells[plan->count++] = cell;
    return true;
}

typedef struct plan_builder {
    const rcl_registry *registry;
    const rcl_selection *selection;
    thread_counts threads;
    unsigned allocators;
    rcl_plan *plan;
    size_t room;
} plan_builder;

/* The table of workload number `index` that has variants: an implementation without the needed
 * capability has a stub without any. */
static const rcl_workload *full_workload(const rcl_registry *registry, unsigned index)
{
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (registry->impls[i]->workloads[index]->variant_count > 0) {
            return registry->impls[i]->workloads[index];
        }
    }
    return registry->impls[0]->workloads[index];
}

/* One line: the same question to every implementation that was asked for. */
static bool add_line(plan_builder *builder, unsigned index, unsigned variant, unsigned threads,
                     rcl_sharing sharing, rcl_allocator allocator)
{
    const rcl_registry *registry = builder->registry;
    bool any = false;
    for (unsigned i = 0; i < registry->impl_count; i++) {
        const rcl_impl *impl = registry->impls[i];
        const rcl_workload *workload = impl->workloads[index];
        if (!listed(builder->selection->impls, impl->name) || variant >= workload->variant_count ||
            !rcl_can_run(impl, workload, &workload->variants[variant], threads, sharing)) {
            continue;
        }
        rcl_cell cell = {
            .impl = impl,
            .workload = workload,
            .variant = &workload->variants[variant],
            .asked_variant = workload->variants[variant].name,
            .group = registry->workloads[index].group,
            .threads = threads,
            .sharing = sharing,
            .allocator = allocator,
            .line = builder->plan->lines,
        };
        if (!plan_add(builder->plan, &builder->room, cell)) {
            return false;
        }
        any = true;
    }
    builder->plan->lines += any ? 1 : 0;
    return true;
}

/* The rows that are no strategy but the limit of one, for the workload of that name. */
static bool add_floor(plan_builder *builder, const char *name, unsigned threads,
                      rcl_sharing sharing, rcl_allocator allocator)
{
    const rcl_impl *floor = builder->registry->floor;
    for (unsigned i = 0; i < floor->workload_count; i++) {
        const rcl_workload *workload = floor->workloads[i];
        if (strcmp(workload->name, name) != 0 || (workload->sharing & sharing) == 0) {
            continue;
        }
        for (unsigned v = 0; v < workload->variant_count; v++) {
            if (workload->variants[v].sharing != 0 &&
                (workload->variants[v].sharing & sharing) == 0) {
                continue;
            }
            rcl_cell cell = {
                .impl = floor,
                .workload = workload,
                .variant = &workload->variants[v],
                .asked_variant = workload->variants[v].name,
                .group = "floor",
                .threads = threads,
                .sharing = sharing,
                .allocator = allocator,
                .line = builder->plan->lines++,
            };
            if (!plan_add(builder->plan, &builder->room, cell)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_workload(plan_builder *builder, unsigned index)
{
    static const rcl_sharing sharings[] = {RCL_PRIVATE, RCL_SHARED};
    const rcl_workload *workload = full_workload(builder->registry, index);
    if (builder->selection->quick && workload->setup_ms > SLOW_SETUP_MS) {
        return true;
    }
    for (unsigned v = 0; v < workload->variant_count; v++) {
        for (unsigned s = 0; s < 2; s++) {
            for (unsigned t = 0; t < builder->threads.count; t++) {
                unsigned threads = builder->threads.values[t];
                if (!makes_sense(workload, &workload->variants[v], threads, sharings[s])) {
                    continue;
                }
                unsigned allocators = builder->allocators;
                if (!workload->allocates) { /* one is enough: the first that was asked for */
                    allocators &= ~(allocators - 1);
                }
                for (unsigned a = 0; a < 2; a++) {
                    if ((allocators & 1u << a) == 0) {
                        continue;
                    }
                    if ((v == 0 && !add_floor(builder, workload->name, threads, sharings[s],
                                              (rcl_allocator)a)) ||
                        !add_line(builder, index, v, threads, sharings[s], (rcl_allocator)a)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

/* Asks once for each implementation. */
static void judge_cells(rcl_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        rcl_cell *cell = &plan->cells[i];
        if (!cell->impl->counts) {
            cell->conformance = "exempt";
            continue;
        }
        for (size_t before = i; before-- > 0 && cell->conformance == NULL;) {
            if (plan->cells[before].impl == cell->impl) {
                cell->conformance = plan->cells[before].conformance;
            }
        }
        if (cell->conformance == NULL) {
            cell->conformance = rcl_conform_verdict(cell->impl->name, cell->impl->header);
        }
    }
}

bool rcl_plan_make(const rcl_registry *registry, const rcl_selection *selection, rcl_plan *plan,
                   char *error, size_t error_size)
{
    *plan = (rcl_plan){0};
    plan_builder builder = {.registry = registry, .selection = selection, .plan = plan};
    if (!check_impls(registry, selection->impls, error, error_size) ||
        !check_workloads(registry, selection->workloads, error, error_size) ||
        !parse_threads(selection, &builder.threads, error, error_size) ||
        !parse_allocators(selection, &builder.allocators, error, error_size)) {
        return false;
    }
    for (unsigned i = 0; i < registry->workload_count; i++) {
        if (!listed(selection->workloads, registry->workloads[i].name) &&
            !listed(selection->workloads, registry->workloads[i].group)) {
            continue;
        }
        if (!add_workload(&builder, i)) {
            snprintf(error, error_size, "out of memory while planning");
            return false;
        }
    }
    if (plan->count == 0) {
        snprintf(error, error_size,
                 "nothing to run: no chosen implementation has what the chosen "
                 "workloads need with these threads (see rclab list)");
        return false;
    }
    judge_cells(plan);
    return true;
}

void rcl_plan_free(rcl_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        free(plan->cells[i].samples);
        free(plan->cells[i].sample_flagged);
        free(plan->cells[i].delays);
    }
    free(plan->cells);
    *plan = (rcl_plan){0};
}

bool rcl_cell_add(rcl_cell *cell, unsigned launch, double ns, bool flagged)
{
    if (cell->count == cell->room) {
        size_t room = cell->room == 0 ? 16 : cell->room * 2;
        rcl_sample *samples = realloc(cell->samples, room * sizeof *samples);
        if (samples == NULL) {
            return false;
        }
        cell->samples = samples;
        bool *flags = realloc(cell->sample_flagged, room * sizeof *flags);
        if (flags == NULL) {
            return false;
        }
        cell->sample_flagged = flags;
        cell->room = room;
    }
    cell->samples[cell->count] = (rcl_sample){launch, ns};
    cell->sample_flagged[cell->count] = flagged;
    cell->count++;
    return true;
}

bool rcl_cell_add_delay(rcl_cell *cell, const rcl_cell_delay *delay)
{
    rcl_cell_delay *delays = realloc(cell->delays, (cell->delay_count + 1) * sizeof *delays);
    if (delays == NULL) {
        return false;
    }
    delays[cell->delay_count++] = *delay;
    cell->delays = delays;
    return true;
}

/* The variant of the replay workload that plays as was chosen: any of its kind will do. */
static const rcl_variant *replay_variant(const rcl_workload *workload, bool recorded)
{
    for (unsigned v = 0; v < workload->variant_count; v++) {
        if ((workload->variants[v].sharing == RCL_SHARED) == recorded) {
            return &workload->variants[v];
        }
    }
    return NULL;
}

bool rcl_plan_make_replay(const rcl_registry *registry, const rcl_selection *selection,
                          const rcl_replay_choice *choice, rcl_plan *plan, char *error,
                          size_t error_size)
{
    *plan = (rcl_plan){0};
    size_t room = 0;
    unsigned allocators = 0;
    rcl_selection one_allocator = *selection;
    one_allocator.quick = true;
    if (!check_impls(registry, selection->impls, error, error_size) ||
        !parse_allocators(&one_allocator, &allocators, error, error_size)) {
        return false;
    }
    unsigned index = 0;
    while (index < registry->workload_count &&
           strcmp(registry->workloads[index].name, "replay") != 0) {
        index++;
    }
    bool shared = choice->recorded || choice->threads > 1;
    for (unsigned a = 0; a < 2 && index < registry->workload_count; a++) {
        for (unsigned i = 0; i < registry->impl_count; i++) {
            const rcl_impl *impl = registry->impls[i];
            const rcl_workload *workload = impl->workloads[index];
            const rcl_variant *variant = replay_variant(workload, choice->recorded);
            if ((allocators & 1u << a) == 0 || !listed(selection->impls, impl->name) ||
                variant == NULL || (choice->needs & ~impl->caps) != 0 ||
                !rcl_can_run(impl, workload, variant, choice->threads,
                             shared ? RCL_SHARED : RCL_PRIVATE)) {
                continue;
            }
            rcl_cell cell = {
                .impl = impl,
                .workload = workload,
                .variant = &choice->label,
                .asked_variant = variant->name,
                .group = registry->workloads[index].group,
                .threads = choice->threads,
                .sharing = shared ? RCL_SHARED : RCL_PRIVATE,
                .allocator = (rcl_allocator)a,
                .line = plan->lines,
                .operations = choice->operations,
            };
            if (!plan_add(plan, &room, cell)) {
                snprintf(error, error_size, "out of memory while planning");
                return false;
            }
        }
        plan->lines++;
    }
    if (plan->count == 0) {
        snprintf(error, error_size,
                 "no chosen implementation can play this: it needs%s%s (see rclab list)",
                 choice->threads > 1 ? " threads" : "",
                 (choice->needs & RC_CAP_WEAK) != 0 ? " weak handles" : "");
        return false;
    }
    judge_cells(plan);
    return true;
}
