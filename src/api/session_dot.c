/* The session's graph in Graphviz' language DOT. */
#include "api/session.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/text.h"

#include <inttypes.h>

enum { SHOWN_NAME = 96 }; /* bytes of a name */

typedef struct dot {
    const tsr_session *session;
    tsr_text text; /* not yet written */
    tsr_write_fn write;
    void *user;
} dot;

static tsr_status flush(dot *d) {
    size_t length = d->text.length;
    char *chars = tsr_text_take(&d->text);
    bool written = chars && d->write(d->user, chars, length);
    tsr_free(chars);
    if (!chars)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to draw the graph");
    return written ? TSR_OK : tsr_fail(TSR_ERROR_IO, "the graph's drawing could not be written");
}

/* Inside quotes: a label's line, or a part of it. */
static void add_name(dot *d, const char *name) {
    char shown[SHOWN_NAME];
    tsr_escape(name, shown, sizeof shown);
    for (const char *c = shown; *c; c++)
        tsr_text_add(&d->text, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
}

/* "1x3x256x256", and the type unless it is float32. */
static void add_shape(dot *d, const tsr_value *value) {
    if (value->shape.rank == 0)
        tsr_text_add(&d->text, "scalar");
    for (int i = 0; i < value->shape.rank; i++)
        if (value->shape.dim[i] < 0)
            tsr_text_add(&d->text, "%s?", i ? "x" : "");
        else
            tsr_text_add(&d->text, "%s%" PRId64, i ? "x" : "", value->shape.dim[i]);
    if (value->shape.rank < 0)
        tsr_text_add(&d->text, "?");
    if (value->dtype != TSR_DTYPE_F32)
        tsr_text_add(&d->text, " %s", tsr_dtype_name(value->dtype));
}

/* "n12": the node that computes a value, or "v7": the value, an input or a constant. */
static void add_origin(dot *d, int value, const int *makers) {
    if (makers[value] == TSR_NONE)
        tsr_text_add(&d->text, "v%d", value);
    else
        tsr_text_add(&d->text, "n%d", makers[value]);
}

static void add_edge(dot *d, int value, int node, const int *makers, bool of_post) {
    const tsr_value *v = &d->session->graph->values[value];
    if (v->data) /* it is in the node's label */
        return;
    tsr_text_add(&d->text, "  ");
    add_origin(d, value, makers);
    tsr_text_add(&d->text, " -> n%d [label=\"", node);
    add_shape(d, v);
    tsr_text_add(&d->text, "\"%s];\n", of_post ? ", style=dashed" : "");
}

static void add_constant(dot *d, int value) {
    if (value == TSR_NONE || !d->session->graph->values[value].data)
        return;
    tsr_text_add(&d->text, "\\nconstant ");
    add_shape(d, &d->session->graph->values[value]);
}

/* index: among all nodes, those that follow a run after the others. */
static tsr_status add_node(dot *d, const tsr_node *node, int index, const int *makers) {
    bool is_late = index >= d->session->graph->node_count;
    tsr_text_add(&d->text, "  n%d [label=\"", index);
    add_name(d, is_late ? tsr_node_op_name(node) : d->session->op_texts[index]);
    tsr_text_add(&d->text, "\\n");
    add_name(d, node->name);
    for (int i = 0; i < node->input_count; i++)
        add_constant(d, node->inputs[i]);
    for (int i = 0; i < node->post_count; i++)
        add_constant(d, node->posts[i].operand);
    tsr_text_add(&d->text, "\"%s];\n", is_late ? ", style=dashed" : "");
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] != TSR_NONE)
            add_edge(d, node->inputs[i], index, makers, false);
    for (int i = 0; i < node->post_count; i++)
        if (node->posts[i].operand != TSR_NONE)
            add_edge(d, node->posts[i].operand, index, makers, true);
    return flush(d);
}

static tsr_status add_input(dot *d, int value) {
    const tsr_value *v = &d->session->graph->values[value];
    tsr_text_add(&d->text, "  v%d [shape=ellipse, label=\"", value);
    add_name(d, v->name);
    tsr_text_add(&d->text, "\\n");
    add_shape(d, v);
    tsr_text_add(&d->text, "\"];\n");
    return flush(d);
}

static tsr_status add_output(dot *d, int index, int value, const int *makers) {
    const tsr_graph *graph = d->session->graph;
    const tsr_value *v = &graph->values[value];
    tsr_text_add(&d->text, "  o%d [shape=ellipse, label=\"", index);
    add_name(d, v->name);
    if (v->data)
        tsr_text_add(&d->text, "\\nconstant");
    tsr_text_add(&d->text, "\"];\n");
    if (!v->data) {
        tsr_text_add(&d->text, "  ");
        add_origin(d, value, makers);
        tsr_text_add(&d->text, " -> o%d [label=\"", index);
        add_shape(d, v);
        tsr_text_add(&d->text, "\"];\n");
    }
    return flush(d);
}

static void mark_outputs(int *makers, const tsr_node *node, int index) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE)
            makers[node->outputs[i]] = index;
}

/* makers: by value, the index of the node that computes it; all TSR_NONE. */
static tsr_status add_all(dot *d, int *makers) {
    const tsr_graph *graph = d->session->graph;
    const tsr_late *late = d->session->late;
    int late_count = late ? late->nodes.node_count : 0, output_count;
    for (int n = 0; n < graph->node_count; n++)
        mark_outputs(makers, &graph->nodes[n], n);
    for (int n = 0; n < late_count; n++)
        mark_outputs(makers, &late->nodes.nodes[n], graph->node_count + n);
    tsr_text_add(&d->text, "digraph \"");
    add_name(d, graph->file);
    tsr_text_add(&d->text, "\" {\n  node [shape=box, fontname=\"Helvetica\"];\n"
                           "  edge [fontname=\"Helvetica\", fontsize=10];\n");
    for (int i = 0; i < graph->input_count; i++)
        TSR_TRY(add_input(d, graph->inputs[i]));
    for (int n = 0; n < graph->node_count; n++)
        TSR_TRY(add_node(d, &graph->nodes[n], n, makers));
    for (int n = 0; n < late_count; n++)
        TSR_TRY(add_node(d, &late->nodes.nodes[n], graph->node_count + n, makers));
    const int *outputs = tsr_session_outputs(d->session, &output_count);
    for (int i = 0; i < output_count; i++)
        TSR_TRY(add_output(d, i, outputs[i], makers));
    tsr_text_add(&d->text, "}\n");
    return flush(d);
}

tsr_status tsr_session_write_dot(const tsr_session *session, tsr_write_fn write, void *user) {
    if (!session || !write)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_write_dot: %s is NULL",
                        session ? "write" : "session");
    size_t count = (size_t)session->graph->value_count;
    int *makers = tsr_malloc((count + 1) * sizeof *makers);
    if (!makers)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to draw the graph");
    for (size_t v = 0; v < count; v++)
        makers[v] = TSR_NONE;
    dot d = {.session = session, .write = write, .user = user};
    tsr_status status = add_all(&d, makers);
    tsr_free(makers);
    return status;
}
