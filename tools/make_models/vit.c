/* A small ViT of a batch of any size: a class token and positions beside the patches, attention
 * with masks, sizes computed from the input's shape. */
#include "make_models/exporter.h"

#include <math.h>

enum { PATCH = 8, WIDTH = 48, HEADS = 4, HEAD = WIDTH / HEADS, CLASSES = 10 };

/* tensor.expand(n, -1, -1): sizes of -1 are replaced by 1 by ConstantOfShape, Mul, Equal, Where. */
static value expand_to_batch(exporter *e, value x, value batch) {
    value sizes = export_sizes(e, 1, &batch, 2, (int64_t[]){-1, -1}),
          ones = EXPORT_OP(e, "ConstantOfShape", EXPORT_INTS(e, 3));
    Tsr__TensorProto *one = onnx_new_tensor(e->writer, "", TSR_DTYPE_I64, 1, (int64_t[]){1});
    if (one)
        one->raw_data.data[0] = 1;
    onnx_set_tensor(e->writer, e->last, "value", one);
    value kept = EXPORT_OP(e, "Equal", sizes, EXPORT_OP(e, "Mul", ones, export_int(e, -1)));
    return EXPORT_OP(e, "Expand", x, EXPORT_OP(e, "Where", kept, ones, sizes));
}

/* flatten(2), with the leading sizes by Shape and Slice; then [n, tokens, WIDTH]. */
static value embed(exporter *e, int64_t tokens) {
    value weights = EXPORT_WEIGHTS(e, 0, 0.07, WIDTH, 3, PATCH, PATCH),
          bias = EXPORT_WEIGHTS(e, 0, 0.05, WIDTH),
          patches = EXPORT_OP(e, "Conv", "x", weights, bias);
    onnx_set_ints(e->writer, e->last, "kernel_shape", 2, (int64_t[]){PATCH, PATCH});
    onnx_set_ints(e->writer, e->last, "strides", 2, (int64_t[]){PATCH, PATCH});
    value shape = EXPORT_OP(e, "Shape", patches), begin = EXPORT_INTS(e, 0),
          end = EXPORT_INTS(e, 2),
          leading = EXPORT_OP(e, "Slice", shape, begin, end, EXPORT_INTS(e, 0)),
          sizes = export_sizes(e, 1, &leading, 1, (int64_t[]){-1}),
          moved = EXPORT_TRANSPOSE(e, EXPORT_OP(e, "Reshape", patches, sizes), 0, 2, 1),
          batch = export_size(e, "x", 0),
          token = expand_to_batch(e, EXPORT_WEIGHTS(e, 0, 1, 1, 1, WIDTH), batch),
          joined = EXPORT_OP(e, "Concat", token, moved);
    onnx_set_int(e->writer, e->last, "axis", 1);
    return EXPORT_OP(e, "Add", joined, EXPORT_WEIGHTS(e, 0, 0.3, 1, tokens, WIDTH));
}

typedef struct attention {
    value sizes[2]; /* batch and length, as lists of one element */
    value hidden;   /* bool, broadcast to [n, HEADS, length, length]: scores that do not count */
} attention;

/* One linear layer for all three, [n, length, 3, HEADS, HEAD], and the three by their index. */
static void split_by_gather(exporter *e, value x, const attention *a, value parts[3]) {
    value sizes = export_sizes(e, 2, a->sizes, 3, (int64_t[]){3, HEADS, HEAD}),
          all = EXPORT_OP(e, "Reshape", export_linear(e, x, WIDTH, 3 * WIDTH), sizes),
          moved = EXPORT_TRANSPOSE(e, all, 2, 0, 3, 1, 4);
    for (int i = 0; i < 3; i++)
        parts[i] = export_select(e, moved, 0, i);
}

/* The same by Split along the last axis. */
static void split_by_split(exporter *e, value x, const attention *a, value parts[3]) {
    value all = export_linear(e, x, WIDTH, 3 * WIDTH), widths = EXPORT_INTS(e, WIDTH, WIDTH, WIDTH);
    export_outputs(e, "Split", 2, (const value[]){all, widths}, 3, parts);
    onnx_set_int(e->writer, e->last, "axis", -1);
    for (int i = 0; i < 3; i++) {
        value sizes = export_sizes(e, 2, a->sizes, 2, (int64_t[]){HEADS, HEAD});
        parts[i] = EXPORT_TRANSPOSE(e, EXPORT_OP(e, "Reshape", parts[i], sizes), 0, 2, 1, 3);
    }
}

