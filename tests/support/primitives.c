#include "support/primitives.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tensors --------------------------------------------------------------------------------- */

elements random_elements(random_source *random, const tsr_shape *shape, float mean, float range) {
    elements made = {.count = (size_t)tsr_shape_count(shape)};
    made.values = malloc(made.count * sizeof *made.values + 1);
    assert_non_null(made.values);
    for (size_t i = 0; i < made.count; i++)
        made.values[i] = random_float(random, mean, range);
    return made;
}

tsr_device_tensor *make_tensor(tsr_device *device, const tsr_shape *shape, tsr_dtype dtype,
                               const float *elements) {
    tsr_device_tensor *made;
    EXPECT_OK(tsr_device_tensor_create(device, shape, dtype, &made));
    if (elements)
        EXPECT_OK(tsr_device_tensor_write(made, elements, (size_t)tsr_shape_count(shape)));
    return made;
}

elements read_tensor(tsr_device_tensor *tensor) {
    tsr_tensor_info info;
    EXPECT_OK(tsr_device_tensor_describe(tensor, &info));
    elements read = {.count = (size_t)tsr_shape_count(&info.shape)};
    read.values = malloc(read.count * sizeof *read.values);
    assert_non_null(read.values);
    EXPECT_OK(tsr_device_tensor_read(tensor, read.values, read.count));
    return read;
}

/* A tensor of the primitive and an input of the model; returns its index. */
static int add_tensor(primitive_case *c, const char *name, const tsr_shape *shape, float mean,
                      float range) {
    assert_true(c->tensor_count < MAX_CASE_TENSORS);
    case_tensor *added = &c->tensors[c->tensor_count];
    snprintf(added->name, sizeof added->name, "%s", name);
    added->shape = *shape;
    added->data = random_elements(&c->random, shape, mean, range);
    onnx_add_input(c->writer, added->name, TSR_DTYPE_F32, shape->rank, shape->dim);
    return c->tensor_count++;
}

/* A node of the model on its last value; extra: its other inputs, before the last one if swapped.
 */
