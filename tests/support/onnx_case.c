#define _POSIX_C_SOURCE 200809L
#include "support/onnx_case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 1024, MAX_TEXT = 1 << 14, MAX_GRAPHS = 96 };

typedef struct builder {
    onnx_writer *writer;
    onnx_writer *graphs[MAX_GRAPHS]; /* of attributes */
    onnx_element_fn *element;
    void *user;
} builder;

static void die(const char *text) {
    fprintf(stderr, "onnx_case: cannot read \"%s\"\n", text);
    abort();
}

/* ---- lists of numbers ---- */

static int read_ints(const char *text, int64_t *ints) {
    int count = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end) {
        if (count == MAX_LIST)
            die(text);
        ints[count++] = strtoll(text, &end, 10);
        if (end == text || (*end && *end != ',' && !strchr("]})>", *end)))
            die(text);
        if (*end && strchr("]})>", *end))
            break;
    }
    return count;
}

static int read_floats(const char *text, float *floats) {
    int count = 0;
    for (char *end; *text && *text != '>'; text = *end == ',' ? end + 1 : end) {
        if (count == MAX_LIST)
            die(text);
        floats[count++] = strtof(text, &end);
        if (end == text)
            die(text);
    }
    return count;
}

/* ---- inputs ---- */

/* Every name in the list is followed by a comma. */
static void append_name(char *list, const char *name) {
    strcat(list, strcmp(name, "_") == 0 ? "" : name);
    strcat(list, ",");
}

/* The type after a colon, which is cut off; float32 without. */
static tsr_dtype cut_type(char *name) {
    char *colon = strchr(name, ':');
    if (!colon)
        return TSR_DTYPE_F32;
    *colon = 0;
    for (int dtype = 0; dtype <= TSR_DTYPE_BOOL; dtype++)
        if (!strcmp(colon + 1, tsr_dtype_name((tsr_dtype)dtype)))
            return (tsr_dtype)dtype;
    die(colon + 1);
    return TSR_DTYPE_F32;
}

/* "1,C,8]": letters are symbolic. */
static void add_graph_input(onnx_writer *writer, char *name, const char *dims) {
    int64_t sizes[MAX_LIST];
    char names[8][48] = {""};
    int rank = 0;
    for (; *dims && *dims != ']'; dims += *dims == ',') {
        size_t length = strcspn(dims, ",]");
        if (rank == 8 || length >= sizeof names[0])
            die(dims);
        bool symbolic = isalpha((unsigned char)*dims);
        if (symbolic)
            memcpy(names[rank], dims, length);
        sizes[rank++] = symbolic ? -1 : strtoll(dims, NULL, 10);
        dims += length;
    }
    tsr_dtype dtype = cut_type(name);
    Tsr__ValueInfoProto *info = onnx_add_input(writer, name, dtype, rank, sizes);
    for (int i = 0; i < rank; i++)
        if (*names[i])
            onnx_set_dim_name(writer, info, i, names[i]);
}

static void add_weights(const builder *b, const char *name, const char *dims) {
    int64_t sizes[MAX_LIST];
    int rank = *dims == '}' ? 0 : read_ints(dims, sizes);
    float *values = onnx_add_floats(b->writer, name, rank, sizes, NULL);
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (size_t)sizes[i];
    for (size_t i = 0; values && i < count; i++)
        values[i] = b->element(b->user, name, i);
}

/* Declares what the word declares and appends its name to inputs. */
static void add_input(const builder *b, const char *word, char *inputs) {
    char name[MAX_TEXT];
    size_t length = strcspn(word, "[{(<");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const char *body = word[length] ? word + length + 1 : "";
    int64_t ints[MAX_LIST], count;
    float floats[MAX_LIST];
    switch (word[length]) {
    case '[':
        add_graph_input(b->writer, name, body);
        break;
    case '{':
        add_weights(b, name, body);
        break;
    case '(':
        count = *body == ')' ? 0 : read_ints(body, ints);
        onnx_add_ints(b->writer, name, 1, &count, ints);
        break;
    case '<':
        count = read_floats(body, floats);
        onnx_add_floats(b->writer, name, strchr(body, '>') ? 1 : 0, &count, floats);
        break;
    default:
        break;
    }
    append_name(inputs, name);
}

/* ---- attributes ---- */

