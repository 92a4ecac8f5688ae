/* Shape inference: one rule per operator, tsr_infer_<stem>. A rule sets shape and dtype of every
 * output from complete input shapes and from constant inputs, or fails with the reason; it never
 * trusts attributes. Every dimension of a result is >= 0 and the element count fits in an int64_t.
 */
#ifndef TSR_GRAPH_INFER_H
#define TSR_GRAPH_INFER_H

#include "graph/graph.h"

typedef tsr_status tsr_infer_fn(tsr_graph *graph, tsr_node *node);

#define TSR_OP(Name, stem, ...) tsr_infer_fn tsr_infer_##stem;
#define TSR_UNARY(Name, stem, types)
#define TSR_BINARY(Name, stem, kind)
#define TSR_NARY(Name, stem, types)
#define TSR_REDUCE(Name, stem, types)
#define TSR_FUNCTION(Name, ...)
#include "graph/ops.def"
tsr_infer_fn tsr_infer_unary, tsr_infer_binary, tsr_infer_nary, tsr_infer_reduce;

/* Runs the node's rule; on failure the message names node, operator and input shapes. */
tsr_status tsr_infer_node(tsr_graph *graph, tsr_node *node);

/* Numpy's broadcasting of two shapes; TSR_ERROR_SHAPE if they do not match. */
tsr_status tsr_broadcast(const tsr_shape *a, const tsr_shape *b, tsr_shape *out);

/* The permutation of Transpose, by output axis: given, or all axes reversed. The shape rule has
 * checked it. */
void tsr_node_perm(const tsr_node *node, int rank, int64_t perm[TSR_MAX_RANK]);

/* The axes that a reduction is over; its axes have to be constant. */
tsr_status tsr_node_reduced_axes(const tsr_graph *graph, const tsr_node *node,
                                 bool reduced[TSR_MAX_RANK]);

/* What ScatterElements and ScatterND do with an element that is there. */
typedef enum tsr_scatter_reduction {
    TSR_SCATTER_REPLACE,
    TSR_SCATTER_ADD,
    TSR_SCATTER_MULTIPLY,
    TSR_SCATTER_LARGEST,
    TSR_SCATTER_LEAST,
} tsr_scatter_reduction;
tsr_status tsr_node_scatter_reduction(const tsr_node *node, tsr_scatter_reduction *reduction);

/* TensorScatter: updates are written along `axis` from an index on, beyond the end from the start
 * on if `circular`. */
typedef struct tsr_tensor_scatter {
    int axis;
    bool circular;
} tsr_tensor_scatter;
tsr_status tsr_node_tensor_scatter(const tsr_graph *graph, const tsr_node *node,
                                   tsr_tensor_scatter *scatter);

/* The axis of CumSum and CumProd and the diagonal of Trilu, which have to be constant. */
tsr_status tsr_node_cum_sum_axis(const tsr_graph *graph, const tsr_node *node, int *axis);
tsr_status tsr_node_diagonal(const tsr_graph *graph, const tsr_node *node, int64_t *diagonal);

/* The axis of Compress and Unique; TSR_NONE: they are of single elements. */
tsr_status tsr_node_optional_axis(const tsr_graph *graph, const tsr_node *node, int *axis);

/* RoiAlign: points along an axis of a bin, 0: one a pixel of the region, at most this many. */
enum { TSR_MAX_ROI_SAMPLES = 256 };
typedef struct tsr_roi_align {
    int samples;
    bool largest, half_pixel;
    int64_t rows, columns; /* bins of a region */
    float scale;
} tsr_roi_align;
tsr_status tsr_node_roi_align(const tsr_node *node, tsr_roi_align *roi);

/* BitShift: does it shift to the right? */
bool tsr_shifts_right(const tsr_node *node);

/* DepthToSpace: is the block the slower part of the channel index (DCR), not the faster (CRD)? */
bool tsr_depth_comes_first(const tsr_node *node);