static value attend(exporter *e, const attention *a, const value parts[3]) {
    value scale = export_number(e, 1 / sqrtf(HEAD)), query = EXPORT_OP(e, "Mul", parts[0], scale),
          key = EXPORT_TRANSPOSE(e, parts[1], 0, 1, 3, 2),
          scores = EXPORT_OP(e, "MatMul", query, key),
          masked = EXPORT_OP(e, "Where", a->hidden, export_number(e, -INFINITY), scores),
          weights = EXPORT_OP(e, "Softmax", masked);
    onnx_set_int(e->writer, e->last, "axis", -1);
    value mixed = EXPORT_TRANSPOSE(e, EXPORT_OP(e, "MatMul", weights, parts[2]), 0, 2, 1, 3),
          sizes = export_sizes(e, 2, a->sizes, 1, (int64_t[]){WIDTH});
    return export_linear(e, EXPORT_OP(e, "Reshape", mixed, sizes), WIDTH, WIDTH);
}

static value block(exporter *e, value x, const attention *a, bool by_gather) {
    value parts[3], normalized = export_layer_norm(e, x, WIDTH);
    if (by_gather)
        split_by_gather(e, normalized, a, parts);
    else
        split_by_split(e, normalized, a, parts);
    value sum = EXPORT_OP(e, "Add", x, attend(e, a, parts)),
          hidden = export_linear(e, export_layer_norm(e, sum, WIDTH), WIDTH, 2 * WIDTH),
          active = by_gather ? export_gelu(e, hidden) : export_gelu_tanh(e, hidden);
    return EXPORT_OP(e, "Add", sum, export_linear(e, active, 2 * WIDTH, WIDTH));
}

/* Tokens do not see those after them: Range, Unsqueeze, Less. */
static value later_tokens(exporter *e, value x) {
    value shape = EXPORT_OP(e, "Shape", x), size = export_select(e, shape, 0, 1),
          zero = export_int(e, 0), indices = EXPORT_OP(e, "Range", zero, size, export_int(e, 1)),
          column = EXPORT_OP(e, "Unsqueeze", indices, EXPORT_INTS(e, 1));
    return EXPORT_OP(e, "Less", column, indices);
}

/* Of the input: patches that count; the class token always does. [n, 1, 1, tokens] */
static value hidden_patches(exporter *e, value batch) {
    value sizes = export_sizes(e, 1, &batch, 1, (int64_t[]){1}),
          ones = EXPORT_OP(e, "ConstantOfShape", sizes);
    Tsr__TensorProto *yes = onnx_new_tensor(e->writer, "", TSR_DTYPE_BOOL, 1, (int64_t[]){1});
    if (yes)
        yes->raw_data.data[0] = 1;
    onnx_set_tensor(e->writer, e->last, "value", yes);
    value all = EXPORT_OP(e, "Concat", ones, "keep");
    onnx_set_int(e->writer, e->last, "axis", 1);
    return EXPORT_OP(e, "Not", EXPORT_OP(e, "Unsqueeze", all, EXPORT_INTS(e, 1, 2)));
}

void export_vit(exporter *e, int64_t size) {
    int64_t patches = size / PATCH * (size / PATCH);
    Tsr__ValueInfoProto *x =
        onnx_add_input(e->writer, "x", TSR_DTYPE_F32, 4, (int64_t[]){-1, 3, size, size});
    Tsr__ValueInfoProto *keep =
        onnx_add_input(e->writer, "keep", TSR_DTYPE_BOOL, 2, (int64_t[]){-1, patches});
    onnx_set_dim_name(e->writer, x, 0, "batch");
    onnx_set_dim_name(e->writer, keep, 0, "batch");
    value tokens = embed(e, patches + 1), batch = export_size(e, tokens, 0),
          length = export_size(e, tokens, 1);
    tokens = block(e, tokens, &(attention){{batch, length}, later_tokens(e, tokens)}, true);
    tokens = block(e, tokens, &(attention){{batch, length}, hidden_patches(e, batch)}, false);
    value token = export_select(e, export_layer_norm(e, tokens, WIDTH), 1, 0);
    value weights = EXPORT_WEIGHTS(e, 0, 0.2, CLASSES, WIDTH);
    EXPORT_OP(e, "Gemm", token, weights, EXPORT_WEIGHTS(e, 0, 0.05, CLASSES));
    onnx_set_int(e->writer, e->last, "transB", 1);
    export_as(e, "logits");
    Tsr__ValueInfoProto *logits =
        onnx_add_output(e->writer, "logits", TSR_DTYPE_F32, 2, (int64_t[]){-1, CLASSES});
    onnx_set_dim_name(e->writer, logits, 0, "batch");
}
