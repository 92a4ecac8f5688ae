/* tsr_model_write() with activations of 8 bits: which tensors have them, with which scales. */
#include "onnx/onnx.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct file {
    uint8_t *bytes;
    size_t size;
} file;

static bool append(void *user, const char *bytes, size_t length) {
    file *f = user;
    f->bytes = realloc(f->bytes, f->size + length + 1);
    assert_non_null(f->bytes);
    memcpy(f->bytes + f->size, bytes, length);
    f->size += length;
    return true;
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct samples {
    const tsr_model *model;
    float low, high;    /* of all inputs: the first elements of sample 0 */
    int larger, failed; /* samples of another shape, without elements; -1: none */
    float elements[4096];
} samples;

static tsr_status sample(void *user, int number, tsr_fixed_input *inputs) {
    samples *s = user;
    bool whole = false;
    for (int i = 0; i < tsr_model_input_count(s->model); i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_model_input(s->model, i, &info));
        assert_string_equal(inputs[i].input, info.name);
        for (int d = 0; d < info.shape.rank; d++)
            info.shape.dim[d] = info.shape.dim[d] < 0 ? 2 : info.shape.dim[d];
        info.shape.dim[0] += number == s->larger;
        whole |= info.dtype != TSR_DTYPE_F32;
        inputs[i] = (tsr_fixed_input){info.name, TSR_DTYPE_F32, info.shape, s->elements};
    }
    for (int i = 0; i < 4096; i++)
        s->elements[i] = whole ? 3 : sinf((float)(i + number)) * fminf(-s->low, s->high);
    s->elements[0] = number ? 0 : s->low;
    s->elements[1] = number ? 0 : s->high;
    return number == s->failed ? TSR_ERROR_UNSUPPORTED : TSR_OK;
}

static samples given;

static tsr_write_desc describe(const tsr_model *model) {
    given = (samples){.model = model, .low = -1, .high = 3, .larger = -1, .failed = -1};
    return (tsr_write_desc){
        .weights = TSR_WRITTEN_QDQ, .sample = sample, .sample_user = &given, .sample_count = 2};
}

static float element(void *user, const char *name, size_t i) {
    (void)user, (void)name;
    return sinf((float)i * 1.7f);
}

static tsr_model *model_of(const char *text) {
    return load_written(onnx_case_filled(17, text, element, NULL));
}

static tsr_graph *read_written(const file *f) {
    tsr_graph *graph;
    tsr_maps maps = {0};
    EXPECT_OK(tsr_onnx_read(
        f->bytes, f->size,
        &(tsr_model_desc){.name = "written", .max_bytes = 1 << 30, .max_work = 1 << 28}, &maps,
        NULL, &graph));
    return graph;
}

/* The model is freed. */
static tsr_graph *write_model(tsr_model *model, const tsr_write_desc *desc) {
    file f = {0};
    EXPECT_OK(tsr_model_write(model, desc, append, &f));
    tsr_graph *graph = read_written(&f);
    free(f.bytes);
    tsr_model_free(model);
    return graph;
}

/* ---- which tensors --------------------------------------------------------------------------- */

/* Its operators in order; Q and D: of an activation; w and b: what makes floats of weights and of a
 * bias. */
static void describe_nodes(const tsr_graph *graph, char *text, size_t size) {
    *text = '\0';
    for (int n = 0; n < graph->node_count; n++) {
        const tsr_node *node = &graph->nodes[n];
        const tsr_value *x = tsr_node_in(graph, node, 0);
        const char *name = tsr_op_get_info(node->op)->name;
        if (node->op == TSR_OP_QuantizeLinear)
            name = "Q";
        if (node->op == TSR_OP_DequantizeLinear)
            name = !x->data ? "D" : x->dtype == TSR_DTYPE_I32 ? "b" : "w";
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", n ? " " : "", name);
    }
}

static void expect_nodes(const char *model_text, const char *const *keep, const char *expected) {
    char text[1024];
    tsr_model *model = model_of(model_text);
    tsr_write_desc desc = describe(model);
    desc.keep = keep;
    desc.keep_count = keep != NULL;
    tsr_graph *graph = write_model(model, &desc);
    describe_nodes(graph, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s:\n\"%s\" instead of\n\"%s\"", model_text, text, expected);
    tsr_graph_destroy(graph);
}

