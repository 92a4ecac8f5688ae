#include "make_models/exporter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 64, MAX_VALUES = 8 };

static value new_name(exporter *e, const char *op, const char *what) {
    char name[MAX_NAME];
    snprintf(name, sizeof name, "/%s_%d%s", op, ++e->count, what);
    const char *copy = onnx_copy(e->writer, name);
    return copy ? copy : "";
}

static void join(char *list, size_t size, int count, const value *names) {
    size_t used = 0;
    list[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? "," : "",
                                 names[i] ? names[i] : "");
}

void export_outputs(exporter *e, const char *op, int input_count, const value *inputs,
                    int output_count, value *outputs) {
    char in[MAX_VALUES * MAX_NAME], out[MAX_VALUES * MAX_NAME], name[MAX_NAME], suffix[24];
    join(in, sizeof in, input_count, inputs);
    for (int i = 0; i < output_count; i++) {
        snprintf(suffix, sizeof suffix, "_output_%d", i);
        outputs[i] = new_name(e, op, suffix);
    }
    join(out, sizeof out, output_count, outputs);
    snprintf(name, sizeof name, "/%s_%d", op, e->count);
    e->last = onnx_add_node(e->writer, op, name, in, out);
}

value export_op(exporter *e, const char *op, int input_count, const value *inputs) {
    value output;
    export_outputs(e, op, input_count, inputs, 1, &output);
    return output;
}

void export_as(exporter *e, const char *name) {
    char *copy = onnx_copy(e->writer, name);
    if (e->last && e->last->n_output && copy)
        e->last->output[0] = copy;
}

/* ---- constants ---- */

static value constant(exporter *e, tsr_dtype dtype, int rank, int64_t count, const void *elements) {
    Tsr__TensorProto *tensor = onnx_new_tensor(e->writer, "", dtype, rank, &count);
    if (tensor)
        memcpy(tensor->raw_data.data, elements, tensor->raw_data.len);
    value output = export_op(e, "Constant", 0, NULL);
    onnx_set_tensor(e->writer, e->last, "value", tensor);
    return output;
}

value export_int(exporter *e, int64_t i) {
    return constant(e, TSR_DTYPE_I64, 0, 1, &i);
}

value export_ints(exporter *e, int count, const int64_t *ints) {
    return constant(e, TSR_DTYPE_I64, 1, count, ints);
}

value export_number(exporter *e, float number) {
    return constant(e, TSR_DTYPE_F32, 0, 1, &number);
}

value export_weights(exporter *e, double mean, double deviation, int rank, const int64_t *dims) {
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    value name = new_name(e, "weights", "");
    fill_normal(&e->random, onnx_add_floats(e->writer, name, rank, dims, NULL), count, mean,
                deviation);
    return name;
}

/* ---- shapes ---- */

static value with_int(exporter *e, value output, const char *attribute, int64_t i) {
    onnx_set_int(e->writer, e->last, attribute, i);
    return output;
}

value export_size(exporter *e, value x, int64_t axis) {
    value shape = EXPORT_OP(e, "Shape", x), index = export_int(e, axis),
          size = with_int(e, EXPORT_OP(e, "Gather", shape, index), "axis", 0);
    return EXPORT_OP(e, "Unsqueeze", size, EXPORT_INTS(e, 0));
}

value export_sizes(exporter *e, int list_count, const value *lists, int count,
                   const int64_t *sizes) {
    value parts[MAX_VALUES];
    for (int i = 0; i < list_count; i++)
        parts[i] = lists[i];
    for (int i = 0; i < count; i++)
        parts[list_count + i] = EXPORT_INTS(e, sizes[i]);
    return with_int(e, export_op(e, "Concat", list_count + count, parts), "axis", 0);
}

value export_reshape(exporter *e, value x, int count, const int64_t *dims) {
    return EXPORT_OP(e, "Reshape", x, export_ints(e, count, dims));
}

value export_transpose(exporter *e, value x, int count, const int64_t *perm) {
    value output = EXPORT_OP(e, "Transpose", x);
    onnx_set_ints(e->writer, e->last, "perm", (size_t)count, perm);
    return output;
}

