#include "explored.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool rcl_explored_add(rcl_explored *explored, const rcl_job *job)
{
    char how[256] = "";
    uint64_t executions = 0;
    if (strncmp(job->verdict, "fail\t", 5) == 0) {
        return false; /* it found something, and was late with telling how */
    }
    if (job->end == RCL_JOB_LATE) {
        snprintf(how, sizeof how, "a search was not over after %.0f s", job->limit_seconds);
    } else if (job->end == RCL_JOB_EXITED && job->status == 0 &&
               sscanf(job->verdict, "pass\t%" SCNu64 "\t%255[^\n]", &executions, how) == 2) {
        bool all = strcmp(how, "exhaustive") == 0;
        explored->executions += executions;
        explored->exhaustive += all ? 1 : 0;
        explored->bounded += all ? 0 : 1;
        if (!all && explored->bound[0] == '\0') {
            snprintf(explored->bound, sizeof explored->bound, "%s", how);
        }
        return true;
    } else if (sscanf(job->verdict, "unsupported\t%255[^\n]", how) != 1) {
        return false;
    }
    explored->unsupported++;
    if (explored->why[0] == '\0') {
        snprintf(explored->why, sizeof explored->why, "%s", how);
    }
    return true;
}

void rcl_with_commas(uint64_t number, char *text, size_t size)
{
    char digits[24];
    size_t used = 0;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
}

void rcl_explored_words(const rcl_explored *explored, char *text, size_t size)
{
    char executions[32];
    size_t used = 0;
    unsigned searches = explored->exhaustive + explored->bounded;
    text[0] = '\0';
    rcl_with_commas(explored->executions, executions, sizeof executions);
    if (searches > 0) {
        used = (size_t)snprintf(text, size, "pass, %s: %s execution%s",
                                explored->bounded > 0 || explored->unsupported > 0 ? "bounded"
                                                                                   : "exhaustive",
                                executions, explored->executions == 1 ? "" : "s");
    }
    if (searches > 1 && used < size) {
        used += (size_t)snprintf(text + used, size - used, " in %u searches", searches);
    }
    if (explored->bounded > 0 && used < size) {
        used += searches > 1 ? (size_t)snprintf(text + used, size - used, "; in %u of them %s",
                                                explored->bounded, explored->bound)
                             : (size_t)snprintf(text + used, size - used, "; %s", explored->bound);
    }
    if (explored->unsupported > 0 && used < size) {
        if (searches > 0) {
            snprintf(text + used, size - used, "; %u unsupported: %s", explored->unsupported,
                     explored->why);
        } else {
            snprintf(text, size, "unsupported: %s", explored->why);
        }
    }
}

void rcl_explored_schedule(char *came, char *schedule, size_t size)
{
    static const char word[] = " (schedule ";
    char *found = strstr(came, word);
    schedule[0] = '\0';
    if (found != NULL) {
        const char *from = found + sizeof word - 1;
        snprintf(schedule, size, "%.*s", (int)strcspn(from, ")"), from);
        *found = '\0';
    }
}

void rcl_explored_interleaving(const rcl_job *job, char *text, size_t size)
{
    static const char cut[] = "\n... cut here; the command shows all of it";
    const char *end = strstr(job->output, "\nSchedule: ");
    size_t length = end != NULL ? (size_t)(end - job->output) : job->output_size;
    size_t room = size - sizeof cut;
    bool whole = length <= room;
    snprintf(text, size, "%.*s%s", (int)(whole ? length : room), job->output, whole ? "" : cut);
    for (size_t used = strlen(text); used > 0 && text[used - 1] == '\n';) {
        text[--used] = '\0';
    }
}
