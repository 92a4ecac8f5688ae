/* Weights in fewer bits: elements, scales, zero points. */
#include "passes/weight_layers.h"

#include "base/divide.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/half.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- what shares a scale --------------------------------------------------------------------- */

/* Weights of convolutions in blocks are seen as matrices, so that blocks are of what one output
 * sums up; a transposed one's are as they are: its input channels come first. */
static tsr_scale_grid choose_grid(const tsr_shape *shape, const tsr_weight_layer *layer,
                                  const tsr_weight_options *o, tsr_op op) {
    tsr_scale_grid g = {.view = *shape, .axis = layer->output_axis};
    if (o->format != TSR_WRITTEN_INT4)
        return g;
    g.block = o->block;
    g.axis = layer->sum_axis;
    if (op == TSR_OP_Conv || op == TSR_OP_ConvTranspose)
        g.view = (tsr_shape){2, {shape->dim[0], tsr_dim_product(shape, 1, shape->rank)}};
    return g;
}

/* Of scales: of the view with a block for an element, or a list. */
static tsr_shape scale_shape(const tsr_scale_grid *g) {
    tsr_shape shape = g->view;
    if (!g->block)
        return (tsr_shape){1, {g->view.dim[g->axis]}};
    shape.dim[g->axis] = tsr_divide_up(shape.dim[g->axis], g->block);
    return shape;
}

