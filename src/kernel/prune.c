#include "kernel/prune.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A function or a constant, or what is between two. */
typedef struct item {
    const char *begin, *end;
    const char *name; /* NULL: it stays */
    size_t name_length;
    bool kept;
} item;

typedef struct program {
    item *items;
    int count, capacity;
    bool failed;
} program;

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *at) {
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    return length;
}

/* The line after that at `at`. */
static const char *next_line(const char *at) {
    size_t length = strcspn(at, "\n");
    return at + length + (at[length] == '\n');
}

/* The name of the constant that is defined in the line at `at`; NULL: none is. */
static const char *constant_name(const char *at, tsr_language language, size_t *length) {
    if (strncmp(at, "const ", 6))
        return NULL;
    const char *name = at + 6;
    if (language == TSR_GLSL)
        name += word_length(name) + 1;
    *length = word_length(name);
    bool ends = at[strcspn(at, ";\n")] == ';';
    return *length && ends ? name : NULL;
}

/* The name of the function that is defined at `at`, the begin of a line; NULL: none is. */
static const char *function_name(const char *at, tsr_language language, size_t *length) {
    size_t first = word_length(at);
    const char *name = at + first + 1;
    if (first == 0 || at[first] != ' ')
        return NULL;
    *length = word_length(name);
    bool is_fn = first == 2 && !strncmp(at, "fn", 2);
    bool opens = *length && name[*length] == '(';
    return opens && (language == TSR_GLSL || is_fn) ? name : NULL;
}

/* After a comment that begins at `at`; `at` itself if none does. */
static const char *skip_comment(const char *at) {
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*')
        return at;
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* After the line in which the braces from `at` on are closed; NULL if they never are. */
static const char *find_end(const char *at) {
    int depth = 0;
    for (bool opened = false; *at; at++) {
        const char *behind = skip_comment(at);
        if (behind != at) {
            at = behind - 1;
            continue;
        }
        depth += (*at == '{') - (*at == '}');
        opened = opened || *at == '{';
        if (depth < 0 || (!opened && *at == ';'))
            return NULL;
        if (opened && depth == 0)
            return next_line(at);
    }
    return NULL;
}

static void add_item(program *p, item added) {
    if (added.begin == added.end || p->failed)
        return;
    if (p->count == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 64;
        item *grown = realloc(p->items, (size_t)capacity * sizeof *grown);
        if (!grown) {
            p->failed = true;
            return;
        }
        p->items = grown;
        p->capacity = capacity;
    }
    p->items[p->count++] = added;
}

static void split(program *p, const char *text, tsr_language language) {
    const char *begin = text, *at = text;
    while (*at) {
        size_t length = 0;
        const char *name = constant_name(at, language, &length);
        const char *end = name ? next_line(at) : NULL;
        if (!name) {
            name = function_name(at, language, &length);
            end = name ? find_end(at) : NULL;
        }
        bool root = name && length == 4 && !strncmp(name, "main", 4);
        if (end && !root) {
            add_item(p, (item){begin, at, NULL, 0, true});
            add_item(p, (item){at, end, name, length, false});
            begin = at = end;
            continue;
        }
        at = end ? end : next_line(at);
    }
    add_item(p, (item){begin, at, NULL, 0, true});
}

static void keep_called(program *p, int index);

/* GLSL's functions may share a name. */
static void keep_named(program *p, const char *name, size_t length) {
    for (int i = 0; i < p->count; i++) {
        item *f = &p->items[i];
        if (!f->kept && f->name_length == length && !memcmp(f->name, name, length)) {
            f->kept = true;
            keep_called(p, i);
        }
    }
}

/* Functions do not call themselves, nor do many call each other: recursion ends. */
static void keep_called(program *p, int index) {
    const char *at = p->items[index].begin, *end = p->items[index].end;
    while (at < end) {
        size_t length = word_length(at);
        if (length)
            keep_named(p, at, length);
        at += length ? length : 1;
    }
}

static char *join(const program *p, size_t size) {
    char *joined = malloc(size + 1), *at = joined;
    for (int i = 0; joined && i < p->count; i++) {
        size_t length = (size_t)(p->items[i].end - p->items[i].begin);
        if (!p->items[i].kept)
            continue;
        memcpy(at, p->items[i].begin, length);
        at += length;
    }
    if (joined)
        *at = '\0';
    return joined;
}

char *tsr_prune(char *text, tsr_language language) {
    program p = {.items = NULL};
    if (!text)
        return NULL;
    split(&p, text, language);
    int roots = p.failed ? 0 : p.count;
    for (int i = 0; i < roots; i++)
        if (!p.items[i].name)
            keep_called(&p, i);
    char *joined = p.failed ? NULL : join(&p, strlen(text));
    free(p.items);
    free(text);
    return joined;
}
