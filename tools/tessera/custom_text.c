/* Operators of a text file:
 *
 *     [domain:Name]        begins one; without a domain it is ONNX's own
 *     inputs 1 2           at least, at most; 1 if there is no such line
 *     attr gain 0.5        an attribute that the bodies read, and its default
 *     glsl:                lines of the body, up to the next heading
 *     wgsl:
 *
 * Lines that begin with # outside bodies are left out. The output has the first input's shape. */
#include "custom_ops.h"
#include "tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 64 };

struct custom_text {
    const char *path;
    int line;
    char *rest; /* of the text, which is split in place */
    tsr_custom_op ops[MOST_OPS];
    tsr_custom_attr attrs[MOST_OPS][TSR_MAX_CUSTOM_ATTRS];
    int count;
    char characters[];
};

static tsr_status refuse(const custom_text *t, const char *why, const char *what) {
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s:%d: %s '%s'", t->path, t->line, why, what);
}

static tsr_status has_no_function(tsr_custom_call *call) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "%s has shader bodies only: what runs on the CPU needs a shared object",
                    (const char *)call->user);
}

/* The next line, without its end; NULL after the last. */
static char *next_line(custom_text *t) {
    char *line = t->rest;
    if (!*line)
        return NULL;
    size_t length = strcspn(line, "\n");
    t->rest = line + length + (line[length] != '\0');
    line[length] = '\0';
    if (length && line[length - 1] == '\r')
        line[length - 1] = '\0';
    t->line++;
    return line;
}

static bool begins_heading(const char *line) {
    return line[0] == '[' || strncmp(line, "glsl:", 5) == 0 || strncmp(line, "wgsl:", 5) == 0;
}

/* The lines before the next heading. */
static tsr_status take_body(custom_text *t, const char *heading, const char **body) {
    char *end = t->rest;
    if (*body)
        return refuse(t, "a second body", heading);
    if (heading[5])
        return refuse(t, "a body begins in the next line, not after", heading);
    if (!*end || begins_heading(end))
        return refuse(t, "no body follows", heading);
    *body = end;
    while (*end && !begins_heading(end)) {
        end += strcspn(end, "\n");
        end += *end != '\0';
        t->line++;
    }
    t->rest = end;
    if (*end)
        end[-1] = '\0';
    return TSR_OK;
}

/* "[domain:Name]" */
static tsr_status begin_operator(custom_text *t, char *line) {
    size_t length = strlen(line);
    char *colon = strchr(line, ':');
    if (length < 3 || line[length - 1] != ']' || (colon && !colon[2]))
        return refuse(t, "not [domain:Name]:", line);
    if (t->count == MOST_OPS)
        return refuse(t, "too many operators, at", line);
    line[length - 1] = '\0';
    tsr_custom_op *op = &t->ops[t->count];
    *op = (tsr_custom_op){.name = colon ? colon + 1 : line + 1,
                          .domain = colon ? line + 1 : NULL,
                          .compute = has_no_function,
                          .attrs = t->attrs[t->count],
                          .user = (void *)t->path};
    if (colon)
        *colon = '\0';
    t->count++;
    return TSR_OK;
}

static tsr_status take_inputs(custom_text *t, const char *line, tsr_custom_op *op) {
    int used = 0;
    int found =
        sscanf(line, "inputs %1d%n%*1[ ]%1d%n", &op->min_inputs, &used, &op->max_inputs, &used);
    return found >= 1 && !line[used] ? TSR_OK : refuse(t, "not inputs LEAST MOST:", line);
}

static tsr_status take_attr(custom_text *t, char *line, tsr_custom_op *op) {
    char *name = line + strlen("attr "), *space = strchr(name, ' '), *end = NULL;
    double value = space ? strtod(space, &end) : 0;
    if (!space || end == space || *end || !isfinite(value))
        return refuse(t, "not attr NAME NUMBER:", line);
    if (op->attr_count == TSR_MAX_CUSTOM_ATTRS)
        return refuse(t, "too many attributes, at", line);
    *space = '\0';
    t->attrs[t->count - 1][op->attr_count++] = (tsr_custom_attr){name, (float)value};
    return TSR_OK;
}

static tsr_status take_line(custom_text *t, char *line) {
    if (!*line || *line == '#')
        return TSR_OK;
    if (*line == '[')
        return begin_operator(t, line);
    if (t->count == 0)
        return refuse(t, "no [domain:Name] before", line);
    tsr_custom_op *op = &t->ops[t->count - 1];
    if (begins_heading(line))
        return take_body(t, line, *line == 'g' ? &op->glsl : &op->wgsl);
    if (strncmp(line, "inputs ", 7) == 0)
        return take_inputs(t, line, op);
    if (strncmp(line, "attr ", 5) == 0)
        return take_attr(t, line, op);
    return refuse(t, "unknown:", line);
}

static tsr_status parse(custom_text *t) {
    for (char *line = next_line(t); line; line = next_line(t))
        TRY(take_line(t, line));
    for (int i = 0; i < t->count; i++)
        if (!t->ops[i].glsl && !t->ops[i].wgsl)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s has no body", t->path, t->ops[i].name);
    return t->count ? TSR_OK
                    : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: there is no operator", t->path);
}

tsr_status custom_text_parse(const char *path, const unsigned char *bytes, size_t size,
                             custom_ops *made) {
    if (size && memchr(bytes, 0, size))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: neither a shared object nor text", path);
    custom_text *t = calloc(1, sizeof *t + size + 1);
    if (!t)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory to read it", path);
    t->path = path;
    t->rest = memcpy(t->characters, bytes, size);
    *made = (custom_ops){.ops = t->ops, .text = t};
    TRY(parse(t));
    made->count = t->count;
    return TSR_OK;
}

void custom_text_free(custom_text *text) {
    free(text);
}
