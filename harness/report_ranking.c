/* The strategies at each workload: one table of all, then a small one for each question. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const char *question_of(const rcl_report *report, const char *workload)
{
    for (unsigned i = 0; i < report->registry->workload_count; i++) {
        if (same(report->registry->workloads[i].name, workload)) {
            return report->registry->workloads[i].question;
        }
    }
    return "";
}

/* ---- All workloads at a glance ---- */

/* Of a workload that is not in the means: over the questions that the strategy answers. */
static double loose_mean(const rcl_summary_view *view, size_t strategy, const char *workload)
{
    double sum = 0;
    size_t count = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        const rcl_question *question = &view->questions[q];
        const rcl_answered *answer = rcl_view_answer(view, q, strategy);
        if (answer->launches > 0 && !isnan(question->best) && same(question->workload, workload)) {
            sum += log(answer->median / question->best);
            count++;
        }
    }
    return count > 0 ? exp(sum / (double)count) : NAN;
}

static bool is_common(const rcl_summary_view *view, const char *workload)
{
    for (size_t q = 0; q < view->question_count; q++) {
        if (view->questions[q].common && same(view->questions[q].workload, workload)) {
            return true;
        }
    }
    return false;
}

/* The darker, the farther behind. */
static const char *shade(double ratio)
{
    static const double limits[] = {1.05, 1.2, 1.5, 2, 4};
    static const char *const shades[] = {"h0", "h1", "h2", "h3", "h4", "h5"};
    unsigned level = 0;
    while (level < 5 && !isnan(ratio) && ratio >= limits[level]) {
        level++;
    }
    return shades[level];
}

static void put_glance_row(const rcl_report *report, const size_t *columns, size_t count,
                           const char *workload, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    bool common = is_common(view, workload);
    double best = INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            double mean = common ? rcl_view_workload_mean(view, columns[i], workload)
                                 : loose_mean(view, columns[i], workload);
            bool compared = view->strategies[columns[i]].compared;
            if (pass == 0) {
                best = compared && !isnan(mean) && mean < best ? mean : best;
            } else {
                rcl_html(out, "<td class=\"num %s%s\">%s</td>", compared ? shade(mean) : "apart",
                         compared && !isnan(mean) && mean <= best * 1.005 ? " best" : "",
                         rcl_figure_ratio(mean).text);
            }
        }
        if (pass == 0) {
            rcl_html(out, "<tr><th scope=\"row\"><a href=\"#w-%s\">%s</a>%s</th>", workload,
                     workload, common ? "" : " ‡");
        }
    }
    fputs("</tr>\n", out);
}

/* The ranked strategies: those with a mean first, fastest first. */
static size_t choose_columns(const rcl_summary_view *view, size_t *columns)
{
    size_t count = rcl_view_standing(view, columns);
    for (int compared = 1; compared >= 0; compared--) {
        for (size_t s = 0; s < view->strategy_count; s++) {
            const rcl_strategy *strategy = &view->strategies[s];
            if (strategy->ranked && !strategy->in_mean && strategy->compared == (compared == 1)) {
                columns[count++] = s;
            }
        }
    }
    return count;
}

static void put_glance(const rcl_report *report, const size_t *columns, size_t count, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    fputs("<div class=\"scroll\"><table class=\"glance\"><caption>Time over that of the fastest, "
          "geometric mean over a workload's questions; the darker, the farther "
          "behind</caption>\n<thead><tr><th scope=\"col\">Workload</th>",
          out);
    for (size_t i = 0; i < count; i++) {
        rcl_report_name(report, out, view->strategies[columns[i]].name, "col");
    }
    fputs("</tr></thead>\n", out);
    bool loose = false;
    for (size_t q = 0; q < view->question_count; q++) {
        if (rcl_view_opens_group(view, q)) {
            rcl_html(out,
                     "<tbody><tr><th scope=\"rowgroup\" colspan=\"%zu\" class=\"group\">%s"
                     "</th></tr>\n",
                     count + 1, view->questions[q].group);
            for (size_t w = q; w < view->question_count; w++) {
                if (rcl_view_opens_workload(view, w) &&
                    same(view->questions[w].group, view->questions[q].group)) {
                    put_glance_row(report, columns, count, view->questions[w].workload, out);
                    loose = loose || !is_common(view, view->questions[w].workload);
                }
            }
            fputs("</tbody>\n", out);
        }
    }
    fputs("</table></div>\n", out);
    if (loose) {
        fputs("<p class=\"note\">‡ Not every strategy offers what it asks for: not in the means "
              "above.</p>\n",
              out);
    }
}

/* ---- One question ---- */

/* The strategies that answered, by time; those that are not ranked after the others. */
static size_t order_answers(const rcl_summary_view *view, size_t q, bool ranked, size_t *order)
{
    size_t count = 0;
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_answered *answer = rcl_view_answer(view, q, s);
        if (answer->launches == 0 || view->strategies[s].ranked != ranked) {
            continue;
        }
        size_t at = count++;
        for (; at > 0 && rcl_view_answer(view, q, order[at - 1])->median > answer->median; at--) {
            order[at] = order[at - 1];
        }
        order[at] = s;
    }
    return count;
}