static Tsr__NodeProto *add_node(primitive_case *c, const char *op, const char *extra,
                                bool swapped) {
    char inputs[64], output[16];
    snprintf(output, sizeof output, "v%d", c->values++);
    if (!*extra)
        snprintf(inputs, sizeof inputs, "%s", c->last);
    else if (swapped)
        snprintf(inputs, sizeof inputs, "%.30s,%s", extra, c->last);
    else
        snprintf(inputs, sizeof inputs, "%s,%.30s", c->last, extra);
    Tsr__NodeProto *node = onnx_add_node(c->writer, op, output, inputs, output);
    strcpy(c->last, output);
    return node;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static int draw(primitive_case *c, int low, int high) {
    return random_int(&c->random, low, high);
}

static tsr_shape random_shape(primitive_case *c, int rank, int most) {
    tsr_shape shape = {.rank = rank};
    for (int i = 0; i < rank; i++)
        shape.dim[i] = draw(c, 1, i == 0 ? 2 : most);
    return shape;
}

/* Kernel, strides, dilations and pads, by spatial axis, and an image that holds the window. */
static void draw_window(primitive_case *c, int64_t kernel[3]) {
    tsr_primitive_window *w = &c->desc.window;
    tsr_shape *source = &c->desc.source;
    bool transposed = c->desc.kind == TSR_PRIMITIVE_CONV_TRANSPOSE; /* of 3 axes: not on a GPU */
    source->rank = draw(c, 3, transposed ? 4 : 5);
    for (int i = 0; i < source->rank - 2; i++) {
        kernel[i] = draw(c, 1, 3);
        w->strides[i] = draw(c, 0, 2); /* 0: 1 */
        w->dilations[i] = draw(c, 0, 2);
        w->pads_begin[i] = draw(c, 0, (int)kernel[i] - 1);
        w->pads_end[i] = draw(c, 0, (int)kernel[i] - 1);
        int64_t extent = (kernel[i] - 1) * (w->dilations[i] ? w->dilations[i] : 1) + 1;
        source->dim[2 + i] = extent + draw(c, 0, source->rank == 5 ? 2 : 7);
    }
}

static void set_window(primitive_case *c, Tsr__NodeProto *node) {
    const tsr_primitive_window *w = &c->desc.window;
    size_t axes = (size_t)c->desc.source.rank - 2;
    int64_t strides[3], dilations[3], pads[6];
    for (size_t i = 0; i < axes; i++) {
        strides[i] = w->strides[i] ? w->strides[i] : 1;
        dilations[i] = w->dilations[i] ? w->dilations[i] : 1;
        pads[i] = w->pads_begin[i];
        pads[axes + i] = w->pads_end[i];
    }
    onnx_set_ints(c->writer, node, "strides", axes, strides);
    onnx_set_ints(c->writer, node, "dilations", axes, dilations);
    onnx_set_ints(c->writer, node, "pads", 2 * axes, pads);
}

static void begin_source(primitive_case *c, float mean, float range) {
    c->source = add_tensor(c, "x", &c->desc.source, mean, range);
    strcpy(c->last, "x");
}

static const float *make_weights(primitive_case *c, const char *name, const tsr_shape *shape,
                                 elements *made) {
    *made = random_elements(&c->random, shape, 0, 1);
    onnx_add_floats(c->writer, name, shape->rank, shape->dim, made->values);
    return made->values;
}

static void begin_convolution(primitive_case *c, bool transposed) {
    int64_t kernel[3];
    tsr_primitive_desc *d = &c->desc;
    draw_window(c, kernel);
    int group = draw(c, 1, 3), in = group * draw(c, 1, 5), out = group * draw(c, 1, 5);
    d->window.group = group == 1 ? draw(c, 0, 1) : group;
    d->source.dim[0] = draw(c, 1, 2);
    d->source.dim[1] = in;
    tsr_shape *shape = &d->weights.shape;
    *shape = (tsr_shape){d->source.rank, {transposed ? in : out, (transposed ? out : in) / group}};
    for (int i = 2; i < d->source.rank; i++)
        shape->dim[i] = kernel[i - 2];
    d->weights.data = make_weights(c, "w", shape, &c->weights);
    bool has_bias = draw(c, 0, 1);
    d->bias.shape = (tsr_shape){1, {out}};
    if (has_bias)
        d->bias.data = make_weights(c, "b", &d->bias.shape, &c->bias);
    begin_source(c, 0, 1);
    Tsr__NodeProto *node =
        add_node(c, transposed ? "ConvTranspose" : "Conv", has_bias ? "w,b" : "w", false);
    set_window(c, node);
    onnx_set_int(c->writer, node, "group", group);
    if (!transposed)
        return;
    for (int i = 0; i < d->source.rank - 2; i++)
        d->window.output_padding[i] = d->window.strides[i] > 1 ? draw(c, 0, 1) : 0;
    onnx_set_ints(c->writer, node, "output_padding", (size_t)d->source.rank - 2,
                  d->window.output_padding);
}

static void begin_matmul(primitive_case *c) {
    int k = draw(c, 1, 9), n = draw(c, 1, 9);
    tsr_shape *source = &c->desc.source;
    *source = random_shape(c, draw(c, 2, 4), 6);
    source->dim[source->rank - 1] = k;
    begin_source(c, 0, 1);
    if (draw(c, 0, 1)) {
        c->desc.weights.shape = (tsr_shape){2, {k, n}};
        c->desc.weights.data = make_weights(c, "w", &c->desc.weights.shape, &c->weights);
        add_node(c, "MatMul", "w", false);
        return;
    }
    c->desc.other = *source;
    for (int i = 0; i < source->rank - 2; i++)
        if (draw(c, 0, 1))
            c->desc.other.dim[i] = 1;
    c->desc.other.dim[source->rank - 2] = k;
    c->desc.other.dim[source->rank - 1] = n;
    c->other = add_tensor(c, "z", &c->desc.other, 0, 1);
    add_node(c, "MatMul", "z", false);
}

static void begin_pool(primitive_case *c) {
    static const char *const ops[] = {"MaxPool", "AveragePool", "GlobalMaxPool",
                                      "GlobalAveragePool"};
    int which = draw(c, 0, 3);
    int64_t kernel[3];
    c->desc.op = ops[which];
    draw_window(c, kernel);
    c->desc.source.dim[0] = draw(c, 1, 2);
    c->desc.source.dim[1] = draw(c, 1, 9);
    begin_source(c, 0, 1);
    Tsr__NodeProto *node = add_node(c, c->desc.op, "", false);
    if (which > 1)
        return;
    memcpy(c->desc.window.kernel, kernel, sizeof kernel);
    c->desc.window.ceil_mode = draw(c, 0, 1);
    c->desc.window.count_include_pad = which == 1 && draw(c, 0, 1);
    set_window(c, node);
    onnx_set_ints(c->writer, node, "kernel_shape", (size_t)c->desc.source.rank - 2, kernel);
    onnx_set_int(c->writer, node, "ceil_mode", c->desc.window.ceil_mode);
    if (which == 1)
        onnx_set_int(c->writer, node, "count_include_pad", c->desc.window.count_include_pad);
}

static void begin_eltwise(primitive_case *c) {
    static const char *const ops[] = {"Relu", "Tanh", "Neg", "Elu", "Abs", "Clip"};
    c->desc.op = ops[draw(c, 0, 5)];
    c->desc.alpha = c->desc.beta = NAN;
    c->desc.source = random_shape(c, draw(c, 0, 6), 5);
    begin_source(c, 0, 1);
    add_node(c, c->desc.op, "", false);
}

static void begin_binary(primitive_case *c) {
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "PRelu"};
    int which = draw(c, 0, 7);
    c->desc.op = ops[which];
    c->desc.source = c->desc.other = random_shape(c, draw(c, 1, 5), 6);
    for (int i = 0; i < c->desc.source.rank; i++)
        if (draw(c, 0, 2) == 0)
            (draw(c, 0, 1) && which < 7 ? c->desc.source : c->desc.other).dim[i] = 1;
    begin_source(c, 0, 1);
    c->other = add_tensor(c, "z", &c->desc.other, 1.5f, 1); /* Div: not near 0 */
    Tsr__NodeProto *node = add_node(c, c->desc.op, "z", false);
    if (which == 6)
        onnx_set_int(c->writer, node, "fmod", 1);
}

