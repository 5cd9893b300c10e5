#include "clauses.h"

#include <string.h>

#include "contract.h"

/* ---- The table ---- */

#define REQUIRED RCL_LEVEL_REQUIRED
#define DECLARED RCL_LEVEL_DECLARED
#define NOTED RCL_LEVEL_NOTED
#define ORACLE RCL_ENGINE_ORACLE
#define DEATH RCL_ENGINE_DEATH
#define NATIVE RCL_ENGINE_NATIVE
#define SANITIZER RCL_ENGINE_SANITIZER
#define EXPLORER RCL_ENGINE_EXPLORER
#define COUNTER RCL_ENGINE_COUNTER
#define WITHOUT(bits) RCL_WITHOUT(bits)
#define SATURATION RCL_NEEDS_SATURATION
#define RC_CLAUSE(id, level, needs, engines, sentence) {id, level, needs, engines, sentence},

const rcl_clause rcl_clauses[] = {
#include "../tests/conformance/clauses.def"
};

#undef REQUIRED
#undef DECLARED
#undef NOTED
#undef ORACLE
#undef DEATH
#undef NATIVE
#undef SANITIZER
#undef EXPLORER
#undef COUNTER
#undef WITHOUT
#undef SATURATION
#undef RC_CLAUSE

const size_t rcl_clause_count = sizeof rcl_clauses / sizeof rcl_clauses[0];

/* ---- Names ---- */

static const char *const engine_names[RCL_ENGINE_COUNT] = {"oracle",    "death",    "native",
                                                           "sanitizer", "explorer", "counter"};

/* By bit; empty: no such bit. */
static const char *const need_names[16] = {"RC_CAP_THREADS",
                                           "RC_CAP_WEAK",
                                           "RC_CAP_RAW",
                                           "RC_CAP_WRAPPER",
                                           "RC_CAP_IMMEDIATE",
                                           "RC_CAP_EXACT_COUNT",
                                           "RC_CAP_SHM",
                                           "RC_CAP_EARLY_FREE",
                                           "RC_CAP_PRESET",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "",
                                           "RC_OVERFLOW_SATURATE"};

const char *rcl_level_name(rcl_level level)
{
    return level == RCL_LEVEL_REQUIRED   ? "REQUIRED"
           : level == RCL_LEVEL_DECLARED ? "DECLARED"
                                         : "NOTED";
}

const char *rcl_engine_name(rcl_engine engine)
{
    for (unsigned i = 0; i < RCL_ENGINE_COUNT; i++) {
        if (engine == 1u << i) {
            return engine_names[i];
        }
    }
    return "?";
}

bool rcl_engine_parse(const char *name, size_t length, rcl_engine *engine)
{
    for (unsigned i = 0; i < RCL_ENGINE_COUNT; i++) {
        if (strlen(engine_names[i]) == length && memcmp(engine_names[i], name, length) == 0) {
            *engine = (rcl_engine)(1u << i);
            return true;
        }
    }
    return false;
}

static size_t add_name(char *text, size_t size, size_t used, const char *before, const char *name)
{
    if (used >= size) {
        return used;
    }
    return used +
           (size_t)snprintf(text + used, size - used, "%s%s%s", used > 0 ? ", " : "", before, name);
}

void rcl_engine_names(unsigned engines, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "none");
    for (unsigned i = 0; i < RCL_ENGINE_COUNT; i++) {
        if ((engines & 1u << i) != 0) {
            used = add_name(text, size, used, "", engine_names[i]);
        }
    }
}

void rcl_needs_names(unsigned needs, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "nothing");
    for (unsigned i = 0; i < 16; i++) {
        if ((needs & 1u << i) != 0) {
            used = add_name(text, size, used, "", need_names[i]);
        }
    }
    for (unsigned i = 0; i < 16; i++) {
        if ((needs & RCL_WITHOUT(1u << i)) != 0) {
            used = add_name(text, size, used, "no ", need_names[i]);
        }
    }
}

unsigned rcl_needs_unmet(unsigned needs, unsigned has)
{
    return (needs & 0xffffu & ~has) | (needs & RCL_WITHOUT(has & 0xffffu));
}

/* ---- Finding ---- */

