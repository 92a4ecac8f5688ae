/* Convolutions, transposed convolutions and matrix products. */
#include "gles/kernels.h"

#include "base/error.h"

#include <string.h>

/* Of programs in plain text, to keep them short. */
enum { MAX_TAPS = 8, MAX_ROW = 64, MAX_SPREAD = 8 };

/* Where glsl/conv.glsl and its kin find the weights: see the comments on `table` there. */
typedef struct conv_table {
    tsr_convolution conv;
    int tiles;        /* input tiles that an output tile reads */
    int taps, chunks; /* of a kernel row */
    int width, blocks_log2;
} conv_table;

static size_t texel_index(const conv_table *t, size_t block, size_t within, size_t block_size) {
    size_t column = block & (((size_t)1 << t->blocks_log2) - 1);
    return (block >> t->blocks_log2) * (size_t)t->width + column * block_size + within;
}

/* The kernel between an output and an input channel; NULL if they do not meet. */
static const float *kernel_between(const tsr_convolution *c, int output, int input) {
    int group = output / c->group_outputs, i = input - group * c->group_inputs;
    if (group >= c->window.group || i < 0 || i >= c->group_inputs)
        return NULL;
    return c->weights + (size_t)group * c->stride_group +
           (size_t)(output % c->group_outputs) * c->stride_output + (size_t)i * c->stride_input;
}

/* The 4x4 channels of one output and one input tile, tap by tap: both sides are walked through in
 * memory's order. */
static void fill_tiles(const conv_table *t, int output_tile, int tile, float *texels) {
    const tsr_convolution *c = &t->conv;
    const float *kernels[4][4]; /* input, output */
    int first =
        (output_tile * 4 / c->group_outputs * c->group_inputs) >> 2; /* as in glsl/conv.glsl */
    for (int i = 0; i < 16; i++)
        kernels[i / 4][i % 4] =
            kernel_between(c, output_tile * 4 + i % 4, (first + tile) * 4 + i / 4);
    size_t pair = (size_t)output_tile * (size_t)t->tiles + (size_t)tile;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    for (size_t ky = 0; ky < kernel_h; ky++)
        for (size_t kx = 0; kx < kernel_w; kx++) {
            size_t block = (pair * kernel_h + ky) * (size_t)t->chunks + kx / taps;
            float *texel = texels + 4 * texel_index(t, block, kx % taps * 4, taps * 4);
            for (int i = 0; i < 16; i++) {
                const float *kernel = kernels[i / 4][i % 4];
                texel[i] = kernel ? kernel[ky * kernel_w + kx] * c->factor : 0;
            }
        }
}

static void fill_dense(const void *data, float *texels) {
    const conv_table *t = data;
    int outputs = t->conv.group_outputs * (int)t->conv.window.group;
    for (int output_tile = 0; output_tile * 4 < outputs; output_tile++)
        for (int tile = 0; tile < t->tiles; tile++)
            fill_tiles(t, output_tile, tile, texels);
}

static void fill_depthwise(const void *data, float *texels) {
    const conv_table *t = data;
    const tsr_convolution *c = &t->conv;
    size_t taps = (size_t)t->taps, kernel_h = (size_t)c->window.kernel[0],
           kernel_w = (size_t)c->window.kernel[1];
    for (size_t channel = 0; channel < (size_t)c->window.group; channel++)
        for (size_t ky = 0; ky < kernel_h; ky++)
            for (size_t kx = 0; kx < kernel_w; kx++) {
                size_t block = (channel / 4 * kernel_h + ky) * (size_t)t->chunks + kx / taps;
                texels[texel_index(t, block, kx % taps, taps) * 4 + channel % 4] =
                    c->weights[channel * c->stride_group + ky * kernel_w + kx] * c->factor;
            }
}

/* The most input tiles that the channels of one output tile read, over all output tiles. */
static int tiles_per_output(const tsr_convolution *c) {
    int most = 1, outputs = c->group_outputs * (int)c->window.group;
    for (int output = 0; output < outputs; output += 4) {
        int last = output + 3 < outputs ? output + 3 : outputs - 1;
        int first_channel = output / c->group_outputs * c->group_inputs;
        int last_channel = last / c->group_outputs * c->group_inputs + c->group_inputs - 1;
        int tiles = (last_channel >> 2) - (first_channel >> 2) + 1;
        most = tiles > most ? tiles : most;
    }
    return most;
}

