#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "report.h"

static const char help[] =
    "usage: rclab report [RUN] [--out FILE]\n"
    "\n"
    "Writes a run as one page of HTML that opens anywhere, without a network: what was found, the\n"
    "ranking workload by workload, the plots, what operations execute and weigh, how late memory\n"
    "comes back, what the battery says, the machine, and how to repeat it. Prints the finding.\n"
    "\n"
    "RUN is a folder that rclab bench wrote (default: results/latest). summary.csv must be in it;\n"
    "what else is missing, the page says in its place.\n"
    "\n"
    "  --out FILE    where to write (default: RUN/report.html); replaced if it is there\n"
    "\n"
    "Examples:\n"
    "  rclab report\n"
    "  rclab report results/reference/amd-epyc-2cpu --out report.html\n"
    "make report draws missing plots first.\n";

enum option_name { OPTION_OUT = 256, OPTION_HELP };

static const struct option long_options[] = {
    {"out", required_argument, NULL, OPTION_OUT},
    {"help", no_argument, NULL, OPTION_HELP},
    {NULL, 0, NULL, 0},
};

static int refuse(const char *message)
{
    fprintf(stderr, "rclab report: %s\n", message);
    return RCL_EXIT_USAGE;
}

static int fail_to_write(const char *path)
{
    fprintf(stderr, "rclab report: cannot write %s: %s\n", path, strerror(errno));
    return RCL_EXIT_USAGE;
}

/* Writes beside the file first: one that is there stays until the new one is whole. */
static int write_page(const rcl_report *report, const char *path)
{
    char temporary[sizeof report->folder + 64];
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return fail_to_write(path);
    }
    if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary) {
        errno = ENAMETOOLONG;
        return fail_to_write(path);
    }
    FILE *out = fopen(temporary, "we");
    if (out == NULL) {
        return fail_to_write(path);
    }
    bool good = rcl_report_write(report, out);
    if (!good) {
        errno = ENOMEM;
    }
    good = good && fflush(out) == 0 && ferror(out) == 0;
    long bytes = ftell(out);
    good = fclose(out) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        int why = errno;
        (void)unlink(temporary);
        errno = why;
        return fail_to_write(path);
    }
    rcl_report_print_finding(report, stdout);
    printf("\n%s: %ld KB, opens in any browser\n", path, (bytes + 999) / 1000);
    return fflush(stdout) == 0 ? 0 : RCL_EXIT_ENVIRONMENT;
}

int rcl_command_report(const rcl_registry *registry, int argc, char **argv)
{
    const char *out = NULL;
    static char name[] = "rclab report"; /* how getopt begins its messages */
    argv[0] = name;
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        switch (option) {
        case OPTION_OUT:
            out = optarg;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(help, stdout);
            return 0;
        default:
            fputs("rclab report --help lists the options\n", stderr);
            return RCL_EXIT_USAGE;
        }
    }
    if (argc - optind > 1) {
        return refuse("one run at a time (rclab report --help)");
    }
    if (out != NULL && out[0] == '\0') {
        return refuse("--out takes the name of a file");
    }
    static rcl_report report;
    char error[1024];
    char path[sizeof report.folder + 16];
    const char *folder = optind < argc ? argv[optind] : "results/latest";
    if (!rcl_report_load(registry, folder, &report, error, sizeof error)) {
        rcl_report_free(&report);
        return refuse(error);
    }
    snprintf(path, sizeof path, "%s/report.html", report.folder);
    int status = write_page(&report, out != NULL ? out : path);
    rcl_report_free(&report);
    return status;
}