#define CONV "Conv x[1,2,5,5] u{4,2,1,1} -> a; "

static void quantized_tensors(void **state) {
    (void)state;
    static const struct {
        const char *model, *nodes;
    } cases[] = {
        {"Conv x[1,2,5,5] u{3,2,3,3} b{3} -> y", "Q D w b Conv"},
        {"Conv x[1,2,5,5] u{4,2,1,1} -> a; Conv x v{4,2,3,3} -> b pads=1,1,1,1; Add a b -> y",
         "Q D w Conv w Conv Add"}, /* one pair for both readers; nothing follows the sum */
        {CONV "Relu a -> r; Conv r v{4,4,1,1} -> c; Add c r -> s; Conv s t{2,4,1,1} -> y",
         "Q D w Conv Relu Q D w Conv Q D Add Q D w Conv"},
        {CONV "Clip a l<-0.5 h<0.5 -> r; Conv r v{4,4,1,1} -> y", "Q D w Conv Clip Q D w Conv"},
        {CONV "Relu a -> r; Conv a v{4,4,1,1} -> c; Add c r -> s; Conv s t{2,4,1,1} -> y",
         "Q D w Conv Q D Relu Q D w Conv Q D Add Q D w Conv"}, /* another reader than Relu */
        {CONV "LeakyRelu a -> r; MaxPool r -> p kernel_shape=2,2; Conv p v{4,4,1,1} -> y",
         "Q D w Conv Q D LeakyRelu Q D MaxPool Q D w Conv"},
        {CONV "Softmax a -> r; Conv r v{4,4,1,1} -> y", "Q D w Conv Softmax Q D w Conv"},
        {CONV "Mul a k<2 -> r; Conv r v{4,4,1,1} -> y", "Q D w Conv Mul Q D w Conv"},
        {"Concat x[1,2,5,5] x -> k axis=1; Relu k -> r; Conv r v{4,4,1,1} -> y",
         "Q D Concat Q D Relu Q D w Conv"}, /* Relu is no part of what moves elements */
        {"MatMul x[3,4] z[4,5] -> a; Gemm a v{5,6} b{6} -> c; MatMul c w{6,2} -> y",
         "Q D Q D MatMul Q D w b Gemm Q D w MatMul"},
        {"Gather t{130,24} i:int64[3] -> a axis=0; MatMul a v{24,3} -> y", "w Gather Q D w MatMul"},
        {"Gemm x[3,5] v{5,6} b{6} -> y alpha=2.0", "Q D w Gemm"}, /* the bias stays */
        {"ConvTranspose x[1,4,3,3] u{4,3,2,2} b{6} -> y group=2", "Q D w b ConvTranspose"},
        {"Neg x[1,4] -> y", "Neg"},
        {"Conv x[N,2,5,5] u{4,2,1,1} -> a; Relu a -> r; Conv r v{4,4,1,1} -> y",
         "Q D w Conv Relu Q D w Conv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_nodes(cases[i].model, NULL, cases[i].nodes);
    const char *second[] = {"Conv2"};
    expect_nodes(CONV "Relu a -> r; Conv r v{4,4,1,1} -> y", second, "Q D w Conv Relu Conv");
}

/* ---- scales ---------------------------------------------------------------------------------- */

static const tsr_node *find(const tsr_graph *graph, tsr_op op, int nth) {
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].op == op && nth-- == 0)
            return &graph->nodes[n];
    fail_msg("no %s", tsr_op_get_info(op)->name);
    return NULL;
}

static float scale_of(const tsr_graph *graph, tsr_op op, int nth) {
    return *(const float *)tsr_node_in(graph, find(graph, op, nth), 1)->data;
}

