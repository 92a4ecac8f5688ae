/* Algorithms: ways to compute what a node asks for. One appends passes to a plan and never sees GL
 * or WebGPU; src/algorithm/choose.c says which one a node has. */
#ifndef TSR_ALGORITHM_ALGORITHM_H
#define TSR_ALGORITHM_ALGORITHM_H

#include "graph/infer.h"
#include "plan/plan.h"

/* What fragments of GPUs with few registers can keep: src/gles/family.c says which GPUs these are,
 * and tsr_device_desc.kernels chooses them by name. */
#define TSR_FRAGMENTS_SMALL                                                                        \
    { .registers = 10, .half_products = true }
#define TSR_FRAGMENTS_MIDGARD                                                                      \
    { .registers = 7, .unroll = 4, .dots = true }
#define TSR_FRAGMENTS_VALHALL                                                                      \
    { .registers = 10, .texture_weights = true }

/* Weights in blocks: src/algorithm/block_weights.h. */
typedef struct tsr_weight_blocks tsr_weight_blocks;

/* A convolution. Window and group as in tsr_window; weights of output channel
 * o, input channel i of group g begin at weights[g * stride_group + o * stride_output + i *
 * stride_input], their kernel row-major. */
typedef struct tsr_convolution {
    tsr_window window;
    const tsr_unaligned_float *weights; /* NULL: they are computed */
    int tensor;          /* of computed weights, in the same order; 0: they are constant */
    int constant;        /* of the model, that the weights are: see tsr_value; 0: none */
    float factor;        /* of all weights */
    const double *scale; /* of those of each output channel; NULL: 1 */
    bool integers;       /* weights so scaled are integers: src/algorithm/integer_weights.h */
    const tsr_weight_blocks *blocks; /* of integers; NULL: none */
    /* What tables of integers have for 0, by output channel and block; NULL: 0. */
    const float *zero_points;
    int scales; /* a tensor of the blocks' scales and the zero points: glsl/weight_scale.glsl */
    int group_outputs, group_inputs;
    size_t stride_group, stride_output, stride_input;
} tsr_convolution;

/* What the weights of an output channel, counted through all groups, are to be multiplied by. */
double tsr_weight_scale(const tsr_convolution *conv, int output);
/* The largest magnitude of an output channel's weights, without factor and scale; infinite if one
 * is infinite or NaN. */
double tsr_largest_weight(const tsr_convolution *conv, int64_t output);
/* The most input tiles that the channels of one output tile read, over all output tiles. */
int tsr_tiles_per_output(const tsr_convolution *conv);
/* One channel in and out of each of several groups? */
bool tsr_is_depthwise(const tsr_convolution *conv);
/* Do texels hold channels of several groups? Then only kernels that tell them apart apply: a zero
 * weight does not keep infinity and NaN of another group away. */
bool tsr_shares_texels(const tsr_convolution *conv);
/* One tap, and no padding pixels are read? */
bool tsr_is_pointwise(const tsr_window *window);
/* Where the plan's tensors are of 16 bits and the device computes faster in these: scales the
 * weights, so that the sum of four products of finite 16-bit numbers is finite, and gives what
 * results have to be multiplied with. Otherwise 0: products are of 32 bits. */
float tsr_half_products(const tsr_plan *plan, tsr_convolution *conv);

/* How a texture or buffer stores the packed weights; uniform blocks have 32 bits. */
tsr_table_format tsr_weight_format(const tsr_plan *plan, const tsr_convolution *conv);

/* Packed weights as a table of blocks ((t * tiles + i) * kernel height + ky) * chunks + chunk for
 * output tile t and its i-th input tile; a block holds the 4x4 channels of `taps` taps of a kernel
 * row, by tap and input channel, 4 texels a tap, or, depthwise, one texel a tap. */
typedef struct tsr_conv_weights {
    tsr_convolution conv;
    bool depthwise;
    int tiles;        /* input tiles that an output tile reads */
    int taps, chunks; /* of a kernel row */
    tsr_table_size size;
    bool dots; /* see tsr_fragment_limits */
} tsr_conv_weights;

