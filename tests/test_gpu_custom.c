/* Custom operators on a GPU backend, held against their functions for the CPU. */
#include "gpu/driver_log.h"
#include "support/backends.h"
#include "support/custom_ops.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>

/* One node each on the GPU, whatever is fused after it. */
static const char *const cases[] = {
    "test:Scale x[1,4,8,8] -> y",
    "test:Scale x[2,5,7,33] -> y gain=-3 offset=0.5", /* batch; padding channels; an odd width */
    "test:Scale x[] -> y offset=1",                   /* fewer axes */
    "test:Scale x[5] -> y",
    "test:Scale x[3,7] -> y",
    "test:Scale x[2,6,9] -> y",
    "test:Shift x[1,3,9,11] -> y rows=2 columns=-3",
    "test:Shift x[2,5,40,37] -> y rows=-11 columns=1.0",
    "test:Join a[1,3,8,12] b[1,2,3,4] -> y", /* inputs of two sizes */
    "test:Join a[2,6,5,7] b[2,7,5,3] k<0.5,1> -> y",
    "test:Join a[1,3,6,6] w{1,4,2,3} -> y",            /* a constant input */
    "test:Join a[1,3,6,6] a -> y",                     /* the same tensor twice */
    "test:Scale x[1,5,6,9] -> a gain=-2; Relu a -> y", /* post-ops */
    "test:Shift x[1,5,6,9] -> a rows=1; Add a z[1,1,6,9] -> b; Tanh b -> c; Mul c k{5,1,1} -> y",
    "test:Join a[1,3,6,6] b[1,2,6,6] k<0.5 -> c; Add c d[1,5,6,6] -> e; Sub e f[1,5,1,1] -> y",
};

static void expect_agreement(const char *text, backend_limits limits, tsr_precision precision) {
    tsr_model *model = make_custom_model(text);
    tsr_session *session = make_session(
        gpu_device(limits), model, &(tsr_session_desc){.poison = true, .precision = precision});
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_int_equal(report.node_count, 1);
    set_inputs(session, 7);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 7,
                  precision == TSR_PRECISION_FP16 ? HALF_TOLERANCE : SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void agreement(void **state) {
    (void)state;
    need_gpu();
    static const backend_limits narrow = {.max_texture_size = 64, .max_draw_buffers = 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_agreement(cases[i], (backend_limits){0}, TSR_PRECISION_FP32);
        expect_agreement(cases[i], (backend_limits){0}, TSR_PRECISION_FP16);
        if (gpu_has_textures())
            expect_agreement(cases[i], narrow, TSR_PRECISION_FP32);
    }
}

/* Attributes are no part of a program: its nodes share one. */
static void shared_programs(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_custom_model(
        "test:Scale x[1,4,8,8] -> a gain=2; test:Scale a -> b gain=3; test:Scale b -> y gain=-0.5");
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, NULL);
    tsr_report report;
    tsr_node_report node;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_int_equal(report.program_count, 1 + 2); /* of transfers in and out */
    EXPECT_OK(tsr_session_node_report(session, 0, &node));
    assert_string_equal(node.op, "Scale");
    assert_string_equal(node.kernel, "custom");
    assert_string_equal(node.backend, gpu_backend());
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void without_body(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = gpu_device((backend_limits){0});
    tsr_model *model = make_custom_model("test:Scale x[1,3,5,5] -> a; test:OnCpu a -> b; "
                                         "Relu b -> c; test:Scale c -> y gain=-1.0");
    tsr_session *session;
    expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_UNSUPPORTED,
                   "the custom operator 'OnCpu' has no body in ");
    session = make_session(device, model,
                           &(tsr_session_desc){.allow_cpu_fallback = true, .poison = true});
    tsr_node_report node;
    EXPECT_OK(tsr_session_node_report(session, 1, &node));
    assert_string_equal(node.op, "OnCpu+Relu");
    assert_string_equal(node.backend, "cpu");
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 3, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* Its function for the CPU can, what the GPU cannot. */
static void five_axes(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_custom_model("test:Scale x[1,2,3,2,3] -> y gain=4");
    tsr_session *session;
    tsr_device *device = gpu_device((backend_limits){0});
    expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_UNSUPPORTED,
                   "more than 4 axes");
    session = make_session(device, model, &(tsr_session_desc){.allow_cpu_fallback = true});
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 3, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void broken_body(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = gpu_device((backend_limits){0});
    tsr_model *model = make_custom_model("test:Scale x[1,3,5,5] -> a; test:Broken a -> y");
    tsr_session *session;
    const char *const words[] = {
        "net.onnx: node 'test:Broken1' (Broken): the ",
        gpu_has_textures() ? "the driver refused the operator's GLSL body: 0:2(2): error: "
                           : "the compiler refused the operator's WGSL body: line 2, column 5: ",
        "missing_name"};
    for (int i = 0; i < 3; i++)
        expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_DEVICE,
                       words[i]);
    assert_null(session);
    tsr_model_free(model);
    expect_agreement(cases[0], (backend_limits){0},
                     TSR_PRECISION_FP32); /* the device is none the worse */
}