static void scales(void **state) {
    (void)state;
    tsr_model *model = model_of("Conv x[1,2,5,5] u{3,2,3,3} b{3} -> y");
    tsr_write_desc desc = describe(model);
    tsr_graph *graph = write_model(model, &desc);
    const tsr_node *q = find(graph, TSR_OP_QuantizeLinear, 0);
    const tsr_value *zero_point = tsr_node_in(graph, q, 2);
    assert_float_equal(scale_of(graph, TSR_OP_QuantizeLinear, 0), 4 / 255.0, 1e-9);
    assert_int_equal(zero_point->dtype, TSR_DTYPE_U8);
    assert_int_equal(*(const int64_t *)zero_point->data, 64);
    const float *weights = tsr_node_in(graph, find(graph, TSR_OP_DequantizeLinear, 1), 1)->data;
    const tsr_node *bias = find(graph, TSR_OP_DequantizeLinear, 2);
    const float *sums = tsr_node_in(graph, bias, 1)->data;
    const int64_t *integers = tsr_node_in(graph, bias, 0)->data;
    for (int i = 0; i < 3; i++) {
        assert_float_equal(sums[i], weights[i] * (float)(4 / 255.0), 1e-9);
        assert_float_equal((float)integers[i] * sums[i], element(NULL, "", (size_t)i), 1e-4);
    }
    tsr_graph_destroy(graph);
}

/* What is only moved keeps its integers. */
static void shared_scales(void **state) {
    (void)state;
    tsr_model *model = model_of("Conv x[1,2,5,5] u{4,2,1,1} -> a; Conv x v{2,2,1,1} c<5,5> -> b; "
                                "Concat a b -> k axis=1; MaxPool k -> p kernel_shape=2,2; "
                                "Reshape p s(1,24,2,2) -> r; Conv r w{3,24,1,1} -> y");
    tsr_write_desc desc = describe(model);
    tsr_graph *graph = write_model(model, &desc);
    for (int i = 2; i < 6; i++) /* of b, k, p, r, as of a */
        assert_float_equal(scale_of(graph, TSR_OP_QuantizeLinear, i),
                           scale_of(graph, TSR_OP_QuantizeLinear, 1), 0);
    assert_true(scale_of(graph, TSR_OP_QuantizeLinear, 0) !=
                scale_of(graph, TSR_OP_QuantizeLinear, 1));
    tsr_graph_destroy(graph);
}

static void methods(void **state) {
    (void)state;
    float found[3];
    for (int i = 0; i < 3; i++) {
        tsr_model *model = model_of("Conv x[1,2,40,40] u{3,2,3,3} -> y");
        tsr_write_desc desc = describe(model);
        given.high = 30; /* a lone number */
        desc.calibration = (tsr_calibration)i;
        desc.percentile = i == TSR_CALIBRATION_PERCENTILE ? 99 : 0;
        tsr_graph *graph = write_model(model, &desc);
        found[i] = scale_of(graph, TSR_OP_QuantizeLinear, 0);
        tsr_graph_destroy(graph);
    }
    assert_float_equal(found[0], 31 / 255.0, 1e-6);
    assert_float_equal(found[1], 2 / 255.0, 0.001);
    assert_true(found[2] < found[0] / 4);
}

/* ---- layers ---------------------------------------------------------------------------------- */

typedef struct told {
    int count, kept;
    double error[4];
    char text[256];
} told;

static void tell(void *user, const tsr_written_layer *layer) {
    told *t = user;
    t->kept += layer->reason != NULL;
    assert_int_equal(layer->format, layer->reason ? TSR_WRITTEN_AS_THEY_ARE : TSR_WRITTEN_QDQ);
    t->error[t->count++] = layer->output_error;
    snprintf(t->text, sizeof t->text, "%s", layer->weights);
}

static void layers(void **state) {
    (void)state;
    const char *text = CONV "Relu a -> r; Conv r v{4,4,1,1} -> y";
    told all = {0}, some = {0}, none = {0};
    tsr_model *model = model_of(text);
    tsr_write_desc desc = describe(model);
    desc.layer = tell;
    desc.layer_user = &all;
    tsr_graph_destroy(write_model(model, &desc));
    assert_int_equal(all.count, 2);
    assert_int_equal(all.kept, 0);
    for (int i = 0; i < 2; i++)
        assert_true(all.error[i] > 0.001 && all.error[i] < 0.02);
    model = model_of(text);
    desc = describe(model);
    desc.layer = tell;
    desc.layer_user = &some;
    desc.tolerance = (all.error[0] + all.error[1]) / 2;
    tsr_graph_destroy(write_model(model, &desc));
    assert_int_equal(some.kept, 1);
    model = model_of(text);
    desc = describe(model);
    desc.layer = tell;
    desc.layer_user = &none;
    desc.no_measure = true;
    tsr_graph_destroy(write_model(model, &desc));
    assert_true(none.error[0] < 0);
    assert_string_equal(none.text, "v");
}

