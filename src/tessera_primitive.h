/* Tessera's primitives: single operations, with a chain of post-ops, on tensors of the caller's
 * that stay on the device. For programs that compute layer by layer; a whole network is a session
 * of tessera.h, which does the same by fusion: tsr_session_post_ops() tells what it fused.
 *
 *     tsr_post_ops *posts; tsr_primitive *conv; tsr_device_tensor *x, *y;
 *     tsr_post_ops_create(&posts);
 *     tsr_post_ops_append_sum(posts, 1, 0);
 *     tsr_post_ops_append_eltwise(posts, "LeakyRelu", 0.1f, NAN);
 *     tsr_device_tensor_create(device, &(tsr_shape){4, {1, 3, 64, 64}}, TSR_DTYPE_F32, &x);
 *     tsr_device_tensor_create(device, &(tsr_shape){4, {1, 8, 62, 62}}, TSR_DTYPE_F32, &y);
 *     tsr_primitive_create(device, &(tsr_primitive_desc){.kind = TSR_PRIMITIVE_CONV,
 *         .source = {4, {1, 3, 64, 64}}, .weights = {{4, {8, 3, 3, 3}}, weights}, .posts = posts},
 *         &conv);
 *     tsr_device_tensor_write(x, elements, 3 * 64 * 64);
 *     tsr_primitive_execute(conv, &(tsr_primitive_args){.source = x, .destination = y});
 *     tsr_device_tensor_read(y, result, 8 * 62 * 62);
 *
 * The rules of tessera.h hold here, too: zeroed descriptions ask for defaults, structs may grow at
 * their ends (exceptions, which never do: tsr_primitive_weights, tsr_primitive_window), failures
 * leave a message in tsr_last_error(), one device and all that was made on it belong to one thread
 * at a time. A chain of post-ops belongs to no device; it may be read on several threads.
 *
 * What is copied: weights and bias, once, when a primitive is made. Tensors are bound as they are:
 * the kernel reads the sources' textures or buffers and writes the destination's. Passes are added
 * where a kernel writes another layout than tensors have (a transposed convolution with a stride, a
 * matrix product of more than two axes), where an operand is broadcast along one of several axes
 * that fold into one, and where post-ops read more tensors than a pass can; the report counts them.
 */
#ifndef TESSERA_PRIMITIVE_H
#define TESSERA_PRIMITIVE_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- post-ops -------------------------------------------------------------------------------- */

/* Work on a result before it is stored: a chain, executed in the order in which it was appended. */
typedef struct tsr_post_ops tsr_post_ops;

enum { TSR_MAX_POST_OPS = 32 };

typedef enum tsr_post_op_kind {
    TSR_POST_OP_ELTWISE,        /* op(result) */
    TSR_POST_OP_SUM,            /* result + scale * (destination's old element - zero_point) */
    TSR_POST_OP_BINARY,         /* result op operand; swapped: operand op result */
    TSR_POST_OP_PRELU,          /* result where it is >= 0, else slope * result */
    TSR_POST_OP_DEPTHWISE_CONV, /* a convolution of each channel with a kernel of its own */
} tsr_post_op_kind;

typedef struct tsr_post_op {
    tsr_post_op_kind kind;
    const char *op;          /* ONNX's name: "Relu", "Add"; static */
    float alpha, beta;       /* first and second parameter; 0 for those that op lacks */
    float scale, zero_point; /* SUM */
    /* BINARY, PRELU: the shape of the operand or slope; rank -1 where only the mask is known, and
     * of other kinds. */
    tsr_shape operand;
    bool swapped; /* BINARY */
    /* PRELU: bit i is set where slopes differ along axis i of the result. */
    unsigned mask;
    int64_t kernel, stride, padding; /* DEPTHWISE_CONV: square windows */
    /* Of a session's chain: the model's node that was fused, and the name of the operand's tensor
     * (NULL for ELTWISE). NULL where the chain was made by hand. Valid as long as the chain. */
    const char *node, *tensor;
} tsr_post_op;

TSR_API tsr_status tsr_post_ops_create(tsr_post_ops **posts);
/* NULL is fine. Primitives have copies of their own. */
TSR_API void tsr_post_ops_destroy(tsr_post_ops *posts);

