#include "kernel/prune.h"

#include "base/allocator.h"

#include <ctype.h>
#include <string.h>

/* A function or a constant, or the text between two. */
typedef struct item {
    const char *begin, *end;
    const char *name; /* NULL: always kept */
    size_t name_length;
    int next; /* item whose name has the same hash; -1: none */
    bool kept;
} item;

enum { BUCKETS = 256 };

typedef struct program {
    item *items;
    int count, capacity;
    int buckets[BUCKETS]; /* first items, by hash of their names */
    bool failed;
} program;

static int bucket_of(const char *name, size_t length) {
    unsigned first = (unsigned char)name[0], last = (unsigned char)name[length - 1],
             middle = (unsigned char)name[length / 2];
    return (int)((first + 3 * last + 7 * middle + 31 * (unsigned)length) % BUCKETS);
}

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
    size_t end = strcspn(at, ";,\n"); /* one alone, and nothing after it */
    bool alone = at[end] == ';' && at[end + 1 + strspn(at + end + 1, " ")] == '\n';
    return *length && alone ? name : NULL;
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

/* The end of a comment that begins at `at`; `at` itself if none does. */
static const char *skip_comment(const char *at) {
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] != '/' || at[1] != '*')
        return at;
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* The end of the line in which the braces from `at` on are closed; NULL if they never are. */
static const char *find_end(const char *at) {
    int depth = 0;
    for (bool opened = false; *at; at++) {
        const char *end = skip_comment(at);
        if (end != at) {
            at = end - 1;
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
        item *grown = tsr_realloc(p->items, (size_t)capacity * sizeof *grown);
        if (!grown) {
            p->failed = true;
            return;
        }
        p->items = grown;
        p->capacity = capacity;
    }
    added.next = -1;
    if (added.name) {
        int *bucket = &p->buckets[bucket_of(added.name, added.name_length)];
        added.next = *bucket;
        *bucket = p->count;
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
            add_item(p, (item){begin, at, NULL, 0, -1, true});
            add_item(p, (item){at, end, name, length, -1, false});
            begin = at = end;
            continue;
        }
        at = end ? end : next_line(at);
    }
    add_item(p, (item){begin, at, NULL, 0, -1, true});
}

static void keep_called(program *p, int index);

/* All of this name: GLSL functions can be overloaded. */
static void keep_named(program *p, const char *name, size_t length) {
    for (int i = p->buckets[bucket_of(name, length)]; i >= 0; i = p->items[i].next) {
        item *f = &p->items[i];
        if (!f->kept && f->name_length == length && !memcmp(f->name, name, length)) {
            f->kept = true;
            keep_called(p, i);
        }
    }
}

/* Recursion is bounded, since shader functions are not recursive. */
static void keep_called(program *p, int index) {
    const char *at = p->items[index].begin, *end = p->items[index].end;
    while (at < end) {
        size_t length = word_length(at);
        if (length)
            keep_named(p, at, length);
        at += length ? length : 1;
    }
}

static char *concatenate(const program *p, size_t size) {
    char *kept = tsr_malloc(size + 1), *at = kept;
    for (int i = 0; kept && i < p->count; i++) {
        size_t length = (size_t)(p->items[i].end - p->items[i].begin);
        if (!p->items[i].kept)
            continue;
        memcpy(at, p->items[i].begin, length);
        at += length;
    }
    if (kept)
        *at = '\0';
    return kept;
}

char *tsr_prune(char *text, tsr_language language) {
    program p = {.items = NULL};
    if (!text)
        return NULL;
    memset(p.buckets, -1, sizeof p.buckets);
    split(&p, text, language);
    int roots = p.failed ? 0 : p.count;
    for (int i = 0; i < roots; i++)
        if (!p.items[i].name)
            keep_called(&p, i);
    char *kept = p.failed ? NULL : concatenate(&p, strlen(text));
    tsr_free(p.items);
    tsr_free(text);
    return kept;
}
