/* tsr_model_write(): a model as an ONNX file. */
#include "api/bind.h"
#include "api/model.h"
#include "api/sized.h"
#include "base/divide.h"
#include "base/error.h"
#include "cpu/cpu.h"
#include "onnx/onnx.h"
#include "passes/passes.h"

#include <string.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

static tsr_status bind_batch(tsr_graph *graph, int64_t batch) {
    bool found = false;
    if (batch < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "a batch cannot have the size %lld",
                        (long long)batch);
    for (int i = 0; i < graph->input_count && batch; i++) {
        tsr_value *input = &graph->values[graph->inputs[i]];
        if (input->shape.rank < 1 || input->shape.dim[0] >= 0)
            continue;
        input->shape.dim[0] = batch;
        found = true;
    }
    return found || !batch
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                          "batch %lld: no input leaves its first size open", (long long)batch);
}

/* Sizes of outputs that have an input's name are known with it. */
static void name_output_sizes(tsr_graph *graph, const tsr_value *input, int axis) {
    for (int i = 0; i < graph->output_count; i++) {
        tsr_value *output = &graph->values[graph->outputs[i]];
        for (int d = 0; d < output->shape.rank; d++)
            if (output->shape.dim[d] < 0 && output->dim_name[d] && input->dim_name[axis] &&
                strcmp(output->dim_name[d], input->dim_name[axis]) == 0)
                output->shape.dim[d] = input->shape.dim[axis];
    }
}

static tsr_status bind_sizes(tsr_graph *graph, const tsr_write_desc *desc) {
    TSR_TRY(tsr_bind_sizes(graph, desc->dims, desc->dim_count, desc->shapes, desc->shape_count));
    TSR_TRY(bind_batch(graph, desc->batch));
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_value *input = &graph->values[graph->inputs[i]];
        for (int d = 0; d < input->shape.rank; d++)
            if (input->shape.dim[d] >= 0)
                name_output_sizes(graph, input, d);
    }
    return TSR_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

static tsr_status check_desc(const tsr_write_desc *desc) {
    const struct {
        const char *name;
        int count;
        const void *array;
    } lists[] = {{"dims", desc->dim_count, desc->dims},
                 {"shapes", desc->shape_count, desc->shapes}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].count < 0 || (lists[i].count > 0 && !lists[i].array))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_write_desc.%s has a count of %d%s",
                            lists[i].name, lists[i].count, lists[i].array ? "" : " and is NULL");
    if (desc->opset && (desc->opset < TSR_OPSET_WRITTEN_MIN || desc->opset > TSR_OPSET_MAX))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "opset %d: files are written in opsets %d to %d", desc->opset,
                        TSR_OPSET_WRITTEN_MIN, TSR_OPSET_MAX);
    return TSR_OK;
}

static int choose_opset(const tsr_graph *graph, const tsr_write_desc *desc) {
    if (desc->opset)
        return desc->opset;
    return (int)tsr_min(tsr_max(graph->opset, tsr_onnx_first_opset(graph)), TSR_OPSET_MAX);
}

static tsr_status write_graph(tsr_graph *graph, const tsr_write_desc *desc, tsr_write_fn write,
                              void *user) {
    int opset = choose_opset(graph, desc);
    TSR_TRY(tsr_fail_context(bind_sizes(graph, desc), "%s", graph->file));
    TSR_TRY(tsr_export(graph, tsr_cpu_eval, opset));
    return tsr_onnx_write(graph, opset, write, user);
}

tsr_status tsr_model_write_sized(const tsr_model *model, const tsr_write_desc *desc, size_t size,
                                 tsr_write_fn write, void *user) {
    tsr_write_desc known;
    if (!model || !write)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_model_write: %s is NULL",
                        model ? "write" : "model");
    TSR_TRY(tsr_take_struct("tsr_write_desc", desc, size, &known, sizeof known));
    TSR_TRY(check_desc(&known));
    tsr_graph *graph = tsr_graph_clone(model->graph);
    if (!graph)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory to write the model",
                        model->graph->file);
    tsr_status status = write_graph(graph, &known, write, user);
    tsr_graph_destroy(graph);
    return status;
}
