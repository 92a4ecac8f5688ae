/* Storage of 16 bits where tensors can do with them: calibration, what it keeps in 32 bits, and
 * that plans of both are right. */
#include "api/calibrate.h"
#include "support/backends.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Most of the memory is that of tensors that need no 32 bits. */
#define LARGE_FIRST "Conv x[1,8,9,11] w{96,8,3,3} -> big pads=1,1,1,1; Conv big v{6,96,3,3} -> s; "
/* a has elements beyond 65504. */
#define OVERFLOWING                                                                                \
    LARGE_FIRST "Mul s k<20000 -> a; MaxPool a -> m kernel_shape=2,2; Mul m f<0.0001 -> y"
/* a deviates little from its mean, which is subtracted again. */
#define OFFSET OFFSET_WITH("0,0,1,1")
#define OFFSET_WITH(pads)                                                                          \
    LARGE_FIRST                                                                                    \
    "Mul s h<0.1 -> t; Add t k<20000 -> a; MaxPool a -> m kernel_shape=2,2 pads=" pads             \
    "; Sub m k -> y"

static const tsr_session_desc auto_desc = {.precision = TSR_PRECISION_AUTO, .poison = true},
                              half_desc = {.precision = TSR_PRECISION_FP16, .poison = true};

typedef struct fixture {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session; /* of auto_desc, with inputs of seed 1 */
} fixture;

static fixture open_fixture(const char *text) {
    need_gpu();
    fixture f = {make_device(&(tsr_device_desc){.backend = gpu_backend()}), make_model(text), NULL};
    f.session = make_session(f.device, f.model, &auto_desc);
    set_inputs(f.session, 1);
    return f;
}

static void close_fixture(fixture *f) {
    tsr_session_destroy(f->session);
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
}

static tsr_report report_of(const tsr_session *session) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    return report;
}

/* In which the node that writes this tensor stores it. */
static tsr_precision precision_of(const tsr_session *session, const char *output) {
    tsr_node_report node;
    for (int i = 0; tsr_session_node_report(session, i, &node) == TSR_OK; i++)
        if (!strcmp(node.output, output))
            return node.precision;
    fail_msg("no node writes '%s'", output);
    return TSR_PRECISION_AUTO;
}

/* The largest error of y in 16 bits alone, relative to its largest element. */
static double half_error(const fixture *f, elements expected) {
    tsr_session *session = make_session(f->device, f->model, &half_desc);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    elements actual = get_output(session, "y");
    double error = 0, largest = 0;
    for (size_t i = 0; i < actual.count; i++) {
        double off = fabs((double)actual.values[i] - expected.values[i]);
        error = isfinite(off) ? fmax(error, off) : INFINITY;
        largest = fmax(largest, fabs((double)expected.values[i]));
    }
    free(actual.values);
    tsr_session_destroy(session);
    return error / largest;
}

static uint64_t half_bytes(const fixture *f) {
    tsr_session *session =
        make_session(f->device, f->model,
                     &(tsr_session_desc){.precision = TSR_PRECISION_FP16, .plan_only = true});
    uint64_t bytes = report_of(session).tensor_bytes;
    tsr_session_destroy(session);
    return bytes;
}

/* 16 bits alone are wrong, and `precise` among the tensors that get 32. */
static void expect_repaired(const char *text, const char *precise) {
    fixture f = open_fixture(text);
    elements expected = reference_output(f.model, "y", 1);
    assert_true(half_error(&f, expected) > 0.01);
    assert_true(report_of(f.session).calibrated_error < 0);
    assert_int_equal(precision_of(f.session, precise), TSR_PRECISION_FP32);
    EXPECT_OK(tsr_session_run(f.session)); /* before the choice: 32 bits */
    expect_output(f.session, f.model, "y", 1, 2e-3);

    EXPECT_OK(tsr_session_calibrate(f.session));
    expect_failure(tsr_session_poll(f.session), TSR_ERROR_INVALID_ARGUMENT, "has not run");
    EXPECT_OK(tsr_session_run(f.session)); /* with the inputs set before */
    expect_output(f.session, f.model, "y", 1, 6e-3);
    const tsr_report report = report_of(f.session);
    assert_int_equal(report.precision, TSR_PRECISION_FP16);
    assert_true(report.calibrated_error >= 0 && report.calibrated_error <= 4e-3);
    assert_true(report.precise_tensors > 0);
    assert_true(report.tensor_bytes <= half_bytes(&f) / 4 * 5);
    assert_int_equal(precision_of(f.session, precise), TSR_PRECISION_FP32);
    assert_int_equal(precision_of(f.session, "big"), TSR_PRECISION_FP16);
    set_inputs(f.session, 2);
    EXPECT_OK(tsr_session_run(f.session));
    expect_output(f.session, f.model, "y", 2, 8e-3);
    free(expected.values);
    close_fixture(&f);
}