value export_select(exporter *e, value x, int64_t axis, int64_t index) {
    return with_int(e, EXPORT_OP(e, "Gather", x, export_int(e, index)), "axis", axis);
}

/* ---- layers ---- */

value export_conv(exporter *e, value x, conv_layer l) {
    int64_t k = l.kernel, pad = (k - 1) / 2, in = l.in / l.group;
    double deviation = sqrt(1.0 / (double)(in * k * k)); /* keeps the variance */
    value weights = EXPORT_WEIGHTS(e, 0, deviation, l.out, in, k, k),
          bias = EXPORT_WEIGHTS(e, 0, 0.05, l.out), y = EXPORT_OP(e, "Conv", x, weights, bias);
    onnx_set_ints(e->writer, e->last, "dilations", 2, (int64_t[]){1, 1});
    onnx_set_int(e->writer, e->last, "group", l.group);
    onnx_set_ints(e->writer, e->last, "kernel_shape", 2, (int64_t[]){k, k});
    onnx_set_ints(e->writer, e->last, "pads", 4, (int64_t[]){pad, pad, pad, pad});
    onnx_set_ints(e->writer, e->last, "strides", 2, (int64_t[]){l.stride, l.stride});
    return y;
}

value export_linear(exporter *e, value x, int64_t in, int64_t out) {
    value weights = EXPORT_WEIGHTS(e, 0, sqrt(1.0 / (double)in), in, out),
          bias = EXPORT_WEIGHTS(e, 0, 0.05, out);
    return EXPORT_OP(e, "Add", bias, EXPORT_OP(e, "MatMul", x, weights));
}

/* Opset 17: ReduceMean's axes are an attribute. */
static value mean_of_last_axis(exporter *e, value x) {
    value mean = EXPORT_OP(e, "ReduceMean", x);
    onnx_set_ints(e->writer, e->last, "axes", 1, (int64_t[]){-1});
    return mean;
}

value export_layer_norm(exporter *e, value x, int64_t size) {
    value centred = EXPORT_OP(e, "Sub", x, mean_of_last_axis(e, x)),
          squares = EXPORT_OP(e, "Pow", centred, export_number(e, 2)),
          variance = mean_of_last_axis(e, squares),
          deviation = EXPORT_OP(e, "Sqrt", EXPORT_OP(e, "Add", variance, export_number(e, 1e-5f))),
          normalized = EXPORT_OP(e, "Div", centred, deviation),
          scaled = EXPORT_OP(e, "Mul", normalized, EXPORT_WEIGHTS(e, 1, 0.1, size));
    return EXPORT_OP(e, "Add", scaled, EXPORT_WEIGHTS(e, 0, 0.1, size));
}

value export_gelu(exporter *e, value x) {
    value erf = EXPORT_OP(e, "Erf", EXPORT_OP(e, "Div", x, export_number(e, 1.41421354f))),
          twice = EXPORT_OP(e, "Mul", x, EXPORT_OP(e, "Add", erf, export_number(e, 1)));
    return EXPORT_OP(e, "Mul", twice, export_number(e, 0.5f));
}

value export_gelu_tanh(exporter *e, value x) {
    value half = EXPORT_OP(e, "Mul", x, export_number(e, 0.5f)),
          cube = EXPORT_OP(e, "Pow", x, export_number(e, 3)),
          inner = EXPORT_OP(e, "Add", x, EXPORT_OP(e, "Mul", cube, export_number(e, 0.044715f))),
          tanh = EXPORT_OP(e, "Tanh", EXPORT_OP(e, "Mul", inner, export_number(e, 0.797884583f)));
    return EXPORT_OP(e, "Mul", half, EXPORT_OP(e, "Add", tanh, export_number(e, 1)));
}

value export_silu(exporter *e, value x) {
    return EXPORT_OP(e, "Mul", x, EXPORT_OP(e, "Sigmoid", x));
}

value export_hard_swish(exporter *e, value x) {
    value sum = EXPORT_OP(e, "Add", x, export_number(e, 3)), low = export_number(e, 0),
          high = export_number(e, 6), part = EXPORT_OP(e, "Clip", sum, low, high),
          sixth = EXPORT_OP(e, "Div", part, export_number(e, 6));
    return EXPORT_OP(e, "Mul", x, sixth);
}