/* Functions that append fail with TSR_ERROR_INVALID_ARGUMENT for a value that is refused, and with
 * TSR_ERROR_LIMIT past TSR_MAX_POST_OPS; the chain is then as before. */

/* op: ONNX's name of a unary operator of floats, Relu to Atanh, or Clip. alpha and beta are its
 * parameters as ONNX names and orders them (LeakyRelu, Elu, Celu, Swish, ThresholdedRelu: alpha;
 * HardSigmoid: alpha, beta; Selu: alpha, gamma; Shrink: lambd, bias; Clip: min, max; Gelu: 1 for
 * its approximation by tanh, else 0). NaN: ONNX's default, and nothing else where op has no such
 * parameter, for which 0 is accepted, too. */
TSR_API tsr_status tsr_post_ops_append_eltwise(tsr_post_ops *posts, const char *op, float alpha,
                                               float beta);
/* The destination's elements from before. Both numbers are finite. */
TSR_API tsr_status tsr_post_ops_append_sum(tsr_post_ops *posts, float scale, float zero_point);
/* op: Add, Sub, Mul, Div, Mod (C's fmod), Pow, PRelu, Max, Min. operand: the exact shape of the
 * tensor that will be given, broadcast to the result as ONNX does, axes aligned at the last: of a
 * result [N, C, H, W], [] is one element for all, [C, 1, 1] one per channel, [N, C, H, W] one per
 * element. That it fits is checked by tsr_primitive_create(). */
TSR_API tsr_status tsr_post_ops_append_binary(tsr_post_ops *posts, const char *op,
                                              const tsr_shape *operand, bool swapped);
/* The slope's shape has the result's rank; its size along axis i is the result's where bit i of the
 * mask is set, and 1 elsewhere. 1 << 1: one slope per channel. */
TSR_API tsr_status tsr_post_ops_append_prelu(tsr_post_ops *posts, unsigned mask);
/* What follows in the chain is on its result. No kernel of today's fuses it: tsr_primitive_create()
 * refuses a chain with it as TSR_ERROR_UNSUPPORTED. Compute it by a primitive of its own; a session
 * does that by itself. */
TSR_API tsr_status tsr_post_ops_append_depthwise_conv(tsr_post_ops *posts, int64_t kernel,
                                                      int64_t stride, int64_t padding);

TSR_API int tsr_post_ops_length(const tsr_post_ops *posts);
TSR_API tsr_status tsr_post_ops_get_sized(const tsr_post_ops *posts, int index, tsr_post_op *post,
                                          size_t size);
static inline tsr_status tsr_post_ops_get(const tsr_post_ops *posts, int index, tsr_post_op *post) {
    return tsr_post_ops_get_sized(posts, index, post, sizeof *post);
}

/* What was fused into a node of a session, which tsr_session_node_report() counts: a new chain, to
 * be destroyed; of no length for a node without, on the cpu backend for all. Chains of sessions
 * have ELTWISE, BINARY and PRELU. */
TSR_API tsr_status tsr_session_post_ops(const tsr_session *session, int node, tsr_post_ops **posts);

/* ---- tensors --------------------------------------------------------------------------------- */

/* A tensor on a device: a texture, a buffer or memory, in a layout that its shape, type and device
 * alone decide. */
typedef struct tsr_device_tensor tsr_device_tensor;

/* Of zeros. shape: at least one element. dtype: TSR_DTYPE_F32 or TSR_DTYPE_F16, the storage on a
 * GPU (of 16 bits in any case on a device that is half_only); cpu stores 32 bits. Holds a reference
 * on the device. */
TSR_API tsr_status tsr_device_tensor_create(tsr_device *device, const tsr_shape *shape,
                                            tsr_dtype dtype, tsr_device_tensor **tensor);
/* Primitives may have used it, and may be used afterwards. NULL is fine. */
TSR_API void tsr_device_tensor_destroy(tsr_device_tensor *tensor);

/* Shape and dtype; name is "". */
TSR_API tsr_status tsr_device_tensor_describe_sized(const tsr_device_tensor *tensor,
                                                    tsr_tensor_info *info, size_t size);