static void skip_half_only(void) {
    if (gpu_is_half_only())
        skip();
}

static void test_overflow(void **state) {
    (void)state;
    need_gpu();
    skip_half_only();
    expect_repaired(OVERFLOWING, "a");
}

static void test_offset(void **state) {
    (void)state;
    need_gpu();
    skip_half_only();
    expect_repaired(OFFSET, "a");
}

/* Nothing gains by 32 bits: the session is one of 16. */
static void test_nothing_needed(void **state) {
    (void)state;
    fixture f = open_fixture("Conv x[2,5,7,9] w{6,5,3,3} -> c; Relu c -> y");
    skip_half_only();
    tsr_session *half = make_session(f.device, f.model, &half_desc);
    set_inputs(half, 1);
    EXPECT_OK(tsr_session_run(half));
    EXPECT_OK(tsr_session_calibrate(f.session));
    EXPECT_OK(tsr_session_run(f.session));
    elements same = get_output(half, "y"), actual = get_output(f.session, "y");
    assert_memory_equal(actual.values, same.values, actual.count * sizeof(float));
    const tsr_report report = report_of(f.session);
    assert_true(report.precise_tensors == 0 && !report.precise_weights);
    assert_int_equal(report.tensor_bytes, report_of(half).tensor_bytes);
    free(actual.values);
    free(same.values);
    tsr_session_destroy(half);
    close_fixture(&f);
}

/* A tensor that overflows and is most of the memory: a warning, and 32 bits as before. */
static void note_warning(void *user, tsr_log_level level, const char *message) {
    if (level == TSR_LOG_WARN && strstr(message, "stays in 32 bits"))
        ++*(int *)user;
}

static void test_too_large(void **state) {
    (void)state;
    int warnings = 0;
    fixture f = open_fixture("Mul x[1,8,40,50] k<100000 -> a; MaxPool a -> m kernel_shape=2,2; "
                             "Mul m f<0.0001 -> y");
    skip_half_only();
    tsr_set_log(note_warning, &warnings);
    EXPECT_OK(tsr_session_calibrate(f.session));
    tsr_set_log(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_true(report_of(f.session).calibrated_error < 1e-3);
    assert_int_equal(precision_of(f.session, "a"), TSR_PRECISION_FP32);
    EXPECT_OK(tsr_session_run(f.session));
    expect_output(f.session, f.model, "y", 1, 1e-3);
    close_fixture(&f);
}

/* ---- later sessions -------------------------------------------------------------------------- */

static void expect_same_choice(tsr_session *session, const tsr_report *first) {
    const tsr_report report = report_of(session);
    assert_true(report.calibrated_error == first->calibrated_error);
    assert_int_equal(report.precise_tensors, first->precise_tensors);
    assert_int_equal(report.precise_weights, first->precise_weights);
    assert_int_equal(report.tensor_bytes, first->tensor_bytes);
}

static void test_kept(void **state) {
    (void)state;
    need_gpu();
    skip_half_only();
    char folder[FOLDER_PATH];
    make_cache_folder(folder);
    fixture f = open_fixture(OFFSET);
    EXPECT_OK(tsr_session_calibrate(f.session));
    const tsr_report first = report_of(f.session);
    EXPECT_OK(tsr_session_calibrate(f.session)); /* does nothing */
    expect_same_choice(f.session, &first);
    tsr_session *second = make_session(f.device, f.model, &auto_desc);
    expect_same_choice(second, &first);
    tsr_session_destroy(second);

    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    tsr_session *other = make_session(device, f.model, &auto_desc); /* from the cache on disk */
    expect_same_choice(other, &first);
    set_inputs(other, 3);
    EXPECT_OK(tsr_session_run(other));
    expect_output(other, f.model, "y", 3, 8e-3);
    tsr_session_destroy(other);
    static const char *const others[] = {OVERFLOWING, OFFSET_WITH("1,1,0,0")};
    for (int i = 0; i < 2; i++) {
        tsr_model *relative = make_model(others[i]);
        other = make_session(device, relative, &auto_desc);
        assert_true(report_of(other).calibrated_error < 0);
        tsr_session_destroy(other);
        tsr_model_free(relative);
    }
    tsr_device_destroy(device);
    close_fixture(&f);
    remove_cache_folder(folder);
}

/* ---- calls that fail, or do nothing ---------------------------------------------------------- */

static void test_bad_calls(void **state) {
    (void)state;
    fixture f = open_fixture(MIXED_NET);
    static float weights[8 * 3 * 3 * 3];
    expect_failure(tsr_session_calibrate(NULL), TSR_ERROR_INVALID_ARGUMENT, "session is NULL");
    tsr_session *session = make_session(f.device, f.model, &half_desc);
    expect_failure(tsr_session_calibrate(session), TSR_ERROR_INVALID_ARGUMENT,
                   "TSR_PRECISION_AUTO");
    tsr_session_destroy(session);
    session = make_session(f.device, f.model, &auto_desc);
    expect_failure(tsr_session_calibrate(session), TSR_ERROR_INVALID_ARGUMENT, "has not been set");
    tsr_session_destroy(session);
    session = make_session(f.device, f.model,
                           &(tsr_session_desc){.precision = TSR_PRECISION_AUTO, .plan_only = true});
    expect_failure(tsr_session_calibrate(session), TSR_ERROR_INVALID_ARGUMENT, "plan only");
    tsr_session_destroy(session);
    const tsr_session_desc unknown = {.precision = (tsr_precision)3};
    session = NULL;
    expect_failure(tsr_session_create(f.device, f.model, &unknown, &session),
                   TSR_ERROR_INVALID_ARGUMENT, "no precision 3");
    if (!gpu_is_half_only()) {
        EXPECT_OK(tsr_session_set_weights(f.session, "w", weights, 8 * 3 * 3 * 3));
        expect_failure(tsr_session_calibrate(f.session), TSR_ERROR_INVALID_ARGUMENT,
                       "before tsr_session_set_weights");
    }
    close_fixture(&f);
}

static void test_cpu(void **state) {
    (void)state;
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "cpu"});
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &auto_desc);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_calibrate(session));
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, 1e-7);
    assert_true(report_of(session).calibrated_error < 0);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* ---- plans of both --------------------------------------------------------------------------- */

