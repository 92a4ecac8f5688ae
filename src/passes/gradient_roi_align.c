/* The gradient of RoiAlign's image: means of bilinear samples are products with a matrix along each
 * axis, [bins, pixels] for each region. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

typedef struct region_axis {
    int low, high; /* columns of the regions */
    int64_t bins, pixels;
} region_axis;

static int by_number(tsr_gradient_call *g, tsr_op op, int value, double right) {
    return TSR_BUILD(&g->b, op, value, tsr_build_number(&g->b, (float)right));
}

/* Edges in pixels, [R, 1, 1, 1]. */
static int edge_of(tsr_gradient_call *g, const tsr_roi_align *roi, int column) {
    int regions = tsr_build_cast_like(&g->b, g->node->inputs[1], g->dy);
    const tsr_shape shape = tsr_grad_shape(g, regions), edges = {4, {shape.dim[0], 1, 1, 1}};
    int edge = tsr_grad_reshape(g, tsr_build_slice(&g->b, regions, 1, column, column + 1), &edges);
    edge = tsr_grad_scale(g, edge, roi->scale);
    return roi->half_pixel ? by_number(g, TSR_OP_Sub, edge, 0.5) : edge;
}

/* Where samples are, in bins: [1, bins samples, 1]. */
static int sample_places(tsr_gradient_call *g, int64_t bins, int samples) {
    const tsr_shape shape = {3, {1, bins * samples, 1}};
    float *places = tsr_build_elements(&g->b, bins * samples, sizeof *places);
    for (int64_t i = 0; places && i < bins * samples; i++)
        places[i] = (float)(((double)i + 0.5) / samples);
    return places ? tsr_build_floats(&g->b, &shape, places) : TSR_NONE;
}

/* A sample weighs pixels by 1 minus their distance, none where it is far outside. */
static int build_matrix(tsr_gradient_call *g, const tsr_roi_align *roi, const region_axis *a) {
    static const int64_t samples[] = {2};
    const int64_t regions = tsr_grad_shape(g, g->node->inputs[1]).dim[0];
    int first = edge_of(g, roi, a->low), size = TSR_GRAD(g, Sub, edge_of(g, roi, a->high), first);
    if (!roi->half_pixel)
        size = by_number(g, TSR_OP_Max, size, 1);
    const tsr_shape each = {4, {1, a->bins, roi->samples, 1}};
    int places = tsr_grad_reshape(g, sample_places(g, a->bins, roi->samples), &each);
    int bin = by_number(g, TSR_OP_Div, size, (double)a->bins);
    int at = TSR_GRAD(g, Add, TSR_GRAD(g, Mul, places, bin), first);
    int limit = tsr_build_number(&g->b, (float)a->pixels),
        inside = TSR_GRAD(g, Equal, at, TSR_GRAD(g, Clip, at, tsr_build_number(&g->b, -1), limit));
    int on = TSR_GRAD(g, Clip, at, tsr_build_number(&g->b, 0),
                      tsr_build_number(&g->b, (float)(a->pixels - 1)));
    int pixels =
        tsr_build_cast_like(&g->b, tsr_build_indices(&g->b, TSR_DTYPE_I64, a->pixels, 3, 4), g->dy);
    int difference = TSR_GRAD(g, Sub, on, pixels),
        distance = TSR_GRAD(g, Max, difference, TSR_GRAD(g, Neg, difference));
    int weight = TSR_GRAD(g, Relu, TSR_GRAD(g, Sub, tsr_build_number(&g->b, 1), distance));
    int sum = tsr_grad_reduce(g, TSR_OP_ReduceMean, tsr_grad_where(g, inside, weight), 1, samples);
    return tsr_grad_reshape(g, sum, &(tsr_shape){4, {regions, 1, a->bins, a->pixels}});
}

/* Each region's gradient of the image, added to that of its image. */
static void give_image(tsr_gradient_call *g, const tsr_roi_align *roi) {
    static const int64_t turned[] = {0, 1, 3, 2};
    static const tsr_attr add = {.name = "reduction", .kind = TSR_ATTR_STRING, .s = "add"};
    const tsr_shape shape = tsr_grad_shape(g, g->x), regions = tsr_grad_shape(g, g->dy);
    const region_axis rows = {1, 3, roi->rows, shape.dim[2]},
                      columns = {0, 2, roi->columns, shape.dim[3]};
    int vertical = tsr_grad_transpose(g, build_matrix(g, roi, &rows), turned),
        image = TSR_GRAD(g, MatMul, TSR_GRAD(g, MatMul, vertical, g->dy),
                         build_matrix(g, roi, &columns));
    const int inputs[] = {
        tsr_grad_zeros(g, &shape),
        tsr_grad_reshape(g, g->node->inputs[2], &(tsr_shape){2, {regions.dim[0], 1}}), image};
    tsr_grad_give(g, 0, tsr_build_with(&g->b, TSR_OP_ScatterND, 3, inputs, 1, &add));
}

void tsr_gradient_roi_align(tsr_gradient_call *g) {
    tsr_roi_align roi = {0};
    tsr_build_fail(&g->b, tsr_node_roi_align(g->node, &roi));
    if (tsr_grad_wants(g, 1))
        tsr_grad_refuse(g, "by its regions it");
    if (roi.largest)
        tsr_grad_refuse(g, "of mode max it");
    if (roi.samples == 0)
        tsr_grad_refuse(g, "with a number of samples that its regions tell it");
    if (g->b.status == TSR_OK)
        give_image(g, &roi);
}
