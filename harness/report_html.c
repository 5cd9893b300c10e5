#include "report_html.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static void put_escaped(FILE *out, const char *text, int most)
{
    for (; most > 0 && *text != '\0'; most--, text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

void rcl_html(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int most = 0;
    size_t count = 0;
    double value = 0;
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, out);
        format += plain;
        if (*format == '\0') {
            break;
        }
        char directive[16];
        size_t length = strcspn(format + 1, "suf%") + 2;
        snprintf(directive, sizeof directive, "%.*s", (int)length, format);
        switch (format[length - 1]) {
        case 's':
            most = strcmp(directive, "%.*s") == 0 ? va_arg(arguments, int) : INT_MAX;
            put_escaped(out, va_arg(arguments, const char *), most);
            break;
        case 'u':
            count = va_arg(arguments, size_t);
            fprintf(out, directive, count);
            break;
        case 'f':
            value = va_arg(arguments, double);
            fprintf(out, directive, value);
            break;
        default:
            fputc('%', out);
        }
        format += length;
    }
    va_end(arguments);
}

rcl_figure rcl_figure_ns(double ns, int decimals)
{
    rcl_figure figure;
    snprintf(figure.text, sizeof figure.text, "%.*f", decimals, ns);
    return figure;
}

int rcl_decimals(double smallest_ns)
{
    return smallest_ns < 9.995 ? 2 : smallest_ns < 99.95 ? 1 : 0;
}

rcl_figure rcl_figure_ratio(double ratio)
{
    if (isnan(ratio)) {
        return (rcl_figure){"–"};
    }
    return rcl_figure_ns(ratio, rcl_decimals(ratio));
}

rcl_figure rcl_figure_time(double ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    unsigned unit = 0;
    while (ns >= 999.5 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    rcl_figure figure;
    snprintf(figure.text, sizeof figure.text, "%.*f %s", unit == 0 ? 0 : rcl_decimals(ns), ns,
             units[unit]);
    return figure;
}

rcl_figure rcl_figure_count(size_t count, const char *noun)
{
    rcl_figure figure;
    snprintf(figure.text, sizeof figure.text, "%zu %s%s", count, noun, count == 1 ? "" : "s");
    return figure;
}
