/* A small MobileViT: convolutions, channel shuffles, and attention over the pixels that have the
 * same place in their patches. */
#include "make_models/exporter.h"

#include <math.h>

enum {
    STEM = 16,     /* channels */
    CHANNELS = 32, /* of what attention is over */
    HEADS = 4,
    PATCH = 2, /* rows and columns */
    CLASSES = 10,
};

/* Of [1, c, size, size] in groups: Reshape to five axes, Transpose, Reshape. */
static value shuffle(exporter *e, value x, int64_t channels, int64_t groups, int64_t size) {
    value grouped = EXPORT_RESHAPE(e, x, 1, groups, channels / groups, size, size),
          moved = EXPORT_TRANSPOSE(e, grouped, 0, 2, 1, 3, 4);
    return EXPORT_RESHAPE(e, moved, 1, channels, size, size);
}

/* ShuffleNet v2's unit: the even channels pass, the odd ones are convolved. */
static value shuffle_unit(exporter *e, value x, int64_t channels, int64_t size) {
    int64_t half = channels / 2;
    value pairs = EXPORT_RESHAPE(e, x, half, 2, size * size),
          moved = EXPORT_TRANSPOSE(e, pairs, 1, 0, 2),
          halves = EXPORT_RESHAPE(e, moved, 2, -1, half, size, size),
          even = export_select(e, halves, 0, 0), odd = export_select(e, halves, 0, 1),
          wide = export_hard_swish(e, export_conv(e, odd, (conv_layer){half, half, 1, 1, 1})),
          deep = export_conv(e, wide, (conv_layer){half, half, 3, 1, half}),
          y = export_hard_swish(e, export_conv(e, deep, (conv_layer){half, half, 1, 1, 1})),
          joined = EXPORT_OP(e, "Concat", even, y);
    onnx_set_int(e->writer, e->last, "axis", 1);
    return joined;
}

/* [places, patches, CHANNELS] to heads. */
static value heads(exporter *e, value x, int64_t patches, const int64_t perm[4]) {
    value linear = export_linear(e, x, CHANNELS, CHANNELS);
    value split = EXPORT_RESHAPE(e, linear, PATCH * PATCH, patches, HEADS, CHANNELS / HEADS);
    return export_transpose(e, split, 4, perm);
}

static value attention(exporter *e, value x, int64_t patches) {
    static const int64_t by_head[] = {0, 2, 1, 3}, transposed[] = {0, 2, 3, 1};
    value query = heads(e, x, patches, by_head), key = heads(e, x, patches, transposed),
          all = heads(e, x, patches, by_head);
    float root = sqrtf((float)CHANNELS / HEADS);
    value products = EXPORT_OP(e, "MatMul", query, key),
          scores = EXPORT_OP(e, "Div", products, export_number(e, root)),
          parts = EXPORT_OP(e, "Softmax", scores);
    onnx_set_int(e->writer, e->last, "axis", -1);
    value mixed = EXPORT_TRANSPOSE(e, EXPORT_OP(e, "MatMul", parts, all), 0, 2, 1, 3),
          joined = EXPORT_RESHAPE(e, mixed, PATCH * PATCH, patches, CHANNELS);
    return export_linear(e, joined, CHANNELS, CHANNELS);
}

static value transformer_layer(exporter *e, value x, int64_t patches, bool gelu) {
    value attended = attention(e, export_layer_norm(e, x, CHANNELS), patches),
          sum = EXPORT_OP(e, "Add", attended, x),
          hidden = export_linear(e, export_layer_norm(e, sum, CHANNELS), CHANNELS, 2 * CHANNELS),
          active = gelu ? export_gelu(e, hidden) : export_silu(e, hidden);
    return EXPORT_OP(e, "Add", export_linear(e, active, 2 * CHANNELS, CHANNELS), sum);
}

/* [1, CHANNELS, size, size] to [places in a patch, patches, CHANNELS]. */
static value unfold(exporter *e, value x, int64_t size) {
    int64_t side = size / PATCH, patches = side * side;
    value rows = EXPORT_RESHAPE(e, x, CHANNELS * side, PATCH, side, PATCH),
          moved = EXPORT_TRANSPOSE(e, rows, 0, 2, 1, 3),
          places = EXPORT_RESHAPE(e, moved, 1, CHANNELS, patches, PATCH * PATCH),
          last = EXPORT_TRANSPOSE(e, places, 0, 3, 2, 1);
    return EXPORT_RESHAPE(e, last, PATCH * PATCH, patches, -1);
}

