#include "machine.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include <hwloc.h>
#include <jansson.h>

#include "gbench.h"
#include "record.h"
#include "team.h"

int je_mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

/* The value of the first line of /proc/cpuinfo that begins with `key`; "" if there is none. */
static void cpuinfo(const char *key, char *value, size_t size)
{
    char line[4096];
    value[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) == 0 && colon != NULL) {
            colon += strspn(colon, ": \t");
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(value, size, "%s", colon);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* The first line that a command prints; "" if it fails. The commands are our own constants. */
static void first_line_of(const char *command, char *value, size_t size)
{
    value[0] = '\0';
    FILE *pipe = popen(command, "re"); // NOLINT(cert-env33-c): no word of it comes from outside
    if (pipe == NULL) {
        return;
    }
    if (fgets(value, (int)size, pipe) != NULL) {
        value[strcspn(value, "\n")] = '\0';
    }
    if (pclose(pipe) != 0) {
        value[0] = '\0';
    }
}

static json_t *caches(void)
{
    json_t *list = json_array();
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return list;
    }
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_t object = NULL;
        while ((object = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L1CACHE, object)) != NULL &&
               json_array_size(list) == 0) {
            for (hwloc_obj_t up = object; up != NULL; up = up->parent) {
                if (hwloc_obj_type_is_cache(up->type)) {
                    json_array_append_new(
                        list, json_pack("{s:i, s:I, s:i}", "level", (int)up->attr->cache.depth,
                                        "bytes", (json_int_t)up->attr->cache.size, "line_bytes",
                                        (int)up->attr->cache.linesize));
                }
            }
        }
    }
    hwloc_topology_destroy(topology);
    return list;
}

static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    return string != NULL ? string : json_string("(not UTF-8)");
}

static json_t *machine_part(void)
{
    char model[256];
    struct utsname system;
    cpuinfo("model name", model, sizeof model);
    uname(&system);
    json_t *machine = json_object();
    json_object_set_new(machine, "cpu", text(model[0] != '\0' ? model : system.machine));
    json_object_set_new(machine, "processors", json_integer(rcl_processors()));
    json_object_set_new(machine, "architecture", text(system.machine));
    json_object_set_new(machine, "caches", caches());
    json_object_set_new(machine, "kernel", text(system.release));
    char governor[128];
    first_line_of("cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null", governor,
                  sizeof governor);
    json_object_set_new(machine, "frequency_governor", text(governor[0] ? governor : "unknown"));
    char flags[4096];
    cpuinfo("flags", flags, sizeof flags);
    json_object_set_new(machine, "virtual", json_boolean(strstr(flags, " hypervisor") != NULL));
    return machine;
}

static json_t *build_part(void)
{
    char commit[128];
    first_line_of("git -C '" RCL_SOURCE_DIR "' rev-parse HEAD 2>/dev/null", commit, sizeof commit);
    char dirty[8];
    first_line_of("git -C '" RCL_SOURCE_DIR "' status --porcelain 2>/dev/null | head -c 1", dirty,
                  sizeof dirty);
    const char *jemalloc = NULL;
    size_t size = sizeof jemalloc;
    je_mallctl("version", (void *)&jemalloc, &size, NULL, 0);
    json_t *build = json_object();
    json_object_set_new(build, "compiler", text(RCL_COMPILER));
    json_object_set_new(build, "flags", text(RCL_FLAGS));
    json_object_set_new(build, "libc", text(gnu_get_libc_version()));
    json_object_set_new(build, "jemalloc", text(jemalloc != NULL ? jemalloc : "unknown"));
    json_object_set_new(build, "google_benchmark", text(rcl_gbench_version()));
    json_object_set_new(build, "commit", text(commit[0] ? commit : "unknown"));
    json_object_set_new(build, "changed_since_commit", json_boolean(dirty[0] != '\0'));
    return build;
}

static json_t *run_part(const rcl_run_facts *facts)
{
    char date[64];
    time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", localtime_r(&now, &local));
    json_t *run = json_object();
    json_object_set_new(run, "finished", text(date));
    json_object_set_new(run, "command", text(facts->command_line));
    json_object_set_new(run, "seed", json_integer((json_int_t)facts->seed));
    json_object_set_new(run, "launches", json_integer(facts->launches));
    json_object_set_new(run, "repetitions_per_launch", json_integer(facts->repetitions));
    json_object_set_new(run, "repetition_min_ms", json_real(facts->min_seconds * 1e3));
    json_object_set_new(run, "elapsed_s", json_real(facts->elapsed_seconds));
    json_object_set_new(run, "interrupted", json_boolean(facts->interrupted));
    json_t *failures = json_array();
    for (size_t i = 0; i < facts->failure_count; i++) {
        json_array_append_new(failures, text(facts->failures[i]));
    }
    json_object_set_new(run, "failures", failures);
    return run;
}

bool rcl_machine_write(const char *path, const rcl_run_facts *facts, char *error, size_t error_size)
{
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_integer(RCL_SCHEMA));
    json_object_set_new(root, "machine", machine_part());
    json_object_set_new(root, "build", build_part());
    json_object_set_new(root, "run", run_part(facts));
    bool written = json_dump_file(root, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0;
    if (!written) {
        snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
    }
    json_decref(root);
    return written;
}

const char *rcl_machine_line(void)
{
    static char line[512];
    if (line[0] == '\0') {
        char model[256];
        cpuinfo("model name", model, sizeof model);
        snprintf(line, sizeof line, "%s, %u processor%s; %s, %s; glibc %s",
                 model[0] != '\0' ? model : "unknown processor", rcl_processors(),
                 rcl_processors() == 1 ? "" : "s", RCL_COMPILER, RCL_FLAGS, gnu_get_libc_version());
    }
    return line;
}
