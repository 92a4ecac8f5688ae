#include "api/net.h"

#include <inttypes.h>

#include "api/post_ops.h"
#include "api/sized.h"
#include "base/error.h"

static const tsr_initializer he_normal = {.kind = TSR_INITIALIZER_HE_NORMAL},
                             zeros = {.kind = TSR_INITIALIZER_CONSTANT},
                             ones = {.kind = TSR_INITIALIZER_CONSTANT, .value = 1};

/* Begins a layer that has a description, of which *d becomes a copy. */
static bool begin(tsr_layer *layer, tsr_net *net, tsr_op op, const char *kind, int x,
                  const tsr_layer_desc *desc, size_t size, tsr_layer_desc *d) {
    if (!net || net->status != TSR_OK)
        return false;
    tsr_net_fail(net, tsr_take_struct("tsr_layer_desc", desc, size, d, sizeof *d));
    return tsr_layer_begin(layer, net, op, kind, d->name, x);
}

static int fail_shape(const tsr_layer *layer, const char *needs) {
    return tsr_net_fail(layer->net,
                        tsr_fail(TSR_ERROR_SHAPE, "layer '%s': its input is %s, it %s", layer->name,
                                 tsr_shape_text(&tsr_layer_in(layer, 0)->shape), needs));
}

/* ---- windows --------------------------------------------------------------------------------- */

static bool has_window(const tsr_layer *layer) {
    int rank = tsr_layer_in(layer, 0)->shape.rank;
    if (rank < 3 || rank > 5)
        fail_shape(layer, "needs a batch, channels and one to three spatial axes");
    return layer->net->status == TSR_OK;
}

static void add_axes(tsr_layer *layer, const char *name, int axes, const int64_t *given,
                     int64_t instead) {
    int64_t ints[3];
    for (int i = 0; i < axes; i++)
        ints[i] = given[i] ? given[i] : instead;
    tsr_layer_add_ints(layer, name, axes, ints);
}

/* Without the kernel. */
static void add_window(tsr_layer *layer, const tsr_window_desc *w) {
    int axes = tsr_layer_in(layer, 0)->shape.rank - 2;
    int64_t pads[6];
    for (int i = 0; i < axes; i++) {
        pads[i] = w->pads_begin[i];
        pads[axes + i] = w->pads_end[i];
    }
    add_axes(layer, "strides", axes, w->strides, 1);
    add_axes(layer, "dilations", axes, w->dilations, 1);
    tsr_layer_add_ints(layer, "pads", 2 * axes, pads);
}

/* ---- convolutions ---------------------------------------------------------------------------- */

static bool check_channels(const tsr_layer *layer, const tsr_layer_desc *d) {
    int64_t channels = tsr_layer_in(layer, 0)->shape.dim[1];
    if (d->outputs < 1 || d->group < 1 || channels % d->group || d->outputs % d->group)
        tsr_net_fail(layer->net, tsr_fail(TSR_ERROR_SHAPE,
                                          "layer '%s': %" PRId64 " channels to %" PRId64
                                          " in %" PRId64 " groups",
                                          layer->name, channels, d->outputs, d->group));
    return layer->net->status == TSR_OK;
}

/* [outputs, channels of a group, kernel], or the other way round. */
static tsr_shape conv_weights(const tsr_layer *layer, const tsr_layer_desc *d, tsr_fans *fans) {
    const tsr_shape *x = &tsr_layer_in(layer, 0)->shape;
    bool transposed = layer->op == TSR_OP_ConvTranspose;
    int64_t outputs = transposed ? d->outputs / d->group : d->outputs,
            inputs = transposed ? x->dim[1] : x->dim[1] / d->group;
    tsr_shape shape = {x->rank, {transposed ? inputs : outputs, transposed ? outputs : inputs}};
    double taps = 1, strides = 1;
    for (int i = 2; i < x->rank; i++) {
        shape.dim[i] = d->window.kernel[i - 2];
        taps *= (double)shape.dim[i];
        strides *= d->window.strides[i - 2] > 1 ? (double)d->window.strides[i - 2] : 1;
    }
    double in = (double)(x->dim[1] / d->group) * taps, out = (double)(d->outputs / d->group) * taps;
    *fans = (tsr_fans){transposed ? in / strides : in, transposed ? out : out / strides};
    return shape;
}

