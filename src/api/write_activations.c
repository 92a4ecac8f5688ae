#include "api/write_activations.h"

#include "api/write_run.h"
#include "base/error.h"

#include <math.h>

/* A value whose numbers are counted. */
typedef struct counted {
    int value;
    int input; /* of the graph, whose numbers the caller has; TSR_NONE: an output of the session */
    tsr_histogram *histogram;
} counted;

typedef struct calibration {
    const tsr_graph *graph;
    const tsr_write_desc *desc;
    int count;
    counted *of;
    float *buffer; /* of the largest output */
    int64_t room;
} calibration;

/* ---- counting -------------------------------------------------------------------------------- */

static tsr_status fail_at(const tsr_graph *graph, int value, float x) {
    const tsr_value *v = &graph->values[value];
    const char *what = isnan(x) ? "NaN" : "infinity";
    if (v->producer == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "input '%s' has %s: it has no range", v->name,
                        what);
    const tsr_node *node = &graph->nodes[v->producer];
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "node '%s' (%s): its output '%s' has %s: it has no range", node->name,
                    tsr_node_op_name(node), v->name, what);
}

static tsr_status count_numbers(const calibration *c, const counted *of, const float *x,
                                int64_t count) {
    int64_t finite = tsr_histogram_add(of->histogram, x, count);
    return finite == count ? TSR_OK : fail_at(c->graph, of->value, x[finite]);
}

static tsr_status count_input(const calibration *c, const counted *of,
                              const tsr_fixed_input *input) {
    if (input->dtype != TSR_DTYPE_F32)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "input '%s' is of type %s instead of float32",
                        input->input, tsr_dtype_name(input->dtype));
    return count_numbers(c, of, input->data, tsr_shape_count(&input->shape));
}

static tsr_status read_output(calibration *c, tsr_session *session, int output, const float **x,
                              int64_t *count) {
    tsr_tensor_info info;
    TSR_TRY(tsr_session_output(session, output, &info));
    *count = tsr_shape_count(&info.shape);
    if (*count > c->room) {
        c->buffer = TSR_NEW(c->graph->arena, *count, float);
        c->room = *count;
    }
    if (!c->buffer)
        return *count ? tsr_out_of_memory(c->graph) : TSR_OK;
    *x = c->buffer;
    return tsr_session_get_output(session, info.name, c->buffer, (size_t)*count);
}

static tsr_status count_all(void *user, tsr_session *session, const tsr_fixed_input *inputs) {
    calibration *c = user;
    int output = 0;
    for (int i = 0; i < c->count; i++) {
        const counted *of = &c->of[i];
        const float *x = NULL;
        int64_t count = 0;
        if (of->input != TSR_NONE) {
            TSR_TRY(count_input(c, of, &inputs[of->input]));
            continue;
        }
        TSR_TRY(read_output(c, session, output++, &x, &count));
        TSR_TRY(count_numbers(c, of, x, count));
    }
    return TSR_OK;
}

/* ---- preparation ----------------------------------------------------------------------------- */

static int index_of_input(const tsr_graph *graph, int value) {
    for (int i = 0; i < graph->input_count; i++)
        if (graph->inputs[i] == value)
            return i;
    return TSR_NONE;
}

static tsr_status begin(calibration *c, const tsr_activations *activations) {
    c->of = TSR_NEW(c->graph->arena, activations->count, counted);
    if (!c->of)
        return tsr_out_of_memory(c->graph);
    for (int v = 0; v < activations->count; v++) {
        if (!activations->of[v].quantized)
            continue;
        tsr_histogram *histogram = TSR_NEW(c->graph->arena, 1, tsr_histogram);
        if (!histogram)
            return tsr_out_of_memory(c->graph);
        c->of[c->count++] = (counted){v, index_of_input(c->graph, v), histogram};
    }
    return TSR_OK;
}

/* A copy whose outputs are the values to be counted, in their order. */
static tsr_status make_graph(const calibration *c, tsr_graph **made) {
    int *outputs;
    *made = tsr_graph_clone(c->graph);
    if (!*made || !(outputs = TSR_NEW((*made)->arena, c->count, int))) {
        tsr_graph_destroy(*made);
        return tsr_out_of_memory(c->graph);
    }
    (*made)->outputs = outputs;
    (*made)->output_count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->of[i].input == TSR_NONE)
            outputs[(*made)->output_count++] = c->of[i].value;
    return TSR_OK;
}

static tsr_range range_of(const tsr_write_desc *desc, const tsr_histogram *histogram) {
    switch (desc->calibration) {
    case TSR_CALIBRATION_PERCENTILE:
        return tsr_histogram_percentile(histogram,
                                        desc->percentile != 0 ? desc->percentile : 99.99);
    case TSR_CALIBRATION_ENTROPY:
        return tsr_histogram_entropy(histogram);
    default:
        return tsr_histogram_all(histogram);
    }
}

tsr_status tsr_calibrate_activations(const tsr_graph *graph, const tsr_write_desc *desc,
                                     tsr_progress_meter *meter, tsr_activations *activations) {
    calibration c = {.graph = graph, .desc = desc};
    const tsr_write_reader reader = {count_all, &c, "calibrating", meter};
    tsr_graph *copy;
    TSR_TRY(begin(&c, activations));
    TSR_TRY(make_graph(&c, &copy));
    TSR_TRY(tsr_write_run(copy, desc, &reader));
    for (int i = 0; i < c.count; i++)
        activations->of[c.of[i].value].range = range_of(desc, c.of[i].histogram);
    return TSR_OK;
}