static void begin_reduction(primitive_case *c) {
    static const char *const ops[] = {
        "ReduceSum", "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",
        "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceSumSquare", "ReduceLogSumExp"};
    c->desc.op = ops[draw(c, 0, 9)];
    c->desc.source = random_shape(c, draw(c, 1, 5), 4);
    c->desc.drop_axes = draw(c, 0, 1);
    for (int i = 0; i < c->desc.source.rank; i++)
        if (draw(c, 0, 1))
            c->desc.axes[c->desc.axis_count++] = draw(c, 0, 1) ? i : i - c->desc.source.rank;
    int64_t count = c->desc.axis_count;
    begin_source(c, 1.2f, 0.3f); /* logarithms, and products that stay small */
    if (count)
        onnx_add_ints(c->writer, "axes", 1, &count, c->desc.axes);
    Tsr__NodeProto *node = add_node(c, c->desc.op, count ? "axes" : "", false);
    onnx_set_int(c->writer, node, "keepdims", !c->desc.drop_axes);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void begin(primitive_case *c, tsr_primitive_kind kind, uint32_t seed) {
    *c = (primitive_case){.random = random_from(seed),
                          .writer = onnx_writer_create(20),
                          .desc.kind = kind,
                          .source = NO_TENSOR,
                          .other = NO_TENSOR,
                          .before = NO_TENSOR};
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        c->operands[i] = NO_TENSOR;
    EXPECT_OK(tsr_post_ops_create(&c->posts));
}

/* The result's shape, from a primitive on cpu. */
static void find_result(primitive_case *c) {
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_primitive *primitive;
    tsr_primitive_report report;
    EXPECT_OK(tsr_primitive_create(cpu, &c->desc, &primitive));
    EXPECT_OK(tsr_primitive_get_report(primitive, &report));
    c->result = report.destination;
    tsr_primitive_destroy(primitive);
    tsr_device_destroy(cpu);
}

void begin_primitive(primitive_case *c, tsr_primitive_kind kind, uint32_t seed) {
    begin(c, kind, seed);
    if (kind == TSR_PRIMITIVE_MATMUL)
        begin_matmul(c);
    else if (kind == TSR_PRIMITIVE_POOL)
        begin_pool(c);
    else if (kind == TSR_PRIMITIVE_ELTWISE)
        begin_eltwise(c);
    else if (kind == TSR_PRIMITIVE_BINARY)
        begin_binary(c);
    else if (kind == TSR_PRIMITIVE_REDUCTION)
        begin_reduction(c);
    else
        begin_convolution(c, kind == TSR_PRIMITIVE_CONV_TRANSPOSE);
    find_result(c);
}

void begin_unary(primitive_case *c, const char *op, uint32_t seed) {
    begin(c, TSR_PRIMITIVE_ELTWISE, seed);
    c->desc.op = op;
    c->desc.alpha = c->desc.beta = NAN;
    c->desc.source = random_shape(c, 4, 7);
    begin_source(c, 0.5f, 0.5f);
    add_node(c, op, "", false);
    find_result(c);
}

/* ---- post-ops -------------------------------------------------------------------------------- */

/* The post-op as the library describes it. */
static tsr_post_op latest(const primitive_case *c) {
    tsr_post_op post;
    EXPECT_OK(tsr_post_ops_get(c->posts, tsr_post_ops_length(c->posts) - 1, &post));
    return post;
}

void add_eltwise(primitive_case *c, const char *op, float alpha, float beta) {
    static const struct {
        const char *op, *names[2];
    } params[] = {
        {"LeakyRelu", {"alpha"}},      {"HardSigmoid", {"alpha", "beta"}}, {"Elu", {"alpha"}},
        {"Celu", {"alpha"}},           {"Selu", {"alpha", "gamma"}},       {"Swish", {"alpha"}},
        {"Shrink", {"lambd", "bias"}}, {"ThresholdedRelu", {"alpha"}}};
    EXPECT_OK(tsr_post_ops_append_eltwise(c->posts, op, alpha, beta));
    const tsr_post_op post = latest(c);
    if (!strcmp(op, "Clip")) {
        char low[20], high[20], both[40];
        snprintf(low, sizeof low, "l%d", c->values);
        snprintf(high, sizeof high, "u%d", c->values);
        onnx_add_floats(c->writer, low, 0, NULL, &post.alpha);
        onnx_add_floats(c->writer, high, 0, NULL, &post.beta);
        snprintf(both, sizeof both, "%s,%s", low, high);
        add_node(c, op, both, false);
        return;
    }
    Tsr__NodeProto *node = add_node(c, op, "", false);
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        for (int k = 0; k < 2 && !strcmp(op, params[i].op); k++)
            if (params[i].names[k])
                onnx_set_float(c->writer, node, params[i].names[k], k ? post.beta : post.alpha);
}

void add_sum(primitive_case *c, float scale, float zero_point) {
    char name[24], result[16];
    EXPECT_OK(tsr_post_ops_append_sum(c->posts, scale, zero_point));
    if (c->before == NO_TENSOR)
        c->before = add_tensor(c, "before", &c->result, 0, 1);
    snprintf(name, sizeof name, "zero%d", c->values);
    onnx_add_floats(c->writer, name, 0, NULL, &zero_point);
    strcpy(result, c->last);
    strcpy(c->last, "before");
    add_node(c, "Sub", name, false);
    snprintf(name, sizeof name, "scale%d", c->values);
    onnx_add_floats(c->writer, name, 0, NULL, &scale);
    add_node(c, "Mul", name, false);
    add_node(c, "Add", result, true);
}

static int add_operand(primitive_case *c, const tsr_shape *shape, float mean, float range) {
    char name[16];
    int post = tsr_post_ops_length(c->posts) - 1;
    snprintf(name, sizeof name, "o%d", post);
    return c->operands[post] = add_tensor(c, name, shape, mean, range);
}

void add_binary(primitive_case *c, const char *op, const tsr_shape *operand, bool swapped,
                float mean, float range) {
    EXPECT_OK(tsr_post_ops_append_binary(c->posts, op, operand, swapped));
    int tensor = add_operand(c, operand, mean, range);
    Tsr__NodeProto *node = add_node(c, op, c->tensors[tensor].name, swapped);
    if (!strcmp(op, "Mod"))
        onnx_set_int(c->writer, node, "fmod", 1);
}

void add_prelu(primitive_case *c, unsigned mask) {
    tsr_shape slopes = {.rank = c->result.rank};
    EXPECT_OK(tsr_post_ops_append_prelu(c->posts, mask));
    for (int i = 0; i < slopes.rank; i++)
        slopes.dim[i] = mask >> i & 1 ? c->result.dim[i] : 1;
    int tensor = add_operand(c, &slopes, 0, 1);
    add_node(c, "PRelu", c->tensors[tensor].name, false);
}

tsr_shape random_operand(primitive_case *c) {
    tsr_shape shape = c->result;
    int which = draw(c, 0, 3);
    if (which == 0)
        return (tsr_shape){.rank = draw(c, 0, 1) && shape.rank ? 1 : 0, .dim = {1}};
    for (int i = 0; which == 1 && i < shape.rank; i++) /* per channel */
        shape.dim[i] = i == (shape.rank > 1) ? shape.dim[i] : 1;
    if (which != 2)
        return shape; /* per channel, or per element */
    int from = draw(c, 0, shape.rank);
    tsr_shape part = {.rank = shape.rank - from};
    for (int i = from; i < shape.rank; i++)
        part.dim[i - from] = draw(c, 0, 1) ? shape.dim[i] : 1;
    return part;
}

static void add_random_binary(primitive_case *c) {
    static const char *const ops[] = {"Add", "Sub", "Mul", "Max", "Min"};
    const tsr_shape operand = random_operand(c);
    if (draw(c, 0, 5) == 0)
        add_binary(c, "Div", &operand, false, 2, 0.75f);
    else
        add_binary(c, ops[draw(c, 0, 4)], &operand, draw(c, 0, 1), 0, 1);
}

void add_random_post(primitive_case *c) {
    static const struct {
        const char *op;
        float alpha, beta;
    } unary[] = {{"Relu", 0, 0},
                 {"LeakyRelu", -0.5f, 0},
                 {"Sigmoid", 0, NAN},
                 {"Tanh", NAN, NAN},
                 {"HardSigmoid", 0.25f, 0.5f},
                 {"HardSwish", 0, 0},
                 {"Neg", 0, 0},
                 {"Elu", 0.75f, 0},
                 {"Swish", 0.5f, 0},
                 {"Clip", -0.75f, 1.5f},
                 {"Clip", NAN, 2},
                 {"Abs", 0, 0},
                 {"Selu", 1, 0.75f},
                 {"Softsign", 0, 0},
                 {"Sin", 0, 0},
                 {"Celu", NAN, NAN},
                 {"Gelu", 0, 0},
                 {"Atan", 0, 0}};
    int which = draw(c, 0, 9);
    if (which == 0) {
        add_sum(c, random_float(&c->random, 0, 1), random_float(&c->random, 0, 1));
    } else if (which == 1) {
        unsigned all = (1u << c->result.rank) - 1;
        add_prelu(c, draw(c, 0, 1) ? all & 2 : (unsigned)draw(c, 0, (int)all));
    } else if (which < 5) {
        add_random_binary(c);
    } else {
        int i = draw(c, 0, sizeof unary / sizeof *unary - 1);
        add_eltwise(c, unary[i].op, unary[i].alpha, unary[i].beta);
    }
}

void close_primitive(primitive_case *c) {
    onnx_add_node(c->writer, "Identity", "y", c->last, "y");
    onnx_add_output(c->writer, "y", TSR_DTYPE_F32, c->result.rank, c->result.dim);
    c->model = load_written(c->writer);
    c->writer = NULL;
}

void free_primitive(primitive_case *c) {
    for (int i = 0; i < c->tensor_count; i++)
        free(c->tensors[i].data.values);
    free(c->weights.values);
    free(c->bias.values);
    tsr_post_ops_destroy(c->posts);
    tsr_model_free(c->model);
}

/* ---- runs ------------------------------------------------------------------------------------ */

elements run_primitive(const primitive_case *c, tsr_device *device, tsr_dtype dtype, int runs) {
    tsr_primitive_desc desc = c->desc;
    tsr_primitive *primitive;
    tsr_primitive_args args = {0};
    tsr_device_tensor *tensors[MAX_CASE_TENSORS] = {0};
    desc.posts = c->posts;
    desc.dtype = dtype;
    EXPECT_OK(tsr_primitive_create(device, &desc, &primitive));
    for (int i = 0; i < c->tensor_count; i++)
        tensors[i] = make_tensor(device, &c->tensors[i].shape, dtype, c->tensors[i].data.values);
    args.source = tensors[c->source];
    args.other = c->other == NO_TENSOR ? NULL : tensors[c->other];
    args.destination =
        c->before == NO_TENSOR ? make_tensor(device, &c->result, dtype, NULL) : tensors[c->before];
    for (int i = 0; i < TSR_MAX_POST_OPS; i++)
        args.operands[i] = c->operands[i] == NO_TENSOR ? NULL : tensors[c->operands[i]];
    for (int i = 0; i < runs; i++)
        EXPECT_OK(tsr_primitive_execute(primitive, &args));
    tsr_primitive_destroy(primitive); /* tensors outlive it */
    elements result = read_tensor(args.destination);
    if (c->before == NO_TENSOR)
        tsr_device_tensor_destroy(args.destination);
    for (int i = 0; i < c->tensor_count; i++)
        tsr_device_tensor_destroy(tensors[i]);
    return result;
}

elements run_reference(const primitive_case *c, tsr_device *cpu, int runs) {
    tsr_session *session = make_session(cpu, c->model, NULL);
    elements result = {0};
    for (int i = 0; i < c->tensor_count; i++)
        EXPECT_OK(tsr_session_set_input(session, c->tensors[i].name, c->tensors[i].data.values,
                                        c->tensors[i].data.count));
    for (int i = 0; i < runs; i++) {
        if (i && c->before != NO_TENSOR)
            EXPECT_OK(tsr_session_set_input(session, "before", result.values, result.count));
        free(result.values);
        EXPECT_OK(tsr_session_run(session));
        result = get_output(session, "y");
    }
    tsr_session_destroy(session);
    return result;
}

static void print_case(const primitive_case *c) {
    print_message("kind %d, op %s, source rank %d [%d %d %d %d ..], posts:", c->desc.kind,
                  c->desc.op ? c->desc.op : "-", c->desc.source.rank, (int)c->desc.source.dim[0],
                  (int)c->desc.source.dim[1], (int)c->desc.source.dim[2],
                  (int)c->desc.source.dim[3]);
    for (int i = 0; i < tsr_post_ops_length(c->posts); i++) {
        tsr_post_op post;
        EXPECT_OK(tsr_post_ops_get(c->posts, i, &post));
        print_message(" %s%s", post.op, post.swapped ? "'" : "");
    }
    print_message("\n");
}

/* NaN equals NaN. */
static bool is_close(elements actual, elements expected, double tolerance) {
    double largest = 0;
    for (size_t i = 0; i < expected.count; i++)
        if (isfinite(expected.values[i]))
            largest = fmax(largest, fabs((double)expected.values[i]));
    bool close = actual.count == expected.count;
    for (size_t i = 0; close && i < expected.count; i++)
        close = fabs((double)actual.values[i] - expected.values[i]) <= tolerance * largest ||
                actual.values[i] == expected.values[i] ||
                (isnan(actual.values[i]) && isnan(expected.values[i]));
    return close;
}

void expect_primitive(primitive_case *c, tsr_device *gpu, tsr_device *cpu, tsr_dtype dtype,
                      double tolerance) {
    enum { RUNS = 2 };
    close_primitive(c);
    elements expected = run_reference(c, cpu, RUNS), on_cpu = run_primitive(c, cpu, dtype, RUNS),
             on_gpu = run_primitive(c, gpu, dtype, RUNS);
    bool cpu_fits = is_close(on_cpu, expected, 1e-6),
         gpu_fits = is_close(on_gpu, expected, tolerance);
    if (!cpu_fits || !gpu_fits) {
        print_case(c);
        expect_close(cpu_fits ? on_gpu : on_cpu, expected, tolerance);
        fail_msg("results differ");
    }
    free(expected.values);
    free(on_cpu.values);
    free(on_gpu.values);
    free_primitive(c);
}

tsr_post_op post_of(const tsr_post_ops *posts, int i) {
    tsr_post_op post;
    EXPECT_OK(tsr_post_ops_get(posts, i, &post));
    return post;
}
