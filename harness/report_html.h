/* report_html: writes HTML. What comes from data goes through rcl_html and is escaped there. */
#ifndef RCL_REPORT_HTML_H
#define RCL_REPORT_HTML_H

#include <stddef.h>
#include <stdio.h>

/* As fprintf, but what %s brings is text: it is escaped. Knows no more than
 * %s, %.*s, %zu and %f with a precision; %% is a percent sign. Errors are left in the stream (ferror). */
__attribute__((format(printf, 2, 3))) void rcl_html(FILE *out, const char *format, ...);

/* A figure as text, held by the value itself. */
typedef struct rcl_figure {
    char text[48];
} rcl_figure;

/* Nanoseconds with so many decimals. rcl_decimals: as many as the smallest figure of a column needs. */
rcl_figure rcl_figure_ns(double ns, int decimals);
int rcl_decimals(double smallest_ns);

/* "1.50", "17.7", "243": a ratio to three digits, never fewer than two of them; "–" for NAN. */
rcl_figure rcl_figure_ratio(double ratio);

/* "430 ns", "12.4 µs", "1.20 ms": a time to three digits in the unit that fits. */
rcl_figure rcl_figure_time(double ns);

/* "1 question", "3 questions". */
rcl_figure rcl_figure_count(size_t count, const char *noun);

#endif
