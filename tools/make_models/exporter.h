/* Writes networks node by node as torch.onnx does: small constants are Constant nodes, layer
 * normalization, GELU and attention are written as their parts, and sizes that the model leaves
 * open are computed by Shape, Gather, Unsqueeze and Concat. */
#ifndef MAKE_MODELS_EXPORTER_H
#define MAKE_MODELS_EXPORTER_H

#include "make_models/random.h"
#include "onnx_writer.h"

typedef struct exporter {
    onnx_writer *writer;
    rng random;
    int count;            /* nodes and initializers so far: their names are numbered */
    Tsr__NodeProto *last; /* the node that was added last, for its attributes */
} exporter;

/* Functions return the name of the value that they make, which lives as long as the writer. */
typedef const char *value;

/* A node of one output; EXPORT_OP takes the inputs' names as further arguments. */
value export_op(exporter *e, const char *op, int input_count, const value *inputs);
/* C leaves the order of arguments open: of them at most one adds nodes or weights, so that every
 * compiler makes the same file. */
#define EXPORT_OP(e, op, ...)                                                                      \
    export_op(e, op, sizeof((value[]){__VA_ARGS__}) / sizeof(value), (value[]){__VA_ARGS__})
/* A node of up to 8 outputs, whose names are set. */
void export_outputs(exporter *e, const char *op, int input_count, const value *inputs,
                    int output_count, value *outputs);
/* Renames the last node's output: an output of the model. */
void export_as(exporter *e, const char *name);

/* Constant nodes. */
value export_int(exporter *e, int64_t i); /* a scalar */
value export_ints(exporter *e, int count, const int64_t *ints);
#define EXPORT_INTS(e, ...)                                                                        \
    export_ints(e, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
value export_number(exporter *e, float number);

/* An initializer of random numbers; EXPORT_WEIGHTS takes the dimensions as further arguments. */
value export_weights(exporter *e, double mean, double deviation, int rank, const int64_t *dims);
#define EXPORT_WEIGHTS(e, mean, deviation, ...)                                                    \
    export_weights(e, mean, deviation, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),         \
                   (int64_t[]){__VA_ARGS__})

/* ---- shapes ---- */

/* The size of an axis: Shape, Gather; as a list of one element for Concat. */
value export_size(exporter *e, value x, int64_t axis);
/* The lists, of one element each or longer, joined with constant sizes behind them. */
value export_sizes(exporter *e, int list_count, const value *lists, int count,
                   const int64_t *sizes);
value export_reshape(exporter *e, value x, int count, const int64_t *dims);
#define EXPORT_RESHAPE(e, x, ...)                                                                  \
    export_reshape(e, x, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                       \
                   (int64_t[]){__VA_ARGS__})
value export_transpose(exporter *e, value x, int count, const int64_t *perm);
#define EXPORT_TRANSPOSE(e, x, ...)                                                                \
    export_transpose(e, x, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                     \
                     (int64_t[]){__VA_ARGS__})
/* x[index] along an axis, which goes. */
value export_select(exporter *e, value x, int64_t axis, int64_t index);

/* ---- layers ---- */

typedef struct conv_layer {
    int64_t in, out, kernel, stride, group;
} conv_layer;
/* Padded by (kernel - 1) / 2, with a bias. */
value export_conv(exporter *e, value x, conv_layer layer);
/* x W + b over the last axis: MatMul, Add. */
value export_linear(exporter *e, value x, int64_t in, int64_t out);
/* Over the last axis, of that size: ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add. */
value export_layer_norm(exporter *e, value x, int64_t size);
value export_gelu(exporter *e, value x);       /* Div, Erf, Add, Mul, Mul */
value export_gelu_tanh(exporter *e, value x);  /* with Pow and Tanh */
value export_silu(exporter *e, value x);       /* Sigmoid, Mul */
value export_hard_swish(exporter *e, value x); /* Add, Clip, Div, Mul */

/* ---- models ---- */

/* size: rows and columns of the picture, a multiple of 8. */
void export_mobilevit(exporter *e, int64_t size);
void export_vit(exporter *e, int64_t size);
void export_tagger(exporter *e, int64_t size); /* of words: there is no picture */

#endif
