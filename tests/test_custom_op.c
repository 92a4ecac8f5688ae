/* Custom operators on the cpu backend, and what is refused of them. test_gpu_custom.c has the rest.
 */
#include "support/custom_ops.h"
#include "support/main.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

static const tsr_custom_op *scale = &custom_ops[0];

static void run_on_cpu(const tsr_model *model, const float *x, size_t x_count, float *y,
                       size_t y_count) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_session *session = make_session(device, model, NULL);
    EXPECT_OK(tsr_session_set_input(session, "x", x, x_count));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", y, y_count));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* Loading succeeds; making a session on the CPU fails so. */
static void expect_no_session(const char *text, tsr_status status, const char *words) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_model *model = make_custom_model(text);
    tsr_session *session;
    expect_failure(tsr_session_create(device, model, NULL, &session), status, words);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void expect_no_model(const char *text, tsr_status status, const char *words) {
    tsr_model *model;
    expect_failure(load_with(custom_ops, CUSTOM_OP_COUNT, text, &model), status, words);
    assert_null(model);
}

/* ---- results ---- */

static void computed_on_cpu(void **state) {
    (void)state;
    float x[] = {1, 2, 3, 4}, y[8];
    tsr_model *model = make_custom_model("test:Scale x[1,1,2,2] -> a gain=3; "
                                         "test:Join a k{1,1,1,1} -> b; Neg b -> y");
    run_on_cpu(model, x, 4, y, 8); /* the initializer is 1/8 */
    assert_true(y[0] == -3 && y[3] == -12 && y[4] == -0.125f && y[7] == -0.125f);
    const char *op;
    int count;
    assert_true(tsr_model_op(model, 1, &op, &count));
    assert_string_equal(op, "Scale"); /* after ONNX's */
    assert_int_equal(count, 1);
    assert_true(tsr_model_op(model, 2, &op, &count));
    assert_false(tsr_model_op(model, 3, &op, &count));
    tsr_model_free(model);
}

/* Nothing is left of the description after loading but functions and user. */
static void copied_description(void **state) {
    (void)state;
    char name[] = "Scale", domain[] = "mine", attr[] = "gain";
    tsr_custom_attr attrs[] = {{attr, 5}};
    tsr_custom_op op = {
        .name = name, .domain = domain, .compute = scale->compute, .attrs = attrs, .attr_count = 1};
    tsr_model *model;
    EXPECT_OK(load_with(&op, 1, "mine:Scale x[2] -> y", &model));
    memset(name, 0, sizeof name);
    memset(domain, 0, sizeof domain);
    memset(attr, 0, sizeof attr);
    attrs[0].value = 0;
    op = (tsr_custom_op){0};
    float x[] = {1, 2}, y[2];
    run_on_cpu(model, x, 2, y, 2);
    assert_true(y[0] == 5 && y[1] == 10);
    tsr_model_free(model);
}

typedef struct seen {
    int calls;
    int64_t i, absent, other_kind, second;
    float number;
    char text[16];
    float last;
} seen;

static tsr_status read_attrs(tsr_custom_call *call) {
    seen *s = call->user;
    int count;
    s->calls++;
    s->i = tsr_attr_int(call->node, "i", 0);
    s->absent = tsr_attr_int(call->node, "nothing", 12);
    s->other_kind = tsr_attr_int(call->node, "text", 13);
    s->number = tsr_attr_float(call->node, "i", 0);
    snprintf(s->text, sizeof s->text, "%s", tsr_attr_string(call->node, "text", ""));
    const int64_t *ints = tsr_attr_ints(call->node, "ints", &count);
    s->second = count == 2 ? ints[1] : 0;
    const float *floats = tsr_attr_floats(call->node, "floats", &count);
    s->last = count == 3 ? floats[2] : 0;
    assert_null(tsr_attr_floats(call->node, "ints", &count));
    assert_int_equal(count, 0);
    call->output[0] = 4;
    return TSR_OK;
}

/* Of every kind; and a node whose inputs are constant is computed once. */
static void attributes(void **state) {
    (void)state;
    seen s = {0};
    const tsr_custom_op op = {.name = "Read", .domain = "mine", .compute = read_attrs, .user = &s};
    tsr_model *model;
    EXPECT_OK(load_with(&op, 1,
                        "mine:Read k<3 -> a i=7 text=word ints=5,6 floats=0.5,1.5,2.5; "
                        "Add x[1] a -> y",
                        &model));
    float x[] = {1}, y[1];
    run_on_cpu(model, x, 1, y, 1);
    assert_true(y[0] == 5);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.i, 7);
    assert_int_equal(s.absent, 12);
    assert_int_equal(s.other_kind, 13);
    assert_int_equal(s.second, 6);
    assert_true(s.number == 7 && s.last == 2.5f);
    assert_string_equal(s.text, "word");
    tsr_model_free(model);
}

