/* A Pad that only a convolution or pool reads becomes its pads, where these mean the same: zeros
 * for Conv, and for AveragePool if it counts them; what is never the largest for MaxPool. */
#include "passes/edit.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>
#include <string.h>

enum { IMAGE_AXES = 2 }; /* before the spatial ones */

typedef struct padding {
    int rank;                       /* spatial axes */
    int64_t pads[2 * TSR_MAX_RANK]; /* as the attribute: all begins, then all ends */
    float value;
} padding;

/* False unless it adds one known number around the spatial axes of floats. */
static bool read_pad(const tsr_graph *graph, const tsr_node *node, padding *p) {
    const tsr_value *in = tsr_node_in(graph, node, 0), *value = tsr_node_in(graph, node, 2);
    int64_t begin[TSR_MAX_RANK], end[TSR_MAX_RANK];
    if (node->op != TSR_OP_Pad || node->post_count || !tsr_dtype_is_float(in->dtype) ||
        strcmp(tsr_attr_string(node, "mode", "constant"), "constant") != 0 ||
        (value && !value->data) || tsr_node_pads(graph, node, begin, end) != TSR_OK)
        return false;
    p->rank = in->shape.rank - IMAGE_AXES;
    p->value = value ? *(const tsr_unaligned_float *)value->data : 0;
    for (int i = 0; i < in->shape.rank; i++) {
        if (begin[i] < 0 || end[i] < 0 || (i < IMAGE_AXES && (begin[i] || end[i])))
            return false;
        if (i < IMAGE_AXES)
            continue;
        p->pads[i - IMAGE_AXES] = begin[i];
        p->pads[p->rank + i - IMAGE_AXES] = end[i];
    }
    return p->rank > 0;
}

/* Is no element of the node's result below zero? */
static bool is_not_negative(const tsr_graph *graph, const tsr_node *node) {
    const tsr_value *low = node->op == TSR_OP_Clip ? tsr_node_in(graph, node, 1) : NULL;
    return node->op == TSR_OP_Relu || node->op == TSR_OP_Sigmoid ||
           (low && low->data && *(const tsr_unaligned_float *)low->data >= 0);
}

/* Is the padded number never larger than the elements of a window, each of which has one? */
static bool is_never_largest(const tsr_graph *graph, const tsr_node *pad, const padding *p,
                             const tsr_window *window) {
    int producer = graph->values[pad->inputs[0]].producer;
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        if (window->dilation[axis] != 1)
            return false;
    return p->value == -INFINITY || (p->value == 0 && producer != TSR_NONE &&
                                     is_not_negative(graph, &graph->nodes[producer]));
}

static bool has_pads(const tsr_window *window) {
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        if (window->pad_begin[axis] || window->pad_end[axis])
            return true;
    return false;
}

/* Are pads of the node the same as padding its input? */
static bool means_the_same(const tsr_graph *graph, const tsr_node *node, const tsr_node *pad,
                           const padding *p, const tsr_window *window) {
    switch (node->op) {
    case TSR_OP_Conv:
        return p->value == 0;
    case TSR_OP_AveragePool:
        return p->value == 0 && !window->ceil_mode &&
               (window->count_include_pad || !has_pads(window));
    case TSR_OP_MaxPool: /* its indices would be of the padded input */
        return node->output_count == 1 && !window->ceil_mode &&
               is_never_largest(graph, pad, p, window);
    default:
        return false;
    }
}

static bool is_replaced(const char *name) {
    return strcmp(name, "pads") == 0 || strcmp(name, "auto_pad") == 0 ||
           strcmp(name, "count_include_pad") == 0;
}

/* Gives the node attributes of its own, with its pads and these. */
static tsr_status add_pads(const tsr_graph *graph, tsr_node *node, const padding *p) {
    int given;
    const int64_t *old = tsr_attr_ints(node, "pads", &given);
    bool valid = strcmp(tsr_attr_string(node, "auto_pad", "NOTSET"), "VALID") == 0;
    tsr_attr *attrs = TSR_NEW(graph->arena, node->attr_count + 2, tsr_attr);
    int64_t *pads = TSR_NEW(graph->arena, 2 * p->rank, int64_t);
    int count = 0;
    if (!attrs || !pads)
        return tsr_out_of_memory(graph);
    for (int i = 0; i < 2 * p->rank; i++)
        pads[i] = p->pads[i] + (old && !valid ? old[i] : 0);
    for (int i = 0; i < node->attr_count; i++)
        if (!is_replaced(node->attrs[i].name))
            attrs[count++] = node->attrs[i];
    attrs[count++] =
        (tsr_attr){.name = "pads", .kind = TSR_ATTR_INTS, .count = 2 * p->rank, .ints = pads};
    if (node->op == TSR_OP_AveragePool)
        attrs[count++] = (tsr_attr){.name = "count_include_pad", .kind = TSR_ATTR_INT, .i = 1};
    node->attrs = attrs;
    node->attr_count = count;
    return TSR_OK;
}

/* The node with the pads, reading what was padded; false if it cannot have so large ones. */
static tsr_status make_padded(const tsr_graph *graph, const tsr_node *node, const tsr_node *pad,
                              const padding *p, tsr_node *made, bool *possible) {
    tsr_window window;
    *made = *node;
    made->inputs = TSR_NEW(graph->arena, node->input_count, int);
    if (!made->inputs)
        return tsr_out_of_memory(graph);
    memcpy(made->inputs, node->inputs, (size_t)node->input_count * sizeof *node->inputs);
    made->inputs[0] = pad->inputs[0];
    TSR_TRY(add_pads(graph, made, p));
    *possible = tsr_node_window(graph, made, &window) == TSR_OK;
    return TSR_OK;
}

static bool has_fixed_pads(const tsr_node *node) {
    const char *auto_pad = tsr_attr_string(node, "auto_pad", "NOTSET");
    return strcmp(auto_pad, "NOTSET") == 0 || strcmp(auto_pad, "VALID") == 0;
}

/* The Pad that the node alone reads; NULL if there is none. */
static tsr_node *pad_before(const tsr_graph *graph, const tsr_node *node, const int *readers) {
    int value = node->inputs[0], producer = graph->values[value].producer;
    bool windowed =
        node->op == TSR_OP_Conv || node->op == TSR_OP_AveragePool || node->op == TSR_OP_MaxPool;
    if (!windowed || producer == TSR_NONE || readers[value] != 1)
        return NULL;
    return graph->nodes[producer].op == TSR_OP_Pad ? &graph->nodes[producer] : NULL;
}

static tsr_status take_pad(tsr_graph *graph, tsr_node *node, tsr_node *pad) {
    padding p = {0};
    tsr_window window;
    tsr_node made;
    bool possible = false;
    if (!read_pad(graph, pad, &p) || !has_fixed_pads(node) ||
        tsr_node_window(graph, node, &window) != TSR_OK ||
        !means_the_same(graph, node, pad, &p, &window))
        return TSR_OK;
    TSR_TRY(make_padded(graph, node, pad, &p, &made, &possible));
    if (!possible)
        return TSR_OK;
    tsr_drop_node(graph, pad);
    *node = made;
    return TSR_OK;
}

tsr_status tsr_pass_pad_into_window(tsr_graph *graph) {
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *node = &graph->nodes[n];
        tsr_node *pad = node->input_count ? pad_before(graph, node, readers) : NULL;
        if (pad)
            TSR_TRY(take_pad(graph, node, pad));
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