/* The scale of an element. */
static int64_t scale_of(const tsr_scale_grid *g, int64_t inner, int64_t i) {
    int64_t size = g->view.dim[g->axis], at = i / inner % size;
    if (!g->block)
        return at;
    int64_t blocks = tsr_divide_up(size, g->block);
    return (i / (inner * size) * blocks + at / g->block) * inner + i % inner;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* -128 is not used: GPUs read it as -127. */
typedef struct number_range {
    tsr_dtype dtype;
    int low, high;
} number_range;

static number_range range_of(const tsr_weight_options *o) {
    bool bytes = o->format == TSR_WRITTEN_INT8;
    if (o->zero_points)
        return bytes ? (number_range){TSR_DTYPE_U8, 0, 255} : (number_range){TSR_DTYPE_U4, 0, 15};
    return bytes ? (number_range){TSR_DTYPE_I8, -127, 127} : (number_range){TSR_DTYPE_I4, -8, 7};
}

typedef struct packer {
    const float *from; /* aligned */
    int64_t count, inner, scale_count;
    tsr_dtype dtype; /* of the weights and scales */
    number_range range;
    tsr_scale_grid grid;
    float *least, *most, *scales; /* by scale */
    int64_t *zero_points, *to;    /* by scale, by element */
} packer;

static void find_ranges(packer *p) {
    for (int64_t i = 0; i < p->count; i++) {
        int64_t s = scale_of(&p->grid, p->inner, i);
        p->least[s] = fminf(p->least[s], p->from[i]);
        p->most[s] = fmaxf(p->most[s], p->from[i]);
    }
}

/* As the file has it; never 0, and 1 for zeros alone. */
static float round_scale(double scale, tsr_dtype dtype) {
    const double least = dtype == TSR_DTYPE_F16 ? 0x1p-14 : FLT_MIN;
    if (scale < least)
        return scale > 0 ? (float)least : 1;
    return dtype == TSR_DTYPE_F16 ? tsr_half_to_float(tsr_float_to_half((float)scale))
                                  : (float)scale;
}

static void choose_scales(packer *p) {
    const number_range *r = &p->range;
    for (int64_t s = 0; s < p->scale_count; s++) {
        double low = p->least[s], high = p->most[s];
        bool shifts = r->low == 0;
        double scale = shifts ? (high - low) / r->high : fmax(high / r->high, low / r->low);
        p->scales[s] = round_scale(scale, p->dtype);
        p->zero_points[s] = shifts ? (int64_t)fmin(nearbyint(-low / p->scales[s]), r->high) : 0;
    }
}

/* Returns the squares of what is lost. */
static double round_elements(packer *p) {
    double lost = 0;
    for (int64_t i = 0; i < p->count; i++) {
        int64_t s = scale_of(&p->grid, p->inner, i);
        double x = nearbyint((double)p->from[i] / p->scales[s]) + (double)p->zero_points[s];
        p->to[i] = (int64_t)fmax(fmin(x, p->range.high), p->range.low);
        double error = (double)(p->to[i] - p->zero_points[s]) * p->scales[s] - p->from[i];
        lost += error * error;
    }
    return lost;
}

static tsr_status make_arrays(const tsr_graph *graph, packer *p) {
    p->least = TSR_NEW(graph->arena, p->scale_count, float);
    p->most = TSR_NEW(graph->arena, p->scale_count, float);
    p->scales = TSR_NEW(graph->arena, p->scale_count, float);
    p->zero_points = TSR_NEW(graph->arena, p->scale_count, int64_t);
    p->to = TSR_NEW(graph->arena, p->count, int64_t);
    bool made = p->least && p->most && p->scales && p->zero_points && p->to;
    return made ? TSR_OK : tsr_out_of_memory(graph);
}

/* ---- constants ------------------------------------------------------------------------------- */

static tsr_status add(tsr_graph *graph, const char *base, const char *suffix, tsr_dtype dtype,
                      const tsr_shape *shape, const void *data, int *value) {
    *value = tsr_add_constant(graph, base, suffix, dtype, shape, data);
    return *value == TSR_NONE ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK;
}

static double squares(const float *x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

static double relative(double lost, double sum) {
    return lost > 0 ? sqrt(lost / sum) : 0;
}

static tsr_status pack_integers(tsr_graph *graph, packer *p, const char *name, tsr_packed *packed) {
    const tsr_shape scales = scale_shape(&p->grid);
    p->scale_count = tsr_shape_count(&scales);
    TSR_TRY(make_arrays(graph, p));
    find_ranges(p);
    choose_scales(p);
    packed->error = relative(round_elements(p), squares(p->from, p->count));
    packed->grid = p->grid;
    TSR_TRY(add(graph, name, "quantized", p->range.dtype, &p->grid.view, p->to, &packed->elements));
    TSR_TRY(add(graph, name, "scales", p->dtype, &scales, p->scales, &packed->scales));
    return p->range.low == 0 ? add(graph, name, "zero_points", p->range.dtype, &scales,
                                   p->zero_points, &packed->zero_points)
                             : TSR_OK;
}

static tsr_status pack_halves(tsr_graph *graph, const packer *p, const char *name,
                              tsr_packed *packed) {
    double lost = 0;
    float *halves = TSR_NEW(graph->arena, p->count, float);
    if (!halves)
        return tsr_out_of_memory(graph);
    for (int64_t i = 0; i < p->count; i++) {
        halves[i] = tsr_half_to_float(tsr_float_to_half(p->from[i]));
        lost += ((double)halves[i] - p->from[i]) * ((double)halves[i] - p->from[i]);
    }
    packed->error = relative(lost, squares(p->from, p->count));
    packed->grid = p->grid;
    return add(graph, name, "half", TSR_DTYPE_F16, &p->grid.view, halves, &packed->elements);
}

static const char *why_not(const packer *p, const tsr_weight_options *o) {
    const double most_half = 65504;
    bool halves = o->format == TSR_WRITTEN_FP16;
    if (halves && p->dtype == TSR_DTYPE_F16)
        return "it is float16 already";
    for (int64_t i = 0; i < p->count; i++) {
        if (!isfinite(p->from[i]))
            return "it has NaN or infinity";
        if (halves && fabs(p->from[i]) > most_half)
            return "it has numbers beyond float16";
    }
    return NULL;
}

tsr_status tsr_pack_weights(tsr_graph *graph, const tsr_weight_layer *layer,
                            const tsr_weight_options *options, tsr_packed *packed,
                            const char **reason) {
    *packed = (tsr_packed){TSR_NONE, TSR_NONE, TSR_NONE, .error = -1};
    if (!tsr_graph_copy_to_arena(graph, layer->weights))
        return tsr_out_of_memory(graph);
    const tsr_value weights = graph->values[layer->weights];
    packer p = {.from = weights.data,
                .count = tsr_shape_count(&weights.shape),
                .dtype = graph->values[layer->value].dtype,
                .range = range_of(options),
                .grid = choose_grid(&weights.shape, layer, options, graph->nodes[layer->node].op)};
    p.inner = tsr_dim_product(&p.grid.view, p.grid.axis + 1, p.grid.view.rank);
    *reason = why_not(&p, options);
    if (*reason)
        return TSR_OK;
    return options->format == TSR_WRITTEN_FP16 ? pack_halves(graph, &p, weights.name, packed)
                                               : pack_integers(graph, &p, weights.name, packed);
}

uint64_t tsr_packed_bytes(const tsr_graph *graph, const tsr_packed *packed) {
    const int values[] = {packed->elements, packed->scales, packed->zero_points};
    uint64_t bytes = 0;
    for (int i = 0; i < 3; i++)
        if (values[i] != TSR_NONE)
            bytes +=
                tsr_dtype_file_bytes(graph->values[values[i]].dtype,
                                     (uint64_t)tsr_shape_count(&graph->values[values[i]].shape));
    return bytes;
}
