/* A trainer's step in parts beside whole steps, and its weights in sessions: on a GPU backend and
 * the cpu backend. */
#include "support/backends.h"
#include "support/main.h"
#include "support/training.h"

#include "tessera_write.h"

#include <string.h>

typedef void check_fn(tsr_device *device, const char *backend);

static void check_both(check_fn *check) {
    const char *const backends[] = {gpu_backend(), "cpu"};
    need_gpu();
    for (int i = 0; i < 2; i++) {
        tsr_device *device = make_device(&(tsr_device_desc){.backend = backends[i]});
        check(device, backends[i]);
        tsr_device_destroy(device);
    }
}

static size_t count_of(const tsr_trainer *trainer, int parameter) {
    tsr_tensor_info info;
    EXPECT_OK(tsr_trainer_parameter(trainer, parameter, &info));
    return (size_t)tsr_shape_count(&info.shape);
}

static void get(tsr_trainer *trainer, int parameter, elements *to) {
    *to = (elements){.count = count_of(trainer, parameter)};
    to->values = malloc(to->count * sizeof *to->values);
    EXPECT_OK(tsr_trainer_get_parameter(trainer, parameter, to->values, to->count));
}

static void expect_same(const elements *a, const elements *b) {
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->values, b->values, a->count * sizeof *a->values);
}

static void expect_same_weights(tsr_trainer *a, tsr_trainer *b) {
    for (int i = 0; i < tsr_trainer_parameter_count(a); i++) {
        elements of_a, of_b;
        get(a, i, &of_a);
        get(b, i, &of_b);
        expect_same(&of_a, &of_b);
        free(of_a.values);
        free(of_b.values);
    }
}

static void fill(random_source *random, float *input, float *target) {
    for (int i = 0; i < UNET_IMAGE; i++) {
        input[i] = random_float(random, 0, 1);
        target[i] = random_float(random, 0, 0.8f);
    }
}

static tsr_array whole(float *data) {
    return (tsr_array){.data = data, .count = UNET_IMAGE};
}

static tsr_status begin(tsr_trainer *trainer, float *input, float *target) {
    const tsr_array inputs = whole(input), targets = whole(target);
    return tsr_trainer_begin(trainer, &inputs, 1, &targets, 1);
}

/* The number of parts. */
static int finish(tsr_trainer *trainer, float *loss) {
    tsr_status status = TSR_NOT_READY;
    int parts = 0;
    for (; status == TSR_NOT_READY; parts++)
        status = tsr_trainer_advance(trainer, 0, loss);
    EXPECT_OK(status);
    return parts;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Of another step than the one that is complete in the end. */
static void begin_another(tsr_trainer *trainer, random_source *random) {
    static float input[UNET_IMAGE], target[UNET_IMAGE];
    float loss;
    elements before, after;
    get(trainer, 0, &before);
    fill(random, input, target);
    EXPECT_OK(begin(trainer, input, target));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tsr_trainer_advance(trainer, 0, NULL), TSR_NOT_READY);
    }
    get(trainer, 0, &after);
    expect_same(&before, &after);
    expect_failure(tsr_trainer_losses(trainer, &loss, 1), TSR_ERROR_INVALID_ARGUMENT,
                   "unet: a step is in progress");
    EXPECT_OK(begin(trainer, input, target));
    expect_failure(tsr_trainer_losses(trainer, &loss, 1), TSR_ERROR_INVALID_ARGUMENT,
                   "unet: the last step was not completed");
    free(before.values);
    free(after.values);
}

static void check_parts(tsr_device *device, const char *backend) {
    enum { STEPS = 3 };
    static float input[UNET_IMAGE], target[UNET_IMAGE];
    bool many = !strcmp(backend, "gles"); /* the others submit a step at once */
    random_source random = random_from(5), other = random_from(6);
    tsr_model *model = make_small_unet(3, 0.1f);
    tsr_trainer_desc desc = {.clip_norm = 0.5f, .seed = 4};
    tsr_trainer *at_once = make_trainer(device, model, &desc);
    desc.prepare_in_steps = true;
    tsr_trainer *in_parts = make_trainer(device, model, &desc);
    for (int i = 0; i < STEPS; i++) {
        float loss, expected;
        fill(&random, input, target);
        if (many && i > 0)
            begin_another(in_parts, &other);
        EXPECT_OK(begin(in_parts, input, target));
        int parts = finish(in_parts, &loss);
        assert_true(!many || parts > 10);
        EXPECT_OK(step_trainer(at_once, input, target, &expected));
        assert_memory_equal(&loss, &expected, sizeof loss);
        expect_same_weights(in_parts, at_once);
    }
    assert_int_equal(tsr_trainer_steps(in_parts), STEPS);
    tsr_trainer_destroy(in_parts);
    tsr_trainer_destroy(at_once);
    tsr_model_free(model);
}

static void test_parts(void **state) {
    (void)state;
    check_both(check_parts);
}