/* Names are a model's own: two models with one name for two operators. */
static void no_global_state(void **state) {
    (void)state;
    tsr_custom_op negated = custom_ops[3];
    negated.name = "Scale";
    tsr_model *a, *b;
    EXPECT_OK(load_with(scale, 1, "test:Scale x[1] -> y", &a));
    EXPECT_OK(load_with(&negated, 1, "test:Scale x[1] -> y", &b));
    float x[] = {1}, y[1];
    run_on_cpu(a, x, 1, y, 1);
    assert_true(y[0] == 2);
    run_on_cpu(b, x, 1, y, 1);
    assert_true(y[0] == -1);
    tsr_model_free(a);
    tsr_model_free(b);
}

/* ONNX's names mean something else in other domains; in its own the caller adds what Tessera lacks.
 */
static void names_of_onnx(void **state) {
    (void)state;
    static const char *const names[] = {"Relu", "Constant", "Custom", "Upsample"};
    float x[] = {1, -3}, y[2];
    tsr_custom_op op = custom_ops[3];
    tsr_model *model;
    op.domain = "mine";
    for (int i = 0; i < 4; i++) {
        char text[64];
        op.name = names[i];
        snprintf(text, sizeof text, "mine:%s x[2] -> y", names[i]);
        EXPECT_OK(load_with(&op, 1, text, &model));
        run_on_cpu(model, x, 2, y, 2);
        assert_true(y[0] == -1 && y[1] == 3);
        tsr_model_free(model);
    }
    static const char *const domains[] = {NULL, "", "ai.onnx"};
    op.name = "TfIdfVectorizer";
    for (int i = 0; i < 3; i++) {
        op.domain = domains[i];
        EXPECT_OK(load_with(&op, 1, "TfIdfVectorizer x[2] -> y", &model));
        run_on_cpu(model, x, 2, y, 2);
        assert_true(y[0] == -1 && y[1] == 3);
        tsr_model_free(model);
    }
}

/* ---- refusals ---- */

static void bad_descriptions(void **state) {
    (void)state;
    static const tsr_custom_attr twice[] = {{"a", 1}, {"a", 2}}, nameless[] = {{NULL, 1}},
                                 spaced[] = {{"a b", 1}}, reserved[] = {{"a__b", 1}},
                                 digit[] = {{"2a", 1}}, empty[] = {{"", 1}};
    tsr_custom_fn fn = custom_ops[3].compute;
    const struct {
        tsr_custom_op op;
        const char *words;
    } bad[] = {
        {{.compute = fn}, "custom operator 0 has no name"},
        {{.name = "", .compute = fn}, "custom operator 0 has no name"},
        {{.name = "A"}, "'A': it has no function for the CPU"},
        {{.name = "Relu", .compute = fn}, "'Relu': Tessera has an operator"},
        {{.name = "Conv", .domain = "ai.onnx", .compute = fn}, "'Conv': Tessera has an operator"},
        {{.name = "Custom", .compute = fn}, "'Custom'"},
        {{.name = "MaxPoolGrad", .domain = "ai.tessera", .compute = fn}, "has an operator"},
        {{.name = "Constant", .compute = fn}, "'Constant': Tessera has an operator"},
        {{.name = "A", .compute = fn, .min_inputs = 5}, "5 to 5 inputs"},
        {{.name = "A", .compute = fn, .min_inputs = -1}, "-1 to -1 inputs"},
        {{.name = "A", .compute = fn, .min_inputs = 2, .max_inputs = 1}, "2 to 1 inputs"},
        {{.name = "A", .compute = fn, .glsl = ""}, "its body is empty"},
        {{.name = "A", .compute = fn, .wgsl = ""}, "its body is empty"},
        {{.name = "A", .compute = fn, .attr_count = 1}, "attrs is NULL"},
        {{.name = "A", .compute = fn, .attrs = twice, .attr_count = 9}, "9 attributes"},
        {{.name = "A", .compute = fn, .attrs = twice, .attr_count = -1}, "-1 attributes"},
        {{.name = "A", .compute = fn, .attrs = twice, .attr_count = 2}, "'a' is there twice"},
        {{.name = "A", .compute = fn, .attrs = nameless, .attr_count = 1}, "cannot be called ''"},
        {{.name = "A", .compute = fn, .attrs = spaced, .attr_count = 1}, "called 'a b'"},
        {{.name = "A", .compute = fn, .attrs = reserved, .attr_count = 1}, "called 'a__b'"},
        {{.name = "A", .compute = fn, .attrs = digit, .attr_count = 1}, "called '2a'"},
        {{.name = "A", .compute = fn, .attrs = empty, .attr_count = 1}, "called ''"},
    };
    tsr_model *model;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure(load_with(&bad[i].op, 1, "Relu x[1] -> y", &model),
                       TSR_ERROR_INVALID_ARGUMENT, bad[i].words);
    const tsr_custom_op same[] = {{.name = "A", .compute = fn},
                                  {.name = "A", .domain = "ai.onnx", .compute = fn}};
    expect_failure(load_with(same, 2, "Relu x[1] -> y", &model), TSR_ERROR_INVALID_ARGUMENT,
                   "'A' is there twice");
    expect_failure(load_with(NULL, 1, "Relu x[1] -> y", &model), TSR_ERROR_INVALID_ARGUMENT,
                   "1 custom operators");
    expect_failure(load_with(same, -1, "Relu x[1] -> y", &model), TSR_ERROR_INVALID_ARGUMENT,
                   "-1 custom operators");
}

