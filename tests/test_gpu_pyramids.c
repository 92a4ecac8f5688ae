/* What takes several steps, each of blocks of what the one before has left: mean and variance in
 * one reading, and softmax's sums in one. Blocks of every raggedness, in textures of every number
 * of planes, and inputs of which a sum is easily lost. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits.max_draw_buffers = 1}, {.limits.max_draw_buffers = 2},
        {.limits.max_draw_buffers = 4}, {.limits.max_draw_buffers = 8},
        {.limits.kernels = "blocks"},   {.precision = TSR_PRECISION_FP16},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

/* The case in every environment, or in those of 32 bits. */
static void run_everywhere(backend_case c, bool half_too) {
    const case_environments here = environments_here();
    size_t number = (size_t)next_case();
    for (int i = 0; i < here.count; i++) {
        c.limits = here.list[i].limits;
        c.precision = here.list[i].precision;
        if ((half_too || c.precision != TSR_PRECISION_FP16) && runs_in(number, i, here.count))
            run_case(&c);
    }
}

static case_text normalization(const int shape[4], const char *epsilon) {
    case_text text = {""};
    text_add(&text, "InstanceNormalization x[%s] s{%d} b{%d} -> y epsilon=%s", text_list(shape, 4),
             shape[1], shape[1], epsilon);
    return text;
}

static void test_shapes(void **state) {
    (void)state;
    static const int shapes[][4] = {
        {1, 1, 1, 1},    {3, 9, 1, 1},    {1, 2, 1, 37},   {1, 5, 1, 4099}, {1, 3, 256, 1},
        {2, 4, 17, 33},  {3, 7, 16, 16},  {1, 8, 16, 17},  {3, 6, 15, 255}, {1, 1, 512, 512},
        {1, 4, 257, 31}, {2, 9, 31, 100}, {1, 64, 33, 32},
    };
    need_gpu();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        case_text text = normalization(shapes[i], "0.00001");
        run_everywhere((backend_case){.text = text.text, .mean = 0.5f}, true);
    }
    expect_no_failed_case();
}

static void test_random_shapes(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < some_cases(48); i++) {
        random_source r = random_from((uint32_t)next_case());
        int longest = random_one_in(&r, 4) ? 300 : 40;
        const int shape[4] = {random_int(&r, 1, 3), random_int(&r, 1, 9),
                              random_int(&r, 1, longest), random_int(&r, 1, longest)};
        case_text text = normalization(shape, "0.00001");
        backend_case c = here.list[i % here.count];
        c.text = text.text;
        c.mean = random_float(&r, 0, 4);
        run_case(&c);
    }
    expect_no_failed_case();
}

/* Columns that a transposed convolution has left apart, and what else is read as it was written. */
static void test_written_apart(void **state) {
    (void)state;
    need_gpu();
    for (int stride = 1; stride <= 4; stride++) {
        case_text text = {""};
        text_add(&text,
                 "ConvTranspose x[2,5,9,%d] w{5,6,3,3} -> c strides=%d,%d; "
                 "InstanceNormalization c s{6} b{6} -> n; Relu n -> y",
                 10 + stride, stride, stride);
        run_everywhere((backend_case){.text = text.text}, false);
    }
    expect_no_failed_case();
}

/* A deviation of a hundred-thousandth of the mean: the mean itself is exact to 2^-25 of it, which
 * is 3e-3 deviations. */
static void test_small_deviation(void **state) {
    (void)state;
    static const int shapes[][4] = {{1, 64, 32, 32}, {1, 5, 17, 33}, {1, 2, 300, 301}};
    need_gpu();
    if (gpu_is_half_only()) /* nothing is left of such inputs in 16 bits */
        skip();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        case_text text = normalization(shapes[i], "0.000000000001");
        run_everywhere(
            (backend_case){.text = text.text, .mean = 1000, .range = 0.0173f, .tolerance = 3e-3},
            false);
    }
    expect_no_failed_case();
}

/* No variance: nothing is left of the image, however small epsilon is. */
static void test_constant_images(void **state) {
    (void)state;
    static const int shapes[][4] = {{1, 5, 17, 33}, {2, 3, 40, 70}, {1, 1, 300, 301}};
    need_gpu();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        case_text text = normalization(shapes[i], "0.000000000001");
        run_everywhere((backend_case){.text = text.text, .mean = 3.7f, .range = 1e-30f}, true);
    }
    expect_no_failed_case();
}

/* ---- spikes ---------------------------------------------------------------------------------- */

/* The output y of an input x, in storages full of NaN. */
static elements run_image(tsr_device *device, const tsr_model *model, tsr_precision precision,
                          elements x) {
    const tsr_session_desc desc = {.precision = precision, .poison = true, .tune_ms = -1};
    tsr_session *session = make_session(device, model, &desc);
    EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
    EXPECT_OK(tsr_session_run(session));
    elements y = get_output(session, "y");
    tsr_session_destroy(session);
    return y;
}

/* Every environment makes of x what cpu does. */
static void expect_as_cpu(const char *text, elements x) {
    tsr_model *model = make_model(text);
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    elements expected = run_image(cpu, model, TSR_PRECISION_FP32, x);
    const case_environments here = environments_here();
    for (int i = 0; i < here.count; i++) {
        tsr_precision precision = here.list[i].precision;
        elements y = run_image(gpu_device(here.list[i].limits), model, precision, x);
        bool half = precision == TSR_PRECISION_FP16 || gpu_is_half_only();
        expect_close(y, expected, half ? HALF_TOLERANCE : 2e-6);
        free(y.values);
    }
    free(expected.values);
    tsr_device_destroy(cpu);
    tsr_model_free(model);
}