static value fold(exporter *e, value x, int64_t size) {
    int64_t side = size / PATCH, patches = side * side;
    value places = EXPORT_RESHAPE(e, x, 1, PATCH * PATCH, patches, -1),
          first = EXPORT_TRANSPOSE(e, places, 0, 3, 2, 1),
          rows = EXPORT_RESHAPE(e, first, CHANNELS * side, side, PATCH, PATCH),
          moved = EXPORT_TRANSPOSE(e, rows, 0, 2, 1, 3);
    return EXPORT_RESHAPE(e, moved, 1, CHANNELS, size, size);
}

static value vit_block(exporter *e, value x, int64_t size) {
    int64_t patches = size / PATCH * (size / PATCH);
    value local = export_silu(e, export_conv(e, x, (conv_layer){CHANNELS, CHANNELS, 3, 1, 1}));
    value tokens =
        unfold(e, export_conv(e, local, (conv_layer){CHANNELS, CHANNELS, 1, 1, 1}), size);
    for (int i = 0; i < 2; i++)
        tokens = transformer_layer(e, tokens, patches, i == 1);
    value global = fold(e, export_layer_norm(e, tokens, CHANNELS), size);
    value projected =
        export_silu(e, export_conv(e, global, (conv_layer){CHANNELS, CHANNELS, 1, 1, 1}));
    value joined = EXPORT_OP(e, "Concat", x, projected);
    onnx_set_int(e->writer, e->last, "axis", 1);
    return export_silu(e, export_conv(e, joined, (conv_layer){2 * CHANNELS, CHANNELS, 3, 1, 1}));
}

static void add_class_head(exporter *e, value x) {
    value mean = EXPORT_OP(e, "ReduceMean", x);
    onnx_set_ints(e->writer, e->last, "axes", 2, (int64_t[]){-2, -1});
    onnx_set_int(e->writer, e->last, "keepdims", 0);
    value weights = EXPORT_WEIGHTS(e, 0, 0.2, CLASSES, CHANNELS);
    EXPORT_OP(e, "Gemm", mean, weights, EXPORT_WEIGHTS(e, 0, 0.05, CLASSES));
    onnx_set_int(e->writer, e->last, "transB", 1);
    export_as(e, "logits");
    onnx_add_output(e->writer, "logits", TSR_DTYPE_F32, 2, (int64_t[]){1, CLASSES});
}

/* A mask of twice the size, by PixelShuffle: Reshape, Transpose of six axes, Reshape. */
static void add_mask_head(exporter *e, value x, int64_t size) {
    value conv = export_conv(e, x, (conv_layer){CHANNELS, 4, 3, 1, 1}),
          split = EXPORT_RESHAPE(e, conv, 1, 1, 2, 2, size, size),
          moved = EXPORT_TRANSPOSE(e, split, 0, 1, 4, 2, 5, 3),
          pixels = EXPORT_RESHAPE(e, moved, 1, 1, 2 * size, 2 * size);
    EXPORT_OP(e, "Sigmoid", pixels);
    export_as(e, "mask");
    onnx_add_output(e->writer, "mask", TSR_DTYPE_F32, 4, (int64_t[]){1, 1, 2 * size, 2 * size});
}

void export_mobilevit(exporter *e, int64_t size) {
    onnx_add_input(e->writer, "x", TSR_DTYPE_F32, 4, (int64_t[]){1, 3, size, size});
    value stem = export_silu(e, export_conv(e, "x", (conv_layer){3, STEM, 3, 2, 1})),
          wide = export_silu(e, export_conv(e, stem, (conv_layer){STEM, CHANNELS, 1, 1, 4})),
          mixed = shuffle(e, wide, CHANNELS, 4, size / 2),
          deep = export_conv(e, mixed, (conv_layer){CHANNELS, CHANNELS, 3, 2, CHANNELS}),
          narrow =
              export_hard_swish(e, export_conv(e, deep, (conv_layer){CHANNELS, CHANNELS, 1, 1, 1})),
          unit = shuffle_unit(e, narrow, CHANNELS, size / 4), block = vit_block(e, unit, size / 4);
    add_class_head(e, block);
    add_mask_head(e, block, size / 4);
}
