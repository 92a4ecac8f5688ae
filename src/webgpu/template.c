#include "webgpu/template.h"

#include "wgsl_kernels.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 256, VARIABLES = 26, UNSET = -1 };

typedef struct expansion {
    tsr_text *out;
    const tsr_template_name *names;
    int variables[VARIABLES]; /* of the loops around, by letter; UNSET where there is none */
    tsr_status status;        /* of the first failure: nothing follows */
} expansion;

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* Does a directive of this name stand at `at`, the begin of a line? "": any directive. */
static bool is_directive(const char *at, const char *name) {
    at += strspn(at, " ");
    size_t length = strlen(name);
    return *at == '#' && !strncmp(at + 1, name, length) &&
           (!length || !isalpha((unsigned char)at[1 + length]));
}

static void fail(expansion *e, const char *why, const char *line) {
    if (e->status == TSR_OK)
        e->status =
            tsr_fail(TSR_INVALID_ARGUMENT, "%s: \"%.*s\"", why, (int)strcspn(line, "\n"), line);
}

/* The line at `at` with its variables replaced. */
static void read_line(expansion *e, const char *at, char line[MAX_LINE]) {
    enum { WIDEST = 12 }; /* of a number */
    const char *begin = at, *end = next_line(at);
    int length = 0;
    for (; at < end && length < MAX_LINE - WIDEST; at++) {
        line[length] = *at;
        if (*at != '$') {
            length++;
            continue;
        }
        int letter = (unsigned char)*++at, variable = tolower(letter) - 'a';
        if (variable < 0 || variable >= VARIABLES || e->variables[variable] == UNSET) {
            fail(e, "an unknown variable", begin);
            break;
        }
        int value = e->variables[variable];
        length += islower(letter) ? snprintf(line + length, WIDEST, "%d", value)
                                  : snprintf(line + length, WIDEST, "%c", 'A' + value);
    }
    line[length] = '\0';
    if (at < end)
        fail(e, "a line that is too long", begin);
}

static int operand(expansion *e, const char *text, const char *line) {
    char *end;
    long number = strtol(text, &end, 10);
    if (*text && !*end)
        return (int)number;
    for (const tsr_template_name *n = e->names; n->name; n++)
        if (!strcmp(n->name, text))
            return n->value;
    fail(e, "an unknown name", line);
    return 0;
}

/* The condition behind #if or #elif. */
static bool holds(expansion *e, const char *at) {
    char line[MAX_LINE], left[MAX_LINE], comparison[3], right[MAX_LINE], rest[2];
    read_line(e, at, line);
    int count = sscanf(line, " #%*[a-z] %255s %2s %255s %1s", left, comparison, right, rest);
    if (count == 1)
        return operand(e, left, at) != 0;
    if (count == 3) {
        int a = operand(e, left, at), b = operand(e, right, at);
        const struct {
            const char *text;
            bool result;
        } comparisons[] = {{"==", a == b}, {"!=", a != b}, {"<", a < b},
                           {">", a > b},   {"<=", a <= b}, {">=", a >= b}};
        for (int i = 0; i < 6; i++)
            if (!strcmp(comparisons[i].text, comparison))
                return comparisons[i].result;
    }
    fail(e, "not a condition", at);
    return false;
}

/* Carries out the lines from `at` on, without effect if not `emit`. Returns the directive that ends
 * them, or the text's end. */
static const char *expand_lines(expansion *e, const char *at, bool emit);

static const char *expand_if(expansion *e, const char *at, bool emit) {
    const char *begin = at;
    bool done = !emit; /* a branch was taken, or none is to be */
    while (is_directive(at, "if") || is_directive(at, "elif") || is_directive(at, "else")) {
        bool taken = !done && (is_directive(at, "else") || holds(e, at));
        done = done || taken;
        at = expand_lines(e, next_line(at), taken);
    }
    if (!is_directive(at, "endif"))
        fail(e, "an #if without its #endif", begin);
    return next_line(at);
}

/* What stands behind #for: a variable, and how many rounds. */
static void read_loop(expansion *e, const char *at, int *variable, int *rounds) {
    char line[MAX_LINE], letter, count[MAX_LINE], rest[2];
    read_line(e, at, line);
    int found = sscanf(line, " #for %c %255s %1s", &letter, count, rest);
    if (found != 2 || letter < 'a' || letter > 'z') {
        fail(e, "not a loop", at);
        return;
    }
    *variable = letter - 'a';
    *rounds = operand(e, count, at);
}

static const char *expand_for(expansion *e, const char *at, bool emit) {
    int variable = 0, rounds = 0;
    if (emit)
        read_loop(e, at, &variable, &rounds);
    int outer = e->variables[variable];
    const char *body = next_line(at), *end = expand_lines(e, body, false);
    if (!is_directive(end, "endfor"))
        fail(e, "a #for without its #endfor", at);
    for (int i = 0; i < rounds && e->status == TSR_OK; i++) {
        e->variables[variable] = i;
        expand_lines(e, body, true);
    }
    e->variables[variable] = outer;
    return next_line(end);
}

static void include(expansion *e, const char *at) {
    char line[MAX_LINE], stem[MAX_LINE] = "";
    read_line(e, at, line);
    sscanf(line, " #include %255s", stem);
    const char *text = tsr_template_find(stem);
    if (!text || *expand_lines(e, text, true))
        fail(e, "an unknown or unfinished file", at);
}

static const char *expand_lines(expansion *e, const char *at, bool emit) {
    char line[MAX_LINE];
    while (*at && e->status == TSR_OK) {
        if (is_directive(at, "if")) {
            at = expand_if(e, at, emit);
        } else if (is_directive(at, "for")) {
            at = expand_for(e, at, emit);
        } else if (is_directive(at, "") && !is_directive(at, "include")) {
            break;
        } else {
            if (emit && is_directive(at, "include")) {
                include(e, at);
            } else if (emit) {
                read_line(e, at, line);
                tsr_text_add(e->out, "%s", line);
            }
            at = next_line(at);
        }
    }
    return at;
}

tsr_status tsr_template_expand(tsr_text *out, const char *text, const tsr_template_name *names) {
    expansion e = {.out = out, .names = names};
    for (int i = 0; i < VARIABLES; i++)
        e.variables[i] = UNSET;
    const char *end = expand_lines(&e, text, true);
    if (*end)
        fail(&e, "an unknown or misplaced directive", end);
    return e.status;
}

const char *tsr_template_find(const char *stem) {
    for (int i = 0; i < tsr_wgsl_kernel_count; i++)
        if (!strcmp(tsr_wgsl_kernels[i].stem, stem))
            return tsr_wgsl_kernels[i].text;
    return NULL;
}
