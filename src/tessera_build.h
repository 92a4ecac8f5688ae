/* Networks built in code, with initial weights: the result is a model as any other, which sessions
 * run and tsr_model_write() saves.
 *
 *     tsr_net *net; tsr_model *model;
 *     tsr_net_create(&(tsr_net_desc){.seed = 1}, &net);
 *     int x = tsr_net_input(net, "signal", &(tsr_shape){3, {-1, 1, 64}});
 *     x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 8, 5)), 2);
 *     x = tsr_net_max_pool(net, tsr_net_relu(net, tsr_net_conv1d(net, x, 16, 3)), 2);
 *     x = tsr_net_relu(net, tsr_net_dense(net, tsr_net_flatten(net, x), 32));
 *     x = tsr_net_softmax(net, tsr_net_dense(net, x, 5), 1);
 *     tsr_net_output(net, "classes", x);
 *     tsr_status status = tsr_net_finish(net, &model);
 *     tsr_net_destroy(net);
 *
 * Tensors are numbers that functions return; TSR_NET_NONE after a failure. The first failure is
 * kept: what follows does nothing, and tsr_net_finish() returns it, so that nothing needs to be
 * checked before. Its message names the layer and the shapes. A size that does not fit is told at
 * once, since shapes are inferred layer by layer.
 *
 * Axis 0 of every tensor is the batch; with a size of -1 it is left open, as "batch". Axis 1 has
 * the channels, those after it are spatial, of which convolutions and pools take one to three.
 * Layers are operators of ONNX; node and weights are named after the layer: "conv1",
 * "conv1.weight", "conv1.bias", with a number that counts layers of its kind, unless the
 * description has a name.
 *
 * The rules of tessera.h hold here, too: zeroed descriptions ask for defaults, structs may grow at
 * their ends (exceptions, which never do: tsr_initializer, tsr_window_desc). A net belongs to one
 * thread at a time. */
#ifndef TESSERA_BUILD_H
#define TESSERA_BUILD_H

#include "tessera.h"

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_net tsr_net;

enum { TSR_NET_NONE = -1 };

typedef struct tsr_net_desc {
    /* Of the weights: numbers are those of MT19937, drawn in the order in which layers are made,
     * and the same on every platform. */
    uint32_t seed;
    const char *name; /* in messages; copied; NULL: "net" */
} tsr_net_desc;

TSR_API tsr_status tsr_net_create_sized(const tsr_net_desc *desc, size_t size, tsr_net **net);
/* desc: NULL is fine. */
static inline tsr_status tsr_net_create(const tsr_net_desc *desc, tsr_net **net) {
    return tsr_net_create_sized(desc, sizeof *desc, net);
}
/* NULL is fine. Models that it has made stay. */
TSR_API void tsr_net_destroy(tsr_net *net);

/* A copy of the network as a model, to be freed with tsr_model_free(); the net may be extended
 * afterwards. Fails with the net's first failure, and where it has no input or no output. */
TSR_API tsr_status tsr_net_finish(const tsr_net *net, tsr_model **model);

/* float32. The shape has a batch and at least one more axis. */
TSR_API int tsr_net_input(tsr_net *net, const char *name, const tsr_shape *shape);
TSR_API void tsr_net_output(tsr_net *net, const char *name, int x);

/* ---- weights --------------------------------------------------------------------------------- */

typedef enum tsr_initializer_kind {
    TSR_INITIALIZER_DEFAULT, /* weights: HE_NORMAL; biases: 0; scales: 1 */
    /* Normal, of variance 2 / fan_in, by the polar form of Box-Muller (He et al. 2015, "Delving
     * Deep into Rectifiers"). fan_in: products in the sum of an output's element: channels of a
     * group times the kernel's elements; of a transposed convolution divided by its strides, of
     * which each output meets one. fan_out the same the other way round. */
    TSR_INITIALIZER_HE_NORMAL,
    /* Uniform between -a and a, a = sqrt(6 / (fan_in + fan_out)) (Glorot, Bengio 2010). */
    TSR_INITIALIZER_GLOROT_UNIFORM,
    TSR_INITIALIZER_NORMAL,   /* of standard deviation `value` */
    TSR_INITIALIZER_CONSTANT, /* all are `value` */
} tsr_initializer_kind;

typedef struct tsr_initializer {
    tsr_initializer_kind kind;
    float value;
} tsr_initializer;

/* Weights, in the order in which layers were made: name, shape, type. */
TSR_API int tsr_net_parameter_count(const tsr_net *net);
TSR_API tsr_status tsr_net_parameter_sized(const tsr_net *net, int index, tsr_tensor_info *info,
                                           size_t size);
static inline tsr_status tsr_net_parameter(const tsr_net *net, int index, tsr_tensor_info *info) {
    return tsr_net_parameter_sized(net, index, info, sizeof *info);
}
/* Its elements, row-major, which may be changed until the net is destroyed, for models that are
 * made afterwards; NULL if there is none of that number. */
TSR_API float *tsr_net_parameter_data(tsr_net *net, int index);

/* ---- layers with weights --------------------------------------------------------------------- */

/* By spatial axis, as ONNX has them. */
typedef struct tsr_window_desc {
    int64_t kernel[3];
    int64_t strides[3], dilations[3]; /* 0: 1 */
    int64_t pads_begin[3], pads_end[3];
    int64_t output_padding[3]; /* of transposed convolutions */
} tsr_window_desc;

