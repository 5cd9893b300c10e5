/* report_parts: the sections of the page, each with its heading. */
#ifndef RCL_REPORT_PARTS_H
#define RCL_REPORT_PARTS_H

#include "report.h"
#include "report_html.h"

/* Colours repeat after so many strategies; their names always stand beside them. */
enum { RCL_REPORT_COLOURS = 8 };

/* What report.css says; CMake makes it a string. */
extern const char rcl_report_style[];

/* Each returns false if memory was refused. */
bool rcl_report_finding(const rcl_report *report, FILE *out);
bool rcl_report_ranking(const rcl_report *report, FILE *out);

void rcl_report_plots(const rcl_report *report, FILE *out);
void rcl_report_costs(const rcl_report *report, FILE *out);
void rcl_report_space(const rcl_report *report, FILE *out);
void rcl_report_delay(const rcl_report *report, FILE *out);
void rcl_report_verdicts(const rcl_report *report, FILE *out);
void rcl_report_machine(const rcl_report *report, FILE *out);

/* A strategy's name as a cell that heads its row or column (scope "row" or "col"), with its colour and
 * what must be known of it. */
void rcl_report_name(const rcl_report *report, FILE *out, const char *name, const char *scope);

/* The place of a strategy in the file, or SIZE_MAX. */
size_t rcl_report_find(const rcl_report *report, const char *name);

/* "c3": the class that gives a strategy its colour; one that is not ranked has an outline only. */
rcl_figure rcl_report_colour(const rcl_report *report, size_t strategy);

/* A member of an object of machine.json as text; "unknown" if it is not there. */
rcl_figure rcl_report_number(const rcl_report *report, const char *object, const char *member);
const char *rcl_report_fact(const rcl_report *report, const char *object, const char *member);

#endif
