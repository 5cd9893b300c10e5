#include "report_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "record.h"

enum column {
    IMPL,
    WORKLOAD,
    VARIANT,
    THREADS,
    SHARING,
    ALLOCATOR,
    LAUNCHES,
    MEDIAN,
    LOW,
    HIGH,
    FLAGGED,
    CONFORMANCE,
    GROUP,
    REPETITIONS,
    CALLED,
    RANKED,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "impl",     "workload",    "variant",     "threads",      "sharing", "allocator",
    "launches", "median_ns",   "ci95_low_ns", "ci95_high_ns", "flagged", "conformance",
    "group",    "repetitions", "called",      "ranked",
};

static const char *field(const rcl_summary_view *view, const int *columns, size_t row,
                         enum column column)
{
    return rcl_csv_text(&view->csv, row, columns[column]);
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- Rows into strategies, questions and answers ---- */

/* A number that may be missing: `otherwise` then. */
static bool number_or(const rcl_csv *csv, size_t row, int column, double otherwise, double *value,
                      char *error, size_t error_size)
{
    *value = otherwise;
    return rcl_csv_text(csv, row, column)[0] == '\0' ||
           rcl_csv_double(csv, row, column, value, error, error_size);
}

static bool read_answer(const rcl_csv *csv, const int *columns, size_t row, rcl_answered *answer,
                        char *error, size_t error_size)
{
    if (!rcl_csv_unsigned(csv, row, columns[LAUNCHES], &answer->launches, error, error_size) ||
        !rcl_csv_unsigned(csv, row, columns[FLAGGED], &answer->flagged, error, error_size) ||
        !rcl_csv_unsigned(csv, row, columns[REPETITIONS], &answer->repetitions, error,
                          error_size) ||
        !rcl_csv_double(csv, row, columns[MEDIAN], &answer->median, error, error_size) ||
        !number_or(csv, row, columns[LOW], answer->median, &answer->low, error, error_size) ||
        !number_or(csv, row, columns[HIGH], answer->median, &answer->high, error, error_size)) {
        return false;
    }
    if (answer->median <= 0 || answer->low > answer->median || answer->high < answer->median) {
        snprintf(error, error_size, "%s:%zu: a median of %g ns with an interval from %g to %g",
                 csv->path, rcl_csv_line(csv, row), answer->median, answer->low, answer->high);
        return false;
    }
    return true;
}

static const rcl_impl *find_impl(const rcl_registry *registry, const char *name)
{
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (same(registry->impls[i]->name, name)) {
            return registry->impls[i];
        }
    }
    return NULL;
}

static size_t take_strategy(rcl_summary_view *view, const int *columns, size_t row)
{
    const char *name = field(view, columns, row, IMPL);
    for (size_t s = 0; s < view->strategy_count; s++) {
        if (same(view->strategies[s].name, name)) {
            return s;
        }
    }
    view->strategies[view->strategy_count] = (rcl_strategy){
        .name = name,
        .conformance = field(view, columns, row, CONFORMANCE),
        .called = same(field(view, columns, row, CALLED), "yes"),
        .ranked = same(field(view, columns, row, RANKED), "yes"),
        .mean = NAN,
        .worst_question = SIZE_MAX,
        .worst_ratio = NAN,
    };
    return view->strategy_count++;
}

static size_t take_question(rcl_summary_view *view, const int *columns, size_t row,
                            uint64_t threads)
{
    rcl_question question = {
        .workload = field(view, columns, row, WORKLOAD),
        .variant = field(view, columns, row, VARIANT),
        .sharing = field(view, columns, row, SHARING),
        .allocator = field(view, columns, row, ALLOCATOR),
        .group = field(view, columns, row, GROUP),
        .threads = threads,
        .best = NAN,
    };
    for (size_t q = 0; q < view->question_count; q++) {
        rcl_question *other = &view->questions[q];
        if (!same(other->workload, question.workload)) {
            continue;
        }
        if (!same(other->allocator, question.allocator)) {
            other->names_allocator = true;
            question.names_allocator = true;
        } else if (same(other->variant, question.variant) && other->threads == threads &&
                   same(other->sharing, question.sharing)) {
            return q;
        }
        question.names_allocator = question.names_allocator || other->names_allocator;
    }
    view->questions[view->question_count] = question;
    return view->question_count++;
}