static inline tsr_status tsr_device_tensor_describe(const tsr_device_tensor *tensor,
                                                    tsr_tensor_info *info) {
    return tsr_device_tensor_describe_sized(tensor, info, sizeof *info);
}

/* All elements, row-major; copied before the call returns. count: checked against the shape. The
 * first use of a form, a type or order, compiles a program and makes a staging texture or buffer.
 */
TSR_API tsr_status tsr_device_tensor_write(tsr_device_tensor *tensor, const float *data,
                                           size_t count);
/* The same for other types and orders. */
TSR_API tsr_status tsr_device_tensor_write_array_sized(tsr_device_tensor *tensor,
                                                       const tsr_array *array, size_t size);
static inline tsr_status tsr_device_tensor_write_array(tsr_device_tensor *tensor,
                                                       const tsr_array *array) {
    return tsr_device_tensor_write_array_sized(tensor, array, sizeof *array);
}
/* Copied on the GPU from a texture, such as tsr_session_output_texture() gives: see
 * tsr_session_set_input_texture(). gles only. */
TSR_API tsr_status tsr_device_tensor_write_texture_sized(tsr_device_tensor *tensor,
                                                         const tsr_texture *texture, size_t size,
                                                         float factor, float summand);
static inline tsr_status tsr_device_tensor_write_texture(tsr_device_tensor *tensor,
                                                         const tsr_texture *texture, float factor,
                                                         float summand) {
    return tsr_device_tensor_write_texture_sized(tensor, texture, sizeof *texture, factor, summand);
}
/* Waits for what was executed before. */
TSR_API tsr_status tsr_device_tensor_read(tsr_device_tensor *tensor, float *data, size_t count);
TSR_API tsr_status tsr_device_tensor_read_array_sized(tsr_device_tensor *tensor,
                                                      const tsr_array *array, size_t size);
static inline tsr_status tsr_device_tensor_read_array(tsr_device_tensor *tensor,
                                                      const tsr_array *array) {
    return tsr_device_tensor_read_array_sized(tensor, array, sizeof *array);
}

/* ---- primitives ------------------------------------------------------------------------------ */

typedef struct tsr_primitive tsr_primitive;

typedef enum tsr_primitive_kind {
    TSR_PRIMITIVE_CONV,           /* source [N, C, spatial axes], weights [M, C / group, kernel] */
    TSR_PRIMITIVE_CONV_TRANSPOSE, /* weights [C, M / group, kernel] */
    TSR_PRIMITIVE_MATMUL,         /* numpy's matmul of source and weights, or of source and other */
    TSR_PRIMITIVE_POOL,           /* op: MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool */
    TSR_PRIMITIVE_ELTWISE,        /* op, alpha, beta: as tsr_post_ops_append_eltwise() has them */
    TSR_PRIMITIVE_BINARY,         /* op: as tsr_post_ops_append_binary() has it; source op other */
    /* op: ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2,
     * ReduceSumSquare, ReduceLogSum, ReduceLogSumExp */
    TSR_PRIMITIVE_REDUCTION,
} tsr_primitive_kind;

/* Constant elements, dense and row-major; copied. data NULL: none. */
typedef struct tsr_primitive_weights {
    tsr_shape shape;
    const float *data;
} tsr_primitive_weights;

/* Of convolutions and pools, as ONNX has them; by spatial axis of the source, of which there are 1
 * to 3. */
typedef struct tsr_primitive_window {
    int64_t kernel[3];                /* of pools; a convolution's is that of its weights */
    int64_t strides[3], dilations[3]; /* 0: 1 */
    int64_t pads_begin[3], pads_end[3];
    int64_t output_padding[3];         /* of transposed convolutions */
    int64_t group;                     /* of convolutions; 0: 1 */
    bool ceil_mode, count_include_pad; /* of pools */
} tsr_primitive_window;