tsr_conv_weights tsr_pack_conv_weights(tsr_plan *plan, const tsr_convolution *conv, int taps,
                                       int chunks, bool depthwise);
tsr_args_channels tsr_conv_channels(const tsr_conv_weights *weights);
/* Of the latest pass, which it returns: it may have moved. */
tsr_pass *tsr_pass_conv_weights(tsr_plan *plan, tsr_pass *pass, const tsr_conv_weights *weights);

/* Split-K: a long sum is cut into partial sums, so that more of the device works on it. Where a
 * pass with `count` of them writes to: to `output`, or to a tensor of count times the images. */
int tsr_split_output(tsr_plan *plan, int output, int64_t count);
/* Adds the partial sums of such a pass up; the pass that writes `output`. */
tsr_pass *tsr_split_sum(tsr_plan *plan, tsr_pass *pass, int output, int64_t count);

/* Of the tensor between the two; 0 if there is none. */
uint64_t tsr_split_bytes(const tsr_plan *plan, const tsr_layout *output, int64_t count);

/* The arguments of a sliding window's axis, 0 (rows) or 1 (columns). */
tsr_args_window tsr_window_args(const tsr_window *window, int axis);
/* The arguments of one number for each axis of a layout. */
tsr_args_axes tsr_axes_args(const int values[4]);

/* Which of the kernel's elements meets a phase of a transposed convolution, pixel (y, x) mod
 * stride, as its index-th of rows and of columns; false if the phase has no such tap. */
bool tsr_phase_tap(const tsr_window *window, const int64_t phase[2], const int64_t index[2],
                   size_t *element);
/* Taps between two that meet the same phase of a transposed convolution: of rows, of columns; as
 * a loop steps: a step as long as the kernel ends it. */
void tsr_phase_steps(const tsr_window *window, int64_t steps[2]);

/* What a node asks for. */
typedef enum tsr_problem_kind {
    TSR_CONV = 1,
    TSR_CONV_TRANSPOSE = 2,
    TSR_MATMUL = 4, /* of two computed matrices */
    TSR_POOL = 8,
    TSR_RESIZE = 16,
    TSR_REDUCTION = 32,
} tsr_problem_kind;

typedef enum tsr_pool_mode {
    TSR_POOL_MAXIMUM,
    TSR_POOL_AVERAGE,
    TSR_POOL_INDEX, /* of the maximum in the input */
    TSR_POOL_TAP    /* of its tap in the window, row-major; -1: the window has no elements */
} tsr_pool_mode;
/* Are results numbers of elements, not elements? */
static inline bool tsr_pool_counts(tsr_pool_mode mode) {
    return mode >= TSR_POOL_INDEX;
}

typedef struct tsr_pool {
    tsr_window window;
    tsr_pool_mode mode;
    bool column_major; /* of TSR_POOL_INDEX: ONNX's storage_order */
} tsr_pool;

typedef struct tsr_problem tsr_problem;

/* Appends the passes of a reduction; workgroups: each combines a block where that pays. The pass
 * returned writes the result. */
typedef tsr_pass *tsr_reduce_fn(tsr_plan *plan, const tsr_problem *problem, bool workgroups);

struct tsr_problem {
    tsr_problem_kind kind;
    const tsr_node *node;
    int input, right; /* tensors; right: of TSR_MATMUL */
    /* Tensor; TSR_NONE: that of the node's output 0, which the algorithm makes with
     * tsr_problem_output, since its layout may follow the stride; or, if `made` is not NULL, a new
     * tensor of that shape, of 32 bits. */
    int output;
    const tsr_shape *made;
    tsr_convolution conv;                  /* of TSR_CONV and TSR_CONV_TRANSPOSE */
    int rank;                              /* of TSR_MATMUL: axes, leading ones broadcast */
    int64_t inner;                         /* and the length of its sums */
    const tsr_pool *pool;                  /* of TSR_POOL */
    const struct tsr_resize_table *resize; /* of TSR_RESIZE: src/algorithm/resize.h */
    tsr_reduce_fn *reduce;                 /* of TSR_REDUCTION */
    const struct tsr_reducer *reducer;     /* what it is given: src/lower/reduction.h */
};