/* Any values in 32 bits, the others in 16. */
static void test_mixed(void **state) {
    (void)state;
    static const char *const nets[] = {
        MIXED_NET,
        "Conv x[2,5,7,9] w{6,5,3,3} -> a; Conv x v{7,5,3,3} -> b; Concat a b -> c axis=1; "
        "Relu c -> r; Conv r u{9,13,1,1} -> y",
        "Conv x[1,3,8,8] w{16,3,3,3} -> a pads=1,1,1,1; DepthToSpace a -> d blocksize=2; "
        "Resize d _ s<1,1,0.5,0.5> -> e; Add e q[1,4,8,8] -> f; AveragePool f -> y "
        "kernel_shape=3,3",
        "Split x[2,7,5,6] p(3,4) -> a b axis=1; Softmax a -> s axis=1; ReduceMean b -> m axes=1, "
        "keepdims=1; Concat s b -> c axis=1; Add c m -> d; Transpose d -> y perm=0,2,3,1",
        "MatMul x[3,5,7] z[3,7,6] -> a; Transpose a -> b perm=0,2,1; Gemm b1[4,5] w{5,6} -> g; "
        "MatMul g b -> c; LayerNormalization c r{5} o{5} -> y",
        "InstanceNormalization x[2,6,9,11] g{6} b{6} -> n; Conv n w{8,3,5,5} -> c group=2; "
        "GlobalAveragePool c -> p; Mul c p -> y"};
    need_gpu();
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    for (size_t n = 0; n < sizeof nets / sizeof *nets; n++) {
        tsr_model *model = make_model(nets[n]);
        for (unsigned seed = 1; seed <= (unsigned)some_cases(3); seed++) {
            tsr_session *session = make_session(device, model, &half_desc);
            tsr_storage_choice choice = {
                .precise = TSR_NEW(session->graph->arena, session->graph->value_count, bool),
                .precise_weights = seed & 1};
            random_source random = random_from(seed * 97 + (unsigned)n);
            assert_non_null(choice.precise);
            for (int v = 0; v < session->graph->value_count; v++)
                choice.precise[v] = random_one_in(&random, 2);
            EXPECT_OK(tsr_session_store_as(session, &choice, &(tsr_input_copies){0}));
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", seed, HALF_CHAIN_TOLERANCE);
            tsr_session_destroy(session);
        }
        tsr_model_free(model);
    }
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_offset),
        cmocka_unit_test(test_nothing_needed),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_cpu),
        cmocka_unit_test(test_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