static void set_table(tsr_plan *plan, tsr_pass *pass, conv_table table, bool depthwise) {
    int64_t output_tiles = (table.conv.group_outputs * table.conv.window.group + 3) / 4;
    int64_t blocks = output_tiles * table.tiles * table.conv.window.kernel[0] * table.chunks;
    int block = depthwise ? table.taps : table.taps * 4;
    table.blocks_log2 = tsr_table_blocks(plan, pass, block, blocks);
    table.width = pass->table_w;
    tsr_pass_table(plan, pass, depthwise ? fill_depthwise : fill_dense, &table, sizeof table);
    tsr_pass_ints(pass, "channels", table.tiles, table.conv.group_outputs, table.conv.group_inputs,
                  table.blocks_log2);
}

/* What glsl/row.glsl needs. */
static void set_row(tsr_pass *pass, int taps, int row) {
    tsr_pass_repeat(pass, "TAPS", taps, "EACH_TAP");
    tsr_pass_repeat(pass, "ROW", row, "EACH_COLUMN");
}

tsr_pass *tsr_lower_convolution(tsr_plan *plan, const tsr_convolution *conv, int input,
                                int output) {
    const tsr_window *w = &conv->window;
    bool depthwise = conv->group_inputs == 1 && conv->group_outputs == 1 && w->group > 1;
    int chunks = (int)((w->kernel[1] + MAX_TAPS - 1) / MAX_TAPS),
        taps = (int)((w->kernel[1] + chunks - 1) / chunks);
    int64_t row = (tsr_plan_layout(plan, output)->planes - 1) * w->stride[1] +
                  (taps - 1) * w->dilation[1] + 1;
    bool any = row > MAX_ROW;
    depthwise = depthwise && !any;
    conv_table table = {*conv,
                        depthwise ? 1 : tiles_per_output(conv),
                        any ? 1 : taps,
                        any ? (int)w->kernel[1] : chunks,
                        0,
                        0};
    tsr_pass *pass = tsr_plan_pass(plan,
                                   any         ? "conv_any"
                                   : depthwise ? "conv_depthwise"
                                               : "conv",
                                   output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    set_table(plan, pass, table, depthwise);
    if (any) {
        tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 3,
                       (int64_t[]){table.tiles, w->kernel[0], w->kernel[1]});
        tsr_lower_window(pass, "window_x", w, 1);
        return pass;
    }
    tsr_plan_loops(plan, 1, 3, (int64_t[]){chunks, table.tiles, w->kernel[0]});
    tsr_pass_ints(pass, "window_x", chunks, 0, 0, (int)w->pad_begin[1]);
    tsr_pass_define(pass, "STRIDE", (int)w->stride[1]);
    tsr_pass_define(pass, "DILATION", (int)w->dilation[1]);
    set_row(pass, taps, (int)row);
    return pass;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

/* Does glsl/conv_transpose.glsl apply? It moves its output's pixels apart by the stride. */
static bool by_phases(const tsr_window *w) {
    return w->dilation[0] == 1 && w->dilation[1] == 1 && w->stride[1] <= MAX_SPREAD &&
           w->kernel[1] <= MAX_TAPS * w->stride[1];
}

static tsr_pass *lower_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                                  int output) {
    const tsr_window *w = &conv->window;
    const tsr_layout *l = tsr_plan_layout(plan, output);
    int64_t stride = w->stride[1];
    bool phases = by_phases(w) && (l->planes == 1 || l->spread == stride);
    int taps = (int)((w->kernel[1] + stride - 1) / stride);
    conv_table table = {*conv,
                        tiles_per_output(conv),
                        phases ? taps * (int)stride : 1,
                        phases ? 1 : (int)w->kernel[1],
                        0,
                        0};
    tsr_pass *pass = tsr_plan_pass(plan, phases ? "conv_transpose" : "conv_transpose_any", output);
    tsr_pass_source(plan, pass, input);
    tsr_lower_window(pass, "window_y", w, 0);
    tsr_lower_window(pass, "window_x", w, 1);
    set_table(plan, pass, table, false);
    if (!phases) {
        int64_t step[2];
        for (int i = 0; i < 2; i++)
            step[i] = w->stride[i] / greatest_common_divisor(w->stride[i], w->dilation[i]);
        tsr_pass_ints(pass, "steps", (int)step[0], (int)step[1], 0, 0);
        tsr_plan_loops(
            plan, l->planes, 3,
            (int64_t[]){table.tiles, w->kernel[0] / step[0] + 1, w->kernel[1] / step[1] + 1});
        return pass;
    }
    tsr_plan_loops(plan, 1, 2, (int64_t[]){table.tiles, w->kernel[0] / w->stride[0] + 1});
    tsr_pass_define(pass, "STRIDE", (int)stride);
    set_row(pass, taps, l->planes + taps - 1);
    return pass;
}