/* What an algorithm needs, and what it costs. */
typedef struct tsr_estimate {
    double cost; /* time, in multiply-adds of the device's class at its peak */
    /* Of tensors that its passes leave for each other, packed weights not counted. */
    uint64_t bytes;
    int live_texels; /* that a fragment or invocation keeps in registers */
    /* Of a convolution whose weights are computed, for a GPU: one that packs them among them, and
     * draws that read a uniform block each. `cost` has little or nothing of theirs. */
    int passes, draws;
    const char *winograd_tile; /* "F(2x2,3x3)": pixels, taps; NULL: another algorithm */
} tsr_estimate;

/* Estimates are so good that one of this many times the least cost is never the fastest. */
enum { TSR_MAX_COST_RATIO = 5 };

/* Which algorithms a caller's choice of kernels allows. */
enum {
    TSR_ALLOW_ANY = 1,
    TSR_ALLOW_DIRECT = 2,
    TSR_ALLOW_SPLIT_K = 4,
    TSR_ALLOW_BLOCKS = 8,
    TSR_ALLOW_WORKGROUPS = 16,
    TSR_ALLOW_TAPS = 32, /* tap by tap, on GPUs of few registers */
    TSR_ALLOW_ALL = 31
};

/* Is this a value of tsr_device_desc.kernels? */
bool tsr_kernels_known(const char *kernels);
/* What suits a device: is_software: its programs run on a CPU; kernels: tsr_device_desc.kernels,
 * which may ask for what does not. The backend adds what it can do. */
tsr_device_profile tsr_device_profile_make(tsr_language language, const char *kernels,
                                           bool is_software, tsr_fragment_limits fragments);

/* One way to compute a problem. */
typedef struct tsr_algorithm {
    const char *name;
    unsigned languages, kinds; /* of tsr_language, tsr_problem_kind */
    unsigned needs;            /* of the device: TSR_NEEDS_... */
    unsigned allowed_by;       /* TSR_ALLOW_..., all of these */
    /* Can it compute the problem on the plan's device? Then its estimate. */
    bool (*estimate)(const tsr_plan *plan, const tsr_problem *problem, tsr_estimate *estimate);
    /* Appends its passes; the one returned writes the result, so that post-ops can be appended. */
    tsr_pass *(*lower)(tsr_plan *plan, const tsr_problem *problem);
} tsr_algorithm;

enum { TSR_ALGORITHMS = 22 };

/* The algorithm's name as it is in the program; NULL if there is none of that name. */
const char *tsr_algorithm_name(const char *name);

extern const tsr_algorithm tsr_conv_direct, tsr_conv_direct_split_k, tsr_conv_depthwise_direct,
    tsr_conv_direct_taps, tsr_conv_direct_taps_split_k, tsr_conv_depthwise_taps, tsr_conv_any,
    tsr_conv_uniform_block, tsr_conv_uniform_block_taps, tsr_conv_im2col, tsr_conv_winograd,
    tsr_matmul_any, tsr_gemm_registers, tsr_gemm_workgroup, tsr_gemm_sliced_k,
    tsr_gemm_subgroup_matrix, tsr_pool_row, tsr_pool_any, tsr_resize_row, tsr_resize_any,
    tsr_reduce_invocation, tsr_reduce_workgroup;

/* Lowers a problem by the algorithm that the plan has for its node, or else by the one of least
 * estimated cost; notes the node's candidates in the plan. The pass writes the result. */
tsr_pass *tsr_lower_problem(tsr_plan *plan, const tsr_problem *problem);

/* ---- for algorithms -------------------------------------------------------------------------- */

/* The tensor of the result: the problem's own, or one whose fragments write pixels this many
 * columns apart. */
