#include "kernel/template.h"

#include "kernel/expression.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINE = 1024, MAX_LOOPS = 8, MAX_READ = 1 << 24 };

typedef struct loop {
    const char *name; /* in the text */
    size_t length;
    int value;
} loop;

typedef struct expansion {
    const tsr_template *t;
    tsr_text *out;
    loop loops[MAX_LOOPS]; /* the enclosing ones, the innermost last */
    int loop_count;
    size_t read;       /* characters, those of a loop's body each time */
    tsr_status status; /* of the first failure, which ends the expansion */
} expansion;

/* A line of the output. */
typedef struct line {
    char chars[MAX_LINE];
    size_t length;
} line;

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void fail(expansion *e, const char *why, const char *at) {
    if (e->status == TSR_OK)
        e->status =
            tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: \"%.*s\"", why, (int)strcspn(at, "\n"), at);
}

static void append(expansion *e, line *l, const char *chars, size_t length, const char *at) {
    if (l->length + length >= MAX_LINE) {
        fail(e, "a line that is too long", at);
        return;
    }
    memcpy(l->chars + l->length, chars, length);
    l->length += length;
    l->chars[l->length] = '\0';
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The innermost loop whose variable has this name, in lower case; NULL if there is none. */
static const loop *find_loop(const expansion *e, const char *name, size_t length) {
    for (int i = e->loop_count - 1; i >= 0; i--) {
        const loop *l = &e->loops[i];
        bool same = l->length == length && tolower((unsigned char)*name) == *l->name;
        if (same && !memcmp(name + 1, l->name + 1, length - 1))
            return l;
    }
    return NULL;
}

static bool find_name(const void *user, const char *name, size_t length, int *value) {
    const expansion *e = user;
    const loop *l = islower((unsigned char)*name) ? find_loop(e, name, length) : NULL;
    if (l) {
        *value = l->value;
        return true;
    }
    for (int i = 0; i < e->t->name_count; i++) {
        const tsr_template_name *n = &e->t->names[i];
        if (strlen(n->name) == length && !memcmp(n->name, name, length)) {
            *value = n->value;
            return true;
        }
    }
    return false;
}

static int evaluate(expansion *e, const char *text, size_t length, const char *at) {
    int value;
    const char *error = tsr_expression(text, length, find_name, e, &value);
    if (error)
        fail(e, error, at);
    return error ? 0 : value;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Expands the name after a $; returns the rest of the line. */
static const char *replace_variable(expansion *e, line *l, const char *name, const char *at) {
    char number[16];
    if (*name == '{') {
        size_t length = strcspn(name, "}\n");
        int value = evaluate(e, name + 1, length - 1, at);
        append(e, l, number, (size_t)snprintf(number, sizeof number, "%d", value), at);
        return name + length + (name[length] == '}');
    }
    size_t length = 0;
    while (isalnum((unsigned char)name[length]))
        length++;
    const loop *variable = length ? find_loop(e, name, length) : NULL;
    if (!variable) {
        fail(e, "an unknown variable", at);
    } else if (islower((unsigned char)*name)) {
        append(e, l, number, (size_t)snprintf(number, sizeof number, "%d", variable->value), at);
    } else if (variable->value < e->t->input_count) {
        const char *input = e->t->inputs[variable->value];
        append(e, l, input, strlen(input), at);
    } else {
        fail(e, "there is no such input", at);
    }
    return name + length;
}

static void replace_variables(expansion *e, const char *at, line *l) {
    const char *begin = at, *end = next_line(at);
    l->length = 0;
    l->chars[0] = '\0';
    while (at < end && e->status == TSR_OK) {
        size_t plain = strcspn(at, "$\n");
        plain += at[plain] == '\n';
        append(e, l, at, plain, begin);
        at += plain;
        if (at < end && *at == '$')
            at = replace_variable(e, l, at + 1, begin);
    }
}

static const tsr_template_param *find_param(const tsr_template *t, const char *name,
                                            size_t length) {
    for (int i = 0; i < t->param_count; i++)
        if (!strncmp(t->params[i].name, name, length) && !t->params[i].name[length])
            return &t->params[i];
    return NULL;
}

/* Expands u.<name> or u.<name>.<member> at `at`; returns the rest of the line. */
static const char *replace_param(expansion *e, line *l, const char *at) {
    const char *name = at + 2;
    size_t length = 0, longer;
    while (is_word(name[length]))
        length++;
    for (longer = length + 1; name[length] == '.' && is_word(name[longer]); longer++)
        ;
    const tsr_template_param *p = name[length] == '.' ? find_param(e->t, name, longer) : NULL;
    if (p)
        length = longer;
    else
        p = find_param(e->t, name, length);
    if (p)
        append(e, l, p->text, strlen(p->text), at);
    else
        fail(e, "an unknown parameter", at);
    return name + length;
}

/* A parameter, u.<name>, that begins at or after `at`; the text's end if there is none. */
static const char *find_use(const char *text, const char *at) {
    for (; *at; at++) {
        bool inside = at > text && (is_word(at[-1]) || at[-1] == '.');
        if (at[0] == 'u' && at[1] == '.' && !inside)
            break;
    }
    return at;
}

static void replace_params(expansion *e, const char *text, line *l) {
    l->length = 0;
    l->chars[0] = '\0';
    for (const char *at = text; *at && e->status == TSR_OK;) {
        const char *use = find_use(text, at);
        append(e, l, at, (size_t)(use - at), text);
        at = *use ? replace_param(e, l, use) : use;
    }
}

/* Most lines have nothing to replace. */
static bool is_plain(const char *at, size_t length) {
    if (memchr(at, '$', length))
        return false;
    for (const char *u = at; (u = memchr(u, 'u', length - (size_t)(u - at))); u++)
        if (u[1] == '.')
            return false;
    return true;
}

static void add_line(expansion *e, const char *at, size_t length) {
    if (length < MAX_LINE && is_plain(at, length)) {
        tsr_text_append(e->out, at, length);
        return;
    }
    line variables, params;
    replace_variables(e, at, &variables);
    replace_params(e, variables.chars, &params);
    if (e->status == TSR_OK)
        tsr_text_append(e->out, params.chars, params.length);
}

/* ---- directives ------------------------------------------------------------------------------ */

/* Does the line at `at` have this directive? "": any of the template language. */
static bool is_directive(const char *at, const char *name) {
    at += strspn(at, " ");
    if (*at++ != '#')
        return false;
    if (!*name)
        return strncmp(at, "define", 6) && strncmp(at, "extension", 9);
    size_t length = strlen(name);
    return !strncmp(at, name, length) && !isalpha((unsigned char)at[length]);
}

/* The condition of #if or #elif. */
static bool holds(expansion *e, const char *at) {
    line l;
    replace_variables(e, at, &l);
    const char *condition = l.chars + strspn(l.chars, " #");
    condition += strcspn(condition, " \n");
    return evaluate(e, condition, strcspn(condition, "\n"), at) != 0;
}

/* Expands the lines from `at` on, without effect if not `emit`. Returns the directive that ends
 * them, or the text's end. */
static const char *expand_lines(expansion *e, const char *at, bool emit);

static const char *expand_if(expansion *e, const char *at, bool emit) {
    const char *begin = at;
    bool done = !emit; /* a branch was expanded, or none is to be */
    while (is_directive(at, "if") || is_directive(at, "elif") || is_directive(at, "else")) {
        bool chosen = !done && (is_directive(at, "else") || holds(e, at));
        done = done || chosen;
        at = expand_lines(e, next_line(at), chosen);
    }
    if (!is_directive(at, "endif"))
        fail(e, "an #if without its #endif", begin);
    return next_line(at);
}

/* Reads a #for: pushes its loop and returns its count. */
static int push_loop(expansion *e, const char *at) {
    const char *name = at + strspn(at, " ") + strlen("#for");
    name += strspn(name, " ");
    size_t length = strcspn(name, " \n");
    if (e->loop_count == MAX_LOOPS || !islower((unsigned char)*name) || name[length] != ' ') {
        fail(e, "not a loop", at);
        return 0;
    }
    line l;
    replace_variables(e, name + length, &l);
    int count = evaluate(e, l.chars, strcspn(l.chars, "\n"), at);
    e->loops[e->loop_count++] = (loop){name, length, 0};
    return count;
}

static const char *expand_for(expansion *e, const char *at, bool emit) {
    int loops = e->loop_count, count = emit ? push_loop(e, at) : 0;
    const char *body = next_line(at), *end = expand_lines(e, body, false);
    if (!is_directive(end, "endfor"))
        fail(e, "a #for without its #endfor", at);
    for (int i = 0; i < count && e->status == TSR_OK; i++) {
        e->loops[loops].value = i;
        expand_lines(e, body, true);
    }
    e->loop_count = loops;
    return next_line(end);
}

static void include(expansion *e, const char *at) {
    char stem[64] = "";
    at += strspn(at, " ") + strlen("#include");
    at += strspn(at, " ");
    size_t length = strcspn(at, " \n");
    memcpy(stem, at, length < sizeof stem ? length : 0);
    const char *text = e->t->find_file ? e->t->find_file(stem) : NULL;
    if (!text || *expand_lines(e, text, true))
        fail(e, "an unknown or unfinished file", at);
}

static const char *expand_lines(expansion *e, const char *at, bool emit) {
    while (*at && e->status == TSR_OK) {
        const char *next = next_line(at);
        e->read += (size_t)(next - at);
        if (e->read > MAX_READ) /* nested loops of a few lines could fill all memory */
            fail(e, "loops that make too much text", at);
        if (at[strspn(at, " ")] != '#') { /* which most lines are not */
            if (emit)
                add_line(e, at, (size_t)(next - at));
            at = next;
        } else if (is_directive(at, "if")) {
            at = expand_if(e, at, emit);
        } else if (is_directive(at, "for")) {
            at = expand_for(e, at, emit);
        } else if (is_directive(at, "") && !is_directive(at, "include")) {
            break;
        } else {
            if (emit && is_directive(at, "include"))
                include(e, at);
            else if (emit)
                add_line(e, at, (size_t)(next - at));
            at = next;
        }
    }
    return at;
}

tsr_status tsr_template_expand(tsr_text *out, const char *text, const tsr_template *t) {
    expansion e = {.t = t, .out = out};
    const char *end = expand_lines(&e, text, true);
    if (*end)
        fail(&e, "an unknown or misplaced directive", end);
    return e.status;
}

tsr_status tsr_template_expand_file(tsr_text *out, const char *stem, const tsr_template *t) {
    const char *text = t->find_file(stem);
    if (!text)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "there is no shader file %s", stem);
    return tsr_fail_context(tsr_template_expand(out, text, t), "%s", stem);
}
