/* Pools: sliding windows without weights, and the mean of an image. */
#include "lower/reduction.h"

#include "base/divide.h"
#include "base/error.h"

#include <inttypes.h>

static void lower_images(tsr_plan *plan, const tsr_node *node, const tsr_window *w,
                         tsr_pool_mode mode, int input, int output) {
    const tsr_pool pool = {*w, mode, tsr_attr_int(node, "storage_order", 0) != 0};
    const tsr_problem problem = {
        .kind = TSR_POOL, .node = node, .input = input, .output = output, .pool = &pool};
    tsr_lower_problem(plan, &problem);
}

/* Of volumes whose depths are images of their own. */
static int pool_images(tsr_plan *plan, const tsr_node *node, const tsr_window *w,
                       tsr_pool_mode mode, int images) {
    if (plan->status != TSR_OK)
        return 0;
    const tsr_layout *l = tsr_plan_layout(plan, images);
    const tsr_shape shape = {4, {l->n, l->c, w->out[TSR_ROWS], w->out[TSR_COLUMNS]}};
    const tsr_window flat = tsr_flat_window(w);
    int pooled = tsr_pool_counts(mode) ? tsr_plan_tensor_new(plan, &shape, true)
                                       : tsr_plan_tensor_computed(plan, &shape, images);
    lower_images(plan, node, &flat, mode, images, pooled);
    return pooled;
}

static void count_depth_loops(tsr_plan *plan, const tsr_window *w, int output) {
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1,
                       (int64_t[]){tsr_min(w->kernel[TSR_DEPTH], w->in[TSR_DEPTH])});
}

/* Of what pool_images() computed. */
static void pool_along_depth(tsr_plan *plan, const tsr_window *w, tsr_pool_mode mode, int pooled,
                             int output) {
    int64_t depth = w->in[TSR_DEPTH], from = 0, to = depth;
    if (w->count_include_pad) {
        from -= w->pad_begin[TSR_DEPTH];
        to += w->pad_end[TSR_DEPTH];
    }
    TSR_PASS(plan, output, pool_depth, .X = TSR_TENSOR(pooled), .MODE = TSR_INT(mode),
             .window_z = tsr_window_args(w, TSR_DEPTH), .depth = TSR_INT(depth),
             .count_from = TSR_INT(from), .count_to = TSR_INT(to));
    count_depth_loops(plan, w, output);
}

/* mode: TSR_POOL_INDEX or TSR_POOL_TAP. */
static void index_along_depth(tsr_plan *plan, const tsr_node *node, const tsr_window *w,
                              tsr_pool_mode mode, int largest, int indices, int output) {
    bool taps = mode == TSR_POOL_TAP;
    const int64_t *size = taps ? w->kernel : w->in;
    TSR_PASS(plan, output, pool_depth_index, .X = TSR_TENSOR(largest), .I = TSR_TENSOR(indices),
             .TAPS = TSR_INT(taps), .window_z = tsr_window_args(w, TSR_DEPTH),
             .depth = TSR_INT(w->in[TSR_DEPTH]),
             .pixels = TSR_INT(size[TSR_ROWS] * size[TSR_COLUMNS]),
             .column_major = TSR_INT(tsr_attr_int(node, "storage_order", 0)));
    count_depth_loops(plan, w, output);
}

/* output: a tensor for the pool's results; indices: one for numbers of the maxima, by index_mode;
 * 0: none. */
static void lower_pool(tsr_plan *plan, const tsr_node *node, const tsr_window *w,
                       tsr_pool_mode mode, int output, tsr_pool_mode index_mode, int indices) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    if (w->spatial_rank < TSR_WINDOW_AXES) {
        if (output)
            lower_images(plan, node, w, mode, input, output);
        if (indices)
            lower_images(plan, node, w, index_mode, input, indices);
        return;
    }
    int images = tsr_lower_depth_images(plan, input, w),
        pooled = pool_images(plan, node, w, mode, images);
    if (output)
        pool_along_depth(plan, w, mode, pooled, output);
    if (indices)
        index_along_depth(plan, node, w, index_mode, pooled,
                          pool_images(plan, node, w, index_mode, images), indices);
}

tsr_status tsr_lower_global_average_pool(tsr_plan *plan, const tsr_node *node) {
    const tsr_reducer mean = {.combine = TSR_REDUCE_SUM, .mean = true, .output = TSR_NONE};
    tsr_lower_reduced_image(plan, node, tsr_plan_value(plan, node->inputs[0]), &mean);
    return plan->status;
}

