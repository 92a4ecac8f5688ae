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
#define TSR_BINARY(Name, stem)
#include "graph/ops.def"
tsr_infer_fn tsr_infer_unary, tsr_infer_binary;

/* Runs the node's rule; on failure the message names node, operator and input shapes. */
tsr_status tsr_infer_node(tsr_graph *graph, tsr_node *node);

/* Numpy's broadcasting of two shapes; TSR_SHAPE if they do not fit. */
tsr_status tsr_broadcast(const tsr_shape *a, const tsr_shape *b, tsr_shape *out);

/* Of Transpose: by output axis the input axis, those given or all reversed. The shape rule has
 * checked that it is a permutation of rank axes. */
void tsr_node_perm(const tsr_node *node, int rank, int64_t perm[TSR_MAX_RANK]);

/* Of DepthToSpace: does the block come first in the channels (DCR), not last (CRD)? */
bool tsr_depth_comes_first(const tsr_node *node);

/* Of a tensor of matrices: the shape without their rows and columns. A vector has none. */
tsr_shape tsr_batch_shape(const tsr_shape *shape);

/* Sliding windows of Conv, ConvTranspose and the pools, spatial axes only (1-D models: entry 0 is a
 * window of 1 over a height of 1, entry 1 the given axis), auto_pad and output_shape resolved. */
typedef struct tsr_window {
    int spatial_rank; /* 1 or 2 in the model */
    int64_t in[2], out[2];
    int64_t kernel[2], stride[2], dilation[2];
    int64_t pad_begin[2], pad_end[2], output_padding[2];
    int64_t group;
    bool ceil_mode, count_include_pad;
} tsr_window;

/* For Conv, ConvTranspose (kernel from the weights' shape), MaxPool and AveragePool. Checks
 * everything. */
tsr_status tsr_node_window(const tsr_graph *graph, const tsr_node *node, tsr_window *window);

/* A rank-independent view of Slice, with constant starts, ends, axes, steps: for each axis of the
 * input. */
typedef struct tsr_slice {
    int64_t start[TSR_MAX_RANK], step[TSR_MAX_RANK], count[TSR_MAX_RANK];
} tsr_slice;
tsr_status tsr_node_slice(const tsr_graph *graph, const tsr_node *node, tsr_slice *slice);

/* Pads of Pad for each axis of the input: elements added (removed if negative) before and behind.
 */
tsr_status tsr_node_pads(const tsr_graph *graph, const tsr_node *node, int64_t begin[TSR_MAX_RANK],
                         int64_t end[TSR_MAX_RANK]);

/* Resize, for each axis: scale as used by the coordinate transformation, and roi for
 * tf_crop_and_resize. length is in * scale where out is that rounded down: ONNX lays align_corners
 * and half_pixel_symmetric by it. */
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
/* The (fractional) input coordinate that output index i of an axis reads. */
float tsr_resize_coordinate(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* Does tf_crop_and_resize extrapolate there? */
bool tsr_resize_is_outside(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* What output index i of an axis is made of, for linear and cubic. */
enum { TSR_RESIZE_TAPS = 4 };
typedef struct tsr_resize_taps {
    int count;
    int64_t index[TSR_RESIZE_TAPS]; /* clamped */
    double weight[TSR_RESIZE_TAPS];
} tsr_resize_taps;
tsr_resize_taps tsr_resize_taps_at(const tsr_resize *resize, int axis, int64_t in, int64_t i);
/* For nearest: the input index, clamped; -1 outside where tf_crop_and_resize extrapolates. */
int64_t tsr_resize_nearest_index(const tsr_resize *resize, int axis, int64_t in, int64_t i);

/* axis in 0..limit-1 from a possibly negative attribute, which counts back from limit, or
 * TSR_INVALID_MODEL. */
tsr_status tsr_normalize_axis(int64_t axis, int limit, int *result);

/* A constant integer input as an array; fails if the input is absent, not constant or not integer.
 */
tsr_status tsr_node_const_ints(const tsr_graph *graph, const tsr_node *node, int input,
                               const int64_t **data, int64_t *count);

#endif
