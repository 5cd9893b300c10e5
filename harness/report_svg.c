#include "report_svg.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "report_html.h"

/* What a drawing may have; anything else goes, with all that is in it. Its title and description say no
 * more than who drew it. */
static const char *const elements[] = {
    "svg",    "g",       "defs",    "use",         "symbol",         "path",
    "rect",   "circle",  "ellipse", "line",        "polyline",       "polygon",
    "text",   "tspan",   "pattern", "clipPath",    "mask",           "marker",
    "filter", "feFlood", "stop",    "feComposite", "linearGradient", "radialGradient",
};

static bool is_drawing(const xmlNode *node)
{
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        if (strcmp((const char *)node->name, elements[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the value is no script and points nowhere outside the drawing: each url( names an id, and a
 * style calls nothing but that and rgb(). */
static bool is_harmless(const char *name, const char *value)
{
    bool style = strcmp(name, "style") == 0;
    if (strncmp(name, "on", 2) == 0 || strcmp(name, "class") == 0 || strchr(value, '\\') != NULL ||
        (style && strchr(value, '@') != NULL)) {
        return false;
    }
    for (const char *at = value; (at = strchr(at, '(')) != NULL; at++) {
        bool url = at - value >= 3 && strncmp(at - 3, "url", 3) == 0;
        bool rgb = at - value >= 3 && strncmp(at - 3, "rgb", 3) == 0;
        if ((url && at[1] != '#') || (style && !url && !rgb)) {
            return false;
        }
    }
    return true;
}

/* The value, with the prefix in front of every id that it names. */
static void put_value(FILE *out, const char *value, const char *prefix)
{
    static const char url[] = "url(#";
    for (const char *at; (at = strstr(value, url)) != NULL; value = at + sizeof url - 1) {
        rcl_html(out, "%.*s%s%s", (int)(at - value), value, url, prefix);
    }
    rcl_html(out, "%s", value);
}

static void put_attribute(FILE *out, const xmlAttr *attribute, const char *prefix)
{
    xmlChar *copy = xmlNodeListGetString(attribute->doc, attribute->children, 1);
    const char *name = (const char *)attribute->name;
    const char *value = copy != NULL ? (const char *)copy : "";
    bool of_xml = attribute->ns != NULL && attribute->ns->prefix != NULL &&
                  strcmp((const char *)attribute->ns->prefix, "xml") == 0;
    if (of_xml && strcmp(name, "space") == 0) {
        rcl_html(out, " xml:space=\"%s\"", value);
    } else if (strcmp(name, "id") == 0) {
        rcl_html(out, " id=\"%s%s\"", prefix, value);
    } else if (strcmp(name, "href") == 0) {
        if (value[0] == '#') {
            rcl_html(out, " href=\"#%s%s\"", prefix, value + 1);
        }
    } else if (!of_xml && is_harmless(name, value)) {
        rcl_html(out, " %s=\"", name);
        put_value(out, value, prefix);
        fputc('"', out);
    }
    xmlFree(copy);
}

static void put_children(FILE *out, const xmlNode *node, const char *prefix)
{
    for (const xmlNode *child = node->children; child != NULL; child = child->next) {
        if (child->type == XML_TEXT_NODE && xmlIsBlankNode(child) == 0) {
            rcl_html(out, "%s", (const char *)child->content);
        }
        if (child->type != XML_ELEMENT_NODE || !is_drawing(child)) {
            continue;
        }
        const char *name = (const char *)child->name;
        rcl_html(out, "<%s", name);
        for (const xmlAttr *attribute = child->properties; attribute != NULL;
             attribute = attribute->next) {
            put_attribute(out, attribute, prefix);
        }
        if (child->children == NULL) {
            fputs("/>\n", out);
            continue;
        }
        fputc('>', out);
        put_children(out, child, prefix);
        rcl_html(out, "</%s>\n", name);
    }
}

bool rcl_svg_inline(FILE *out, const char *path, const char *prefix, const char *label, char *error,
                    size_t error_size)
{
    xmlDoc *document =
        xmlReadFile(path, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (document == NULL) {
        const xmlError *why = xmlGetLastError();
        const char *message = why != NULL && why->message != NULL ? why->message : "unreadable";
        snprintf(error, error_size, "%s:%d: %.*s", path, why != NULL ? why->line : 0,
                 (int)strcspn(message, "\n"), message);
        return false;
    }
    xmlNode *root = xmlDocGetRootElement(document);
    xmlChar *box = root != NULL ? xmlGetNoNsProp(root, (const xmlChar *)"viewBox") : NULL;
    bool good = box != NULL && strcmp((const char *)root->name, "svg") == 0;
    if (good) {
        rcl_html(out, "<svg class=\"plot\" viewBox=\"%s\" role=\"img\" aria-label=\"%s\">\n",
                 (const char *)box, label);
        put_children(out, root, prefix);
        fputs("</svg>\n", out);
    } else {
        snprintf(error, error_size, "%s: no SVG with a viewBox", path);
    }
    xmlFree(box);
    xmlFreeDoc(document);
    return good;
}
