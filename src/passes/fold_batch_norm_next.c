/* A BatchNormalization that only a convolution reads: its scale is folded into the weights, by
 * input channel, its shift into the bias. A shift is not added to what the convolution pads with,
 * so there may be no pads then. The weights are no longer a constant of the model: sessions have
 * their own. */
#include "passes/batch_norm.h"

#include "base/error.h"
#include "graph/infer.h"

#include <math.h>

static bool has_no_pads(const tsr_graph *graph, const tsr_node *conv) {
    tsr_window window;
    if (tsr_node_window(graph, conv, &window) != TSR_OK)
        return false;
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        if (window.pad_begin[axis] || window.pad_end[axis])
            return false;
    return true;
}

static bool shifts_nothing(const tsr_affine *a) {
    for (int64_t c = 0; c < a->channels; c++)
        if (a->shift[c] != 0)
            return false;
    return true;
}

/* The BatchNormalization that the convolution alone reads; NULL if there is none, or weights that
 * others read, too: they would be copied. */
static tsr_node *norm_before(const tsr_graph *graph, const tsr_node *conv, const int *readers) {
    if (conv->op != TSR_OP_Conv)
        return NULL;
    const tsr_value *in = tsr_node_in(graph, conv, 0), *weights = tsr_node_in(graph, conv, 1),
                    *bias = tsr_node_in(graph, conv, 2);
    if (in->producer == TSR_NONE || readers[conv->inputs[0]] != 1 || !weights->data ||
        readers[conv->inputs[1]] != 1 || (bias && !bias->data))
        return NULL;
    tsr_node *norm = &graph->nodes[in->producer];
    return tsr_is_affine(graph, norm) ? norm : NULL;
}

/* New weights [M, C / group, ...] and biases, without what was added to weights. False where a
 * product is too large for a float. */
static bool fold(const tsr_graph *graph, const tsr_node *conv, const tsr_affine *a, float *weights,
                 float *biases) {
    const tsr_value *old = tsr_node_in(graph, conv, 1), *bias = tsr_node_in(graph, conv, 2);
    const tsr_unaligned_float *from = old->data, *added = bias ? bias->data : NULL;
    int64_t rows = old->shape.dim[0], columns = old->shape.dim[1];
    int64_t taps = tsr_dim_product(&old->shape, 2, old->shape.rank);
    int64_t rows_per_group = rows / tsr_attr_int(conv, "group", 1);
    for (int64_t m = 0, i = 0; m < rows; m++) {
        double sum = added ? (double)added[m] : 0, scale = old->scale ? old->scale[m] : 1;
        for (int64_t k = 0; k < columns * taps; k++, i++) {
            int64_t channel = m / rows_per_group * columns + k / taps;
            double weight = (double)from[i] * scale;
            weights[i] = (float)(weight * a->scale[channel]);
            sum += weight * a->shift[channel];
            if (isfinite(weight) && !isfinite(weights[i]))
                return false;
        }
        biases[m] = (float)sum;
    }
    return true;
}

static tsr_status fold_into(tsr_graph *graph, tsr_node *conv, tsr_node *norm, const tsr_affine *a) {
    const tsr_value old = *tsr_node_in(graph, conv, 1); /* a copy: values may move */
    const tsr_shape bias_shape = {.rank = 1, .dim = {old.shape.dim[0]}};
    float *weights = TSR_NEW(graph->arena, tsr_shape_count(&old.shape), float);
    float *biases = TSR_NEW(graph->arena, old.shape.dim[0], float);
    int *inputs = TSR_NEW(graph->arena, 3, int);
    if (!weights || !biases || !inputs)
        return tsr_out_of_memory(graph);
    if (!fold(graph, conv, a, weights, biases))
        return TSR_OK;
    inputs[0] = norm->inputs[0];
    inputs[1] = tsr_add_constant(graph, conv->name, "weights", old.dtype, &old.shape, weights);
    inputs[2] = tsr_add_constant(graph, conv->name, "bias", old.dtype, &bias_shape, biases);
    if (inputs[1] == TSR_NONE || inputs[2] == TSR_NONE)
        return TSR_ERROR_OUT_OF_MEMORY;
    conv->inputs = inputs;
    conv->input_count = 3;
    tsr_drop_node(graph, norm);
    return TSR_OK;
}

tsr_status tsr_pass_fold_batch_norm_next(tsr_graph *graph) {
    int *readers = tsr_count_readers(graph);
    if (!readers)
        return TSR_ERROR_OUT_OF_MEMORY;
    for (int n = 0; n < graph->node_count; n++) {
        tsr_node *conv = &graph->nodes[n];
        tsr_node *norm = norm_before(graph, conv, readers);
        tsr_affine a;
        if (!norm)
            continue;
        TSR_TRY(tsr_read_affine(graph, norm, &a));
        if (shifts_nothing(&a) || has_no_pads(graph, conv))
            TSR_TRY(fold_into(graph, conv, norm, &a));
    }
    tsr_remove_dropped(graph);
    return TSR_OK;
}
