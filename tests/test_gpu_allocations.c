/* Every allocation of Tessera's fails once: each call says so, nothing crashes, nothing is left
 * behind. */
#include "support/backends.h"
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

typedef struct life {
    tsr_device *device;
    const char *path;
    tsr_session_desc desc;
} life;

static tsr_status run_session(tsr_session *session) {
    static const float input[2 * 3 * 9 * 14];
    static float output[4096];
    tsr_tensor_info info;
    tsr_node_report node;
    tsr_status status = tsr_session_set_input(session, "x", input, 2 * 3 * 9 * 14);
    for (int run = 0; run < 2 && status == TSR_OK; run++)
        status = tsr_session_run(session);
    for (int i = 0; i < tsr_session_output_count(session) && status == TSR_OK; i++) {
        tsr_session_output(session, i, &info);
        status = tsr_session_get_output(session, info.name, output,
                                        (size_t)tsr_shape_count(&info.shape));
    }
    if (status == TSR_OK)
        status = tsr_session_node_report(session, 0, &node);
    return status;
}

static tsr_status open_session(const life *l, tsr_session **session) {
    tsr_model *model;
    *session = NULL;
    tsr_status status = tsr_model_load(l->path, NULL, &model);
    if (status == TSR_OK)
        status = tsr_session_create(l->device, model, &l->desc, session);
    tsr_model_free(model);
    return status;
}

static tsr_status live_once(const life *l) {
    tsr_session *session;
    tsr_status status = open_session(l, &session);
    if (status == TSR_OK)
        status = run_session(session);
    tsr_session_destroy(session);
    return status;
}

static void fail_each(const life *l) {
    long before = live_blocks();
    for (long i = 0;; i++) {
        fail_allocation(i);
        tsr_status status = live_once(l);
        bool failed = has_allocation_failed();
        fail_allocation(-1);
        if (live_blocks() != before)
            fail_msg("%ld allocations left behind after number %ld failed (%s)",
                     live_blocks() - before, i, tsr_status_name(status));
        if (!failed) {
            EXPECT_OK(status);
            assert_true(i > 20);
            return;
        }
        if (status != TSR_ERROR_OUT_OF_MEMORY)
            fail_msg("%s after allocation %ld failed: %s", tsr_status_name(status), i,
                     tsr_last_error());
    }
}

static void write_case(const char *path, const char *text) {
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, text, &size);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    free(bytes);
}

static void test_sessions(void **state) {
    (void)state;
    need_gpu();
    char net[512], five[512]; /* each backend's test may run beside the others' */
    snprintf(net, sizeof net, "%s/allocations_%s.onnx", TSR_BUILD_DIR, gpu_backend());
    snprintf(five, sizeof five, "%s/allocations5_%s.onnx", TSR_BUILD_DIR, gpu_backend());
    write_case(net,
               "Conv x[N,3,9,14] w{8,3,3,3} b{8} -> c; BatchNormalization c s{8} t{8} m{8} v{8} "
               "-> n; Relu n -> r; InstanceNormalization r i{8} j{8} -> q; Concat q r -> k "
               "axis=1; MaxPool k -> y kernel_shape=3,3 strides=2,2");
    write_case(five, "Relu x[2,3,3,3,14] -> r; Conv r r -> s; Flatten s -> f; Sigmoid f -> y");
    const tsr_dim_binding batch = {"N", 2};
    const char *extra[] = {"r"};
    tsr_device *device = gpu_device((backend_limits){0});
    const backend_limits low = {.max_texture_size = 32, .max_draw_buffers = 2};
    tsr_device *small = gpu_device(gpu_has_textures() ? low : (backend_limits){0});
    const life lives[] = {
        {device, net, {.dims = &batch, .dim_count = 1}},
        {device, net, {.dims = &batch, .dim_count = 1, .keep_tensors = true, .time_passes = true}},
        {small,
         net,
         {.dims = &batch,
          .dim_count = 1,
          .precision = TSR_PRECISION_FP16,
          .poison = true,
          .extra_outputs = extra,
          .extra_output_count = 1}},
        {device, net, {.dims = &batch, .dim_count = 1, .texture_outputs = gpu_has_textures()}},
        {device, five, {.allow_cpu_fallback = true}},
    };
    for (size_t i = 0; i < sizeof lives / sizeof *lives; i++) {
        EXPECT_OK(live_once(&lives[i])); /* its programs stay with the device */
        fail_each(&lives[i]);
    }
    remove(net);
    remove(five);
}

/* A device keeps its programs: each time a new one, which compiles them again. */
static void test_programs(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Relu x[2,3,9,14] -> y");
    long i = 0, before = live_blocks();
    for (bool failed = true; failed; i++) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_session *session;
        fail_allocation(i);
        tsr_status status = tsr_session_create(device, model, NULL, &session);
        if (status == TSR_OK)
            status = run_session(session);
        failed = has_allocation_failed();
        fail_allocation(-1);
        if (status != (failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK))
            fail_msg("%s after allocation %ld: %s", tsr_status_name(status), i, tsr_last_error());
        tsr_session_destroy(session);
        tsr_device_destroy(device);
        assert_int_equal(live_blocks(), before);
    }
    assert_true(i > 40);
    tsr_model_free(model);
}

/* Kernels that find no memory are not chosen, so that a session may be made all the same. A device
 * that has measured them does not do it again: each time a new one, which WebGPU takes long to
 * make. */