typedef struct tsr_layer_desc {
    int64_t outputs;        /* channels or, of a dense layer, features */
    tsr_window_desc window; /* of convolutions and pools */
    int64_t group;          /* of convolutions; 0: 1 */
    bool no_bias;
    tsr_initializer weights, bias;
    bool ceil_mode, count_include_pad; /* of pools */
    float epsilon;                     /* of normalizations; 0: 1e-5 */
    const char *name;                  /* copied; NULL: kind and number */
} tsr_layer_desc;

/* x: [N, C, spatial axes] */
TSR_API int tsr_net_conv_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size);
TSR_API int tsr_net_conv_transpose_sized(tsr_net *net, int x, const tsr_layer_desc *desc,
                                         size_t size);
/* x: [N, features] */
TSR_API int tsr_net_dense_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size);
/* Scale 1 and bias 0, unless `weights` and `bias` say otherwise; BatchNormalization with mean 0 and
 * variance 1. */
TSR_API int tsr_net_batch_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size);
TSR_API int tsr_net_instance_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc,
                                        size_t size);
/* Over all axes but the batch. */
TSR_API int tsr_net_layer_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size);
/* op: "MaxPool" or "AveragePool" */
TSR_API int tsr_net_pool_sized(tsr_net *net, int x, const char *op, const tsr_layer_desc *desc,
                               size_t size);

static inline int tsr_net_conv(tsr_net *net, int x, const tsr_layer_desc *desc) {
    return tsr_net_conv_sized(net, x, desc, sizeof *desc);
}
static inline int tsr_net_conv_transpose(tsr_net *net, int x, const tsr_layer_desc *desc) {
    return tsr_net_conv_transpose_sized(net, x, desc, sizeof *desc);
}
static inline int tsr_net_pool(tsr_net *net, int x, const char *op, const tsr_layer_desc *desc) {
    return tsr_net_pool_sized(net, x, op, desc, sizeof *desc);
}

/* With defaults: square kernels, stride 1, no padding, biases. */
static inline int tsr_net_conv1d(tsr_net *net, int x, int64_t outputs, int64_t kernel) {
    tsr_layer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.outputs = outputs;
    desc.window.kernel[0] = kernel;
    return tsr_net_conv(net, x, &desc);
}
static inline int tsr_net_conv2d(tsr_net *net, int x, int64_t outputs, int64_t kernel) {
    tsr_layer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.outputs = outputs;
    desc.window.kernel[0] = desc.window.kernel[1] = kernel;
    return tsr_net_conv(net, x, &desc);
}
static inline int tsr_net_dense(tsr_net *net, int x, int64_t outputs) {
    tsr_layer_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.outputs = outputs;
    return tsr_net_dense_sized(net, x, &desc, sizeof desc);
}
/* desc: NULL is fine. */
static inline int tsr_net_batch_norm(tsr_net *net, int x, const tsr_layer_desc *desc) {
    return tsr_net_batch_norm_sized(net, x, desc, sizeof *desc);
}
static inline int tsr_net_instance_norm(tsr_net *net, int x, const tsr_layer_desc *desc) {
    return tsr_net_instance_norm_sized(net, x, desc, sizeof *desc);
}
static inline int tsr_net_layer_norm(tsr_net *net, int x, const tsr_layer_desc *desc) {
    return tsr_net_layer_norm_sized(net, x, desc, sizeof *desc);
}

/* ---- others ---------------------------------------------------------------------------------- */

/* Windows of `size` along every spatial axis, next to each other; what does not fill one is left
 * out. */
TSR_API int tsr_net_max_pool(tsr_net *net, int x, int64_t size);
TSR_API int tsr_net_average_pool(tsr_net *net, int x, int64_t size);
/* All spatial axes become 1. */
TSR_API int tsr_net_global_average_pool(tsr_net *net, int x);

/* op: ONNX's name of a unary operator of floats, as tsr_post_ops_append_eltwise() of
 * tessera_primitive.h has it, with alpha and beta: NaN is ONNX's default. */
TSR_API int tsr_net_activation(tsr_net *net, int x, const char *op, float alpha, float beta);
static inline int tsr_net_relu(tsr_net *net, int x) {
    return tsr_net_activation(net, x, "Relu", NAN, NAN);
}

/* op: Add, Sub, Mul, Div, Pow, Max, Min; of as many axes; sizes of 1 are broadcast. */
TSR_API int tsr_net_binary(tsr_net *net, const char *op, int a, int b);
static inline int tsr_net_add(tsr_net *net, int a, int b) {
    return tsr_net_binary(net, "Add", a, b);
}
/* Along an axis other than the batch, from 1 or from the end: -1. */
TSR_API int tsr_net_concat(tsr_net *net, int axis, int count, const int *tensors);
/* [N, all others] */
TSR_API int tsr_net_flatten(tsr_net *net, int x);
/* shape: without the batch; one of its sizes may be -1. */
TSR_API int tsr_net_reshape(tsr_net *net, int x, const tsr_shape *shape);
/* Over an axis, as of tsr_net_concat(). */
TSR_API int tsr_net_softmax(tsr_net *net, int x, int axis);
/* Drops elements in training only. 0 <= ratio < 1. */
TSR_API int tsr_net_dropout(tsr_net *net, int x, float ratio);

#ifdef __cplusplus
}
#endif
#endif