static bool is_floor(const rcl_summary_view *view, const int *columns, size_t row)
{
    return same(field(view, columns, row, IMPL), "floor");
}

/* A row without a median says nothing; those of delays speak in delay.csv. */
static bool is_measured(const rcl_summary_view *view, const int *columns, size_t row)
{
    return field(view, columns, row, MEDIAN)[0] != '\0' &&
           !same(field(view, columns, row, GROUP), "reclamation");
}

static bool take_rows(rcl_summary_view *view, const int *columns, char *error, size_t error_size)
{
    const rcl_csv *csv = &view->csv;
    size_t rows = csv->row_count;
    view->question_count = 0;
    view->strategy_count = 0;
    size_t *place = calloc(rows * 2 + 1, sizeof *place); /* question and strategy of each row */
    view->strategies = calloc(rows + 1, sizeof *view->strategies);
    view->questions = calloc(rows + 1, sizeof *view->questions);
    view->floors = calloc(rows + 1, sizeof *view->floors);
    bool good = place != NULL && view->strategies != NULL && view->questions != NULL &&
                view->floors != NULL;
    for (size_t row = 0; good && row < rows; row++) {
        uint64_t threads = 0;
        good = rcl_csv_unsigned(csv, row, columns[THREADS], &threads, error, error_size);
        if (good && is_measured(view, columns, row) && !is_floor(view, columns, row)) {
            place[row * 2] = take_question(view, columns, row, threads);
            place[row * 2 + 1] = take_strategy(view, columns, row);
        }
    }
    size_t cells = view->question_count * view->strategy_count;
    view->answers = calloc(cells + 1, sizeof *view->answers);
    good = good && view->answers != NULL;
    for (size_t row = 0; good && row < rows; row++) {
        if (!is_measured(view, columns, row)) {
            continue;
        }
        rcl_answered *answer =
            &view->answers[place[row * 2] * view->strategy_count + place[row * 2 + 1]];
        if (is_floor(view, columns, row)) {
            rcl_floor_row *floor = &view->floors[view->floor_count++];
            *floor = (rcl_floor_row){
                .workload = field(view, columns, row, WORKLOAD),
                .variant = field(view, columns, row, VARIANT),
                .sharing = field(view, columns, row, SHARING),
                .allocator = field(view, columns, row, ALLOCATOR),
            };
            (void)rcl_csv_unsigned(csv, row, columns[THREADS], &floor->threads, error, error_size);
            answer = &floor->answer;
        }
        good = read_answer(csv, columns, row, answer, error, error_size);
        view->has_intervals = view->has_intervals || answer->launches > 1;
    }
    free(place);
    return good;
}

/* ---- Who is compared with whom ---- */

const rcl_answered *rcl_view_answer(const rcl_summary_view *view, size_t question, size_t strategy)
{
    return &view->answers[question * view->strategy_count + strategy];
}

bool rcl_certainly_faster(const rcl_answered *a, const rcl_answered *b)
{
    return a->high < b->low;
}

bool rcl_disturbed(const rcl_answered *answer)
{
    return answer->flagged * 2 > answer->repetitions;
}

/* What the program knows of a shipped strategy; of any other, whether it ran where threads share. */
static bool is_shareable(const rcl_registry *registry, const rcl_summary_view *view, size_t s)
{
    const rcl_impl *impl = find_impl(registry, view->strategies[s].name);
    if (impl != NULL) {
        return (impl->caps & RC_CAP_THREADS) != 0;
    }
    bool asked = false;
    for (size_t q = 0; q < view->question_count; q++) {
        bool shared = same(view->questions[q].sharing, "shared");
        asked = asked || shared;
        if (shared && rcl_view_answer(view, q, s)->launches > 0) {
            return true;
        }
    }
    return !asked;
}

static void choose_compared(const rcl_registry *registry, rcl_summary_view *view)
{
    for (size_t s = 0; s < view->strategy_count; s++) {
        rcl_strategy *strategy = &view->strategies[s];
        strategy->shareable = is_shareable(registry, view, s);
        strategy->compared = strategy->ranked && strategy->shareable;
        view->compared_count += strategy->compared ? 1 : 0;
    }
    view->none_shareable = view->compared_count == 0;
    for (size_t s = 0; view->none_shareable && s < view->strategy_count; s++) {
        view->strategies[s].compared = view->strategies[s].ranked;
        view->compared_count += view->strategies[s].ranked ? 1 : 0;
    }
}