static tsr_status lower_conv_node(tsr_plan *plan, const tsr_node *node, bool transposed) {
    const tsr_value *weights = tsr_node_in(plan->graph, node, 1);
    tsr_convolution conv = {.weights = weights->data, .factor = 1};
    TSR_TRY(tsr_node_window(plan->graph, node, &conv.window));
    size_t area = (size_t)(conv.window.kernel[0] * conv.window.kernel[1]);
    int group = (int)conv.window.group, rows = (int)weights->shape.dim[0],
        columns = (int)weights->shape.dim[1];
    conv.stride_group = (size_t)(rows / group) * (size_t)columns * area;
    conv.group_outputs = transposed ? columns : rows / group;
    conv.group_inputs = transposed ? rows / group : columns;
    conv.stride_output = transposed ? area : (size_t)columns * area;
    conv.stride_input = transposed ? (size_t)columns * area : area;
    int spread = transposed && by_phases(&conv.window) ? (int)conv.window.stride[1] : 1;
    int input = tsr_plan_value(plan, node->inputs[0]),
        output = tsr_plan_output_spread(plan, node, 0, spread);
    tsr_pass *pass =
        (transposed ? lower_transposed : tsr_lower_convolution)(plan, &conv, input, output);
    tsr_lower_per_channel(plan, pass, TSR_OP_Add, node, 2);
    return plan->status;
}

tsr_status tsr_gles_conv(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, false);
}

tsr_status tsr_gles_conv_transpose(tsr_plan *plan, const tsr_node *node) {
    return lower_conv_node(plan, node, true);
}

/* A matrix product with constant weights is a 1x1 convolution over N images of K channels. */
static tsr_convolution product(const float *weights, int64_t k, int64_t n, bool transposed,
                               float factor) {
    tsr_window window = {.spatial_rank = 2,
                         .in = {1, 1},
                         .out = {1, 1},
                         .kernel = {1, 1},
                         .stride = {1, 1},
                         .dilation = {1, 1},
                         .group = 1};
    return (tsr_convolution){.window = window,
                             .weights = weights,
                             .factor = factor,
                             .group_outputs = (int)n,
                             .group_inputs = (int)k,
                             .stride_output = transposed ? (size_t)k : 1,
                             .stride_input = transposed ? 1 : (size_t)n};
}

static int transposed_matrix(tsr_plan *plan, int source, const tsr_shape *shape) {
    tsr_shape flipped = {2, {shape->dim[1], shape->dim[0]}};
    int output = tsr_plan_tensor_new(plan, &flipped, false);
    tsr_lower_move(plan, source, output, &(tsr_move){2, 2, {1, 0}, {1, 1}, {0, 0}, 0, 0});
    return output;
}

static int scalar(tsr_plan *plan, float value) {
    float *element = TSR_NEW(plan->arena, 1, float);
    if (!element) {
        tsr_plan_out_of_memory(plan);
        return 0;
    }
    *element = value;
    return tsr_plan_constant(plan, &(tsr_shape){2, {1, 1}}, element);
}

static tsr_pass *lower_matmul(tsr_plan *plan, int a, int b, int rank, int64_t inner, int output) {
    tsr_pass *pass = tsr_plan_pass(plan, "matmul", output);
    tsr_pass_define(pass, "RANK", rank);
    tsr_pass_ints(pass, "inner", (int)inner, 0, 0, 0);
    tsr_plan_loops(plan, tsr_plan_layout(plan, output)->planes, 1, &inner);
    tsr_pass_source(plan, pass, a);
    tsr_pass_source(plan, pass, b);
    return pass;
}

/* beta * C behind the product; scaling C takes a pass of its own, so it is made before the
 * product's. */
static int gemm_summand(tsr_plan *plan, const tsr_node *node, float beta) {
    int c = tsr_plan_operand(plan, node->inputs[2], 2);
    if (beta == 1.0f || plan->status != TSR_OK)
        return c;
    const tsr_layout *l = tsr_plan_layout(plan, c);
    int scaled = tsr_plan_tensor_new(plan, &(tsr_shape){2, {l->n, l->c}}, false),
        factor = scalar(plan, beta);
    tsr_pass_post_binary(plan, tsr_plan_copy(plan, c, scaled), TSR_OP_Mul, factor, false);
    return scaled;
}