static void add_attribute(const builder *b, Tsr__NodeProto *node, char *word) {
    onnx_writer *writer = b->writer;
    char *value = strchr(word, '=');
    *value++ = 0;
    int64_t ints[MAX_LIST];
    float floats[MAX_LIST];
    bool number = strchr("-0123456789", *value), list = strchr(value, ',');
    const char *strings[MAX_LIST];
    size_t count = 0;
    if (*value == '@') {
        onnx_set_graph(writer, node, word, b->graphs[atoi(value + 1) % MAX_GRAPHS]);
    } else if (strchr(value, '|')) { /* ends each of a list of strings */
        for (char *end; (end = strchr(value, '|')) && count < MAX_LIST; value = end + 1) {
            strings[count++] = value;
            *end = 0;
        }
        onnx_set_strings(writer, node, word, count, strings);
    } else if (!number)
        onnx_set_string(writer, node, word, value);
    else if (strpbrk(value, ".e") && list)
        onnx_set_floats(writer, node, word, (size_t)read_floats(value, floats), floats);
    else if (strpbrk(value, ".e"))
        onnx_set_float(writer, node, word, strtof(value, NULL));
    else if (list)
        onnx_set_ints(writer, node, word, (size_t)read_ints(value, ints), ints);
    else
        onnx_set_int(writer, node, word, strtoll(value, NULL, 10));
}

/* ---- nodes ---- */

/* text is one node's; it is changed. */
static void add_node(const builder *b, char *text, int index, bool last) {
    onnx_writer *writer = b->writer;
    char inputs[MAX_TEXT] = "", outputs[MAX_TEXT] = "", name[MAX_TEXT], *save;
    char *op = strtok_r(text, " ", &save), *word;
    while ((word = strtok_r(NULL, " ", &save)) && strcmp(word, "->") != 0)
        add_input(b, word, inputs);
    while ((word = strtok_r(NULL, " ", &save)) && !strchr(word, '=')) {
        char *mark = strchr(word, '!');
        if (mark)
            *mark = 0;
        append_name(outputs, word);
        if (mark && !last)
            onnx_add_output(writer, word, TSR_DTYPE_F32, -1, NULL);
    }
    snprintf(name, sizeof name, "%s%d", op, index);
    inputs[strlen(inputs) - (*inputs != 0)] = outputs[strlen(outputs) - (*outputs != 0)] = 0;
    Tsr__NodeProto *node = onnx_add_node(writer, op, name, inputs, outputs);
    for (; word; word = strtok_r(NULL, " ", &save))
        add_attribute(b, node, word);
    for (size_t i = 0; last && node && i < node->n_output; i++)
        if (*node->output[i])
            onnx_add_output(writer, node->output[i], TSR_DTYPE_F32, -1, NULL);
}

static void add_nodes(const builder *b, char *node) {
    for (int i = 0; node; i++) {
        char *next = strstr(node, "; ");
        if (next)
            *next = 0;
        add_node(b, node, i, !next);
        node = next ? next + 2 : NULL;
    }
}

onnx_writer *onnx_case_filled(int opset, const char *text, onnx_element_fn *element, void *user) {
    char copy[MAX_TEXT], *graphs[MAX_GRAPHS];
    int count = 0;
    builder b = {.element = element, .user = user};
    if (strlen(text) >= sizeof copy)
        die(text);
    for (char *at = strcpy(copy, text); at; at = strstr(at, " @ ")) {
        if (count == MAX_GRAPHS)
            die(text);
        if (count) {
            *at = 0;
            at += strlen(" @ ");
        }
        graphs[count++] = at;
    }
    for (int i = count - 1; i >= 0; i--) {
        b.writer = b.graphs[i] = onnx_writer_create(opset);
        if (!b.writer)
            die(text);
        add_nodes(&b, graphs[i]);
    }
    for (int i = 1; i < count; i++)
        onnx_writer_destroy(b.graphs[i]);
    return b.writer;
}

/* Small and positive: 1/8 .. 7/8. */
static float next_eighth(void *user, const char *name, size_t element) {
    (void)name;
    (void)element;
    int *i = user;
    return 0.125f * (float)(1 + (*i)++ % 7);
}

onnx_writer *onnx_case(int opset, const char *text) {
    int i = 0;
    return onnx_case_filled(opset, text, next_eighth, &i);
}

uint8_t *onnx_case_bytes(int opset, const char *text, size_t *size) {
    onnx_writer *writer = onnx_case(opset, text);
    uint8_t *bytes = onnx_write_memory(writer, size);
    onnx_writer_destroy(writer);
    if (!bytes)
        die(text);
    return bytes;
}