static void check_refusals(tsr_device *device, const char *backend) {
    static float input[UNET_IMAGE], target[UNET_IMAGE];
    float loss, weights[1 << 10];
    tsr_model *model = make_small_unet(3, 0), *none;
    tsr_trainer *trainer =
        make_trainer(device, model, &(tsr_trainer_desc){.prepare_in_steps = true});
    (void)backend;
    expect_failure(tsr_trainer_advance(trainer, 0, &loss), TSR_ERROR_INVALID_ARGUMENT,
                   "unet: no step has begun");
    expect_failure(step_trainer(trainer, input, target, &loss), TSR_ERROR_INVALID_ARGUMENT,
                   "unet: the trainer is not prepared yet");
    expect_failure(tsr_trainer_get_parameter(trainer, 0, weights, count_of(trainer, 0)),
                   TSR_ERROR_INVALID_ARGUMENT, "not prepared yet");
    expect_failure(tsr_trainer_model(trainer, &none), TSR_ERROR_INVALID_ARGUMENT,
                   "not prepared yet");
    EXPECT_OK(begin(trainer, input, target));
    finish(trainer, &loss);
    expect_failure(tsr_trainer_advance(trainer, 0, &loss), TSR_ERROR_INVALID_ARGUMENT,
                   "unet: no step has begun");
    expect_failure(tsr_trainer_get_parameter(trainer, 0, weights, 1), TSR_ERROR_SHAPE,
                   "elements, not 1");
    expect_failure(tsr_trainer_get_parameter(trainer, 99, weights, 1), TSR_ERROR_INVALID_ARGUMENT,
                   "no parameter 99");
    const tsr_array array = whole(input);
    expect_failure(tsr_trainer_begin(trainer, &array, 1, &array, 2), TSR_ERROR_INVALID_ARGUMENT,
                   "1 inputs and 2 targets");
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
}

static void test_refusals(void **state) {
    (void)state;
    check_both(check_refusals);
}

/* ---- weights in a session ---------------------------------------------------------------------
 */

/* With weights of 16 bits and a Cast for each. */
static tsr_model *make_halves(void) {
    static written file;
    tsr_model *halves,
        *model = make_model("Conv x[2,3,16,12] w{5,3,3,3} b{5} -> c pads=1,1,1,1; Relu c -> r; "
                            "ConvTranspose r v{5,6,4,4} -> t strides=2,2 pads=1,1,1,1; Conv t "
                            "u{3,6,4,4} -> y strides=2,2 "
                            "pads=1,1,1,1");
    file.size = 0;
    EXPECT_OK(tsr_model_write(model, &(tsr_write_desc){.weights = TSR_WRITTEN_FP16}, append_written,
                              &file));
    EXPECT_OK(tsr_model_load_memory(file.bytes, file.size, NULL, &halves));
    tsr_model_free(model);
    return halves;
}

static void put_weights(tsr_trainer *trainer, tsr_session *session) {
    for (int i = 0; i < tsr_trainer_parameter_count(trainer); i++) {
        tsr_tensor_info info;
        elements weights;
        get(trainer, i, &weights);
        EXPECT_OK(tsr_trainer_parameter(trainer, i, &info));
        EXPECT_OK(tsr_session_set_weights(session, info.name, weights.values, weights.count));
        free(weights.values);
    }
}

static elements run(tsr_session *session) {
    set_inputs(session, 9);
    EXPECT_OK(tsr_session_run(session));
    return get_output(session, "y");
}

static void check_session(tsr_device *device, const char *backend) {
    static const char *const biases[] = {"b*"};
    static float input[UNET_IMAGE], target[UNET_IMAGE];
    random_source random = random_from(5);
    tsr_model *model = make_halves(), *trained;
    const tsr_trainer_desc desc = {.learning_rate = 0.02f, .freeze = biases, .freeze_count = 1};
    tsr_trainer *trainer = make_trainer(device, model, &desc);
    (void)backend;
    fill(&random, input, target);
    for (int i = 0; i < 3; i++)
        EXPECT_OK(step_trainer(trainer, input, target, NULL));
    EXPECT_OK(tsr_trainer_model(trainer, &trained));
    tsr_session *session = make_session(device, model, NULL);
    tsr_session *expected = make_session(device, trained, NULL);
    assert_int_equal(tsr_trainer_parameter_count(trainer), 3);
    put_weights(trainer, session);
    elements is = run(session), should_be = run(expected);
    expect_same(&is, &should_be);
    free(is.values);
    free(should_be.values);
    tsr_session_destroy(session);
    tsr_session_destroy(expected);
    tsr_trainer_destroy(trainer);
    tsr_model_free(trained);
    tsr_model_free(model);
}

static void test_session(void **state) {
    (void)state;
    check_both(check_session);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_session),
    };
    return cmocka_run_group_tests_name("steps in parts", tests, NULL, close_backends);
}