static int add_convolution(tsr_net *net, tsr_op op, const char *kind, int x,
                           const tsr_layer_desc *desc, size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    tsr_fans fans;
    if (!begin(&layer, net, op, kind, x, desc, size, &d) || !has_window(&layer))
        return TSR_NET_NONE;
    d.group = d.group ? d.group : 1;
    if (!check_channels(&layer, &d))
        return TSR_NET_NONE;
    const tsr_shape shape = conv_weights(&layer, &d, &fans);
    tsr_layer_add_weights(&layer, "weight", &shape, d.weights, he_normal, fans);
    if (!d.no_bias)
        tsr_layer_add_weights(&layer, "bias", &(tsr_shape){1, {d.outputs}}, d.bias, zeros, fans);
    add_window(&layer, &d.window);
    if (op == TSR_OP_ConvTranspose)
        add_axes(&layer, "output_padding", shape.rank - 2, d.window.output_padding, 0);
    tsr_layer_add_int(&layer, "group", d.group);
    return tsr_layer_end(&layer);
}

int tsr_net_conv_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    return add_convolution(net, TSR_OP_Conv, "conv", x, desc, size);
}

int tsr_net_conv_transpose_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    return add_convolution(net, TSR_OP_ConvTranspose, "conv_transpose", x, desc, size);
}

int tsr_net_dense_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    if (!begin(&layer, net, TSR_OP_Gemm, "dense", x, desc, size, &d))
        return TSR_NET_NONE;
    const tsr_shape *in = &tsr_layer_in(&layer, 0)->shape;
    if (in->rank != 2)
        return fail_shape(&layer, "needs a batch and features: flatten it first");
    int64_t features = in->dim[1];
    const tsr_fans fans = {(double)features, (double)d.outputs};
    tsr_layer_add_weights(&layer, "weight", &(tsr_shape){2, {d.outputs, features}}, d.weights,
                          he_normal, fans);
    if (!d.no_bias)
        tsr_layer_add_weights(&layer, "bias", &(tsr_shape){1, {d.outputs}}, d.bias, zeros, fans);
    tsr_layer_add_int(&layer, "transB", 1);
    return tsr_layer_end(&layer);
}

/* ---- normalizations -------------------------------------------------------------------------- */

/* Scale and bias of that shape. */
static void add_affine(tsr_layer *layer, const tsr_layer_desc *d, const tsr_shape *shape) {
    const tsr_fans fans = {1, 1};
    tsr_layer_add_weights(layer, "scale", shape, d->weights, ones, fans);
    tsr_layer_add_weights(layer, "bias", shape, d->bias, zeros, fans);
}

static int end_norm(tsr_layer *layer, const tsr_layer_desc *d) {
    tsr_layer_add_float(layer, "epsilon", d->epsilon != 0 ? d->epsilon : 1e-5f);
    return tsr_layer_end(layer);
}

int tsr_net_batch_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    if (!begin(&layer, net, TSR_OP_BatchNormalization, "batch_norm", x, desc, size, &d))
        return TSR_NET_NONE;
    const tsr_shape channels = {1, {tsr_layer_in(&layer, 0)->shape.dim[1]}};
    add_affine(&layer, &d, &channels);
    tsr_layer_add_weights(&layer, "mean", &channels, zeros, zeros, (tsr_fans){1, 1});
    tsr_layer_add_weights(&layer, "variance", &channels, ones, ones, (tsr_fans){1, 1});
    return end_norm(&layer, &d);
}

int tsr_net_instance_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    if (!begin(&layer, net, TSR_OP_InstanceNormalization, "instance_norm", x, desc, size, &d) ||
        !has_window(&layer))
        return TSR_NET_NONE;
    add_affine(&layer, &d, &(tsr_shape){1, {tsr_layer_in(&layer, 0)->shape.dim[1]}});
    return end_norm(&layer, &d);
}

