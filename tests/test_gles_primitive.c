/* Primitives in an adopted context: the caller's GL state stays, no objects are left, textures of
 * sessions become tensors without a transfer to memory. */
#include "support/backends.h"
#include "support/gl_caller.h"
#include "support/main.h"
#include "support/primitives.h"

static const tsr_device_desc watched_device = {.gles.platform = TSR_PLATFORM_CURRENT,
                                               .gles.get_proc_address = watched_proc_address};

static EGLContext open_context(void) {
    need_backend("gles");
    EGLContext context = make_caller_context(CALLER_ES3);
    if (!context)
        skip();
    forget_live_objects(); /* of a test that failed */
    return context;
}

/* A convolution with bias, a sum and slopes per channel; two runs. */
static void make_case(primitive_case *c) {
    begin_primitive(c, TSR_PRIMITIVE_CONV, 1);
    add_sum(c, 0.5f, 1);
    add_prelu(c, 1 << 1);
    close_primitive(c);
}

static void test_state_kept(void **state) {
    (void)state;
    EGLContext context = open_context();
    const tsr_shape shape = {4, {1, 5, 6, 7}};
    float elements[5 * 6 * 7] = {0};
    tsr_primitive *primitive;
    tsr_post_ops *posts;
    EXPECT_OK(tsr_post_ops_create(&posts));
    EXPECT_OK(tsr_post_ops_append_sum(posts, 1, 0));
    set_unusual_state(false);
    remember_state();
    tsr_device *device = make_device(&watched_device);
    tsr_device_tensor *tensor = make_tensor(device, &shape, TSR_DTYPE_F32, elements);
    expect_remembered_state("tensor_create and write");
    EXPECT_OK(tsr_primitive_create(
        device,
        &(tsr_primitive_desc){
            .kind = TSR_PRIMITIVE_ELTWISE, .op = "Tanh", .source = shape, .posts = posts},
        &primitive));
    expect_remembered_state("primitive_create");
    EXPECT_OK(tsr_primitive_execute(
        primitive, &(tsr_primitive_args){.source = tensor, .destination = tensor}));
    expect_remembered_state("execute");
    EXPECT_OK(tsr_device_tensor_read(tensor, elements, 5 * 6 * 7));
    expect_remembered_state("read");
    tsr_primitive_destroy(primitive);
    expect_remembered_state("primitive_destroy");
    tsr_device_tensor_destroy(tensor);
    tsr_post_ops_destroy(posts);
    tsr_device_destroy(device);
    expect_remembered_state("device_destroy");
    destroy_caller_context(context);
}

static void test_no_objects_left(void **state) {
    (void)state;
    enum { LIVES = 200 };
    EGLContext context = open_context();
    tsr_device *device = make_device(&watched_device);
    primitive_case c;
    make_case(&c);
    int objects = 0;
    for (int i = 0; i < LIVES; i++) {
        elements y = run_primitive(&c, device, i % 2 ? TSR_DTYPE_F32 : TSR_DTYPE_F16, 2);
        free(y.values);
        if (i == 0)
            objects = live_objects_of_sessions();
        assert_int_equal(live_objects_of_sessions(), objects);
    }
    free_primitive(&c);
    tsr_device_destroy(device);
    assert_int_equal(live_objects(), 0);
    destroy_caller_context(context);
}

