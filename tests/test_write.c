/* tsr_model_write(): what the files hold. That they compute the same is in check_convert.sh. */
#include "base/dtype.h"
#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include "onnx.pb-c.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct file {
    uint8_t *bytes;
    size_t size, limit; /* limit 0: none */
} file;

static bool append(void *user, const char *bytes, size_t length) {
    file *f = user;
    if (f->limit && f->size + length > f->limit)
        return false;
    f->bytes = realloc(f->bytes, f->size + length + 1);
    assert_non_null(f->bytes);
    memcpy(f->bytes + f->size, bytes, length);
    f->size += length;
    return true;
}

/* ---- forms of opsets ------------------------------------------------------------------------- */

/* Of onnx_case() text; node: the first one that is written, its operator, how many inputs it has,
 * its attributes. */
typedef struct form_case {
    int from, to;
    const char *model, *node;
} form_case;

static const form_case forms[] = {
    {18, 13, "ReduceMean x[2,3] a(1) -> y keepdims=0", "ReduceMean 1 keepdims axes"},
    {18, 18, "ReduceMean x[2,3] a(1) -> y keepdims=0", "ReduceMean 2 keepdims"},
    {13, 18, "ReduceMean x[2,3] -> y axes=1,", "ReduceMean 2"},
    {13, 13, "ReduceSum x[2,3] a(1) -> y", "ReduceSum 2"},
    {18, 17, "Split x[4] -> y z num_outputs=2", "Split 1"},
    {13, 18, "Split x[4] -> y z", "Split 1 num_outputs"},
    {20, 16, "GridSample x[1,1,2,2] g[1,1,1,2] -> y mode=cubic", "GridSample 2 mode=bicubic"},
    {16, 20, "GridSample x[1,1,2,2] g[1,1,1,2] -> y mode=bilinear", "GridSample 2 mode=linear"},
    {20, 20, "Gelu x[4] -> y approximate=tanh", "Gelu 1 approximate=tanh"},
    {20, 20, "Gelu x[4] -> y", "Gelu 1"},
    {11, 13, "Softmax x[2,3,4] -> y axis=2", "Softmax 1 axis"},
    {11, 13, "Softmax x[2,3,4] -> y axis=1", "Flatten 1 axis"},
    {19, 13, "Cast x[4] -> y to=6 saturate=1", "Cast 1 to"},
    {14, 13, "Reshape x[4] s(2,2) -> y allowzero=1", "Reshape 2"},
    {10, 13, "Clip x[3] -> y max=2.5", "Clip 3"},
    {18, 21, "GroupNormalization x[1,4,2,2] s{2} b{2} -> y num_groups=2",
     "GroupNormalization 3 num_groups"},
    {13, 13, "ConstantOfShape n(2) -> y", "ConstantOfShape 1"},
    {13, 14, "MaxPoolGrad x[1,1,4] g[1,1,2] -> y kernel_shape=2, strides=2,",
     "ai.tessera:MaxPoolGrad 2 kernel_shape strides"},
    {13, 14, "Adagrad r[] t:int64[] x[1] g[1] h[1] -> y z epsilon=0.5",
     "ai.onnx.preview.training:Adagrad 5 epsilon"},
};

static void proto_text(const Tsr__NodeProto *node, char *text, size_t size) {
    const char *domain = node->domain ? node->domain : "";
    snprintf(text, size, "%s%s%s %zu", domain, *domain ? ":" : "", node->op_type, node->n_input);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Tsr__AttributeProto *attr = node->attribute[i];
        size_t used = strlen(text);
        snprintf(text + used, size - used, attr->has_s ? " %s=%.*s" : " %s", attr->name,
                 (int)attr->s.len, (const char *)attr->s.data);
    }
}

static Tsr__ModelProto *unpack(const file *f) {
    Tsr__ModelProto *model = tsr__model_proto__unpack(NULL, f->size, f->bytes);
    assert_non_null(model);
    return model;
}