/* The shape of a batch of matrices: without the last two axes; [] for a vector. */
tsr_shape tsr_batch_shape(const tsr_shape *shape);

/* Sliding windows of Conv, ConvTranspose and the pools, spatial axes only: rows, columns, and depth
 * where the model has three, before them. 1-D models have one row and a kernel of one row. auto_pad
 * and output_shape are resolved to pads. */
enum { TSR_ROWS, TSR_COLUMNS, TSR_DEPTH, TSR_WINDOW_AXES };
typedef struct tsr_window {
    int spatial_rank; /* 1, 2 or 3 in the model */
    int64_t in[TSR_WINDOW_AXES], out[TSR_WINDOW_AXES];
    int64_t kernel[TSR_WINDOW_AXES], stride[TSR_WINDOW_AXES], dilation[TSR_WINDOW_AXES];
    int64_t pad_begin[TSR_WINDOW_AXES], pad_end[TSR_WINDOW_AXES], output_padding[TSR_WINDOW_AXES];
    int64_t group;
    bool ceil_mode, count_include_pad;
} tsr_window;
/* The window's axis that spatial axis i of the model is. */
int tsr_window_axis(const tsr_window *window, int i);
/* Pixels from the first to the last tap along an axis. */
int64_t tsr_window_extent(const tsr_window *window, int axis);

/* For Conv, ConvTranspose (kernel from the weights' shape), the pools, and the gradients: the
 * window of what they are the gradient of. Checks everything but a gradient's shape. */
tsr_status tsr_node_window(const tsr_graph *graph, const tsr_node *node, tsr_window *window);

/* Is it a Conv or MatMul whose inputs, although floats, hold integers? Then the result is int32.
 * Its attribute "integers" has the largest magnitude of each: src/graph/integer_sums.c. */
bool tsr_sums_integers(const tsr_node *node);
/* The type of what such a node, or another one that sums products of floats, yields. */
tsr_dtype tsr_sum_type(const tsr_node *node, tsr_dtype products);

/* What the elements of such a node are sums over: input channels of a group, with the taps of the
 * window at each, or MatMul's inner axis. */
typedef struct tsr_integer_sum {
    int64_t length, taps;
    double largest[2]; /* magnitudes in the inputs */
} tsr_integer_sum;
tsr_integer_sum tsr_node_integer_sum(const tsr_graph *graph, const tsr_node *node);

/* Elements of an input of such a node: [outer, length * taps, inner]. */
typedef struct tsr_summands {
    int64_t outer, inner;
} tsr_summands;
tsr_summands tsr_node_summands(const tsr_graph *graph, const tsr_node *node, int input);

/* The largest magnitude that partial sums over first to last - 1 of the length may have: by the
 * elements of an input that is constant. */
double tsr_largest_sum(const tsr_graph *graph, const tsr_node *node, int64_t first, int64_t last);

/* Slice, for each axis of the input; starts, ends, axes and steps have to be constant. */
typedef struct tsr_slice {
    int64_t start[TSR_MAX_RANK], step[TSR_MAX_RANK], count[TSR_MAX_RANK];
} tsr_slice;
tsr_status tsr_node_slice(const tsr_graph *graph, const tsr_node *node, tsr_slice *slice);

/* Pad, for each axis of the input: elements added (removed if negative) before and after it. */
tsr_status tsr_node_pads(const tsr_graph *graph, const tsr_node *node, int64_t begin[TSR_MAX_RANK],
                         int64_t end[TSR_MAX_RANK]);

/* Resize, for each axis. scale is what the coordinate transformation divides by; roi is for
 * tf_crop_and_resize; length is in * scale before it is rounded to out, as align_corners and
 * half_pixel_symmetric use it. */
