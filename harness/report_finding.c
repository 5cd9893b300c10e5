/* What the run says, in sentences and in one table. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report_parts.h"

/* ---- Sentences ---- */

enum { SENTENCE_BYTES = 640, SENTENCES = 8 };

typedef struct findings {
    char sentences[SENTENCES][SENTENCE_BYTES];
    unsigned count;
} findings;

__attribute__((format(printf, 2, 3))) static void say(findings *found, const char *format, ...)
{
    if (found->count < SENTENCES) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(found->sentences[found->count++], SENTENCE_BYTES, format, arguments);
        va_end(arguments);
    }
}

static const char *name_of(const rcl_report *report, size_t strategy)
{
    return report->view.strategies[strategy].name;
}

static void say_leader(findings *found, const rcl_report *report, const size_t *order, size_t count)
{
    const rcl_summary_view *view = &report->view;
    const rcl_strategy *leader = &view->strategies[order[0]];
    rcl_figure questions = rcl_figure_count(view->common_count, "question");
    rcl_figure workloads = rcl_figure_count(view->workload_count, "workload");
    const char *class = view->none_shareable ? "strategy" : "strategy that threads can share";
    if (count == 1) {
        say(found, "%s is the only %s that was compared, over %s of %s.", leader->name, class,
            questions.text, workloads.text);
        return;
    }
    size_t faster = 0;
    size_t slower = 0;
    rcl_view_duel(view, order[0], order[1], &faster, &slower);
    rcl_figure mean = rcl_figure_ratio(leader->mean);
    rcl_figure next = rcl_figure_ratio(view->strategies[order[1]].mean);
    bool clear = view->has_intervals && faster > slower;
    if (clear) {
        say(found,
            "Over %s of %s, %s is the fastest %s: it takes %s times the best time of each "
            "question, geometric mean, and %s takes %s times.",
            questions.text, workloads.text, leader->name, class, mean.text,
            name_of(report, order[1]), next.text);
    } else {
        say(found,
            "Over %s of %s, no %s is clearly the fastest: %s has the lowest mean, %s times the best "
            "time of each question, and %s has %s.",
            questions.text, workloads.text, class, leader->name, mean.text,
            name_of(report, order[1]), next.text);
    }
    rcl_figure firsts = rcl_figure_count(leader->first_alone + leader->first_shared, "question");
    say(found, "It comes first in %s, in %zu of them alone.", firsts.text, leader->first_alone);
    if (!view->has_intervals) {
        say(found, "Each cell was measured in one launch, so there are no intervals: which "
                   "differences are noise, this run cannot tell.");
        return;
    }
    say(found,
        "Against %s it is certainly faster in %zu, certainly slower in %zu, and in %zu the run "
        "cannot tell them apart.",
        name_of(report, order[1]), faster, slower, view->common_count - faster - slower);
}

static void say_loss(findings *found, const rcl_report *report, const size_t *order)
{
    const rcl_summary_view *view = &report->view;
    const rcl_strategy *leader = &view->strategies[order[0]];
    if (leader->worst_question == SIZE_MAX) {
        say(found, "It loses nowhere for certain.");
        return;
    }
    const rcl_question *question = &view->questions[leader->worst_question];
    char label[256];
    rcl_question_label(question, true, label, sizeof label);
    say(found, "It loses most in %s: there it takes %s times as long as %s.", label,
        rcl_figure_ratio(leader->worst_ratio).text, name_of(report, question->best_strategy));
}

static void say_spread(findings *found, const rcl_report *report, const size_t *order, size_t count)
{
    const rcl_summary_view *view = &report->view;
    const rcl_strategy *widest = NULL;
    for (size_t i = 0; i < count; i++) {
        const rcl_strategy *strategy = &view->strategies[order[i]];
        if (strategy->worst_question != SIZE_MAX &&
            (widest == NULL || strategy->worst_ratio > widest->worst_ratio)) {
            widest = strategy;
        }
    }
    const rcl_strategy *last = &view->strategies[order[count - 1]];
    if (widest == NULL || widest->worst_question == view->strategies[order[0]].worst_question) {
        return;
    }
    char label[256];
    rcl_question_label(&view->questions[widest->worst_question], true, label, sizeof label);
    say(found,
        "Slowest is %s with %s; the widest gap is in %s, where %s takes %s times as long as %s.",
        last->name, rcl_figure_ratio(last->mean).text, label, widest->name,
        rcl_figure_ratio(widest->worst_ratio).text,
        name_of(report, view->questions[widest->worst_question].best_strategy));
}

