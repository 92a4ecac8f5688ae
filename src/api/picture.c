#include "api/picture.h"

#include <stdio.h>
#include <string.h>

#include "api/bind.h"
#include "api/model.h"
#include "base/allocator.h"
#include "base/error.h"
#include "cpu/cpu.h"
#include "passes/passes.h"

/* Four channels to a texel, in 32 bits. */
static uint64_t texel_bytes(const tsr_value *value) {
    const tsr_shape *shape = &value->shape;
    uint64_t count = (uint64_t)tsr_shape_count(shape);
    if (shape->rank < 2 || shape->dim[1] < 1)
        return count * sizeof(float);
    return count / (uint64_t)shape->dim[1] * (((uint64_t)shape->dim[1] + 3) / 4) * 4 *
           sizeof(float);
}

static tsr_status count_live_bytes(const tsr_graph *graph, uint64_t *most) {
    int *last_use = TSR_NEW(graph->arena, graph->value_count, int);
    uint64_t *change = TSR_NEW(graph->arena, graph->node_count + 1, uint64_t);
    if (!last_use || !change)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the sizes of tensors");
    for (int v = 0; v < graph->value_count; v++)
        last_use[v] = TSR_NONE;
    tsr_graph_last_uses(graph, last_use);
    *most = tsr_graph_peak_bytes(graph, last_use, texel_bytes, change);
    return TSR_OK;
}

static tsr_status report_fields(tsr_graph *graph, int input, const int axes[TSR_PICTURE_AXES],
                                tsr_picture_report *report) {
    tsr_receptive_fields fields;
    tsr_status status = tsr_receptive_fields_of(graph, input, axes, &fields);
    if (status == TSR_ERROR_OUT_OF_MEMORY)
        return status;
    report->is_local = status == TSR_OK;
    if (!report->is_local) {
        snprintf(report->why, sizeof report->why, "%s", tsr_last_error());
        return TSR_OK;
    }
    report->normalizes = fields.whole != NULL;
    if (fields.whole)
        snprintf(report->why, sizeof report->why, "node '%s' (%s) normalizes over all pixels",
                 fields.whole->name, tsr_node_op_name(fields.whole));
    report->numbers = fields.numbers;
    memcpy(report->alignment, fields.alignment, sizeof fields.alignment);
    for (int i = 0; i < report->output_count; i++)
        report->outputs[i].map = fields.values[graph->outputs[i]];
    return TSR_OK;
}

static tsr_status study(tsr_graph *graph, const tsr_session_desc *desc, const char *name,
                        const int axes[TSR_PICTURE_AXES], tsr_picture_report *report) {
    TSR_TRY(tsr_bind(graph, desc));
    TSR_TRY(tsr_prepare(graph, tsr_cpu_eval, NULL));
    TSR_TRY(tsr_pass_recognize_shuffle(graph));
    TSR_TRY(tsr_pass_remove_dead(graph));
    int input = tsr_graph_find_value(graph, name);
    if (input == TSR_NONE || !tsr_graph_is_input(graph, input))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no input '%s'", name);
    for (int i = 0; i < report->output_count; i++)
        report->outputs[i].shape = graph->values[graph->outputs[i]].shape;
    TSR_TRY(count_live_bytes(graph, &report->live_bytes));
    return report_fields(graph, input, axes, report);
}

tsr_status tsr_model_picture(const tsr_model *model, const tsr_session_desc *desc,
                             const char *input, const int axes[TSR_PICTURE_AXES],
                             tsr_picture_report *report) {
    int count = model->graph->output_count;
    *report = (tsr_picture_report){.output_count = count};
    tsr_graph *graph = tsr_graph_clone(model->graph);
    report->outputs = tsr_calloc((size_t)count + 1, sizeof *report->outputs);
    tsr_status status = graph && report->outputs
                            ? study(graph, desc, input, axes, report)
                            : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the graph");
    tsr_graph_destroy(graph);
    if (status == TSR_OK)
        return TSR_OK;
    tsr_free(report->outputs);
    report->outputs = NULL;
    return tsr_fail_context(status, "%s", model->graph->file);
}