/* Runs neither read back nor wait. */
static void test_nothing_read_back(void **state) {
    (void)state;
    EGLContext context = open_context();
    tsr_device *device = make_device(&watched_device);
    tsr_model *model = make_model("Conv x[1,3,9,8] w{6,3,3,3} -> c; Sigmoid c -> y");
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.texture_outputs = true});
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    const tsr_shape shape = {4, {1, 6, 7, 6}};
    tsr_device_tensor *from = make_tensor(device, &shape, TSR_DTYPE_F32, NULL),
                      *to = make_tensor(device, &shape, TSR_DTYPE_F32, NULL);
    tsr_primitive *primitive;
    EXPECT_OK(tsr_primitive_create(
        device, &(tsr_primitive_desc){.kind = TSR_PRIMITIVE_ELTWISE, .op = "Neg", .source = shape},
        &primitive));
    tsr_texture texture;
    EXPECT_OK(tsr_session_output_texture(session, "y", &texture));
    int reads = readback_calls(), waits = blocking_calls();
    EXPECT_OK(tsr_device_tensor_write_texture(from, &texture, 2, 0.5f));
    EXPECT_OK(
        tsr_primitive_execute(primitive, &(tsr_primitive_args){.source = from, .destination = to}));
    EXPECT_OK(
        tsr_primitive_execute(primitive, &(tsr_primitive_args){.source = to, .destination = from}));
    assert_int_equal(readback_calls(), reads);
    assert_int_equal(blocking_calls(), waits);
    elements y = get_output(session, "y"), result = read_tensor(from);
    for (size_t i = 0; i < y.count; i++)
        y.values[i] = 2 * y.values[i] + 0.5f;
    expect_close(result, y, 1e-6);
    texture.width--;
    expect_failure(tsr_device_tensor_write_texture(from, &texture, 1, 0), TSR_ERROR_SHAPE,
                   "does not hold");
    free(y.values);
    free(result.values);
    tsr_primitive_destroy(primitive);
    tsr_device_tensor_destroy(from);
    tsr_device_tensor_destroy(to);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    destroy_caller_context(context);
}

/* The driver has no room for a texture: the tensor or the primitive is refused, and nothing is
 * left. */
static void test_no_textures(void **state) {
    (void)state;
    EGLContext context = open_context();
    tsr_device *device = make_device(&watched_device);
    const tsr_shape shape = {4, {1, 5, 6, 7}};
    tsr_device_tensor *tensor;
    int objects = live_objects();
    fail_textures_from(0);
    expect_failure(tsr_device_tensor_create(device, &shape, TSR_DTYPE_F32, &tensor),
                   TSR_ERROR_OUT_OF_MEMORY, "the driver has no texture");
    fail_textures_from(-1);
    assert_null(tensor);
    assert_int_equal(live_objects(), objects);
    tsr_device_destroy(device);
    destroy_caller_context(context);
}

/* What is on a lost device says so, and can be destroyed. */
static void test_lost(void **state) {
    (void)state;
    EGLContext context = open_context();
    const tsr_shape shape = {2, {3, 5}};
    float elements[15] = {0};
    tsr_device *device = make_device(&watched_device);
    tsr_device_tensor *tensor = make_tensor(device, &shape, TSR_DTYPE_F32, elements);
    const tsr_primitive_desc desc = {.kind = TSR_PRIMITIVE_ELTWISE, .op = "Neg", .source = shape};
    tsr_primitive *primitive, *other;
    EXPECT_OK(tsr_primitive_create(device, &desc, &primitive));
    const tsr_primitive_args args = {.source = tensor, .destination = tensor};
    EXPECT_OK(tsr_primitive_execute(primitive, &args));
    set_reset_status(GL_GUILTY_CONTEXT_RESET_KHR);
    const tsr_status lost = TSR_ERROR_DEVICE_LOST;
    expect_failure(tsr_primitive_execute(primitive, &args), lost, "");
    expect_failure(tsr_device_tensor_read(tensor, elements, 15), lost, "");
    expect_failure(tsr_device_tensor_write(tensor, elements, 15), lost, "");
    expect_failure(tsr_primitive_create(device, &desc, &other), lost, "");
    tsr_primitive_destroy(primitive);
    tsr_device_tensor_destroy(tensor);
    tsr_device_destroy(device);
    assert_int_equal(objects_deleted_after_reset(), 0);
    set_reset_status(GL_NO_ERROR);
    forget_live_objects();
    destroy_caller_context(context);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_kept),
        cmocka_unit_test(test_no_objects_left),
        cmocka_unit_test(test_nothing_read_back),
        cmocka_unit_test(test_no_textures),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