static void say_apart(findings *found, const rcl_report *report)
{
    const rcl_summary_view *view = &report->view;
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_strategy *strategy = &view->strategies[s];
        if (strategy->ranked && !strategy->compared && !isnan(strategy->mean)) {
            say(found,
                "Where one thread is enough, %s takes %s times the time of the fastest of them.",
                strategy->name, rcl_figure_ratio(strategy->mean).text);
        }
    }
}

static bool find_out(const rcl_report *report, findings *found)
{
    const rcl_summary_view *view = &report->view;
    size_t *order = calloc(view->strategy_count, sizeof *order);
    found->count = 0;
    if (order == NULL) {
        return false;
    }
    size_t count = rcl_view_standing(view, order);
    if (view->compared_count == 0) {
        say(found, "No strategy of this run may be ranked: none passes the battery.");
    } else if (count == 0) {
        say(found, "No question was answered by all strategies of this run: there is no mean to "
                   "compare them by.");
    } else {
        say_leader(found, report, order, count);
    }
    if (count > 1) {
        say_loss(found, report, order);
        say_spread(found, report, order, count);
    }
    say_apart(found, report);
    free(order);
    return true;
}

void rcl_report_print_finding(const rcl_report *report, FILE *out)
{
    findings found;
    if (find_out(report, &found)) {
        for (unsigned i = 0; i < found.count; i++) {
            fprintf(out, "%s\n", found.sentences[i]);
        }
    }
}

/* ---- The table ---- */

static const char *mark_of_best(bool best)
{
    return best ? "num best" : "num";
}

static bool is_best(double ratio, double best)
{
    return !isnan(ratio) && ratio <= best * 1.005;
}

static double best_of_group(const rcl_summary_view *view, const size_t *order, size_t count,
                            const char *group)
{
    double best = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double mean = rcl_view_group_mean(view, order[i], group);
        best = !isnan(mean) && mean < best ? mean : best;
    }
    return best;
}

static bool group_counts(const rcl_summary_view *view, const size_t *order, size_t count, size_t q)
{
    return rcl_view_opens_group(view, q) &&
           isfinite(best_of_group(view, order, count, view->questions[q].group));
}

static void put_standing_head(const rcl_summary_view *view, const size_t *order, size_t count,
                              FILE *out)
{
    fputs("<thead><tr><th scope=\"col\">Strategy</th><th scope=\"col\" class=\"num\">"
          "All</th><th class=\"bars\"></th>",
          out);
    for (size_t q = 0; q < view->question_count; q++) {
        if (group_counts(view, order, count, q)) {
            rcl_html(out, "<th scope=\"col\" class=\"num\">%s</th>", view->questions[q].group);
        }
    }
    fputs(
        "<th scope=\"col\" class=\"num\">First<br>alone</th><th scope=\"col\" class=\"num\">First,"
        "<br>shared</th><th scope=\"col\">Farthest behind the fastest</th></tr></thead>\n",
        out);
}

static void put_standing_row(const rcl_report *report, const size_t *order, size_t count, size_t s,
                             double longest, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    const rcl_strategy *strategy = &view->strategies[s];
    fputs("<tr>", out);
    rcl_report_name(report, out, strategy->name, "row");
    rcl_html(out,
             "<td class=\"num%s\">%s</td><td class=\"bars\"><svg class=\"bar %s\" "
             "aria-hidden=\"true\"><rect width=\"%.1f%%\" height=\"100%%\"/></svg></td>",
             is_best(strategy->mean, view->strategies[order[0]].mean) && strategy->in_mean ? " best"
                                                                                           : "",
             rcl_figure_ratio(strategy->mean).text, rcl_report_colour(report, s).text,
             strategy->mean / longest * 100);
    for (size_t q = 0; q < view->question_count; q++) {
        if (group_counts(view, order, count, q)) {
            const char *group = view->questions[q].group;
            double mean = rcl_view_group_mean(view, s, group);
            rcl_html(out, "<td class=\"%s\">%s</td>",
                     mark_of_best(strategy->in_mean &&
                                  is_best(mean, best_of_group(view, order, count, group))),
                     rcl_figure_ratio(mean).text);
        }
    }
    if (!strategy->compared) {
        fputs("<td class=\"note\" colspan=\"3\">one thread only, so it takes no place</td></tr>\n",
              out);
        return;
    }
    rcl_html(out, "<td class=\"num\">%zu</td><td class=\"num\">%zu</td>", strategy->first_alone,
             strategy->first_shared);
    if (strategy->worst_question == SIZE_MAX) {
        fputs("<td class=\"note\">nowhere for certain</td></tr>\n", out);
        return;
    }
    char label[256];
    rcl_question_label(&view->questions[strategy->worst_question], true, label, sizeof label);
    rcl_html(out, "<td class=\"note\"><b>%s ×</b> in %s</td></tr>\n",
             rcl_figure_ratio(strategy->worst_ratio).text, label);
}

