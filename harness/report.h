/* report: a run as one page of HTML that needs nothing else. Made from the run's files alone: the
 * figures are those of summary.csv, space.csv, costs.csv, delay.csv, machine.json and plots. */
#ifndef RCL_REPORT_H
#define RCL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "registry.h"
#include "report_data.h"

/* A run, loaded. */
typedef struct rcl_report {
    char folder[4096]; /* as given */
    char name[4096];   /* the folder's own name, whatever link led there */
    const rcl_registry *registry;
    rcl_summary_view view;
    json_t *machine; /* machine.json, or NULL: `machine_error` says why */
    char machine_error[512];
} rcl_report;

/* Reads what the page cannot do without. False: `error` says in one line what is wrong with the run.
 * rcl_report_free in any case. */
bool rcl_report_load(const rcl_registry *registry, const char *folder, rcl_report *report,
                     char *error, size_t error_size);
void rcl_report_free(rcl_report *report);

/* Writes the page. What the run lacks is said in its place. False if memory was refused; errors of
 * writing are left in the stream. */
bool rcl_report_write(const rcl_report *report, FILE *out);

/* The finding as plain text, a sentence a line, for the terminal. */
void rcl_report_print_finding(const rcl_report *report, FILE *out);

#endif