tsr_status tsr_gles_gemm(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *a = tsr_node_in(plan->graph, node, 0), *b = tsr_node_in(plan->graph, node, 1);
    bool transposed_a = tsr_attr_int(node, "transA", 0),
         transposed_b = tsr_attr_int(node, "transB", 0);
    float alpha = tsr_attr_float(node, "alpha", 1), beta = tsr_attr_float(node, "beta", 1);
    int64_t k = a->shape.dim[transposed_a ? 0 : 1], n = b->shape.dim[transposed_b ? 0 : 1];
    int summand =
        tsr_node_in(plan->graph, node, 2) && beta != 0 ? gemm_summand(plan, node, beta) : TSR_NONE;
    int left = tsr_plan_value(plan, node->inputs[0]);
    if (transposed_a)
        left = transposed_matrix(plan, left, &a->shape);
    tsr_pass *pass;
    if (b->data) {
        tsr_convolution conv = product(b->data, k, n, transposed_b, alpha);
        pass = tsr_lower_convolution(plan, &conv, left, tsr_plan_output(plan, node, 0));
    } else {
        int right = tsr_plan_value(plan, node->inputs[1]),
            factor = alpha == 1 ? TSR_NONE : scalar(plan, alpha);
        if (transposed_b)
            right = transposed_matrix(plan, right, &b->shape);
        pass = lower_matmul(plan, left, right, 2, k, tsr_plan_output(plan, node, 0));
        if (factor != TSR_NONE)
            tsr_pass_post_binary(plan, pass, TSR_OP_Mul, factor, false);
    }
    if (summand != TSR_NONE)
        tsr_pass_post_binary(plan, pass, TSR_OP_Add, summand, false);
    return plan->status;
}

/* A vector operand of MatMul becomes a matrix of one row (left) or one column (right). */
static tsr_shape matrix_shape(const tsr_shape *shape, bool left) {
    if (shape->rank > 1)
        return *shape;
    return left ? (tsr_shape){2, {1, shape->dim[0]}} : (tsr_shape){2, {shape->dim[0], 1}};
}

/* Where a product lands whose shape is that of the node's output, but for the axes that vectors
 * lose. */
static int product_output(tsr_plan *plan, const tsr_node *node, const tsr_shape *shape) {
    bool same = tsr_shape_equal(shape, &tsr_node_out(plan->graph, node, 0)->shape);
    return same ? tsr_plan_output(plan, node, 0) : tsr_plan_tensor_new(plan, shape, false);
}

static void finish_product(tsr_plan *plan, const tsr_node *node, int output) {
    if (plan->value_tensor[node->outputs[0]] == TSR_NONE)
        tsr_plan_alias(plan, node, 0,
                       tsr_plan_reshape(plan, output, &tsr_node_out(plan->graph, node, 0)->shape));
}

/* All rows of the left side as images, when the right one is a constant matrix. */
static void lower_dense(tsr_plan *plan, const tsr_node *node, const tsr_shape *a,
                        const tsr_value *b, int64_t n) {
    int input = tsr_plan_value(plan, node->inputs[0]);
    if (plan->status != TSR_OK) /* such as that it has no elements: k would be 0 */
        return;
    int64_t k = a->dim[a->rank - 1], rows = tsr_shape_count(a) / k;
    tsr_convolution conv = product(b->data, k, n, false, 1);
    int left = tsr_plan_reshape(plan, input, &(tsr_shape){2, {rows, k}});
    int output = product_output(plan, node, &(tsr_shape){2, {rows, n}});
    tsr_lower_convolution(plan, &conv, left, output);
    finish_product(plan, node, output);
}

/* An operand of a computed product: of shape `matrix` with ones in front up to `rank` axes. */
static int product_operand(tsr_plan *plan, int value, const tsr_shape *matrix, int rank) {
    const tsr_shape *shape = &plan->graph->values[value].shape;
    if (shape->rank > 1)
        return tsr_plan_operand(plan, value, rank);
    tsr_shape full = {.rank = rank};
    for (int i = 0; i < rank; i++)
        full.dim[i] = i < rank - 2 ? 1 : matrix->dim[i - (rank - 2)];
    return tsr_plan_reshape(plan, tsr_plan_value(plan, value), &full);
}

tsr_status tsr_gles_matmul(tsr_plan *plan, const tsr_node *node) {
    const tsr_value *av = tsr_node_in(plan->graph, node, 0),
                    *bv = tsr_node_in(plan->graph, node, 1);
    tsr_shape a = matrix_shape(&av->shape, true), b = matrix_shape(&bv->shape, false);
    if (bv->data && b.rank == 2) {
        lower_dense(plan, node, &a, bv, b.dim[1]);
        return plan->status;
    }
    tsr_shape shape = tsr_node_out(plan->graph, node, 0)
                          ->shape; /* of the product: leading axes are the output's */
    shape.rank = a.rank > b.rank ? a.rank : b.rank;
    shape.dim[shape.rank - 2] = a.dim[a.rank - 2];
    shape.dim[shape.rank - 1] = b.dim[b.rank - 1];
    int left = product_operand(plan, node->inputs[0], &a, shape.rank);
    int right = product_operand(plan, node->inputs[1], &b, shape.rank);
    int output = product_output(plan, node, &shape);
    lower_matmul(plan, left, right, shape.rank, a.dim[a.rank - 1], output);
    finish_product(plan, node, output);
    return plan->status;
}
