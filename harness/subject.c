#include "subject.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "battery_build.h"

/* As CMake names an implementation from elsewhere: its folder if the file is rc.h, else the file. */
static void name_of_path(const rcl_registry *registry, const char *path, char *name, size_t size)
{
    const char *file = strrchr(path, '/') + 1;
    const char *start = file;
    size_t length = strcspn(file, ".");
    if (length == 2 && strncmp(file, "rc", 2) == 0 && file - path > 1) {
        start = file - 1;
        while (start > path && start[-1] != '/') {
            start--;
        }
        length = (size_t)(file - 1 - start);
    }
    snprintf(name, size - 8, "%s%.*s", isdigit((unsigned char)*start) ? "_" : "", (int)length,
             start);
    for (char *c = name; *c != '\0'; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (strcmp(registry->impls[i]->name, name) == 0) {
            memcpy(name + strlen(name), "_yours", sizeof "_yours");
            return;
        }
    }
}

bool rcl_subject_find(const rcl_registry *registry, const char *command, const char *given,
                      rcl_subject *found)
{
    char path[RCL_PATH_BYTES];
    found->given = given;
    for (unsigned i = 0; i < registry->impl_count; i++) {
        if (strcmp(registry->impls[i]->name, given) == 0) {
            snprintf(found->name, sizeof found->name, "%s", given);
            snprintf(found->header, sizeof found->header, "%s", registry->impls[i]->header);
            return true;
        }
    }
    if (strchr(given, '/') == NULL && strchr(given, '.') == NULL) {
        fprintf(stderr, "rclab %s: there is no implementation '%s'; there are:", command, given);
        for (unsigned i = 0; i < registry->impl_count; i++) {
            fprintf(stderr, "%s %s", i > 0 ? "," : "", registry->impls[i]->name);
        }
        fputs("; or give the path of an rc.h\n", stderr);
        return false;
    }
    if (!rcl_battery_header_path(given, path, sizeof path)) {
        fprintf(stderr, "rclab %s: there is no file %s; give the path of an rc.h\n", command,
                given);
        return false;
    }
    snprintf(found->header, sizeof found->header, "%s", path);
    for (unsigned i = 0; i < registry->impl_count; i++) {
        char shipped[RCL_PATH_BYTES];
        if (rcl_battery_header_path(registry->impls[i]->header, shipped, sizeof shipped) &&
            strcmp(shipped, path) == 0) {
            snprintf(found->name, sizeof found->name, "%s", registry->impls[i]->name);
            return true;
        }
    }
    name_of_path(registry, path, found->name, sizeof found->name);
    return true;
}

void rcl_subject_options(const rcl_subject *one, const char *libraries, char *text, size_t size)
{
    const char *quote = strpbrk(one->given, " ;&()'\"$") != NULL ? "'" : "";
    snprintf(text, size, "--impl %s%s%s%s%s%s", quote, one->given, quote,
             libraries != NULL ? " --libs '" : "", libraries != NULL ? libraries : "",
             libraries != NULL ? "'" : "");
}
