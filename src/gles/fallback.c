/* Nodes that this backend cannot draw, run on the CPU between passes because the caller allows it.
 * Each waits for the GPU and moves its tensors through memory. */
#include "gles/runner.h"

#include "base/error.h"
#include "cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

bool tsr_gles_falls_back(const tsr_runner *r) {
    for (int i = 0; i < r->plan->pass_count; i++)
        if (r->plan->passes[i].kind != TSR_PASS_DRAW)
            return true;
    return false;
}

static tsr_status hold(tsr_runner *r, int value) {
    const tsr_value *v = value == TSR_NONE ? NULL : &r->graph->values[value];
    if (!v || v->data || r->cpu_data[value])
        return TSR_OK;
    r->cpu_data[value] = malloc(tsr_cpu_bytes(v) + 1);
    return r->cpu_data[value] ? TSR_OK
                              : tsr_fail(TSR_OUT_OF_MEMORY, "no memory for tensor '%s'", v->name);
}

static tsr_status hold_node(tsr_runner *r, const tsr_node *node) {
    for (int i = 0; i < node->input_count; i++)
        TSR_TRY(hold(r, node->inputs[i]));
    for (int i = 0; i < node->post_count; i++)
        TSR_TRY(hold(r, node->posts[i].operand));
    for (int i = 0; i < node->output_count; i++)
        TSR_TRY(hold(r, node->outputs[i]));
    return TSR_OK;
}

tsr_status tsr_gles_fallback_create(tsr_runner *r) {
    if (!tsr_gles_falls_back(r))
        return TSR_OK;
    r->cpu_data = calloc((size_t)r->graph->value_count, sizeof *r->cpu_data);
    if (!r->cpu_data)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory for the session");
    for (int i = 0; i < r->graph->value_count; i++)
        if (r->plan->value_on_cpu[i])
            TSR_TRY(hold(r, i));
    for (int i = 0; i < r->plan->pass_count; i++)
        if (r->plan->passes[i].kind == TSR_PASS_CPU)
            TSR_TRY(hold_node(r, &r->graph->nodes[r->plan->passes[i].node]));
    return TSR_OK;
}

void tsr_gles_fallback_destroy(tsr_runner *r) {
    for (int i = 0; r->cpu_data && i < r->graph->value_count; i++)
        if (!r->graph->values[i].data)
            free(r->cpu_data[i]);
    free(r->cpu_data);
}

/* What a texture holds, into memory. */
static tsr_status fetch(tsr_runner *r, int value) {
    if (value == TSR_NONE || r->plan->value_on_cpu[value])
        return TSR_OK;
    const tsr_value *v = &r->graph->values[value];
    if (v->data) {
        r->cpu_data[value] = (void *)v->data; /* only read */
        return TSR_OK;
    }
    int tensor = r->plan->value_tensor[value];
    if (tensor == TSR_NONE)
        return TSR_OK;
    const float *constant = r->plan->tensors[tensor].constant;
    if (constant) { /* a view of one */
        memcpy(r->cpu_data[value], constant, tsr_cpu_bytes(v));
        return TSR_OK;
    }
    if (tsr_dtype_is_float(v->dtype))
        return tsr_gles_read_now(r, tensor, r->cpu_data[value]);
    TSR_TRY(tsr_gles_read_now(r, tensor, r->staging)); /* a pool's indices: floats in a texture */
    int64_t *ints = r->cpu_data[value], count = tsr_shape_count(&v->shape);
    for (int64_t i = 0; i < count; i++)
        ints[i] = (int64_t)r->staging[i];
    return TSR_OK;
}

tsr_status tsr_gles_run_on_cpu(tsr_runner *r, const tsr_pass *pass) {
    const tsr_node *node = &r->graph->nodes[pass->node];
    for (int i = 0; i < node->input_count; i++)
        TSR_TRY(fetch(r, node->inputs[i]));
    for (int i = 0; i < node->post_count; i++)
        TSR_TRY(fetch(r, node->posts[i].operand));
    return tsr_fail_context(tsr_cpu_eval(r->graph, node, r->cpu_data), "%s: node '%s' (%s)",
                            r->graph->file, node->name, tsr_op_get_info(node->op)->name);
}

void tsr_gles_upload(tsr_runner *r, const tsr_pass *pass) {
    const tsr_layout *l = tsr_plan_layout(r->plan, pass->output);
    tsr_layout_pack(l, r->cpu_data[pass->value], 0, r->staging);
    tsr_target_upload(tsr_gles_target(r, pass->output), l, r->staging);
}
