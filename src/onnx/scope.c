/* Names in graphs that attributes hold. Such a graph sees the names around it, and two of them may
 * use one name for different values: a prefix tells them apart in the graph's table. */
#include "onnx/reader.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* In the reader's buffer, which grows. */
static const char *join(tsr_reader *reader, const char *prefix, const char *name) {
    size_t first = strlen(prefix), second = strlen(name) + 1;
    if (first + second > reader->name_room) {
        size_t room = 2 * (first + second);
        char *text = tsr_realloc(reader->name, room);
        if (!text)
            return NULL;
        reader->name = text;
        reader->name_room = room;
    }
    memcpy(reader->name, prefix, first);
    memcpy(reader->name + first, name, second);
    return reader->name;
}

const char *tsr_onnx_local_name(tsr_reader *reader, const char *name) {
    return reader->scope ? join(reader, reader->scope->prefix, name) : name;
}

static int find_in(tsr_reader *reader, const tsr_onnx_scope *scope, const char *name,
                   bool *out_of_memory) {
    const char *local = join(reader, scope->prefix, name);
    *out_of_memory |= !local;
    int value = local ? tsr_graph_find_value(reader->graph, local) : TSR_NONE;
    /* A file may use names with a prefix, too. */
    return value >= scope->first_value && value < scope->end_value ? value : TSR_NONE;
}

static bool append(tsr_onnx_values *list, int value) {
    if (list->count == list->room) {
        enum { FIRST_ROOM = 64 };
        int room = list->room ? 2 * list->room : FIRST_ROOM;
        int *values = tsr_realloc(list->values, (size_t)room * sizeof *values);
        if (!values)
            return false;
        list->values = values;
        list->room = room;
    }
    list->values[list->count++] = value;
    return true;
}

/* Constants are there in any case. */
static bool is_captured(const tsr_reader *reader, int value) {
    return reader->scope && value != TSR_NONE && value < reader->scope->first_value &&
           !reader->graph->values[value].data;
}

int tsr_onnx_find_value(tsr_reader *reader, const char *name, bool *out_of_memory) {
    int value = TSR_NONE;
    const tsr_onnx_scope *scope = reader->scope;
    for (bool inside = true; inside && scope && value == TSR_NONE;) {
        value = find_in(reader, scope, name, out_of_memory);
        inside = !scope->call; /* functions see their own names only */
        scope = inside ? scope->outer : scope;
    }
    if (value == TSR_NONE && !scope) {
        value = tsr_graph_find_value(reader->graph, name);
        value = value < reader->end_value ? value : TSR_NONE;
    }
    if (is_captured(reader, value))
        *out_of_memory |= !append(&reader->captured, value);
    return value;
}

bool tsr_onnx_has_value(tsr_reader *reader, const char *name) {
    const char *local = tsr_onnx_local_name(reader, name);
    return local && tsr_graph_find_value(reader->graph, local) != TSR_NONE;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

tsr_status tsr_onnx_add_captured(tsr_reader *reader, int first, int end_value, tsr_node *node) {
    tsr_onnx_values *list = &reader->captured;
    int count = list->count - first, kept = 0;
    list->count = first;
    if (count == 0)
        return TSR_OK;
    int *taken = list->values + first;
    qsort(taken, (size_t)count, sizeof *taken, compare_ints);
    for (int i = 0; i < count && taken[i] < end_value; i++)
        if (kept == 0 || taken[i] != taken[kept - 1])
            taken[kept++] = taken[i];
    int *inputs = TSR_NEW(reader->graph->arena, node->input_count + kept, int);
    if (!inputs)
        return tsr_onnx_out_of_memory();
    if (node->input_count)
        memcpy(inputs, node->inputs, (size_t)node->input_count * sizeof *inputs);
    if (kept)
        memcpy(inputs + node->input_count, taken, (size_t)kept * sizeof *inputs);
    node->inputs = inputs;
    node->input_count += kept;
    for (int i = 0; i < kept; i++)
        if (is_captured(reader, taken[i]))
            list->values[list->count++] = taken[i]; /* it is there already, not before */
    return TSR_OK;
}
