#include "gpu/fallback.h"

#include "base/allocator.h"
#include "base/error.h"
#include "cpu/cpu.h"

#include <string.h>

bool tsr_falls_back(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind != TSR_PASS_DRAW)
            return true;
    return false;
}

static tsr_status hold(tsr_fallback *f, int value) {
    const tsr_value *v = value == TSR_NONE ? NULL : &f->plan->graph->values[value];
    if (!v || v->data || f->data[value])
        return TSR_OK;
    size_t count = (size_t)tsr_shape_count(&v->shape);
    size_t floats = tsr_dtype_is_float(v->dtype) ? 0 : count * sizeof(float); /* after integers */
    f->data[value] = tsr_calloc(tsr_cpu_bytes(v) + floats + 1, 1);
    return f->data[value] ? TSR_OK
                          : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for tensor '%s'", v->name);
}

static tsr_status hold_node(tsr_fallback *f, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        TSR_TRY(hold(f, node->inputs[i]));
    for (int i = 0; i < node->post_count; i++)
        TSR_TRY(hold(f, node->posts[i].operand));
    for (int i = 0; i < node->output_count; i++)
        TSR_TRY(hold(f, node->outputs[i]));
    return TSR_OK;
}

tsr_status tsr_fallback_create(const tsr_plan *plan, tsr_fallback *f) {
    f->plan = plan;
    if (!tsr_falls_back(plan))
        return TSR_OK;
    f->data = tsr_calloc((size_t)plan->graph->value_count, sizeof *f->data);
    if (!f->data)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the session");
    for (int i = 0; i < plan->graph->value_count; i++)
        if (plan->value_on_cpu[i])
            TSR_TRY(hold(f, i));
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].kind == TSR_PASS_CPU)
            TSR_TRY(hold_node(f, &plan->graph->nodes[plan->passes[i].node]));
    return TSR_OK;
}

void tsr_fallback_destroy(tsr_fallback *f) {
    for (int i = 0; f->data && i < f->plan->graph->value_count; i++)
        if (!f->plan->graph->values[i].data)
            tsr_free(f->data[i]);
    tsr_free(f->data);
}

void tsr_fallback_set_input(tsr_fallback *f, int value, const tsr_elements *from) {
    const tsr_value *v = &f->plan->graph->values[value];
    if (!f->data || !f->plan->value_on_cpu[value])
        return;
    if (tsr_dtype_is_float(v->dtype))
        tsr_elements_to_floats(from, &v->shape, f->data[value]);
    else
        tsr_cpu_store(v, from->array.data, f->data[value]);
}

/* Copies a value of the device to memory. */
static tsr_status fetch(tsr_fallback *f, int value, float *staging, tsr_read_fn *read, void *user) {
    if (value == TSR_NONE || f->plan->value_on_cpu[value])
        return TSR_OK;
    const tsr_value *v = &f->plan->graph->values[value];
    if (v->data) {
        f->data[value] = (void *)v->data; /* only read */
        return TSR_OK;
    }
    int tensor = f->plan->value_tensor[value];
    if (tensor == TSR_NONE)
        return TSR_OK;
    const float *constant = f->plan->tensors[tensor].constant;
    if (constant) { /* a view of one */
        tsr_cpu_store(v, constant, f->data[value]);
        return TSR_OK;
    }
    if (tsr_dtype_is_float(v->dtype))
        return read(user, tensor, f->data[value]);
    TSR_TRY(read(user, tensor, staging)); /* integers: floats on a GPU */
    tsr_cpu_store(v, staging, f->data[value]);
    return TSR_OK;
}

tsr_status tsr_fallback_run(tsr_fallback *f, const tsr_pass *pass, float *staging,
                            tsr_read_fn *read, void *user) {
    const tsr_graph *graph = f->plan->graph;
    const tsr_node *node = &graph->nodes[pass->node];
    for (int i = 0; i < node->input_count; i++)
        TSR_TRY(fetch(f, node->inputs[i], staging, read, user));
    for (int i = 0; i < node->post_count; i++)
        TSR_TRY(fetch(f, node->posts[i].operand, staging, read, user));
    return tsr_cpu_eval(graph, node, f->data);
}

const float *tsr_fallback_floats(const tsr_fallback *f, int value) {
    const tsr_value *v = &f->plan->graph->values[value];
    if (tsr_dtype_is_float(v->dtype))
        return f->data[value];
    float *floats = (float *)(void *)((char *)f->data[value] + tsr_cpu_bytes(v));
    tsr_cpu_load(v, f->data[value], floats);
    return floats;
}

void tsr_fallback_get_output(const tsr_fallback *f, int value, float *elements) {
    tsr_cpu_load(&f->plan->graph->values[value], f->data[value], elements);
}
