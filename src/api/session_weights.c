/* Other weights than the model's, in one session. */
#include "api/session.h"

#include "base/error.h"

/* Reads of the value, those in bodies, too. */
static int count_node_reads(const tsr_node *nodes, int count, int value) {
    int reads = 0;
    for (int n = 0; n < count; n++) {
        reads += tsr_node_count_reads(&nodes[n], value);
        for (int i = 0; i < nodes[n].attr_count; i++)
            if (nodes[n].attrs[i].kind == TSR_ATTR_GRAPH)
                reads += count_node_reads(nodes[n].attrs[i].body->nodes,
                                          nodes[n].attrs[i].body->node_count, value);
    }
    return reads;
}

/* The constant of 16 bits of which a Cast makes the value; else TSR_NONE. */
static int find_widened(const tsr_graph *graph, int value) {
    int producer = graph->values[value].producer;
    const tsr_node *node = producer == TSR_NONE ? NULL : &graph->nodes[producer];
    return node && tsr_node_widens_constant(graph, node) ? node->inputs[0] : TSR_NONE;
}

/* Those of what widens it stand for the Cast's. */
static int count_model_reads(const tsr_graph *model, int value) {
    int reads = tsr_graph_is_output(model, value) +
                count_node_reads(model->nodes, model->node_count, value);
    for (int v = 0; v < model->value_count; v++)
        if (find_widened(model, v) == value)
            reads += count_model_reads(model, v) - 1;
    return reads;
}

/* Reads of the constant that are left in the session. */
static int count_reads(const tsr_graph *graph, int constant) {
    int reads = 0;
    for (int v = 0; v < graph->value_count; v++)
        if (graph->values[v].model_constant == constant)
            reads += count_model_reads(graph, v);
    return reads;
}

static tsr_status set_weights(tsr_session *session, int value, const float *elements) {
    const tsr_backend *backend = session->device->backend;
    int constant = session->model->graph->values[value].model_constant;
    int reads = count_reads(session->graph, constant);
    bool kept = reads > 0 && reads == count_model_reads(session->model->graph, value);
    session->stepping = false;
    if (session->late) /* which reads constants, too */
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "not with nodes whose shapes are known only at run time");
    tsr_status status =
        kept ? backend->set_weights(session->runner, constant, elements) : TSR_ERROR_UNSUPPORTED;
    session->weights_replaced |= status == TSR_OK;
    return status != TSR_ERROR_UNSUPPORTED
               ? status
               : tsr_fail(
                     TSR_ERROR_UNSUPPORTED,
                     "the session does not read it as weights alone, or has it in 8 bits or 4");
}

tsr_status tsr_session_set_weights(tsr_session *session, const char *name, const float *elements,
                                   size_t count) {
    if (!session || !name || !elements)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_set_weights: an argument is NULL");
    TSR_TRY(tsr_session_check_can_run(session));
    const tsr_graph *model = session->model->graph;
    int v = tsr_graph_find_value(model, name), widened = v == TSR_NONE ? v : find_widened(model, v);
    v = widened == TSR_NONE ? v : widened;
    if (v == TSR_NONE || !model->values[v].data || !tsr_dtype_is_float(model->values[v].dtype))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: there is no constant '%s' of floats",
                        model->file, name);
    size_t expected = (size_t)tsr_shape_count(&model->values[v].shape);
    if (count != expected)
        return tsr_fail(TSR_ERROR_SHAPE, "%s: constant '%s' %s has %zu elements, not %zu",
                        model->file, name, tsr_shape_text(&model->values[v].shape), expected,
                        count);
    return tsr_fail_context(set_weights(session, v, elements), "%s: constant '%s'", model->file,
                            name);
}
