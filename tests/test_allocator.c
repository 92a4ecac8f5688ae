/* tsr_set_allocator() on the cpu backend: all memory comes from it and returns to it, and each
 * allocation that fails is reported. test_gpu_allocations.c does the same on GPUs. */
#include "support/counted_memory.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

static tsr_status twice(tsr_custom_call *call) {
    for (int64_t i = 0; i < tsr_shape_count(&call->output_shape); i++)
        call->output[i] = 2 * call->input[0][i];
    return TSR_OK;
}

static const tsr_custom_op ops[] = {
    {.name = "Twice", .domain = "test", .compute = twice},
    {.name = "Again", .domain = "test", .compute = twice},
};

typedef struct file {
    uint8_t *bytes;
    size_t size;
} file;

static tsr_status run(tsr_session *session) {
    static float x[2 * 3 * 9 * 14], y[4096];
    tsr_tensor_info info;
    tsr_report report;
    tsr_status status = tsr_session_set_input(session, "x", x, sizeof x / sizeof *x);
    if (status == TSR_OK)
        status = tsr_session_run(session);
    if (status == TSR_OK)
        status = tsr_session_output(session, 0, &info);
    if (status == TSR_OK)
        status =
            tsr_session_get_output(session, info.name, y, (size_t)tsr_shape_count(&info.shape));
    return status == TSR_OK ? tsr_session_report(session, &report) : status;
}

static tsr_status live(const file *net) {
    tsr_device *device = NULL;
    tsr_model *model = NULL;
    tsr_session *session = NULL;
    const char *extra[] = {"r"};
    const tsr_model_desc model_desc = {.custom_ops = ops, .custom_op_count = 2};
    const tsr_session_desc desc = {
        .extra_outputs = extra, .extra_output_count = 1, .runs_in_flight = 2};
    tsr_status status = tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device);
    if (status == TSR_OK)
        status = tsr_model_load_memory(net->bytes, net->size, &model_desc, &model);
    if (status == TSR_OK)
        status = tsr_session_create(device, model, &desc, &session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    if (status == TSR_OK)
        status = run(session);
    tsr_session_destroy(session);
    return status;
}

static file make_net(void) {
    file net;
    net.bytes = onnx_case_bytes(13,
                                "Conv x[2,3,9,14] w{8,3,3,3} b{8} -> c; Relu c -> r; "
                                "BatchNormalization r s{8} t{8} m{8} v{8} -> n; MaxPool n -> z "
                                "kernel_shape=2,2; MatMul z a{11,5} -> q; Softmax q -> y axis=1",
                                &net.size);
    return net;
}

static void test_each_fails(void **state) {
    (void)state;
    file net = make_net();
    bool failed = true;
    long i = 0;
    for (; failed; i++) {
        fail_allocation(i);
        tsr_status status = live(&net);
        failed = has_allocation_failed();
        fail_allocation(-1);
        if (live_blocks() != 0)
            fail_msg("%ld blocks left behind after allocation %ld failed", live_blocks(), i);
        if (failed && status != TSR_ERROR_OUT_OF_MEMORY)
            fail_msg("%s after allocation %ld failed: %s", tsr_status_name(status), i,
                     tsr_last_error());
        if (!failed)
            EXPECT_OK(status);
    }
    assert_true(i > 50);
    free(net.bytes);
}

static void test_bad_and_none(void **state) {
    (void)state;
    tsr_allocator incomplete = {0};
    expect_failure(tsr_set_allocator(&incomplete), TSR_ERROR_INVALID_ARGUMENT, "NULL");
    EXPECT_OK(tsr_set_allocator(NULL));
    fail_allocation(0); /* not asked any more */
    file net = make_net();
    EXPECT_OK(live(&net));
    free(net.bytes);
    assert_false(has_allocation_failed());
    fail_allocation(-1);
    count_memory();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fails),
        cmocka_unit_test(test_bad_and_none),
    };
    count_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