/* One line, whatever is wrong, and of what is in the body. check_shaders.sh leaves out shaders with
 * missing_name. */
static void broken_bodies(void **state) {
    (void)state;
    need_gpu();
    static const struct {
        const char *glsl, *glsl_words, *wgsl, *wgsl_words;
    } bodies[] = {
        {"float unused;\nint q = 1.5; // missing_name\nreturn 1.0;", ": 0:2(1): error: initializer",
         "var q: i32 = 1.5;\nreturn 1.0;", ": line 1, column 14: cannot convert"},
        {"return IN0(n, c, y, x) +; // missing_name", ": 0:1(25): error: syntax error",
         "return IN0(n, c, y, x) +;", ": line 1, column 25: unable to parse"},
        {"return 1.0;\n#error missing_name", "preprocessor error", "return 1.0;\n#error",
         ": line 2, column 1: invalid character"},
        {"return missing_name(x);", ": 0:1(8): error: no function", "return none(x);",
         ": line 1, column 8: unresolved call target"},
    };
    tsr_device *device = gpu_device((backend_limits){0});
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        tsr_custom_op op = custom_ops[0];
        op.name = "Wrong";
        op.attr_count = 0;
        op.glsl = bodies[i].glsl;
        op.wgsl = bodies[i].wgsl;
        tsr_model *model;
        tsr_session *session;
        EXPECT_OK(load_with(&op, 1, "Relu x[1,3,5,5] -> a; test:Wrong a -> y", &model));
        expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_DEVICE,
                       gpu_has_textures() ? bodies[i].glsl_words : bodies[i].wgsl_words);
        assert_null(strchr(tsr_last_error(), '\n'));
        tsr_model_free(model);
    }
}

/* Of drivers that are not here. */
static void logs(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"one line", "one line"},
        {"WARNING: 0:12: 'x' : unused\nERROR: 0:2: 'y' : undeclared identifier\nERROR: 0:3: z\n",
         "ERROR: 0:2: 'y' : undeclared identifier"},
        {"0(40) : warning C7050: \"v\" might be used\n0(1) : error C1503: undefined variable \"y\"",
         "0(1) : error C1503: undefined variable \"y\""},
        {"Compile failed.\n\nno details", "Compile failed."},
    };
    char line[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_driver_log_error(cases[i][0], line, sizeof line);
        assert_string_equal(line, cases[i][1]);
    }
    tsr_driver_log_error("error: a long one", line, 8);
    assert_string_equal(line, "error: ");
}

static void failing_function(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_custom_model("test:Scale x[3] -> a; test:Picky a -> y");
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model,
                                        &(tsr_session_desc){.allow_cpu_fallback = true});
    float good[] = {1, 2, 3}, bad[] = {-1, 2, 3}, result[3];
    EXPECT_OK(tsr_session_set_input(session, "x", bad, 3));
    expect_failure(tsr_session_run(session), TSR_ERROR_INVALID_ARGUMENT,
                   "net.onnx: node 'test:Picky1' (Picky): it begins with -2");
    EXPECT_OK(tsr_session_set_input(session, "x", good, 3));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, "y", result, 3));
    assert_true(result[0] == 2 && result[2] == 6);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreement),    cmocka_unit_test(shared_programs),
        cmocka_unit_test(without_body), cmocka_unit_test(five_axes),
        cmocka_unit_test(broken_body),  cmocka_unit_test(broken_bodies),
        cmocka_unit_test(logs),         cmocka_unit_test(failing_function),
    };
    return cmocka_run_group_tests_name("custom operators", tests, NULL, close_backends);
}