static void rank_question(rcl_summary_view *view, size_t q)
{
    rcl_question *question = &view->questions[q];
    rcl_answered *answers = &view->answers[q * view->strategy_count];
    for (size_t s = 0; s < view->strategy_count; s++) {
        if (!view->strategies[s].compared || answers[s].launches == 0) {
            continue;
        }
        answers[s].rank = 1;
        for (size_t other = 0; other < view->strategy_count; other++) {
            if (view->strategies[other].compared && answers[other].launches > 0 &&
                rcl_certainly_faster(&answers[other], &answers[s])) {
                answers[s].rank++;
            }
        }
        if (isnan(question->best) || answers[s].median < question->best) {
            question->best = answers[s].median;
            question->best_strategy = s;
        }
    }
}

/* A strategy that answers less than half of what was asked would leave little for the others to be
 * compared by: it stays out of the means. */
static void choose_common(rcl_summary_view *view)
{
    size_t asked = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        asked += isnan(view->questions[q].best) ? 0 : 1;
        for (size_t s = 0; s < view->strategy_count; s++) {
            view->strategies[s].answered += rcl_view_answer(view, q, s)->launches > 0 ? 1 : 0;
        }
    }
    for (size_t s = 0; s < view->strategy_count; s++) {
        rcl_strategy *strategy = &view->strategies[s];
        strategy->in_mean = strategy->compared && strategy->answered * 2 >= asked;
    }
    for (size_t q = 0; q < view->question_count; q++) {
        bool common = !isnan(view->questions[q].best);
        for (size_t s = 0; s < view->strategy_count; s++) {
            common = common &&
                     (!view->strategies[s].in_mean || rcl_view_answer(view, q, s)->launches > 0);
        }
        view->questions[q].common = common;
        view->common_count += common ? 1 : 0;
    }
}

/* ---- Means ---- */

double rcl_view_workload_mean(const rcl_summary_view *view, size_t strategy, const char *workload)
{
    double sum = 0;
    size_t count = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        const rcl_question *question = &view->questions[q];
        const rcl_answered *answer = rcl_view_answer(view, q, strategy);
        if (question->common && answer->launches > 0 && same(question->workload, workload)) {
            sum += log(answer->median / question->best);
            count++;
        }
    }
    return count > 0 ? exp(sum / (double)count) : NAN;
}

bool rcl_view_opens_workload(const rcl_summary_view *view, size_t question)
{
    for (size_t q = 0; q < question; q++) {
        if (same(view->questions[q].workload, view->questions[question].workload)) {
            return false;
        }
    }
    return true;
}

bool rcl_view_opens_group(const rcl_summary_view *view, size_t question)
{
    for (size_t q = 0; q < question; q++) {
        if (same(view->questions[q].group, view->questions[question].group)) {
            return false;
        }
    }
    return true;
}

double rcl_view_group_mean(const rcl_summary_view *view, size_t strategy, const char *group)
{
    double sum = 0;
    size_t count = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        const rcl_question *question = &view->questions[q];
        if (!rcl_view_opens_workload(view, q) || (group != NULL && !same(question->group, group))) {
            continue;
        }
        double mean = rcl_view_workload_mean(view, strategy, question->workload);
        if (!isnan(mean)) {
            sum += log(mean);
            count++;
        }
    }
    return count > 0 ? exp(sum / (double)count) : NAN;
}