static void written_forms(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[256];
        file f = {0};
        tsr_graph *graph = read_graph(onnx_case(forms[i].from, forms[i].model));
        EXPECT_OK(tsr_onnx_write(graph, forms[i].to, append, &f));
        Tsr__ModelProto *model = unpack(&f);
        assert_int_equal(model->opset_import[0]->version, forms[i].to);
        assert_int_equal(model->n_opset_import, strchr(forms[i].node, ':') ? 2 : 1);
        proto_text(model->graph->node[0], text, sizeof text);
        if (strcmp(text, forms[i].node) != 0)
            fail_msg("%s as opset %d: \"%s\" instead of \"%s\"", forms[i].model, forms[i].to, text,
                     forms[i].node);
        tsr__model_proto__free_unpacked(model, NULL);
        tsr_graph_destroy(graph);
        free(f.bytes);
    }
}

static void lacking_forms(void **state) {
    (void)state;
    static const struct {
        int from, to;
        const char *model, *words;
    } cases[] = {
        {20, 19, "Gelu x[4] -> y", "node 'Gelu0' (Gelu): opset 19 lacks the operator; opset 20"},
        {18, 17, "Split x[5] -> y z num_outputs=2", "parts that are not equal; opset 18"},
        {18, 17, "ReduceMax x[2,3] a:int64[1] -> y", "axes that are not constant"},
        {18, 17, "Pad x[2,3] p(1,1) _ a(1) -> y", "axes of Pad"},
        {19, 18, "Pad x[3] p(1,1) -> y mode=wrap", "the mode wrap; opset 19"},
        {16, 15, "ScatterND x[4] i:int64[2,1] u[2] -> y reduction=add", "reduction; opset 16"},
        {21, 20, "GroupNormalization x[1,4,2,2] s{4} b{4} -> y num_groups=2", "by channel"},
        {14, 13, "Add x:uint8[4] x -> y", "uint8; opset 14"},
        {14, 13, "Relu x:int32[4] -> y", "int32; opset 14"},
        {8, 13,
         "Scan _ s[1,2] x[1,3,2] -> t y num_scan_inputs=1 body=@1 @ Add s[2] x[2] -> t!; "
         "Identity t -> y",
         "of opset 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file f = {0};
        tsr_graph *graph = read_graph(onnx_case(cases[i].from, cases[i].model));
        expect_failure(tsr_onnx_write(graph, cases[i].to, append, &f), TSR_ERROR_UNSUPPORTED,
                       cases[i].words);
        assert_int_equal(f.size, 0);
        tsr_graph_destroy(graph);
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Positive and negative, of different sizes in each row. */
static float weight(void *user, const char *name, size_t i) {
    (void)user, (void)name;
    return sinf((float)i * 1.7f) * (float)(1 + i / 64);
}

/* The graph of the written file. */
static tsr_graph *write_model(const char *text, const tsr_write_desc *desc) {
    file f = {0};
    tsr_graph *graph;
    tsr_maps maps = {0};
    tsr_model *model = load_written(onnx_case_filled(17, text, weight, NULL));
    EXPECT_OK(tsr_model_write(model, desc, append, &f));
    EXPECT_OK(tsr_onnx_read(
        f.bytes, f.size,
        &(tsr_model_desc){.name = "written", .max_bytes = 1 << 30, .max_work = 1 << 28}, &maps,
        NULL, &graph));
    tsr_model_free(model);
    free(f.bytes);
    return graph;
}

static const tsr_node *find(const tsr_graph *graph, tsr_op op, int nth) {
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].op == op && nth-- == 0)
            return &graph->nodes[n];
    fail_msg("no %s", tsr_op_get_info(op)->name);
    return NULL;
}

/* Each element is in the range, and off by half a step at most. rows, columns: of the matrix as it
 * is packed; block: along the axis. */
static void expect_packed(const tsr_graph *graph, const tsr_write_desc *desc, int64_t rows,
                          int64_t columns, int axis) {
    const tsr_node *node = find(graph, TSR_OP_DequantizeLinear, 0);
    const tsr_value *x = tsr_node_in(graph, node, 0), *scale = tsr_node_in(graph, node, 1),
                    *zero = tsr_node_in(graph, node, 2);
    const int64_t *elements = x->data, *zeros = zero ? zero->data : NULL;
    const float *scales = scale->data;
    bool bytes = desc->weights == TSR_WRITTEN_INT8;
    int block = desc->weights == TSR_WRITTEN_INT4 ? desc->block ? desc->block : 32 : 0;
    int64_t low = zeros ? 0 : bytes ? -127 : -8, high = zeros ? bytes ? 255 : 15 : bytes ? 127 : 7;
    assert_int_equal(!zeros, !desc->zero_points);
    assert_int_equal(tsr_attr_int(node, "axis", 1), axis);
    assert_int_equal(tsr_attr_int(node, "block_size", 0), block);
    assert_int_equal(tsr_shape_count(&x->shape), rows * columns);
    int64_t blocks = block ? ((axis ? columns : rows) + block - 1) / block : 1;
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t row = i / columns, column = i % columns, s = axis ? column : row;
        if (block)
            s = axis ? row * blocks + column / block : row / block * columns + column;
        double step = scales[s], back = (double)(elements[i] - (zeros ? zeros[s] : 0)) * step;
        assert_in_range(elements[i] - low, 0, high - low);
        if (!(fabs(back - weight(NULL, "", (size_t)i)) <= 0.5001 * step))
            fail_msg("element %d is %d", (int)i, (int)elements[i]);
    }
}