static void bad_models(void **state) {
    (void)state;
    expect_no_model("Custom x[1] -> y", TSR_ERROR_UNSUPPORTED,
                    "not supported: operator Custom (1 node");
    expect_no_model("test:Unknown x[1] -> y", TSR_ERROR_UNSUPPORTED,
                    "not supported: operator test.Unknown (1 node");
    expect_no_model("Scale x[1] -> y", TSR_ERROR_UNSUPPORTED,
                    "not supported: operator Scale (1 node");
    expect_no_model("other:Scale x[1] -> y", TSR_ERROR_UNSUPPORTED,
                    "not supported: operator other.Scale (1 node");
    expect_no_model("test:Scale x[1] z[1] -> y", TSR_ERROR_INVALID_MODEL, "2 inputs instead of 1");
    expect_no_model("test:Join x[1] -> y", TSR_ERROR_INVALID_MODEL,
                    "1 inputs; it needs at least 2");
    expect_no_model("test:Join x[1] _ z[1] -> y", TSR_ERROR_INVALID_MODEL, "input 1 is absent");
    expect_no_model("test:Scale x[1] -> y z", TSR_ERROR_INVALID_MODEL, "2 outputs instead of 1");
    expect_no_model("test:Scale x[1] -> y gain=much", TSR_ERROR_INVALID_MODEL,
                    "attribute \"gain\" is a string, not a number");
    expect_no_model("test:Scale x[1] -> y gain=1,2", TSR_ERROR_INVALID_MODEL,
                    "attribute \"gain\" is a list of integers, not a number");
}

static tsr_status fail_silently(tsr_custom_call *call) {
    (void)call;
    return TSR_ERROR_LIMIT;
}

static tsr_status of_rank(tsr_custom_call *call) {
    call->output_shape.rank = *(int *)call->user;
    return TSR_OK;
}

static tsr_status negative_dim(tsr_custom_call *call) {
    call->output_shape.dim[0] = -1;
    return TSR_OK;
}

static void bad_shapes(void **state) {
    (void)state;
    expect_no_session("test:Picky x[2] -> y", TSR_ERROR_SHAPE,
                      "net.onnx: node 'test:Picky0' (Picky of [2]): an even number is not odd");
    expect_no_session("test:Join x[2] z[1,1,1,1] -> y", TSR_ERROR_SHAPE,
                      "input 0 of Join has 1 axes");
    expect_no_session("test:Scale i(1,2) -> a; Add a x[2] -> y", TSR_ERROR_UNSUPPORTED,
                      "is int64: custom operators take floats");
    int ranks[] = {-1, TSR_MAX_RANK + 1};
    const struct {
        tsr_custom_op op;
        tsr_status status;
        const char *words;
    } bad[] = {
        {{.shape = fail_silently},
         TSR_ERROR_LIMIT,
         "its shape function failed with LIMIT and no message"},
        {{.shape = of_rank, .user = &ranks[0]}, TSR_ERROR_SHAPE, "a result of rank -1"},
        {{.shape = of_rank, .user = &ranks[1]}, TSR_ERROR_SHAPE, "a result of rank 9"},
        {{.shape = negative_dim}, TSR_ERROR_SHAPE, "dimension 0 of the result would be -1"},
    };
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_custom_op op = bad[i].op;
        tsr_model *model;
        tsr_session *session;
        op.name = "A";
        op.compute = custom_ops[3].compute;
        EXPECT_OK(load_with(&op, 1, "A x[2] -> y", &model));
        expect_failure(tsr_session_create(device, model, NULL, &session), bad[i].status,
                       bad[i].words);
        tsr_model_free(model);
    }
    tsr_device_destroy(device);
}

static void failing_function(void **state) {
    (void)state;
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_model *model = make_custom_model("test:Picky x[1] -> y");
    tsr_session *session = make_session(device, model, NULL);
    EXPECT_OK(tsr_session_set_input(session, "x", (float[]){-1}, 1));
    expect_failure(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT,
                   "net.onnx: node 'test:Picky0' (Picky): it begins with -1");
    EXPECT_OK(tsr_session_set_input(session, "x", (float[]){1}, 1));
    EXPECT_OK(tsr_session_run(session));
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computed_on_cpu),  cmocka_unit_test(copied_description),
        cmocka_unit_test(attributes),       cmocka_unit_test(no_global_state),
        cmocka_unit_test(names_of_onnx),    cmocka_unit_test(bad_descriptions),
        cmocka_unit_test(bad_models),       cmocka_unit_test(bad_shapes),
        cmocka_unit_test(failing_function),
    };
    return cmocka_run_group_tests_name("custom operators", tests, NULL, NULL);
}