int tsr_problem_output(tsr_plan *plan, const tsr_problem *problem, int pixel_stride);
/* Fails the plan, unless it has failed already: the algorithm does not apply. Returns a pass
 * without effect. */
tsr_pass *tsr_problem_refuse(tsr_plan *plan, const char *why);
/* The layout that it will have by such a hint; false if there is none. */
bool tsr_problem_layout(const tsr_plan *plan, const tsr_problem *problem, tsr_layout_hint hint,
                        tsr_layout *layout);
/* Products of 4 inputs by 4 outputs of a pixel that a problem needs, padding channels among them.
 */
double tsr_problem_products(const tsr_plan *plan, const tsr_problem *problem);
/* Partial sums over `tiles` input tiles that a pass of `fragments` fragments needs to keep the
 * device busy, none of them short; may be 0. */
int64_t tsr_busy_partials(const tsr_plan *plan, int64_t fragments, int64_t tiles);

/* tsr_block_rows(): `enough` where another draw costs more than fragments of different rows do. */
enum { TSR_JOINED_PRODUCTS = 1 << 22 };
/* Rows of `texels` texels that a uniform block has, a power of two: fragments of `count` tiles or
 * images, of `products` multiply-adds each, read a row of their own. Rows are added while a draw
 * has fewer products than `enough`. */
int tsr_block_rows(const tsr_plan *plan, int64_t count, int64_t texels, double products,
                   double enough);

/* What a pass costs a GPU beside its work: 20 microseconds on an H100. Where weights are constants,
 * costs of algorithms were measured with their passes. */
#define TSR_PASS_COST 7e6

/* Where weights are computed, as in training, on a fragment GPU: what a pass costs, 10 microseconds
 * on an H200, and a draw that reads a uniform block, there of 64 KiB, 7 beside its work: its
 * fragments are few, their loops long. */
#define TSR_COMPUTED_PASS_COST 4e6
#define TSR_COMPUTED_DRAW_COST 3e6

/* Do these costs count? GPUs of few registers were not measured. Pages, which train nothing, are
 * spared the code. */
static inline bool tsr_has_computed_costs(const tsr_plan *plan, const tsr_convolution *conv) {
#ifdef TSR_WITHOUT_GRADIENT
    (void)plan;
    (void)conv;
    return false;
#else
    return conv->tensor && plan->device.language == TSR_GLSL && !plan->device.software &&
           !plan->device.fragments.registers;
#endif
}

/* What a product of 4 inputs by 4 outputs costs, on a GPU and on a software rasteriser: weights
 * fetched from a texture by each fragment, or read from uniform blocks or workgroup memory.
 * Measured on an H200 and on llvmpipe, as are those of the algorithms. */
enum {
    TSR_PRODUCT = 16, /* multiply-adds */
    TSR_GPU_TEXTURE_PRODUCT = 8 * TSR_PRODUCT,
    TSR_COMPUTED_TEXTURE_PRODUCT = 3 * TSR_PRODUCT, /* see TSR_COMPUTED_PASS_COST */
    TSR_SOFTWARE_BLOCK_PRODUCT = 3 * TSR_PRODUCT,
};

/* Kernels that read tap by tap: what their fetches cost beside those of a row at once; texels that
 * a fragment keeps beside its sums, one of input and four of weights. */
#define TSR_TAPS_COST 1.25
enum { TSR_TAP_TEXELS = 5 };

/* Of programs in plain text, to keep them short: taps of a kernel row, columns of a fragment. */
enum { TSR_MAX_TAPS = 8, TSR_MAX_ROW = 64 };

/* Rows of kernels whose loops count them in floats, and columns whose places a fragment keeps:
 * glsl/tap_places.glsl. */
enum { TSR_MAX_FLOAT_ROWS = 64, TSR_MAX_PLACES = 16 };

/* Of outputs of kernels that read uniform blocks: what is read from a block costs nothing however
 * few pixels it serves. All have as many, so that they may be concatenated in place. */
enum { TSR_BLOCK_PLANES = 4 };

#endif