static bool is_floor_of(const rcl_floor_row *floor, const rcl_question *question)
{
    return same(floor->workload, question->workload) && floor->threads == question->threads &&
           same(floor->sharing, question->sharing) && same(floor->allocator, question->allocator);
}

/* How many ns the bars' full width is. An interval that reaches far beyond the medians is cut. */
static double scale_of(const rcl_summary_view *view, size_t q)
{
    double median = 0;
    double high = 0;
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_answered *answer = rcl_view_answer(view, q, s);
        if (answer->launches > 0) {
            median = fmax(median, answer->median);
            high = fmax(high, answer->high);
        }
    }
    return fmin(high, median * 1.4);
}

static void put_bar(FILE *out, const rcl_answered *answer, double scale, const char *colour)
{
    double low = fmax(answer->low, 0) / scale * 100;
    double high = fmin(answer->high / scale * 100, 100);
    rcl_html(out,
             "<td class=\"bars\"><svg class=\"bar %s\" aria-hidden=\"true\"><rect width=\"%.1f%%\" "
             "height=\"100%%\"/>",
             colour, answer->median / scale * 100);
    if (answer->launches > 1) {
        rcl_html(out,
                 "<line x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"50%%\" y2=\"50%%\"/>"
                 "<line x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"25%%\" y2=\"75%%\"/>",
                 low, high, low, low);
        if (answer->high <= scale) {
            rcl_html(out, "<line x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"25%%\" y2=\"75%%\"/>", high,
                     high);
        }
    }
    fputs("</svg></td>", out);
}

static void put_figures(FILE *out, const rcl_answered *answer, double best, int decimals)
{
    rcl_html(out, "<td class=\"num\">%s", rcl_figure_ns(answer->median, decimals).text);
    fputs(rcl_disturbed(answer) ? "<abbr title=\"most repetitions were disturbed\">~</abbr></td>"
                                : "</td>",
          out);
    if (answer->launches > 1) {
        rcl_html(out, "<td class=\"num ci\">%s–%s</td>", rcl_figure_ns(answer->low, decimals).text,
                 rcl_figure_ns(answer->high, decimals).text);
    } else {
        fputs("<td class=\"num ci\">–</td>", out);
    }
    rcl_html(out, "<td class=\"num ratio\">%s</td></tr>\n",
             isnan(best) ? "" : rcl_figure_ratio(answer->median / best).text);
}

static bool shares_rank(const rcl_summary_view *view, size_t q, size_t s)
{
    unsigned rank = rcl_view_answer(view, q, s)->rank;
    for (size_t other = 0; other < view->strategy_count; other++) {
        if (other != s && rcl_view_answer(view, q, other)->rank == rank) {
            return true;
        }
    }
    return false;
}

static void put_row(const rcl_report *report, size_t q, size_t s, double scale, int decimals,
                    FILE *out)
{
    const rcl_summary_view *view = &report->view;
    const rcl_answered *answer = rcl_view_answer(view, q, s);
    const rcl_strategy *strategy = &view->strategies[s];
    if (answer->rank > 0) {
        rcl_html(out, "<tr><td class=\"num place\">%zu%s</td>", (size_t)answer->rank,
                 shares_rank(view, q, s) ? "=" : "");
    } else {
        fputs("<tr><td class=\"num place\"></td>", out);
    }
    rcl_report_name(report, out, strategy->name, "row");
    put_bar(out, answer, scale, rcl_report_colour(report, s).text);
    put_figures(out, answer, strategy->ranked ? view->questions[q].best : NAN, decimals);
}

static void put_unranked(const rcl_report *report, size_t q, const size_t *order, size_t count,
                         double scale, int decimals, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    fputs("<tbody class=\"aside\">\n", out);
    for (size_t i = 0; i < count; i++) {
        put_row(report, q, order[i], scale, decimals, out);
    }
    for (size_t i = 0; i < view->floor_count; i++) {
        const rcl_floor_row *floor = &view->floors[i];
        if (is_floor_of(floor, &view->questions[q])) {
            rcl_html(out,
                     "<tr><td class=\"num place\"></td><th scope=\"row\"><i class=\"sw "
                     "none\"></i>floor: %s</th>",
                     floor->variant);
            put_bar(out, &floor->answer, fmax(scale, floor->answer.median), "none");
            put_figures(out, &floor->answer, NAN, decimals);
        }
    }
    fputs("</tbody>\n", out);
}