enum { CHANNELS = 6, ROWS = 37, COLUMNS = 53, PIXELS = ROWS * COLUMNS };

/* One texel that exceeds all others by far, anywhere: also where a block counts from. */
static void test_spikes(void **state) {
    (void)state;
    static const int places[CHANNELS] = {0, 1, COLUMNS, PIXELS / 2, 16 * COLUMNS + 16, PIXELS - 1};
    need_gpu();
    float x[CHANNELS * PIXELS];
    random_source r = random_from(1);
    for (int i = 0; i < CHANNELS * PIXELS; i++)
        x[i] = i % PIXELS == places[i / PIXELS] ? 1000 : random_float(&r, 0, 0.01f);
    expect_as_cpu("InstanceNormalization x[1,6,37,53] s<1,1,1,1,1,1> b<0,0,0,0,0,0> -> y",
                  (elements){CHANNELS * PIXELS, x});
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* opset 1: over the axis and all after it. */
static void check_softmax(const backend_case *environment, const int *shape, int rank, int axis,
                          int opset) {
    case_text text = {""};
    text_add(&text, "Softmax x[%s] -> y axis=%d", text_list(shape, rank), axis);
    backend_case c = *environment;
    c.text = text.text;
    c.opset = opset;
    c.range = 4;
    run_case(&c);
}

/* Over each axis, and over several: more than one step of each kind of block. */
static void test_softmax_shapes(void **state) {
    (void)state;
    static const int shapes[][4] = {
        {1, 1, 1, 1},   {2, 1, 3, 300},  {1, 5, 1, 4099}, {1, 3, 777, 2},
        {3, 9, 17, 33}, {2, 2050, 1, 3}, {1, 6, 65, 129}, {70, 3, 2, 5},
    };
    need_gpu();
    const case_environments here = environments_here();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int axis = 0; axis < 4; axis++)
            for (int k = 0; k < 2; k++)
                for (int e = 0; e < here.count; e++)
                    check_softmax(&here.list[e], shapes[i], 4, axis, k ? 13 : 1);
    expect_no_failed_case();
}

static void test_random_softmax(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    for (int i = 0; i < some_cases(60); i++) {
        random_source r = random_from((uint32_t)next_case());
        int shape[4], rank = random_int(&r, 1, 4), longest = random_int(&r, 0, rank - 1);
        for (int k = 0; k < rank; k++)
            shape[k] = random_int(&r, 1, k == longest ? 3000 : 12);
        check_softmax(&here.list[i % here.count], shape, rank, random_int(&r, 0, rank - 1),
                      random_one_in(&r, 2) ? 13 : 1);
    }
    expect_no_failed_case();
}

/* Elements that rise, so that each is a new maximum, and fall, and some that are nothing: far from
 * zero, where exp of any of them would overflow or vanish. 16 bits hold them. */
static void test_slopes(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Softmax x[1,6,37,53] -> y axis=1", "Softmax x[1,6,37,53] -> y axis=2",
        "Softmax x[1,6,37,53] -> y axis=3", "Softmax x[6,1961] -> y axis=1",
        "Softmax x[1,6,1961] -> y axis=2",  "Softmax x[1961,6] -> y axis=0",
        "Softmax x[1,11766] -> y axis=1",
    };
    need_gpu();
    float x[CHANNELS * PIXELS];
    for (int way = -1; way <= 1; way++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            for (int i = 0; i < CHANNELS * PIXELS; i++)
                x[i] = i % 11 == 3 ? -INFINITY : (float)way * (256 + 0.25f * (float)(i % 1024));
            expect_as_cpu(texts[k], (elements){CHANNELS * PIXELS, x});
        }
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int count_passes(const char *text, const char *kernels) {
    tsr_node_report node;
    tsr_model *model = make_model(text);
    tsr_session *session =
        make_session(gpu_device((backend_limits){.kernels = kernels}), model, NULL);
    EXPECT_OK(tsr_session_node_report(session, 0, &node));
    tsr_session_destroy(session);
    tsr_model_free(model);
    return node.passes;
}

/* One pyramid, with steps as large as a CPU or a GPU likes them, and a pass that uses it. */
static void test_passes(void **state) {
    (void)state;
    static const char *const norms[] = {"InstanceNormalization x[1,3,1,1] s{3} b{3} -> y",
                                        "InstanceNormalization x[1,64,32,32] s{64} b{64} -> y",
                                        "InstanceNormalization x[1,3,256,256] s{3} b{3} -> y"};
    static const char *const softmax[] = {"Softmax x[1,5,256,256] -> y axis=1",
                                          "Softmax x[1,3,256,256] -> y axis=2",
                                          "Softmax x[1,3,256,256] -> y axis=3"};
    need_gpu();
    bool textures = gpu_has_textures();
    assert_int_equal(count_passes(norms[0], "direct"), 2);
    assert_int_equal(count_passes(norms[1], "direct"), 3);
    assert_int_equal(count_passes(norms[2], "direct"), 3);
    assert_int_equal(count_passes(norms[1], "blocks"), textures ? 3 : 2);
    assert_int_equal(count_passes(norms[2], "blocks"), 3);
    assert_int_equal(count_passes("Softmax x[1,4,256,256] -> y axis=1", "direct"), 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count_passes(softmax[i], "direct"), 2);
        assert_int_equal(count_passes(softmax[i], "blocks"), textures && i ? 3 : 2);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),          cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_written_apart),   cmocka_unit_test(test_small_deviation),
        cmocka_unit_test(test_constant_images), cmocka_unit_test(test_spikes),
        cmocka_unit_test(test_softmax_shapes),  cmocka_unit_test(test_random_softmax),
        cmocka_unit_test(test_slopes),          cmocka_unit_test(test_passes),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