typedef struct tsr_resize {
    int64_t out[TSR_MAX_RANK];
    float length[TSR_MAX_RANK];
    float scale[TSR_MAX_RANK], roi_start[TSR_MAX_RANK], roi_end[TSR_MAX_RANK];
    enum {
        TSR_HALF_PIXEL,
        TSR_HALF_PIXEL_SYMMETRIC,
        TSR_PYTORCH_HALF_PIXEL,
        TSR_ALIGN_CORNERS,
        TSR_ASYMMETRIC,
        TSR_TF_HALF_PIXEL_FOR_NN,
        TSR_TF_CROP_AND_RESIZE
    } transform;
    enum { TSR_NEAREST, TSR_LINEAR, TSR_CUBIC } mode;
    enum { TSR_ROUND_PREFER_FLOOR, TSR_ROUND_PREFER_CEIL, TSR_FLOOR, TSR_CEIL } nearest;
    float cubic_coeff_a, extrapolation_value;
    bool exclude_outside, antialias;
} tsr_resize;
tsr_status tsr_node_resize(const tsr_graph *graph, const tsr_node *node, tsr_resize *resize);
/* The input coordinate, a fraction, of output index i. */
float tsr_resize_coordinate(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* Is the coordinate outside the input, so that tf_crop_and_resize extrapolates? */
bool tsr_resize_is_outside(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* The input elements that output index i is interpolated from, and their weights: linear and
 * cubic. */
enum { TSR_RESIZE_TAPS = 4 };
typedef struct tsr_resize_taps {
    int count;
    int64_t index[TSR_RESIZE_TAPS]; /* clamped to the axis */
    double weight[TSR_RESIZE_TAPS];
} tsr_resize_taps;
tsr_resize_taps tsr_resize_taps_at(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* With antialias, an axis that shrinks is interpolated by a kernel as wide as the step from one
 * output element to the next: of more elements. tsr_resize_taps_at() is not for such an axis. */
bool tsr_resize_is_filtered(const tsr_resize *resize, int axis);
/* The most elements of the input that one of the output is made of. */
int64_t tsr_resize_filter_length(const tsr_resize *resize, int axis, int64_t in);
/* The taps of output index i: `count` of them, some beyond the axis. */
typedef struct tsr_resize_filter {
    int64_t first, count, in; /* in: elements of the axis */
    double at, factor;        /* distances from `at` are multiplied by factor */
    double sum;               /* of the weights */
} tsr_resize_filter;
tsr_resize_filter tsr_resize_filter_at(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* Tap k's weight, and its index, clamped to the axis. */
double tsr_resize_filter_tap(const tsr_resize *resize, const tsr_resize_filter *filter, int64_t k,
                             int64_t *index);
/* The input index that `nearest` reads, clamped to the axis; -1 where tf_crop_and_resize
 * extrapolates. */
int64_t tsr_resize_nearest_index(const tsr_resize *resize, int axis, int64_t in, int64_t i);

/* GridSample. */
enum { TSR_MAX_SAMPLE_AXES = 3 };
typedef struct tsr_grid_sample {
    int axes; /* of an image: 1 to TSR_MAX_SAMPLE_AXES */
    int taps; /* pixels of an axis that one is made of; 1: nearest, 2: linear, 4: cubic */
    enum { TSR_PAD_ZEROS, TSR_PAD_BORDER, TSR_PAD_REFLECTION } padding;
    bool align_corners;
} tsr_grid_sample;
tsr_status tsr_node_grid_sample(const tsr_graph *graph, const tsr_node *node,
                                tsr_grid_sample *sample);

/* An axis in 0 to limit - 1 from an attribute, which counts from the end if negative;
 * TSR_ERROR_INVALID_MODEL if out of range. */
tsr_status tsr_normalize_axis(int64_t axis, int limit, int *result);

/* Each input's shape is known, and no dimension above TSR_MAX_DIM. */
tsr_status tsr_check_input_shapes(const tsr_graph *graph, const tsr_node *node);

/* A constant integer input as an array; fails if the input is absent, not constant or not integer.
 */
tsr_status tsr_node_const_ints(const tsr_graph *graph, const tsr_node *node, int input,
                               const int64_t **data, int64_t *count);

#endif