int tsr_net_layer_norm_sized(tsr_net *net, int x, const tsr_layer_desc *desc, size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    if (!begin(&layer, net, TSR_OP_LayerNormalization, "layer_norm", x, desc, size, &d))
        return TSR_NET_NONE;
    const tsr_shape *in = &tsr_layer_in(&layer, 0)->shape;
    const tsr_shape one = tsr_shape_make(in->rank - 1, in->dim + 1);
    add_affine(&layer, &d, &one);
    tsr_layer_add_int(&layer, "axis", 1);
    return end_norm(&layer, &d);
}

/* ---- pools ----------------------------------------------------------------------------------- */

int tsr_net_pool_sized(tsr_net *net, int x, const char *op, const tsr_layer_desc *desc,
                       size_t size) {
    tsr_layer layer;
    tsr_layer_desc d;
    tsr_op found = op ? tsr_op_find(op) : TSR_OP_COUNT;
    bool average = found == TSR_OP_AveragePool;
    if (net && found != TSR_OP_MaxPool && !average)
        return tsr_net_fail(
            net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "'%s' is no pool", op ? op : "(NULL)"));
    if (!begin(&layer, net, found, average ? "average_pool" : "max_pool", x, desc, size, &d) ||
        !has_window(&layer))
        return TSR_NET_NONE;
    add_window(&layer, &d.window);
    tsr_layer_add_ints(&layer, "kernel_shape", tsr_layer_in(&layer, 0)->shape.rank - 2,
                       d.window.kernel);
    tsr_layer_add_int(&layer, "ceil_mode", d.ceil_mode);
    if (average)
        tsr_layer_add_int(&layer, "count_include_pad", d.count_include_pad);
    return tsr_layer_end(&layer);
}

static int add_square_pool(tsr_net *net, int x, const char *op, int64_t size) {
    tsr_layer_desc desc = {0};
    for (int i = 0; i < 3; i++)
        desc.window.kernel[i] = desc.window.strides[i] = size;
    return tsr_net_pool(net, x, op, &desc);
}

int tsr_net_max_pool(tsr_net *net, int x, int64_t size) {
    return add_square_pool(net, x, "MaxPool", size);
}

int tsr_net_average_pool(tsr_net *net, int x, int64_t size) {
    return add_square_pool(net, x, "AveragePool", size);
}

int tsr_net_global_average_pool(tsr_net *net, int x) {
    tsr_layer layer;
    if (!tsr_layer_begin(&layer, net, TSR_OP_GlobalAveragePool, "global_average_pool", NULL, x) ||
        !has_window(&layer))
        return TSR_NET_NONE;
    return tsr_layer_end(&layer);
}

/* ---- element by element ---------------------------------------------------------------------- */

int tsr_net_activation(tsr_net *net, int x, const char *op, float alpha, float beta) {
    tsr_layer layer;
    tsr_op found = TSR_OP_COUNT;
    float param[2] = {0};
    int count, next = 0;
    if (!net || net->status != TSR_OK)
        return TSR_NET_NONE;
    tsr_net_fail(net, tsr_find_eltwise(op, (float[]){alpha, beta}, &found, param));
    if (net->status != TSR_OK)
        return TSR_NET_NONE;
    if (!tsr_layer_begin(&layer, net, found, tsr_op_get_info(found)->stem, NULL, x))
        return TSR_NET_NONE;
    const tsr_attr_info *attrs = tsr_op_attrs(found, &count);
    for (int i = 0; i < count && next < 2; i++)
        if (attrs[i].is_param)
            tsr_layer_add_float(&layer, attrs[i].name, param[next++]);
    if (found == TSR_OP_Clip) {
        tsr_layer_add_number(&layer, "min", param[0]);
        tsr_layer_add_number(&layer, "max", param[1]);
    }
    return tsr_layer_end(&layer);
}