/* The written model computes nearly the same. */
static void results(void **state) {
    (void)state;
    tsr_model *model = make_model(MIXED_NET), *made;
    tsr_write_desc desc = describe(model);
    file f = {0};
    given.high = 1;
    EXPECT_OK(tsr_model_write(model, &desc, append, &f));
    EXPECT_OK(tsr_model_load_memory(f.bytes, f.size, NULL, &made));
    elements expected = reference_output(model, "y", 3), actual = reference_output(made, "y", 3);
    expect_close(actual, expected, 0.05);
    free(expected.values);
    free(actual.values);
    tsr_model_free(made);
    tsr_model_free(model);
    free(f.bytes);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void bad_samples(void **state) {
    (void)state;
    file f = {0};
    static const char *const names[] = {"cat.png", "dog.png"};
    tsr_model *model =
        model_of("Conv x[1,2,5,5] u{4,2,1,1} -> a; Exp a -> e; Conv e v{2,4,1,1} -> y");
    tsr_write_desc desc = describe(model);
    given.failed = 1;
    expect_failure(tsr_model_write(model, &desc, append, &f), TSR_ERROR_UNSUPPORTED, "sample 1");
    desc = describe(model);
    desc.sample_names = names;
    given.larger = 1;
    expect_failure(tsr_model_write(model, &desc, append, &f), TSR_ERROR_SHAPE,
                   "dog.png: input 'x' is [2, 2, 5, 5], and was [1, 2, 5, 5]");
    desc = describe(model);
    desc.sample_names = names;
    given.high = 1000;
    expect_failure(tsr_model_write(model, &desc, append, &f), TSR_ERROR_INVALID_ARGUMENT,
                   "cat.png: node 'Exp1' (Exp): its output 'e' has infinity");
    given.high = NAN;
    expect_failure(tsr_model_write(model, &desc, append, &f), TSR_ERROR_INVALID_ARGUMENT,
                   "cat.png: input 'x' has NaN");
    assert_int_equal(f.size, 0);
    tsr_model_free(model);
}

static void bad_arguments(void **state) {
    (void)state;
    file f = {0};
    tsr_model *model = model_of("Conv x[1,2,5,5] u{4,2,1,1} -> y");
    const tsr_fixed_input input = {"x", TSR_DTYPE_F32, {0}, NULL};
    tsr_write_desc good = describe(model), cases[9];
    static const char *const words[] = {"needs samples",
                                        "needs samples, not inputs",
                                        "sample is NULL",
                                        "only TSR_WRITTEN_QDQ",
                                        "there is no calibration 7",
                                        "only that calibration",
                                        "50 to 100",
                                        "needs to be measured",
                                        "have zero points"};
    for (int i = 0; i < 9; i++)
        cases[i] = good;
    cases[0].sample_count = 0;
    cases[1].inputs = &input, cases[1].input_count = 1;
    cases[2].sample = NULL;
    cases[3].weights = TSR_WRITTEN_INT8;
    cases[4].calibration = (tsr_calibration)7;
    cases[5].percentile = 99;
    cases[6].calibration = TSR_CALIBRATION_PERCENTILE, cases[6].percentile = 20;
    cases[7].no_measure = true, cases[7].tolerance = 0.1;
    cases[8].zero_points = true;
    for (int i = 0; i < 9; i++)
        expect_failure(tsr_model_write(model, &cases[i], append, &f), TSR_ERROR_INVALID_ARGUMENT,
                       words[i]);
    assert_int_equal(f.size, 0);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantized_tensors),
        cmocka_unit_test(scales),
        cmocka_unit_test(shared_scales),
        cmocka_unit_test(methods),
        cmocka_unit_test(layers),
        cmocka_unit_test(results),
        cmocka_unit_test(bad_samples),
        cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
