#include "api/late.h"

#include "base/allocator.h"
#include "base/error.h"
#include "cpu/cpu.h"

tsr_status tsr_late_create(const tsr_graph *graph, const tsr_late_nodes *nodes, tsr_late **late) {
    tsr_late *made = tsr_calloc(1, sizeof *made);
    tsr_graph *rest = made ? tsr_graph_clone(graph) : NULL;
    int *outputs = rest ? TSR_NEW(rest->arena, nodes->output_count, int) : NULL;
    *late = made;
    if (!made)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for what follows a run");
    made->nodes = *nodes;
    made->graph = rest;
    if (!outputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for what follows a run");
    rest->nodes = nodes->nodes;
    rest->node_count = nodes->node_count;
    rest->input_count = rest->output_count = 0;
    for (int i = 0; i < nodes->output_count; i++)
        if (nodes->is_late[nodes->outputs[i]])
            outputs[rest->output_count++] = nodes->outputs[i];
    rest->outputs = outputs;
    return TSR_OK;
}

void tsr_late_destroy(tsr_late *late) {
    if (!late)
        return;
    tsr_graph_destroy(late->result);
    tsr_graph_destroy(late->graph);
    tsr_free(late);
}

void tsr_late_forget(tsr_late *late) {
    if (!late)
        return;
    tsr_graph_destroy(late->result);
    late->result = NULL;
}

bool tsr_late_has(const tsr_late *late, int value) {
    for (int i = 0; late && i < late->graph->output_count; i++)
        if (late->graph->outputs[i] == value)
            return true;
    return false;
}

const tsr_value *tsr_late_value(const tsr_late *late, int value) {
    const tsr_graph *graph = late->result ? late->result : late->graph;
    return &graph->values[value];
}

/* Elements as graphs hold them. */
static tsr_status add_elements(tsr_graph *graph, tsr_late_read_fn *read, void *user, int v) {
    enum { MOST = 1 << 24 };
    tsr_value *value = &graph->values[v];
    size_t count = (size_t)tsr_shape_count(&value->shape);
    float *floats = TSR_NEW(graph->arena, count + 1, float);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s'", value->name);
    if (count)
        TSR_TRY(read(user, v, floats, count));
    value->data = floats;
    if (tsr_dtype_is_float(value->dtype))
        return TSR_OK;
    int64_t *ints = TSR_NEW(graph->arena, count + 1, int64_t);
    if (!ints)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s'", value->name);
    for (size_t i = 0; i < count; i++) {
        if (!(floats[i] > -MOST && floats[i] < MOST))
            return tsr_fail(TSR_ERROR_UNSUPPORTED,
                            "tensor '%s' has an element beyond 2^24, which what follows a run "
                            "does not read exactly",
                            value->name);
        ints[i] = (int64_t)floats[i];
    }
    value->data = ints;
    return TSR_OK;
}

tsr_status tsr_late_compute(tsr_late *late, tsr_late_read_fn *read, void *user) {
    if (!late || late->result)
        return TSR_OK;
    tsr_graph *work = tsr_graph_clone(late->graph);
    if (!work)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for what follows a run");
    tsr_status status = TSR_OK;
    for (int i = 0; i < late->nodes.input_count && status == TSR_OK; i++)
        status = add_elements(work, read, user, late->nodes.inputs[i]);
    if (status == TSR_OK)
        status = tsr_evaluate(work, tsr_cpu_eval);
    if (status == TSR_OK)
        late->result = work;
    else
        tsr_graph_destroy(work);
    return status;
}