int tsr_net_binary(tsr_net *net, const char *op, int a, int b) {
    static const tsr_op ops[] = {TSR_OP_Add, TSR_OP_Sub, TSR_OP_Mul, TSR_OP_Div,
                                 TSR_OP_Pow, TSR_OP_Max, TSR_OP_Min};
    tsr_layer layer;
    tsr_op found = op ? tsr_op_find(op) : TSR_OP_COUNT;
    bool is_known = false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        is_known |= ops[i] == found;
    if (net && !is_known)
        return tsr_net_fail(net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                          "'%s' is no operator of two tensors of a net",
                                          op ? op : "(NULL)"));
    if (!tsr_layer_begin(&layer, net, found, tsr_op_get_info(found)->stem, NULL, a))
        return TSR_NET_NONE;
    tsr_layer_add_input(&layer, b);
    if (net->status == TSR_OK &&
        tsr_layer_in(&layer, 0)->shape.rank != tsr_layer_in(&layer, 1)->shape.rank)
        return tsr_net_fail(
            net, tsr_fail(TSR_ERROR_SHAPE,
                          "layer '%s': %s and %s: both need as many axes, the batch first",
                          layer.name, tsr_shape_text(&tsr_layer_in(&layer, 0)->shape),
                          tsr_shape_text(&tsr_layer_in(&layer, 1)->shape)));
    return tsr_layer_end(&layer);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static bool check_axis(const tsr_layer *layer, int axis) {
    int rank = tsr_layer_in(layer, 0)->shape.rank;
    if (axis == 0 || axis == -rank)
        fail_shape(layer, "has the batch along that axis");
    return layer->net->status == TSR_OK; /* others are checked by the operator's rule */
}

int tsr_net_concat(tsr_net *net, int axis, int count, const int *tensors) {
    tsr_layer layer;
    if (!net || count < 1 || count > TSR_LAYER_INPUTS || !tensors)
        return tsr_net_fail(net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                          "a concat of %d tensors: it takes 1 to %d", count,
                                          TSR_LAYER_INPUTS));
    if (!tsr_layer_begin(&layer, net, TSR_OP_Concat, "concat", NULL, tensors[0]) ||
        !check_axis(&layer, axis))
        return TSR_NET_NONE;
    for (int i = 1; i < count; i++)
        tsr_layer_add_input(&layer, tensors[i]);
    tsr_layer_add_int(&layer, "axis", axis);
    return tsr_layer_end(&layer);
}

int tsr_net_flatten(tsr_net *net, int x) {
    tsr_layer layer;
    if (!tsr_layer_begin(&layer, net, TSR_OP_Flatten, "flatten", NULL, x))
        return TSR_NET_NONE;
    tsr_layer_add_int(&layer, "axis", 1);
    return tsr_layer_end(&layer);
}

int tsr_net_reshape(tsr_net *net, int x, const tsr_shape *shape) {
    tsr_layer layer;
    tsr_shape whole = {1, {0}}; /* 0: the size that the input has there */
    if (!tsr_layer_begin(&layer, net, TSR_OP_Reshape, "reshape", NULL, x))
        return TSR_NET_NONE;
    if (!shape || shape->rank < 1 || shape->rank >= TSR_MAX_RANK)
        return tsr_net_fail(net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                          "layer '%s': a shape of %d axes beside the batch",
                                          layer.name, shape ? shape->rank : 0));
    for (int i = 0; i < shape->rank; i++) {
        whole.dim[whole.rank++] = shape->dim[i];
        if (shape->dim[i] == 0) /* which would copy a size of the input */
            return fail_shape(&layer, "cannot get an axis of no elements");
    }
    tsr_layer_add_shape(&layer, &whole);
    return tsr_layer_end(&layer);
}

int tsr_net_softmax(tsr_net *net, int x, int axis) {
    tsr_layer layer;
    if (!tsr_layer_begin(&layer, net, TSR_OP_Softmax, "softmax", NULL, x) ||
        !check_axis(&layer, axis))
        return TSR_NET_NONE;
    tsr_layer_add_int(&layer, "axis", axis);
    return tsr_layer_end(&layer);
}

int tsr_net_dropout(tsr_net *net, int x, float ratio) {
    tsr_layer layer;
    if (!tsr_layer_begin(&layer, net, TSR_OP_Dropout, "dropout", NULL, x))
        return TSR_NET_NONE;
    if (!(ratio >= 0 && ratio < 1))
        return tsr_net_fail(net, tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                                          "layer '%s': its ratio is not in [0, 1)", layer.name));
    tsr_layer_add_number(&layer, "ratio", ratio);
    return tsr_layer_end(&layer);
}
