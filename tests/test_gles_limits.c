/* Tensors and weights near the largest texture, and beyond it; networks within the limits of small
 * GPUs. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/sessions.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const tsr_session_desc poisoned = {.poison = true};

static void check_at(backend_limits limits, const char *format, int size) {
    case_text text = {""};
    text_add(&text, format, size);
    run_case(&(backend_case){.text = text.text, .limits = limits});
}

static void test_largest_texture(void **state) {
    (void)state;
    need_backend("gles");
    tsr_device_info info;
    assert_int_equal(tsr_device_get_info(gpu_device((backend_limits){0}), &info), TSR_OK);
    int size = info.max_texture_size;
    check_at((backend_limits){0}, "Neg x[1,1,%d,3] -> y", size);
    check_at((backend_limits){.max_draw_buffers = 1}, "Neg x[1,1,2,%d] -> y", size);
    check_at((backend_limits){0}, "Conv x[1,1,%d,3] w{1,1,3,3} -> y pads=1,1,1,1", size);
    expect_no_failed_case();
}

static void expect_limit(const char *text, const char *words) {
    if (run_case(&(backend_case){.text = text,
                                 .limits = {.max_texture_size = 16, .max_draw_buffers = 1},
                                 .refusal = TSR_ERROR_LIMIT,
                                 .reason = words}))
        fail_msg("not refused: %s", text);
}

static void test_refusals(void **state) {
    (void)state;
    need_backend("gles");
    expect_limit("Neg x[1,64,9,9] -> y", "[1, 64, 9, 9]");
    expect_limit("Conv x[1,64,1,1] w{64,64,1,1} -> y", "weight texels");
    expect_no_failed_case();
}

static void test_too_large(void **state) {
    (void)state;
    need_backend("gles");
    tsr_device *device =
        make_device(&(tsr_device_desc){.backend = "gles", .gles.max_texture_size = 64});
    tsr_session *session;
    tsr_model *model = make_model("MaxPool x[1,4,1000,1000] -> y kernel_shape=3,3");
    expect_failure(tsr_session_create(device, model, &poisoned, &session), TSR_ERROR_LIMIT,
                   "[1, 4, 1000, 1000]");
    assert_non_null(strstr(tsr_last_error(), "64 x 63"));
    assert_null(session);
    tsr_model_free(model);
    /* Too large side by side, not row by row. */
    model = make_model("MaxPool x[1,4,3,500] -> y kernel_shape=2,2");
    session = make_session(device, model, &poisoned);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, 0);
    tsr_session_destroy(session);
    /* No plain texture is wrapped. */
    expect_failure(
        tsr_session_create(device, model, &(tsr_session_desc){.texture_outputs = true}, &session),
        TSR_ERROR_LIMIT, "'y'");
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* A tensor as high as the largest texture. */
static void test_as_large_as_possible(void **state) {
    (void)state;
    need_backend("gles");
    tsr_device *device = gpu_device((backend_limits){0});
    tsr_model *model = make_model("MaxPool x[1,4,N,1] -> y kernel_shape=1,1");
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(device, &info));
    for (int less = -1; less < 2; less++) {
        const tsr_dim_binding rows = {"N", info.max_texture_size - less};
        tsr_session *session = make_session(
            device, model, &(tsr_session_desc){.poison = true, .dims = &rows, .dim_count = 1});
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        elements output = get_output(session, "y");
        assert_int_equal(output.count, 4 * rows.size);
        for (size_t i = 0; i < output.count; i++)
            assert_true(fabsf(output.values[i]) <= 1);
        free(output.values);
        tsr_session_destroy(session);
    }
    tsr_model_free(model);
}

/* ---- networks -------------------------------------------------------------------------------- */

/* Sizes of the input's named dimensions, a picture of 48 x 192 (of ppocr_cls_mbv3); returns their
 * number. */
static int find_dims(const tsr_model *model, tsr_dim_binding dims[TSR_MAX_RANK]) {
    static const int64_t sizes[] = {1, 3, 48, 192};
    tsr_tensor_info info;
    int count = 0;
    EXPECT_OK(tsr_model_input(model, 0, &info));
    for (int i = 0; i < info.shape.rank && i < 4; i++)
        if (info.shape.dim[i] < 0)
            dims[count++] = (tsr_dim_binding){info.dim_name[i], sizes[i]};
    return count;
}

/* 1 if a session opened; else the refusal is printed. */
static int opens(tsr_device *device, const char *path, const tsr_session_desc *given) {
    tsr_model *model;
    tsr_session *session;
    tsr_dim_binding dims[TSR_MAX_RANK];
    EXPECT_OK(tsr_model_load(path, NULL, &model));
    tsr_session_desc desc = *given;
    desc.dims = dims;
    desc.dim_count = find_dims(model, dims);
    tsr_status status = tsr_session_create(device, model, &desc, &session);
    if (status != TSR_OK)
        print_error("%s: %s\n", tsr_status_name(status), tsr_last_error());
    tsr_session_destroy(session);
    tsr_model_free(model);
    return status == TSR_OK;
}

/* Every network of the folder opens a session. */
static void open_networks(const char *folder, backend_limits limits, const tsr_session_desc *desc) {
    DIR *models = opendir(folder);
    int networks = 0, opened = 0;
    for (struct dirent *entry; models && (entry = readdir(models));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file)
            continue;
        fclose(file);
        networks++;
        opened += opens(gpu_device(limits), path, desc);
    }
    if (models)
        closedir(models);
    assert_int_equal(opened, networks);
    if (!networks) {
        print_message("no networks in %s; TSR_MODELS names their folder\n", folder);
        skip();
    }
}

/* Of small GPUs: the limits of a Raspberry Pi, and the least that OpenGL ES 3.0 allows, with
 * kernels for few registers. The first one compiles every program, too. */
static void test_networks(void **state) {
    (void)state;
    need_backend("gles");
    const char *folder = getenv("TSR_MODELS");
    folder = folder ? folder : TSR_SOURCE_DIR "/../shared/models";
    open_networks(folder, (backend_limits){4096, 4, 16 << 10, .kernels = "small"},
                  &(tsr_session_desc){.tune_ms = -1});
    open_networks(folder, (backend_limits){2048, 4, 16 << 10, .kernels = NULL},
                  &(tsr_session_desc){.tune_ms = -1, .plan_only = true});
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_texture), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_too_large),       cmocka_unit_test(test_as_large_as_possible),
        cmocka_unit_test(test_networks),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
