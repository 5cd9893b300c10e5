/* report_svg: a drawing from a file as part of a page. */
#ifndef RCL_REPORT_SVG_H
#define RCL_REPORT_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the SVG in `path` as an element that scales with its surroundings. Only shapes, text and
 * references within the drawing are kept: no scripts, no styles, no links, nothing that a browser would
 * fetch. Ids get `prefix` in front, so that several drawings fit into one page. False: `error` says
 * what is wrong with the file, and nothing was written. */
bool rcl_svg_inline(FILE *out, const char *path, const char *prefix, const char *label, char *error,
                    size_t error_size);

#endif