/* One window, the image itself: a pyramid of sums is faster than one fragment, and of any size. */
static bool covers_image(const tsr_window *w) {
    bool covers = true;
    for (int i = 0; i < TSR_WINDOW_AXES; i++)
        covers = covers && w->kernel[i] == w->in[i] && w->dilation[i] == 1 && w->out[i] == 1 &&
                 w->pad_begin[i] == 0 && w->pad_end[i] == 0;
    return covers;
}

tsr_status tsr_lower_average_pool(tsr_plan *plan, const tsr_node *node) {
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (covers_image(&w))
        return tsr_lower_global_average_pool(plan, node);
    lower_pool(plan, node, &w, TSR_POOL_AVERAGE, tsr_plan_output(plan, node, 0), TSR_POOL_INDEX, 0);
    return plan->status;
}

tsr_status tsr_lower_max_pool(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *indices = tsr_node_out(plan->graph, node, 1);
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    if (indices &&
        tsr_shape_count(&tsr_node_in(plan->graph, node, 0)->shape) > tsr_plan_exact_integers(plan))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "Indices into more than %d elements are not exact in this GPU's floats",
                        tsr_plan_exact_integers(plan));
    int output = tsr_plan_output(plan, node, 0), index_output = 0;
    if (indices) /* 16 bits would round them */
        index_output = tsr_plan_tensor_new(plan, &indices->shape, true);
    lower_pool(plan, node, &w, TSR_POOL_MAXIMUM, output, TSR_POOL_INDEX, index_output);
    if (index_output)
        plan->value_tensor[node->outputs[1]] = index_output;
    return plan->status;
}

tsr_status tsr_lower_global_max_pool(tsr_plan *plan, const tsr_node *node) {
    const tsr_reducer largest = {.combine = TSR_REDUCE_LARGEST, .output = TSR_NONE};
    tsr_lower_reduced_image(plan, node, tsr_plan_value(plan, node->inputs[0]), &largest);
    return plan->status;
}

/* Windows that a pixel is in. */
static int64_t windows_of(const tsr_window *w, int axis) {
    return tsr_min(tsr_divide_up(tsr_window_extent(w, axis), w->stride[axis]), w->out[axis]);
}

/* Is no pixel in two windows? */
static bool are_apart(const tsr_window *w) {
    bool apart = true;
    for (int axis = 0; axis < TSR_WINDOW_AXES; axis++)
        apart = apart && w->kernel[axis] <= w->stride[axis] && w->dilation[axis] == 1;
    return apart;
}

tsr_status tsr_lower_max_pool_grad(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *pooled = &tsr_node_in(plan->graph, node, 1)->shape;
    tsr_window w;
    TSR_TRY(tsr_node_window(plan->graph, node, &w));
    int64_t taps = w.kernel[TSR_DEPTH], most = tsr_plan_exact_integers(plan);
    for (int axis = 0; axis < TSR_DEPTH; axis++)
        taps = taps > most ? taps : taps * w.kernel[axis];
    if (taps > most)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "more than %" PRId64 " elements of a window have no exact numbers in this "
                        "GPU's floats",
                        most);
    int tap = tsr_plan_tensor_new(plan, pooled, true);
    lower_pool(plan, node, &w, TSR_POOL_MAXIMUM, 0, TSR_POOL_TAP, tap);
    int gradient = tsr_plan_value(plan, node->inputs[1]), output = tsr_plan_output(plan, node, 0);
    TSR_PASS(plan, output, max_pool_grad, .I = TSR_TENSOR(tap), .G = TSR_TENSOR(gradient),
             .APART = TSR_INT(are_apart(&w)), .window_y = tsr_window_args(&w, TSR_ROWS),
             .window_x = tsr_window_args(&w, TSR_COLUMNS),
             .window_z = tsr_window_args(&w, TSR_DEPTH), .height = TSR_INT(w.in[TSR_ROWS]),
             .out_height = TSR_INT(w.out[TSR_ROWS]), .out_depth = TSR_INT(w.out[TSR_DEPTH]));
    if (plan->status == TSR_OK)
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                       (int64_t[]){windows_of(&w, TSR_DEPTH), windows_of(&w, TSR_ROWS),
                                   windows_of(&w, TSR_COLUMNS)});
    return plan->status;
}