const rcl_clause *rcl_clause_find(const char *id)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        if (strcmp(rcl_clauses[i].id, id) == 0) {
            return &rcl_clauses[i];
        }
    }
    return NULL;
}

/* True if the first `length` letters of `name` are the clause's id or its area. */
static bool names_clause(const char *name, size_t length, const rcl_clause *clause)
{
    return strncmp(clause->id, name, length) == 0 &&
           (clause->id[length] == '\0' ||
            (clause->id[length] == '-' && strcspn(clause->id, "-") == length));
}

bool rcl_clause_listed(const char *list, const rcl_clause *clause)
{
    if (list == NULL) {
        return true;
    }
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (length > 0 && names_clause(list, length, clause)) {
            return true;
        }
        list += length + (list[length] == ',' ? 1 : 0);
    }
    return false;
}

const char *rcl_clause_list_error(const char *list, size_t *length)
{
    if (list == NULL) {
        return NULL;
    }
    do {
        bool known = false;
        *length = strcspn(list, ",");
        for (size_t i = 0; i<rcl_clause_count && * length> 0; i++) {
            known = known || names_clause(list, *length, &rcl_clauses[i]);
        }
        if (!known) {
            return list;
        }
        list += *length + (list[*length] == ',' ? 1 : 0);
    } while (*list != '\0');
    return NULL;
}

/* ---- Printing ---- */

/* Writes `text` in lines of at most `width` columns, the second and later ones indented. */
static void print_wrapped(FILE *out, const char *text, int indent, int width)
{
    int column = indent;
    bool first = true;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        text += *text == ' ' ? 1 : 0;
        first = false;
    }
    fputc('\n', out);
}

bool rcl_clauses_print(FILE *out, const char *list)
{
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause *clause = &rcl_clauses[i];
        if (!rcl_clause_listed(list, clause)) {
            continue;
        }
        char engines[96];
        char needs[192];
        rcl_engine_names(clause->engines, engines, sizeof engines);
        rcl_needs_names(clause->needs, needs, sizeof needs);
        fprintf(out, "%-10s  ", clause->id);
        print_wrapped(out, clause->sentence, 12, 100);
        fprintf(out, "%12s%s; %s%s%s\n", "", rcl_level_name(clause->level), engines,
                clause->needs != 0 ? "; needs " : "", clause->needs != 0 ? needs : "");
    }
    return ferror(out) == 0;
}

bool rcl_clauses_print_markdown(FILE *out, const char *list)
{
    fputs(
        "# Clauses\n"
        "\n"
        "What an implementation of `contract.h` owes, clause by clause. Made by `rclab clauses "
        "--markdown`\n"
        "from `clauses.def`; edit that. A number, once used, keeps its meaning for ever.\n"
        "\n"
        "REQUIRED must hold. DECLARED must match what the implementation's `RC_IMPL_` macros say. "
        "NOTED is\n"
        "recorded and never fails a run. A clause that needs a capability which is not claimed is\n"
        "UNSUPPORTED.\n",
        out);
    const char *area = "";
    for (size_t i = 0; i < rcl_clause_count; i++) {
        const rcl_clause *clause = &rcl_clauses[i];
        if (!rcl_clause_listed(list, clause)) {
            continue;
        }
        size_t length = strcspn(clause->id, "-");
        if (strncmp(area, clause->id, length + 1) != 0) {
            area = clause->id;
            fprintf(out,
                    "\n## %.*s\n\n| Clause | What holds | Level | Needs | Engines |\n"
                    "|---|---|---|---|---|\n",
                    (int)length, area);
        }
        char engines[96];
        char needs[192];
        rcl_engine_names(clause->engines, engines, sizeof engines);
        rcl_needs_names(clause->needs, needs, sizeof needs);
        fprintf(out, "| %s | ", clause->id);
        for (const char *c = clause->sentence; *c != '\0'; c++) {
            fputs(*c == '|' ? "\\|" : (char[]){*c, '\0'}, out);
        }
        fprintf(out, " | %s | %s | %s |\n", rcl_level_name(clause->level),
                clause->needs != 0 ? needs : "", engines);
    }
    return ferror(out) == 0;
}