typedef struct tsr_primitive_desc {
    tsr_primitive_kind kind;
    const char *op; /* of POOL, ELTWISE, BINARY, REDUCTION; NULL of others */
    tsr_shape source;
    tsr_shape other;               /* of BINARY, and of MATMUL without weights */
    tsr_primitive_weights weights; /* of convolutions; of MATMUL: the right matrix */
    tsr_primitive_weights bias;    /* of convolutions: [M]; none: 0 */
    tsr_primitive_window window;
    float alpha, beta; /* of ELTWISE */
    /* Of REDUCTION, each from -rank to rank - 1; none: all axes. They stay with size 1, unless
     * drop_axes is set. */
    int axis_count;
    int64_t axes[TSR_MAX_RANK];
    bool drop_axes;
    tsr_dtype dtype;           /* of all its tensors: TSR_DTYPE_F32 or TSR_DTYPE_F16 */
    const tsr_post_ops *posts; /* copied; NULL: none */
    /* Fail with TSR_ERROR_UNSUPPORTED where a post-op would need another pass than those of the
     * kernel, rather than add it. */
    bool fused_only;
    int tune_ms; /* as tsr_session_desc.tune_ms */
} tsr_primitive_desc;

/* Compiles its programs and packs its weights. Fails as tsr_session_create() does:
 * TSR_ERROR_INVALID_MODEL, TSR_ERROR_SHAPE or TSR_ERROR_INVALID_ARGUMENT for what does not fit
 * together, TSR_ERROR_UNSUPPORTED for what no kernel computes, which a session may compute by
 * several. Holds a reference on the device. */
TSR_API tsr_status tsr_primitive_create_sized(tsr_device *device, const tsr_primitive_desc *desc,
                                              size_t size, tsr_primitive **primitive);
static inline tsr_status tsr_primitive_create(tsr_device *device, const tsr_primitive_desc *desc,
                                              tsr_primitive **primitive) {
    return tsr_primitive_create_sized(device, desc, sizeof *desc, primitive);
}
/* NULL is fine. */
TSR_API void tsr_primitive_destroy(tsr_primitive *primitive);

typedef struct tsr_primitive_args {
    tsr_device_tensor *source;
    tsr_device_tensor *other; /* of BINARY, and of MATMUL without weights; NULL of others */
    tsr_device_tensor *destination;
    /* By index of the post-op: the operand or slope of BINARY and PRELU; NULL of others. */
    tsr_device_tensor *operands[TSR_MAX_POST_OPS];
} tsr_primitive_args;

/* Starts it, after what was written and executed before; on cpu it is complete when this returns.
 * Tensors are of the primitive's device and type, and of exactly the shapes that it was made for. A
 * tensor may be given several times, as destination, too. With a sum, or where the destination is
 * also read, the result goes to a texture or buffer that the primitive has apart, which the
 * destination's tensor has from then on: nothing is copied for it. If this fails the destination is
 * as before, unless the device was lost. */
TSR_API tsr_status tsr_primitive_execute_sized(tsr_primitive *primitive,
                                               const tsr_primitive_args *args, size_t size);
static inline tsr_status tsr_primitive_execute(tsr_primitive *primitive,
                                               const tsr_primitive_args *args) {
    return tsr_primitive_execute_sized(primitive, args, sizeof *args);
}

/* Its chain, as long as the primitive; never NULL. */
TSR_API const tsr_post_ops *tsr_primitive_post_ops(const tsr_primitive *primitive);

typedef struct tsr_primitive_report {
    tsr_shape destination;
    int passes;               /* draws or dispatches; 0 on cpu */
    int64_t macs;             /* without those of post-ops */
    uint64_t weight_bytes;    /* on the device */
    uint64_t allocated_bytes; /* on the device for the primitive, without the tensors given to it */
    const char *kernel;       /* "conv_direct"; "" on cpu */
} tsr_primitive_report;

TSR_API tsr_status tsr_primitive_get_report_sized(const tsr_primitive *primitive,
                                                  tsr_primitive_report *report, size_t size);
static inline tsr_status tsr_primitive_get_report(const tsr_primitive *primitive,
                                                  tsr_primitive_report *report) {
    return tsr_primitive_get_report_sized(primitive, report, sizeof *report);
}
/* The shape of operand i, as tsr_primitive_args.operands has it: of a PRELU the mask's. */
TSR_API tsr_status tsr_primitive_operand_shape(const tsr_primitive *primitive, int index,
                                               tsr_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