/* Counts first places, and finds where the strategy is farthest behind. */
static void judge(rcl_summary_view *view, size_t s)
{
    rcl_strategy *strategy = &view->strategies[s];
    for (size_t q = 0; q < view->question_count; q++) {
        const rcl_question *question = &view->questions[q];
        const rcl_answered *answer = rcl_view_answer(view, q, s);
        if (!question->common || answer->launches == 0 || answer->rank == 0) {
            continue;
        }
        size_t firsts = 0;
        for (size_t other = 0; other < view->strategy_count; other++) {
            firsts += rcl_view_answer(view, q, other)->rank == 1 ? 1 : 0;
        }
        strategy->first_alone += answer->rank == 1 && firsts == 1 ? 1 : 0;
        strategy->first_shared += answer->rank == 1 && firsts > 1 ? 1 : 0;
        double ratio = answer->median / question->best;
        bool certain =
            rcl_certainly_faster(rcl_view_answer(view, q, question->best_strategy), answer);
        if (certain && (isnan(strategy->worst_ratio) || ratio > strategy->worst_ratio)) {
            strategy->worst_ratio = ratio;
            strategy->worst_question = q;
        }
    }
}

static void compare(rcl_summary_view *view)
{
    for (size_t q = 0; q < view->question_count; q++) {
        rank_question(view, q);
    }
    choose_common(view);
    for (size_t q = 0; q < view->question_count; q++) {
        bool opens = view->questions[q].common;
        for (size_t before = 0; opens && before < q; before++) {
            opens = !view->questions[before].common ||
                    !same(view->questions[before].workload, view->questions[q].workload);
        }
        view->workload_count += opens ? 1 : 0;
    }
    for (size_t s = 0; s < view->strategy_count; s++) {
        rcl_strategy *strategy = &view->strategies[s];
        if (strategy->in_mean || (strategy->ranked && !strategy->compared)) {
            strategy->mean = rcl_view_group_mean(view, s, NULL);
        }
        judge(view, s);
    }
}

size_t rcl_view_standing(const rcl_summary_view *view, size_t *order)
{
    size_t count = 0;
    for (size_t s = 0; s < view->strategy_count; s++) {
        if (!view->strategies[s].in_mean || isnan(view->strategies[s].mean)) {
            continue;
        }
        size_t at = count++;
        for (; at > 0 && view->strategies[order[at - 1]].mean > view->strategies[s].mean; at--) {
            order[at] = order[at - 1];
        }
        order[at] = s;
    }
    return count;
}

void rcl_view_duel(const rcl_summary_view *view, size_t a, size_t b, size_t *faster, size_t *slower)
{
    *faster = 0;
    *slower = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        if (view->questions[q].common) {
            const rcl_answered *of_a = rcl_view_answer(view, q, a);
            const rcl_answered *of_b = rcl_view_answer(view, q, b);
            *faster += rcl_certainly_faster(of_a, of_b) ? 1 : 0;
            *slower += rcl_certainly_faster(of_b, of_a) ? 1 : 0;
        }
    }
}

/* ---- All of it ---- */

bool rcl_view_load(const rcl_registry *registry, const char *path, rcl_summary_view *view,
                   char *error, size_t error_size)
{
    int columns[COLUMN_COUNT];
    *view = (rcl_summary_view){0};
    snprintf(error, error_size, "%s: out of memory", path);
    if (!rcl_csv_load(path, &view->csv, error, error_size) ||
        !rcl_csv_columns(&view->csv, column_names, COLUMN_COUNT, columns, error, error_size) ||
        !rcl_csv_check_schema(&view->csv, RCL_SCHEMA, error, error_size) ||
        !take_rows(view, columns, error, error_size)) {
        return false;
    }
    if (view->question_count == 0) {
        snprintf(error, error_size, "%s: nothing was measured: it has no row of a strategy", path);
        return false;
    }
    choose_compared(registry, view);
    compare(view);
    return true;
}

void rcl_view_free(rcl_summary_view *view)
{
    rcl_csv_free(&view->csv);
    free(view->strategies);
    free(view->questions);
    free(view->answers);
    free(view->floors);
    *view = (rcl_summary_view){0};
}

void rcl_question_label(const rcl_question *question, bool workload, char *label, size_t size)
{
    bool one = question->variant[0] == '-';
    bool several = question->threads > 1;
    bool between = workload && !one;
    snprintf(label, size, "%s%s%s%s%llu thread%s%s%s%s%s", workload ? question->workload : "",
             between ? " " : "", one ? "" : question->variant, workload || !one ? ", " : "",
             (unsigned long long)question->threads, several ? "s" : "", several ? " " : "",
             several ? question->sharing : "", question->names_allocator ? ", " : "",
             question->names_allocator ? question->allocator : "");
}
