/* tsr_model_write(): a model as an ONNX file. */
#include "api/bind.h"
#include "api/model.h"
#include "api/session.h"
#include "api/sized.h"
#include "api/write_weights.h"
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
    TSR_TRY(bind_batch(graph, desc->batch));
    TSR_TRY(
        tsr_bind_sizes(graph, desc->dims, desc->dim_count, desc->shapes, desc->shape_count, false));
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_value *input = &graph->values[graph->inputs[i]];
        for (int d = 0; d < input->shape.rank; d++)
            if (input->shape.dim[d] >= 0)
                name_output_sizes(graph, input, d);
    }
    return TSR_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

static tsr_status check_samples(const tsr_write_desc *desc) {
    const double least = 50, most = 100;
    bool quantizes = desc->weights == TSR_WRITTEN_QDQ,
         by_percentile = desc->calibration == TSR_CALIBRATION_PERCENTILE;
    if ((unsigned)desc->calibration > TSR_CALIBRATION_ENTROPY)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no calibration %d",
                        (int)desc->calibration);
    if (desc->percentile != 0 && !by_percentile)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "only that calibration has a percentile");
    if (desc->percentile != 0 && !(desc->percentile >= least && desc->percentile <= most))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the percentile is not one of 50 to 100");
    if (desc->sample_count < 0 || (desc->sample_count && !desc->sample))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_write_desc.sample_count is %d%s",
                        desc->sample_count, desc->sample ? "" : " and sample is NULL");
    if (!quantizes && (desc->sample_count || desc->calibration || desc->no_measure))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "only TSR_WRITTEN_QDQ has samples and a calibration");
    if (quantizes && (!desc->sample_count || desc->input_count))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "TSR_WRITTEN_QDQ needs samples%s",
                        desc->sample_count ? ", not inputs" : "");
    return !desc->no_measure || desc->tolerance == 0
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "a tolerance needs to be measured");
}

static tsr_status check_weights(const tsr_write_desc *desc) {
    if ((unsigned)desc->weights > TSR_WRITTEN_QDQ)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no format %d of weights",
                        (int)desc->weights);
    bool blocks = desc->weights == TSR_WRITTEN_INT4,
         integers = blocks || desc->weights == TSR_WRITTEN_INT8;
    if (desc->block && !blocks)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "only int4 weights are in blocks");
    if (desc->block && desc->block != 32 && desc->block != 64 && desc->block != 128)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "blocks of %d weights: 32, 64 or 128 can be",
                        desc->block);
    if (desc->zero_points && !integers)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "only int8 and int4 weights have zero points");
    if ((desc->keep_count || desc->tolerance != 0) && desc->weights == TSR_WRITTEN_AS_THEY_ARE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "all weights stay as they are: there is nothing to %s",
                        desc->keep_count ? "keep" : "tolerate");
    if (!(desc->tolerance >= 0))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "the tolerance is negative");
    TSR_TRY(check_samples(desc));
    return desc->tolerance == 0 || desc->input_count || desc->sample_count
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "a tolerance needs inputs to measure with");
}

static tsr_status check_desc(const tsr_write_desc *desc) {
    const tsr_desc_list lists[] = {{"dims", desc->dim_count, desc->dims},
                                   {"shapes", desc->shape_count, desc->shapes},
                                   {"keep", desc->keep_count, desc->keep},
                                   {"inputs", desc->input_count, desc->inputs}};
    TSR_TRY(tsr_check_lists("tsr_write_desc", lists, sizeof lists / sizeof *lists));
    if (desc->opset && (desc->opset < TSR_OPSET_WRITTEN_MIN || desc->opset > TSR_OPSET_MAX))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "opset %d: files are written in opsets %d to %d", desc->opset,
                        TSR_OPSET_WRITTEN_MIN, TSR_OPSET_MAX);
    return check_weights(desc);
}

static tsr_status choose_opset(const tsr_graph *graph, const tsr_write_desc *desc, int *opset) {
    int least;
    TSR_TRY(tsr_weights_first_opset(graph, desc, &least));
    *opset = desc->opset;
    if (!desc->opset)
        *opset = (int)tsr_min(tsr_max(tsr_max(graph->opset, tsr_onnx_first_opset(graph)), least),
                              TSR_OPSET_MAX);
    return *opset >= least
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                          "opset %d cannot have such weights; opset %d can", *opset, least);
}

static tsr_status write_graph(tsr_graph *graph, const tsr_graph *loaded, const tsr_write_desc *desc,
                              tsr_write_fn write, void *user) {
    int opset;
    TSR_TRY(choose_opset(graph, desc, &opset));
    TSR_TRY(bind_sizes(graph, desc));
    TSR_TRY(tsr_export(graph, tsr_cpu_eval, opset, desc->keep_nodes));
    if (desc->weights != TSR_WRITTEN_AS_THEY_ARE)
        TSR_TRY(tsr_write_weights(graph, loaded, desc));
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
    tsr_status status = write_graph(graph, model->graph, &known, write, user);
    tsr_session_name_file(status, graph);
    tsr_graph_destroy(graph);
    return status;
}
