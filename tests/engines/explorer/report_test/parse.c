/* Reads a report as JSON from standard input and prints its kind, and each place of the failure as
 * "function line". Exits 1 and says why if it is not JSON, or if something is missing. */
#include <jansson.h>
#include <stdio.h>

int main(void)
{
    json_error_t error;
    json_t *report = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
    size_t index;
    json_t *place;
    if (report == NULL) {
        printf("line %d: %s\n", error.line, error.text);
        return 1;
    }
    if (!json_is_string(json_object_get(report, "schedule")) ||
        !json_is_string(json_object_get(report, "again")) ||
        json_array_size(json_object_get(report, "steps")) == 0) {
        puts("no schedule, no command or no steps");
        return 1;
    }
    printf("%s: %s\n", json_string_value(json_object_get(report, "kind")),
           json_string_value(json_object_get(report, "text")));
    json_array_foreach(json_object_get(report, "places"), index, place)
    {
        const json_t *frame = json_array_get(json_object_get(place, "frames"), 0);
        printf("%s %" JSON_INTEGER_FORMAT "\n",
               json_string_value(json_object_get(frame, "function")),
               json_integer_value(json_object_get(frame, "line")));
    }
    json_decref(report);
    return 0;
}
