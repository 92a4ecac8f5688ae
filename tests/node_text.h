/* A graph of one node, written as text: its inputs, its attributes.
 *
 * - A tensor is TYPE[dims] or TYPE[dims]=element,... and "-" an absent input. TYPE is f float32,
 *   h float16, d float64, i int64, j int32, u uint8 or b bool.
 * - An attribute is name=1, name=1,2 (or 1,), name=0.5f or name=TEXT.
 */
#ifndef TSR_TESTS_NODE_TEXT_H
#define TSR_TESTS_NODE_TEXT_H

#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_SLOTS = 16, MAX_ATTRS = 12, MAX_ELEMENTS = 32 };

static const char type_letters[] = "fhdijub";
static const tsr_dtype types[] = {TSR_DTYPE_F32, TSR_DTYPE_F16, TSR_DTYPE_F64, TSR_DTYPE_I64,
                                  TSR_DTYPE_I32, TSR_DTYPE_U8,  TSR_DTYPE_BOOL};

static char *next_word(char **text) {
    char *word = *text + strspn(*text, " ");
    if (!*word)
        return NULL;
    size_t length = strcspn(word, " ");
    *text = word + length + (word[length] != '\0');
    word[length] = '\0';
    return word;
}

static const void *parse_elements(tsr_graph *graph, tsr_dtype dtype, char *text) {
    float *floats = TSR_NEW(graph->arena, MAX_ELEMENTS, float);
    int64_t *ints = TSR_NEW(graph->arena, MAX_ELEMENTS, int64_t);
    for (int count = 0; *text; count++) {
        assert_in_range(count, 0, MAX_ELEMENTS - 1);
        floats[count] = strtof(text, NULL);
        ints[count] = strtoll(text, NULL, 10);
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return tsr_dtype_is_float(dtype) ? (const void *)floats : (const void *)ints;
}

/* The value's index, TSR_NONE for "-". */
static int parse_tensor(tsr_graph *graph, char *word, const char *name) {
    if (strcmp(word, "-") == 0)
        return TSR_NONE;
    const char *letter = strchr(type_letters, word[0]);
    assert_non_null(letter);
    assert_int_equal(word[1], '[');
    tsr_shape shape = {.rank = 0};
    char *at = word + 2;
    while (*at != ']') {
        shape.dim[shape.rank++] = strtoll(at, &at, 10);
        at += *at == ',';
    }
    int index = tsr_graph_add_value(graph, name);
    graph->values[index].dtype = types[letter - type_letters];
    graph->values[index].shape = shape;
    if (at[1] == '=')
        graph->values[index].data = parse_elements(graph, graph->values[index].dtype, at + 2);
    return index;
}

static void parse_attr(tsr_graph *graph, char *word, tsr_attr *attr) {
    char *text = strchr(word, '=');
    assert_non_null(text);
    *text++ = '\0';
    attr->name = word;
    size_t length = strlen(text);
    if (strspn(text, "0123456789-,.f") != length) {
        attr->kind = TSR_ATTR_STRING;
        attr->s = text;
    } else if (text[length - 1] == 'f') {
        attr->kind = TSR_ATTR_FLOAT;
        attr->f = strtof(text, NULL);
    } else if (strchr(text, ',')) {
        attr->kind = TSR_ATTR_INTS;
        attr->ints = parse_elements(graph, TSR_DTYPE_I64, text);
        for (const char *c = text; *c; c++)
            attr->count += c[0] == ',' || c[1] == '\0';
    } else {
        attr->kind = TSR_ATTR_INT;
        attr->i = strtoll(text, NULL, 10);
    }
}

/* A graph with one node of that many outputs; the caller destroys it. */
static tsr_graph *make_node(const char *op, const char *inputs, const char *attrs, int outputs) {
    tsr_graph *graph = tsr_graph_create("case.onnx");
    tsr_arena *arena = graph->arena;
    tsr_node *node = graph->nodes = TSR_NEW(arena, 1, tsr_node);
    char *text = tsr_arena_strndup(arena, inputs, strlen(inputs)), *word;
    *node = (tsr_node){.name = "n",
                       .op = tsr_op_find(op),
                       .output_count = outputs,
                       .inputs = TSR_NEW(arena, MAX_SLOTS, int),
                       .outputs = TSR_NEW(arena, MAX_SLOTS, int),
                       .attrs = TSR_NEW(arena, MAX_ATTRS, tsr_attr)};
    graph->node_count = 1;
    assert_int_not_equal(node->op, TSR_OP_COUNT);
    while ((word = next_word(&text))) {
        const char *name = tsr_arena_printf(arena, "in%d", node->input_count);
        node->inputs[node->input_count++] = parse_tensor(graph, word, name);
    }
    for (int i = 0; i < outputs; i++)
        node->outputs[i] = tsr_graph_add_value(graph, tsr_arena_printf(arena, "out%d", i));
    text = tsr_arena_strndup(arena, attrs, strlen(attrs));
    while ((word = next_word(&text)))
        parse_attr(graph, word, &node->attrs[node->attr_count++]);
    return graph;
}

#endif
