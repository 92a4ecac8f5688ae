/* What a model has that is not supported. Reading goes on behind it, so that one message lists all
 * of it. */
#include "onnx/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LISTED = 64, MAX_TEXT = 3072, MAX_SHOWN = 64 }; /* MAX_SHOWN: bytes of a name */

struct tsr_onnx_lack {
    tsr_onnx_lack_kind kind;
    const char *of, *what, *first;
    int count;
};

static const struct {
    const char *title; /* of one; "s" makes it plural; "": none */
    const char *unit;
} kinds[] = {
    [TSR_LACKS_OPERATOR] = {"operator", "node"}, [TSR_LACKS_ATTRIBUTE] = {"attribute", "node"},
    [TSR_LACKS_FORM] = {"form", "node"},         [TSR_LACKS_TYPE] = {"element type", "tensor"},
    [TSR_LACKS_OTHER] = {"", "tensor"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static tsr_onnx_lack *find(const tsr_reader *reader, tsr_onnx_lack_kind kind, const char *of,
                           const char *what) {
    for (int i = 0; i < reader->lack_count; i++) {
        tsr_onnx_lack *lack = &reader->lacks[i];
        if (lack->kind == kind && strcmp(lack->of, of) == 0 && strcmp(lack->what, what) == 0)
            return lack;
    }
    return NULL;
}

tsr_status tsr_onnx_note_lack(tsr_reader *reader, tsr_onnx_lack_kind kind, const char *of,
                              const char *what, const char *where) {
    tsr_arena *arena = reader->graph->arena;
    tsr_onnx_lack *lack = find(reader, kind, of, what);
    if (lack) {
        lack->count += lack->count < INT_MAX;
        return TSR_OK;
    }
    if (reader->lack_count == MAX_LISTED) {
        reader->more_lacks += reader->more_lacks < INT_MAX - MAX_LISTED;
        return TSR_OK;
    }
    if (!reader->lacks)
        reader->lacks = TSR_NEW(arena, MAX_LISTED, tsr_onnx_lack);
    tsr_onnx_lack made = {.kind = kind,
                          .of = tsr_arena_strndup(arena, of, strlen(of)),
                          .what = tsr_arena_strndup(arena, what, strlen(what)),
                          .first = tsr_arena_strndup(arena, where, strlen(where)),
                          .count = 1};
    if (!reader->lacks || !made.of || !made.what || !made.first)
        return tsr_onnx_out_of_memory();
    reader->lacks[reader->lack_count++] = made;
    return TSR_OK;
}

/* ---- the message ---- */

/* A name, cut short. */
static const char *shown(const char *name, char text[MAX_SHOWN + 4]) {
    size_t length = strlen(name);
    snprintf(text, MAX_SHOWN + 4, "%.*s%s", MAX_SHOWN, name, length > MAX_SHOWN ? "..." : "");
    return text;
}

/* "Foo (3 nodes, first 'a')" */
static void describe(const tsr_onnx_lack *lack, char *text, size_t size) {
    char of[MAX_SHOWN + 4], what[MAX_SHOWN + 4], first[MAX_SHOWN + 4];
    const char *unit = kinds[lack->kind].unit;
    int used = 0;
    shown(lack->of, of);
    shown(lack->what, what);
    if (lack->kind == TSR_LACKS_ATTRIBUTE)
        used = snprintf(text, size, "%s of %s (", what, of);
    else if (lack->kind == TSR_LACKS_FORM)
        used = snprintf(text, size, "%s (%s; ", of, what);
    else
        used = snprintf(text, size, "%s%s%s (", of, *of ? "." : "", what);
    used += snprintf(text + used, size - (size_t)used, "%d %s%s", lack->count, unit,
                     lack->count > 1 ? "s" : "");
    if (*lack->first)
        used += snprintf(text + used, size - (size_t)used, ", %s'%s'",
                         lack->count > 1 ? "first " : "", shown(lack->first, first));
    snprintf(text + used, size - (size_t)used, ")");
}

static int count_kind(const tsr_reader *reader, int kind) {
    int count = 0;
    for (int i = 0; i < reader->lack_count; i++)
        count += (int)reader->lacks[i].kind == kind;
    return count;
}

/* Appends to the list of a kind; false if there is no room. */
static bool append(char text[MAX_TEXT], const tsr_reader *reader, const tsr_onnx_lack *lack,
                   bool is_first) {
    char entry[4 * MAX_SHOWN + 64];
    size_t used = strlen(text);
    describe(lack, entry, sizeof entry);
    if (used + strlen(entry) + 32 > MAX_TEXT)
        return false;
    const char *title = kinds[lack->kind].title;
    bool plural = *title && count_kind(reader, lack->kind) > 1;
    if (is_first)
        used += (size_t)snprintf(text + used, MAX_TEXT - used, "%s%s%s%s", used ? "; " : "", title,
                                 plural ? "s" : "", *title ? " " : "");
    snprintf(text + used, MAX_TEXT - used, "%s%s", is_first ? "" : ", ", entry);
    return true;
}

tsr_status tsr_onnx_refuse_lacks(const tsr_reader *reader, tsr_status status) {
    char text[MAX_TEXT] = "";
    int more = reader->more_lacks;
    bool may_follow = status == TSR_ERROR_INVALID_MODEL || status == TSR_ERROR_UNSUPPORTED;
    if (!reader->lack_count || (status != TSR_OK && !may_follow))
        return status;
    if (reader->graph->opset > TSR_OPSET_MAX)
        snprintf(text, sizeof text, "opset %d, which is newer than %d", reader->graph->opset,
                 TSR_OPSET_MAX);
    for (int kind = 0; kind < KINDS; kind++) {
        bool is_first = true;
        for (int i = 0; i < reader->lack_count; i++) {
            if ((int)reader->lacks[i].kind != kind)
                continue;
            bool fits = append(text, reader, &reader->lacks[i], is_first);
            more += !fits;
            is_first &= !fits;
        }
    }
    return more ? tsr_fail(TSR_ERROR_UNSUPPORTED, "not supported: %s; and %d more", text, more)
                : tsr_fail(TSR_ERROR_UNSUPPORTED, "not supported: %s", text);
}