static void packed_weights(void **state) {
    (void)state;
    static const struct {
        const char *model;
        int64_t rows, columns;
        int axis[2]; /* of int8, of int4 */
    } cases[] = {
        {"Conv x[1,3,6,6] w{16,3,3,3} -> y", 16, 27, {0, 1}},
        {"Gemm x[2,45] w{10,45} -> y transB=1", 10, 45, {0, 1}},
        {"Gemm x[2,70] w{70,10} -> y", 70, 10, {1, 0}},
        {"MatMul x[2,70] w{70,10} -> y", 70, 10, {1, 0}},
        {"MatMul w{10,70} x[70,2] -> y", 10, 70, {0, 1}},
        {"Gather w{40,33} i:int64[3] -> y axis=0", 40, 33, {0, 1}},
    };
    const tsr_write_desc descs[] = {
        {.weights = TSR_WRITTEN_INT8},
        {.weights = TSR_WRITTEN_INT8, .zero_points = true},
        {.weights = TSR_WRITTEN_INT4},
        {.weights = TSR_WRITTEN_INT4, .block = 64},
        {.weights = TSR_WRITTEN_INT4, .block = 128, .zero_points = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < sizeof descs / sizeof *descs; k++) {
            bool blocks = descs[k].weights == TSR_WRITTEN_INT4;
            tsr_graph *graph = write_model(cases[i].model, &descs[k]);
            assert_int_equal(graph->opset, blocks ? 21 : 17);
            expect_packed(graph, &descs[k], cases[i].rows, cases[i].columns, cases[i].axis[blocks]);
            tsr_graph_destroy(graph);
        }
}

/* Its output channels are along axis 1, input channels, of which blocks are, along axis 0. */
static void packed_transposed(void **state) {
    (void)state;
    const char *text = "ConvTranspose x[1,40,3,3] w{40,5,2,2} -> y";
    tsr_graph *graph = write_model(text, &(tsr_write_desc){.weights = TSR_WRITTEN_INT8});
    const tsr_node *node = find(graph, TSR_OP_DequantizeLinear, 0);
    expect_shape(tsr_node_in(graph, node, 1), SHAPE(5));
    tsr_graph_destroy(graph);
    const tsr_write_desc desc = {.weights = TSR_WRITTEN_INT4};
    graph = write_model(text, &desc);
    expect_packed(graph, &desc, 40, 20, 0);
    expect_shape(tsr_node_in(graph, find(graph, TSR_OP_DequantizeLinear, 0), 1), SHAPE(2, 20));
    tsr_graph_destroy(graph);
}

static void halves(void **state) {
    (void)state;
    tsr_graph *graph = write_model("Conv x[1,3,6,6] w{16,3,3,3} b{16} -> y",
                                   &(tsr_write_desc){.weights = TSR_WRITTEN_FP16});
    const tsr_value *weights = tsr_node_in(graph, find(graph, TSR_OP_Cast, 0), 0);
    assert_int_equal(weights->dtype, TSR_DTYPE_F16);
    expect_shape(weights, SHAPE(16, 3, 3, 3));
    assert_int_equal(tsr_node_in(graph, find(graph, TSR_OP_Conv, 0), 2)->dtype, TSR_DTYPE_F32);
    tsr_graph_destroy(graph);
}

/* Scales have the weights' type, which they may since opset 19; float16 that is cast is no such. */
static void packed_halves(void **state) {
    (void)state;
    const tsr_write_desc int8 = {.weights = TSR_WRITTEN_INT8}, half = {.weights = TSR_WRITTEN_FP16};
    for (int cast = 0; cast < 2; cast++) {
        file f = {0}, packed = {0};
        onnx_writer *writer =
            onnx_case_filled(17, "Conv x:float16[1,3,6,6] w{16,3,3,3} -> y", weight, NULL);
        tsr_model *model, *loaded;
        if (cast) {
            onnx_writer_destroy(writer);
            model = make_model("Conv x[1,3,6,6] w{16,3,3,3} -> y");
            EXPECT_OK(tsr_model_write(model, &half, append, &f));
            EXPECT_OK(tsr_model_load_memory(f.bytes, f.size, NULL, &loaded));
            tsr_model_free(model);
        } else {
            Tsr__TensorProto *weights = onnx_writer_model(writer)->graph->initializer[0];
            weights->data_type = 10;
            weights->raw_data.len /= 2; /* other numbers, finite ones */
            memset(weights->raw_data.data, 0x34, weights->raw_data.len);
            loaded = load_written(writer);
        }
        EXPECT_OK(tsr_model_write(loaded, &int8, append, &packed));
        Tsr__ModelProto *model_proto = unpack(&packed);
        assert_int_equal(model_proto->opset_import[0]->version, cast ? 13 : 19);
        tsr__model_proto__free_unpacked(model_proto, NULL);
        tsr_model_free(loaded);
        free(f.bytes);
        free(packed.bytes);
    }
}

/* One constant, one DequantizeLinear, for two layers; small weights stay. */
static void shared_weights(void **state) {
    (void)state;
    char text[256];
    tsr_graph *graph =
        write_model("MatMul x[20,20] w{20,20} -> a; MatMul a w -> b; MatMul b v{20,4} -> y",
                    &(tsr_write_desc){.weights = TSR_WRITTEN_INT8});
    list_nodes(graph, text, sizeof text);
    assert_string_equal(text, "DequantizeLinear MatMul MatMul MatMul");
    tsr_graph_destroy(graph);
    graph = write_model("MatMul x[20,20] w{20,20} -> a; Add a w -> y",
                        &(tsr_write_desc){.weights = TSR_WRITTEN_INT8});
    list_nodes(graph, text, sizeof text);
    assert_string_equal(text, "MatMul Add");
    tsr_graph_destroy(graph);
}

/* What is compact stays so when a file is written again. */
static void written_twice(void **state) {
    (void)state;
    file f = {0}, again = {0};
    tsr_model *model = load_written(
                  onnx_case_filled(17, "Conv x[1,3,6,6] w{16,3,3,3} -> y", weight, NULL)),
              *packed;
    EXPECT_OK(tsr_model_write(model, &(tsr_write_desc){.weights = TSR_WRITTEN_INT4}, append, &f));
    EXPECT_OK(tsr_model_load_memory(f.bytes, f.size, NULL, &packed));
    EXPECT_OK(tsr_model_write(packed, NULL, append, &again));
    assert_in_range(again.size, f.size - 64, f.size + 64);
    expect_failure(
        tsr_model_write(packed, &(tsr_write_desc){.weights = TSR_WRITTEN_INT8}, append, &again),
        TSR_ERROR_INVALID_ARGUMENT, "is quantized already");
    tsr_model_free(packed);
    tsr_model_free(model);
    free(f.bytes);
    free(again.bytes);
}

/* ---- layers ---------------------------------------------------------------------------------- */

typedef struct seen {
    int count, kept;
    double output_error[4];
} seen;

static void see(void *user, const tsr_written_layer *layer) {
    seen *s = user;
    assert_true(s->count < 4);
    s->output_error[s->count++] = layer->output_error;
    s->kept += layer->reason != NULL;
    assert_int_equal(layer->format == TSR_WRITTEN_AS_THEY_ARE, layer->reason != NULL);
    assert_true(layer->reason ? layer->bytes_after == layer->bytes_before
                              : layer->bytes_after < layer->bytes_before);
}

/* The error of a layer is that of its own weights: the first layer's does not reach the second. */
static void tolerance(void **state) {
    (void)state;
    float x[400];
    for (int i = 0; i < 400; i++)
        x[i] = weight(NULL, "", (size_t)i * 7);
    const tsr_fixed_input input = {"x", TSR_DTYPE_F32, {2, {20, 20}}, x};
    const char *const keep[] = {"MatMul0"};
    tsr_model *model = load_written(onnx_case_filled(
        17, "MatMul x[20,20] w{20,20} -> a; MatMul a v{20,20} -> y", weight, NULL));
    file f = {0};
    seen s[3] = {{0}};
    tsr_write_desc desc = {.weights = TSR_WRITTEN_INT4,
                           .inputs = &input,
                           .input_count = 1,
                           .layer = see,
                           .layer_user = &s[0]};
    EXPECT_OK(tsr_model_write(model, &desc, append, &f));
    assert_int_equal(s[0].count, 2);
    assert_int_equal(s[0].kept, 0);
    desc.keep = keep;
    desc.keep_count = 1;
    desc.layer_user = &s[1];
    EXPECT_OK(tsr_model_write(model, &desc, append, &f));
    assert_int_equal(s[1].kept, 1);
    assert_true(s[0].output_error[0] > 0.001 && s[0].output_error[0] < 0.5);
    assert_true(s[1].output_error[0] < 0);
    assert_float_equal(s[0].output_error[1], s[1].output_error[1], 1e-6);
    desc.keep_count = 0;
    desc.tolerance = 1e-6;
    desc.layer_user = &s[2];
    EXPECT_OK(tsr_model_write(model, &desc, append, &f));
    assert_int_equal(s[2].kept, 2);
    assert_float_equal(s[0].output_error[0], s[2].output_error[0], 1e-6);
    tsr_model_free(model);
    free(f.bytes);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void bad_arguments(void **state) {
    (void)state;
    const tsr_status bad = TSR_ERROR_INVALID_ARGUMENT;
    const char *const names[] = {"Conv1"};
    const struct {
        tsr_write_desc desc;
        const char *words;
    } cases[] = {
        {{.opset = 12}, "opset 12: files are written in opsets 13 to 27"},
        {{.batch = -1}, "a batch cannot have the size -1"},
        {{.batch = 2}, "no input leaves its first size open"},
        {{.dim_count = 1}, "tsr_write_desc.dims has a count of 1 and is NULL"},
        {{.keep_count = -1}, "tsr_write_desc.keep has a count of -1"},
        {{.weights = (tsr_written_format)9}, "there is no format 9 of weights"},
        {{.block = 32}, "only int4 weights are in blocks"},
        {{.weights = TSR_WRITTEN_INT4, .block = 48}, "blocks of 48 weights"},
        {{.weights = TSR_WRITTEN_INT4, .opset = 20}, "opset 20 cannot have such weights; opset 21"},
        {{.weights = TSR_WRITTEN_FP16, .zero_points = true}, "have zero points"},
        {{.keep = names, .keep_count = 1}, "nothing to keep"},
        {{.tolerance = 0.1}, "nothing to tolerate"},
        {{.weights = TSR_WRITTEN_INT8, .tolerance = 0.1}, "a tolerance needs inputs"},
        {{.weights = TSR_WRITTEN_INT8, .tolerance = -1}, "negative"},
        {{.weights = TSR_WRITTEN_INT8, .keep = names, .keep_count = 1},
         "no node is named 'Conv1' whose weights could stay; similar names: 'Conv0'"},
    };
    file f = {0};
    tsr_model *model = make_model("Conv x[1,3,6,6] w{16,3,3,3} -> y");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_failure(tsr_model_write(model, &cases[i].desc, append, &f), bad, cases[i].words);
    expect_failure(tsr_model_write(NULL, NULL, append, &f), bad, "model is NULL");
    expect_failure(tsr_model_write(model, NULL, NULL, &f), bad, "write is NULL");
    f.limit = 1;
    expect_failure(tsr_model_write(model, NULL, append, &f), TSR_ERROR_IO, "cannot be written");
    tsr_model_free(model);
    free(f.bytes);
}

static tsr_status compute(tsr_custom_call *call) {
    (void)call;
    return TSR_OK;
}

static void custom_operators(void **state) {
    (void)state;
    file f = {0};
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, "test:Twice x[2] -> y", &size);
    tsr_model *model;
    const tsr_custom_op op = {.name = "Twice", .domain = "test", .compute = compute};
    EXPECT_OK(tsr_model_load_memory(
        bytes, size, &(tsr_model_desc){.custom_ops = &op, .custom_op_count = 1}, &model));
    expect_failure(tsr_model_write(model, NULL, append, &f), TSR_ERROR_UNSUPPORTED,
                   "node 'test:Twice0' (Twice): a custom operator is not part of ONNX");
    tsr_model_free(model);
    free(bytes);
}

static void expect_metadata(const tsr_model *model) {
    const char *key, *value;
    assert_true(tsr_model_metadata(model, 0, &key, &value));
    assert_string_equal(key, "k");
    assert_string_equal(value, "abc");
    assert_true(tsr_model_metadata(model, 1, &key, &value)); /* one without either */
    assert_string_equal(key, "");
    assert_string_equal(value, "");
    assert_false(tsr_model_metadata(model, 2, NULL, NULL));
    assert_false(tsr_model_metadata(model, -1, NULL, NULL));
    assert_false(tsr_model_metadata(NULL, 0, NULL, NULL));
}

static void metadata(void **state) {
    (void)state;
    static const char entries[] = "\x72\x08\x0a\x01k\x12\x03"
                                  "abc\x72\x00";
    file f = {0}, written = {0};
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, "Relu x[2] -> y", &size);
    append(&f, (const char *)bytes, size);
    append(&f, entries, sizeof entries - 1);
    tsr_model *model;
    EXPECT_OK(tsr_model_load_memory(f.bytes, f.size, NULL, &model));
    expect_metadata(model);
    EXPECT_OK(tsr_model_write(model, NULL, append, &written));
    tsr_model_free(model);
    EXPECT_OK(tsr_model_load_memory(written.bytes, written.size, NULL, &model));
    expect_metadata(model);
    tsr_model_free(model);
    free(written.bytes);
    free(f.bytes);
    free(bytes);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_forms),    cmocka_unit_test(lacking_forms),
        cmocka_unit_test(packed_weights),   cmocka_unit_test(packed_transposed),
        cmocka_unit_test(halves),           cmocka_unit_test(packed_halves),
        cmocka_unit_test(shared_weights),   cmocka_unit_test(written_twice),
        cmocka_unit_test(tolerance),        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(custom_operators), cmocka_unit_test(metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