static void put_left_out(const rcl_report *report, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_strategy *strategy = &view->strategies[s];
        if (strategy->compared && !strategy->in_mean) {
            rcl_html(out,
                     "<p class=\"note\">%s answers %zu of %zu questions, too few for the mean: it "
                     "is ranked question by question.</p>\n",
                     strategy->name, strategy->answered, view->question_count);
        } else if (strcmp(strategy->conformance, "fail") == 0) {
            rcl_html(out, "<p class=\"note\">%s fails the battery: it is shown, not ranked.</p>\n",
                     strategy->name);
        }
    }
}

static void put_standing(const rcl_report *report, const size_t *order, size_t count, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    double longest = view->strategies[order[count - 1]].mean;
    fputs("<div class=\"scroll\"><table class=\"standing\"><caption>Time over that of the fastest, "
          "geometric mean: 1 would be the fastest everywhere</caption>\n",
          out);
    put_standing_head(view, order, count, out);
    fputs("<tbody>\n", out);
    for (size_t i = 0; i < count; i++) {
        put_standing_row(report, order, count, order[i], longest, out);
    }
    fputs("</tbody><tbody class=\"aside\">\n", out);
    for (size_t s = 0; s < view->strategy_count; s++) {
        const rcl_strategy *strategy = &view->strategies[s];
        if (strategy->ranked && !strategy->compared && !isnan(strategy->mean)) {
            put_standing_row(report, order, count, s, longest, out);
        }
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_rules(const rcl_summary_view *view, FILE *out)
{
    fputs("<details class=\"rules\"><summary>How this is counted, and what decides a tie</summary>"
          "<ul>\n",
          out);
    rcl_html(out,
             "<li>A <em>question</em> is a workload in one variant, with one number of threads and "
             "one allocator. The means are over the %zu questions that every strategy in the table "
             "answers, out of %zu.</li>\n",
             view->common_count, view->question_count);
    fputs(
        "<li>In each, a strategy's median is divided by that of the fastest. The geometric mean "
        "is taken within a workload, then over workloads: each weighs the same, however many "
        "variants it has.</li>\n"
        "<li><em>Fastest</em> means fastest of the strategies that are ranked and that threads "
        "can share. A strategy for one thread only is divided by the same time, over the "
        "questions that it answers, and takes no place.</li>\n"
        "<li>Not ranked: <code>null</code>, which counts nothing and is what the harness costs; "
        "floors, which are no strategy; and what fails the battery.</li>\n"
        "<li>Two strategies <em>tie</em> where their 95 % intervals overlap. One is certainly "
        "faster where its interval ends before the other's begins. A rank is 1, and one more for "
        "each strategy that is certainly faster; so a wide interval can share a better place than "
        "its median suggests.</li>\n"
        "<li>† The strategy's operations are calls that cannot be inlined. Compare such with each "
        "other.</li></ul></details>\n",
        out);
}

bool rcl_report_finding(const rcl_report *report, FILE *out)
{
    const rcl_summary_view *view = &report->view;
    findings found;
    size_t *order = calloc(view->strategy_count, sizeof *order);
    if (order == NULL || !find_out(report, &found)) {
        free(order);
        return false;
    }
    fputs("<section id=\"finding\">\n<h2>What was found</h2>\n", out);
    for (unsigned i = 0; i < found.count; i++) {
        rcl_html(out,
                 i == 0   ? "<p class=\"lead\">%s</p>\n"
                 : i == 1 ? "<p>%s"
                          : " %s",
                 found.sentences[i]);
    }
    fputs(found.count > 1 ? "</p>\n" : "", out);
    size_t count = rcl_view_standing(view, order);
    if (count > 0) {
        put_standing(report, order, count, out);
    }
    put_left_out(report, out);
    put_rules(view, out);
    fputs("</section>\n", out);
    free(order);
    return true;
}