static void test_tuning(void **state) {
    (void)state;
    need_gpu();
    if (!gpu_has_textures())
        skip();
    tsr_model *model = make_model("Conv x[1,4,3,3] w{4,4,1,1} -> y");
    const tsr_session_desc desc = {.tune_ms = 600000};
    long i = 0, before = live_blocks();
    for (bool failed = true; failed; i++) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_session *session;
        fail_allocation(i);
        tsr_status status = tsr_session_create(device, model, &desc, &session);
        failed = has_allocation_failed();
        fail_allocation(-1);
        if (status != TSR_OK && !(failed && status == TSR_ERROR_OUT_OF_MEMORY))
            fail_msg("%s after allocation %ld: %s", tsr_status_name(status), i, tsr_last_error());
        tsr_session_destroy(session);
        tsr_device_destroy(device);
        assert_int_equal(live_blocks(), before);
    }
    assert_true(i > 40);
    tsr_model_free(model);
}

/* Later ones belong to the loader of entry points, whose failure is "no such library". */
static void test_device(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device;
    for (long i = 0; i < 2; i++) {
        long before = live_blocks();
        fail_allocation(i);
        expect_failure(tsr_device_create(&(tsr_device_desc){.backend = gpu_backend()}, &device),
                       TSR_ERROR_OUT_OF_MEMORY, "no memory");
        fail_allocation(-1);
        assert_int_equal(live_blocks(), before);
    }
}

/* Reads and sets in another form, then in the first one again. */
static tsr_status change_forms(tsr_session *session, unsigned char *bytes, float *floats) {
    const tsr_pixels picture = {.data = bytes, .bytes = 6 * 5 * 4, .width = 6, .height = 5};
    const tsr_array halves = {bytes, 3 * 4 * 8, TSR_DTYPE_F16, true};
    tsr_status status = tsr_session_get_output_pixels(session, "y", &picture);
    status = status == TSR_OK ? tsr_session_set_input_array(session, "x", &halves) : status;
    status = status == TSR_OK ? tsr_session_run(session) : status;
    return status == TSR_OK ? tsr_session_get_output(session, "y", floats, 3 * 4 * 8) : status;
}

/* A session in which a change of form failed goes on as before. */
static void test_forms(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Sigmoid x[1,3,4,8] -> y");
    unsigned char bytes[3 * 4 * 8 * 2] = {0};
    float floats[3 * 4 * 8];
    bool failed = true;
    for (long i = 0; failed; i++) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_session *session = make_session(device, model, NULL);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        fail_allocation(i);
        tsr_status status = change_forms(session, bytes, floats);
        failed = has_allocation_failed();
        fail_allocation(-1);
        if (status != (failed ? TSR_ERROR_OUT_OF_MEMORY : TSR_OK))
            fail_msg("%s after allocation %ld: %s", tsr_status_name(status), i, tsr_last_error());
        for (unsigned seed = 1; seed < 3; seed++) {
            set_inputs(session, seed);
            EXPECT_OK(tsr_session_run(session));
            expect_output(session, model, "y", seed, SUM_TOLERANCE);
            EXPECT_OK(change_forms(session, bytes, floats));
        }
        tsr_session_destroy(session);
        tsr_device_destroy(device);
    }
    tsr_model_free(model);
}

/* A session whose calibration failed goes on in 32 bits, and can be calibrated again. */
static void test_calibration(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Conv x[1,8,9,11] w{96,8,3,3} -> b pads=1,1,1,1; "
                                  "Conv b v{6,96,3,3} -> s; Mul s k<20000 -> a; "
                                  "MaxPool a -> m kernel_shape=2,2; Mul m f<0.0001 -> y");
    bool failed = true;
    for (long i = 0; failed; i += 1 + i / 3) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
        tsr_session *session =
            make_session(device, model, &(tsr_session_desc){.precision = TSR_PRECISION_AUTO});
        set_inputs(session, 1);
        fail_allocation(i);
        tsr_status status = tsr_session_calibrate(session);
        failed = has_allocation_failed();
        fail_allocation(-1);
        if (status != TSR_OK && status != TSR_ERROR_OUT_OF_MEMORY)
            fail_msg("%s after allocation %ld: %s", tsr_status_name(status), i, tsr_last_error());
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", 1, status == TSR_OK ? 1e-2 : SUM_TOLERANCE);
        EXPECT_OK(tsr_session_calibrate(session));
        tsr_session_destroy(session);
        tsr_device_destroy(device);
    }
    tsr_model_free(model);
}

static void test_no_growth(void **state) {
    (void)state;
    need_gpu();
    tsr_model *model = make_model("Conv x[2,3,9,14] w{4,3,3,3} -> c; Softmax c -> y axis=1");
    tsr_device *device = make_device(&(tsr_device_desc){.backend = gpu_backend()});
    long empty = live_blocks(), before = 0;
    for (int i = 0; i < 200; i++) {
        tsr_session *session = make_session(device, model, NULL);
        EXPECT_OK(run_session(session));
        tsr_session_destroy(session);
        before = i == 0 ? live_blocks() : before;
        assert_true(before > empty); /* programs stay */
        assert_int_equal(live_blocks(), before);
    }
    tsr_device_destroy(device);
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibration), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_sessions),    cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_programs),    cmocka_unit_test(test_device),
        cmocka_unit_test(test_no_growth),
    };
    count_memory();
    int failed = cmocka_run_group_tests(tests, NULL, close_backends);
    return failed ? failed : live_blocks() != 0;
}