/* `order` is room for the strategies. */
static void put_question(const rcl_report *report, size_t q, size_t *order, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    char label[256];
    rcl_question_label(&view->questions[q], false, label, sizeof label);
    double scale = scale_of(view, q);
    size_t ranked = order_answers(view, q, true, order);
    size_t unranked = order_answers(view, q, false, order + ranked);
    double smallest = INFINITY;
    for (size_t i = 0; i < ranked + unranked; i++) {
        smallest = fmin(smallest, rcl_view_answer(view, q, order[i])->median);
    }
    int decimals = rcl_decimals(smallest);
    rcl_html(out,
             "<table class=\"rank\"><caption>%s</caption><thead><tr><th scope=\"col\" "
             "class=\"num place\"><abbr title=\"rank\">#</abbr></th><th scope=\"col\">strategy</th>"
             "<th scope=\"col\" class=\"bars\"></th><th scope=\"col\" class=\"num\">ns</th><th "
             "scope=\"col\" class=\"num ci\">95 %% interval</th><th scope=\"col\" class=\"num "
             "ratio\"><abbr title=\"time over that of the fastest\">×</abbr></th></tr></thead>\n",
             label);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < ranked; i++) {
        put_row(report, q, order[i], scale, decimals, out);
    }
    fputs("</tbody>\n", out);
    put_unranked(report, q, order + ranked, unranked, scale, decimals, out);
    fputs("</table>\n", out);
}

/* ---- One workload ---- */

static const char *first_allocator_of(const rcl_summary_view *view, const char *workload)
{
    for (size_t q = 0; q < view->question_count; q++) {
        if (same(view->questions[q].workload, workload)) {
            return view->questions[q].allocator;
        }
    }
    return "";
}

/* A question that is shown open: with the allocator that comes first; on the fewest threads, but
 * where sharing is what the workload is about, shared by the most. */
static bool is_main(const rcl_summary_view *view, size_t q)
{
    const rcl_question *question = &view->questions[q];
    bool about_sharing = same(question->group, "sharing");
    bool any_shared = false;
    const char *first_allocator = first_allocator_of(view, question->workload);
    if (!same(question->allocator, first_allocator)) {
        return false;
    }
    for (size_t other = 0; other < view->question_count; other++) {
        const rcl_question *one = &view->questions[other];
        any_shared =
            any_shared || (same(one->workload, question->workload) && same(one->sharing, "shared"));
    }
    bool want_shared = about_sharing && any_shared;
    for (size_t other = 0; other < view->question_count; other++) {
        const rcl_question *one = &view->questions[other];
        if (!same(one->workload, question->workload) || !same(one->variant, question->variant) ||
            !same(one->allocator, first_allocator)) {
            continue;
        }
        bool shared = same(one->sharing, "shared");
        bool better = want_shared ? shared && one->threads > question->threads
                                  : one->threads < question->threads ||
                                        (one->threads == question->threads && other < q);
        if (better) {
            return false;
        }
    }
    return !want_shared || same(question->sharing, "shared");
}

/* The workload's questions that are shown open, or the others. Returns how many. */
static size_t put_questions(const rcl_report *report, const char *workload, bool main,
                            size_t *order, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    size_t count = 0;
    for (size_t q = 0; q < view->question_count; q++) {
        if (same(view->questions[q].workload, workload) && is_main(view, q) == main) {
            count++;
            if (out != NULL) {
                put_question(report, q, order, out);
            }
        }
    }
    return count;
}

static void put_workload(const rcl_report *report, const char *workload, size_t *order, FILE *out)
{
    bool one = put_questions(report, workload, true, order, NULL) == 1;
    rcl_html(out, "<section class=\"workload%s\" id=\"w-%s\"><h4>%s</h4><p>%s</p>\n",
             one ? " one" : "", workload, workload, question_of(report, workload));
    fputs("<div class=\"cards\">\n", out);
    (void)put_questions(report, workload, true, order, out);
    fputs("</div>\n", out);
    size_t more = put_questions(report, workload, false, order, NULL);
    if (more > 0) {
        rcl_html(out,
                 "<details><summary>%zu more: other threads, other allocators</summary><div "
                 "class=\"cards\">\n",
                 more);
        (void)put_questions(report, workload, false, order, out);
        fputs("</div></details>\n", out);
    }
    fputs("</section>\n", out);
}

bool rcl_report_ranking(const rcl_report *report, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    size_t *order = calloc(view->strategy_count * 2, sizeof *order);
    if (order == NULL) {
        return false;
    }
    fputs("<section id=\"ranking\">\n<h2>Ranking, workload by workload</h2>\n", out);
    size_t columns = choose_columns(view, order);
    if (columns > 0) {
        put_glance(report, order, columns, out);
    }
    fputs("<p>Below, every question by itself. Times are nanoseconds for one operation as one "
          "thread sees it, medians over launches. A bar begins at zero; the mark on it is the "
          "median's 95 % interval. Equal places (<span class=\"place\">2=</span>) are ties. "
          "Outlined bars and what stands below the line are not ranked. ~ marks a median most of "
          "whose repetitions were disturbed.</p>\n",
          out);
    for (size_t q = 0; q < view->question_count; q++) {
        if (!rcl_view_opens_group(view, q)) {
            continue;
        }
        rcl_html(out, "<h3 class=\"group\">%s</h3>\n<div class=\"workloads\">\n",
                 view->questions[q].group);
        for (size_t w = q; w < view->question_count; w++) {
            if (rcl_view_opens_workload(view, w) &&
                same(view->questions[w].group, view->questions[q].group)) {
                put_workload(report, view->questions[w].workload, order, out);
            }
        }
        fputs("</div>\n", out);
    }
    fputs("</section>\n", out);
    free(order);
    return true;
}
