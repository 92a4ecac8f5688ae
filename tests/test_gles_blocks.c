/* Convolutions with uniform blocks, of weights or of inputs: which form is chosen, and that each is
 * right. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t planned_draws; /* of the latest planned_kernels() */

/* The kernels of node 0, joined by +. */
static const char *planned_kernels(const char *text, backend_limits limits,
                                   tsr_precision precision) {
    static char kernels[64];
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(
        gpu_device(limits), model, &(tsr_session_desc){.plan_only = true, .precision = precision});
    tsr_node_report report;
    EXPECT_OK(tsr_session_node_report(session, 0, &report));
    snprintf(kernels, sizeof kernels, "%s", report.kernel);
    assert_int_equal(report.winograd_tile[0] != 0,
                     !strncmp(kernels, "winograd", strlen("winograd")));
    planned_draws = report.draws;
    tsr_session_destroy(session);
    tsr_model_free(model);
    return kernels;
}

static void expect_kernels(const char *text, int block_bytes, const char *kernels) {
    const backend_limits limits = {.kernels = "blocks", .max_uniform_block_bytes = block_bytes};
    run_case(&(backend_case){.text = text, .limits = limits});
    assert_string_equal(planned_kernels(text, limits, TSR_PRECISION_FP32), kernels);
}

/* A block holds the whole sum, an input tile of it (100 texels), or not even that. A matrix product
 * has too many images, of one pixel each, for a draw of each. */
static void test_block_sizes(void **state) {
    (void)state;
    need_backend("gles");
    const char *convolution = "Conv x[1,8,12,13] w{4,8,5,5} -> y";
    expect_kernels(convolution, 16384, "conv_uniform_block");
    expect_kernels(convolution, 2048, "conv_uniform_block+conv_assemble");
    expect_kernels(convolution, 1024, "conv_direct");
    expect_kernels(convolution, 100, "conv_direct");
    expect_kernels("Gemm x[70,9] w{9,13} -> y", 0, "conv_direct");
    expect_kernels("Conv x[1,40,4,5] w{70,40,3,3} -> y pads=1,1,1,1 dilations=1,2", 0,
                   "im2col+conv_im2col+im2col_assemble");
    expect_no_failed_case();
}

/* On GPUs of few registers nothing is copied to uniform blocks within a run, and all sums of a
 * small image are one draw, transposed convolutions' too, with and without padding. */
static void test_no_copies(void **state) {
    (void)state;
    need_backend("gles");
    static const struct {
        const char *text, *kernels;
    } cases[] = {
        {"Conv x[1,300,4,5] w{70,300,3,3} -> y pads=1,1,1,1 dilations=1,2",
         "im2col+conv_im2col_texture+im2col_assemble"},
        {"Conv x[2,300,4,4] w{300,300,4,4} -> y strides=2,2 pads=1,1,1,1",
         "im2col+conv_im2col_texture+im2col_assemble"},
        {"ConvTranspose x[1,300,2,2] w{300,300,3,5} -> y strides=2,3 pads=0,2,1,3",
         "im2col+conv_im2col_texture+im2col_assemble"},
        {"Conv x[2,260,7,8] w{260,260,3,3} -> y pads=1,1,1,1",
         "winograd_input+conv_im2col_texture+winograd_output"},
        {"ConvTranspose x[1,130,8,7] w{130,260,4,4} -> y strides=2,2 pads=1,1,1,1",
         "winograd_input+conv_im2col_texture+winograd_output"},
    };
    const backend_limits small = {.kernels = "small"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *kernels = planned_kernels(cases[i].text, small, TSR_PRECISION_FP32);
        if (strcmp(kernels, cases[i].kernels) || planned_draws != 3)
            fail_msg("%s: %s in %d draws", cases[i].text, kernels, (int)planned_draws);
        run_case(&(backend_case){.text = cases[i].text, .limits = small});
    }
    expect_no_failed_case();
}

/* Where weights lie: in uniform blocks, or in textures on GPUs that fetch these faster. */
static void test_texture_weights(void **state) {
    (void)state;
    need_backend("gles");
    static const struct {
        const char *text, *in_blocks, *in_textures;
    } cases[] = {
        {"Conv x[1,32,40,41] w{30,32,3,3} -> y pads=1,1,1,1", "conv_uniform_block", "conv_direct"},
        {"Conv x[1,32,40,41] w{30,32,1,1} -> y", "conv_uniform_block", "conv_direct"},
        {"ConvTranspose x[1,32,40,41] w{32,12,4,4} -> y strides=2,2 pads=1,1,1,1",
         "conv_uniform_block+conv_assemble", "conv_transpose_direct"},
    };
    const backend_limits blocks = {.kernels = "small"}, textures = {.kernels = "valhall"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(planned_kernels(cases[i].text, blocks, TSR_PRECISION_FP32),
                            cases[i].in_blocks);
        assert_string_equal(planned_kernels(cases[i].text, textures, TSR_PRECISION_FP32),
                            cases[i].in_textures);
    }
}

/* Weights that are computed are read as they are where packing them, and the passes of other
 * algorithms, would cost a GPU more than what they save. */
static void test_computed_weights(void **state) {
    (void)state;
    need_backend("gles");
    expect_kernels("Conv x[1,70,4,5] w{60,70,3,3} -> y", 0, "im2col+conv_im2col+im2col_assemble");
    expect_kernels("Conv x[1,70,4,5] w[60,70,3,3] -> y", 0, "conv_direct");
    expect_kernels("Conv x[1,128,2,2] w[128,128,4,4] -> y strides=2,2 pads=1,1,1,1", 0,
                   "conv_direct+split_k_sum");
    expect_kernels("ConvTranspose x[1,70,2,2] w[70,60,4,4] -> y strides=2,2 pads=1,1,1,1", 0,
                   "conv_transpose_direct");
    expect_kernels("Conv x[1,70,40,50] w[60,70,3,3] -> y", 0, "pack_weights+conv_uniform_block");
    /* Few pixels, many weights: a draw for each uniform block of them is not worth it. */
    expect_kernels("Conv x[1,128,16,16] w{128,128,4,4} -> y strides=2,2 pads=1,1,1,1", 0,
                   "conv_uniform_block");
    expect_kernels("Conv x[1,128,16,16] w[128,128,4,4] -> y strides=2,2 pads=1,1,1,1", 0,
                   "conv_direct+split_k_sum");
    expect_kernels("ConvTranspose x[1,128,8,8] w[128,128,4,4] -> y strides=2,2 pads=1,1,1,1", 0,
                   "conv_transpose_direct+split_k_sum");
    expect_no_failed_case();
}

/* Tensors that fill more than the four planes that the others have. */
static void test_more_planes(void **state) {
    (void)state;
    need_backend("gles");
    const backend_limits small = {.kernels = "blocks", .max_texture_size = 64};
    run_case(&(backend_case){.text = "Relu x[1,4,130,150] -> y", .limits = small});
    run_case(&(backend_case){.text = "Conv x[1,4,130,150] w{4,4,3,3} -> y", .limits = small});
    expect_no_failed_case();
}

/* NaN reaches the pixels that see it and no others: a tile's position counts only where all of its
 * inputs do. Of infinities Winograd's algorithm makes NaN there, too. */
static void test_nans(void **state) {
    (void)state;
    need_backend("gles");
    const backend_limits blocks = {.kernels = "blocks"};
    static const char *const texts[] = {
        "Conv x[2,260,7,8] w{260,260,3,3} -> y pads=1,1,1,1",
        "Conv x[1,130,14,16] w{260,130,6,6} -> y strides=2,2 pads=2,2,2,2",
        "ConvTranspose x[1,130,8,7] w{130,260,4,4} -> y strides=2,2 pads=1,1,1,1",
        "ConvTranspose x[1,130,7,8] w{130,260,6,6} -> y strides=2,2 pads=2,2,2,2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *kernels = planned_kernels(texts[i], blocks, TSR_PRECISION_FP32);
        assert_string_equal(kernels, "winograd_input+conv_im2col+winograd_output");
        run_case(&(backend_case){.text = texts[i], .limits = blocks, .nans = 3000});
    }
    const backend_limits direct = {.kernels = "direct"};
    static const char *const rows[][2] = {
        {"Conv x[2,160,28,31] w{160,160,3,3} -> y pads=1,1,1,1", "conv_direct"},
        {"ConvTranspose x[2,40,7,9] w{40,37,2,4} -> y strides=3,2", "conv_transpose_direct"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(planned_kernels(rows[i][0], direct, TSR_PRECISION_FP32), rows[i][1]);
        run_case(&(backend_case){.text = rows[i][0], .limits = direct, .nans = 300});
    }
    expect_no_failed_case();
}

/* Kernels for which Winograd may be used, with enough channels that it pays. */
typedef struct filter {
    bool transposed;
    int taps, stride, kernel, pad, size[2], batch, inputs, outputs;
} filter;

static filter draw_filter(random_source *r, int i) {
    static const int rows[] = {7, 8, 8, 15, 16};
    filter f = {.transposed = i % 2, .taps = 2 + i / 2 % 2, .batch = random_one_in(r, 4) ? 2 : 1};
    f.stride = random_int(r, 1, 3);
    f.kernel = f.taps * f.stride - (random_one_in(r, 2) ? random_int(r, 0, f.stride - 1) : 0);
    f.pad = random_int(r, 0, f.kernel - 1);
    for (int axis = 0; axis < 2; axis++) {
        int out = rows[random_int(r, 0, 4)], padding = f.pad + f.pad / 2;
        f.size[axis] = f.transposed ? out : (out - 1) * f.stride + f.kernel - padding;
    }
    f.inputs = random_one_in(r, 4) ? random_int(r, 1, 20) : random_int(r, 60, 130);
    f.outputs = f.taps == 2 ? random_int(r, 200, 420) : random_int(r, 40, 260);
    return f;
}

static case_text write(const filter *f) {
    const int pads[] = {f->pad, f->pad / 2, f->pad / 2, f->pad};
    const int strides[] = {f->stride, f->stride};
    case_text text = {""};
    text_add(&text, "%s x[%d,%d,%d,%d] w{%d,%d,%d,%d} b{%d} -> y",
             f->transposed ? "ConvTranspose" : "Conv", f->batch, f->inputs, f->size[0], f->size[1],
             f->transposed ? f->inputs : f->outputs, f->transposed ? f->outputs : f->inputs,
             f->kernel, f->kernel, f->outputs);
    text_add_ints(&text, "strides", strides, 2);
    text_add_ints(&text, "pads", pads, 4);
    return text;
}

static const backend_limits *draw_limits(int i) {
    static const backend_limits limits[] = {
        {.kernels = "blocks"},
        {.kernels = "blocks", .max_uniform_block_bytes = 1024},
        {.kernels = "blocks", .max_draw_buffers = 4},
        {.kernels = "small"},
        {.kernels = "midgard"},
    };
    return &limits[i / 4 % 5];
}

static void test_forms(void **state) {
    (void)state;
    enum { CASES = 120, OFTEN = 2 };
    need_backend("gles");
    int weights = 0, windows = 0, winograd[2][2] = {{0}};
    for (int i = 0; i < CASES; i++) {
        random_source r = random_from((uint32_t)next_case());
        filter f = draw_filter(&r, i);
        tsr_precision precision = i % 5 ? TSR_PRECISION_FP32 : TSR_PRECISION_FP16;
        const case_text text = write(&f);
        const char *kernels = planned_kernels(text.text, *draw_limits(i), precision);
        weights += !strncmp(kernels, "conv_uniform_block", strlen("conv_uniform_block"));
        windows += !strncmp(kernels, "im2col", strlen("im2col"));
        winograd[f.transposed][f.taps - 2] +=
            !strncmp(kernels, "winograd_input", strlen("winograd_input"));
        run_case(
            &(backend_case){.text = text.text, .limits = *draw_limits(i), .precision = precision});
    }
    expect_no_failed_case();
    for (int i = 0; i < 4 && !is_replay(); i++)
        if (winograd[i % 2][i / 2] < OFTEN)
            fail_msg("Winograd's form of %d taps was chosen %d times", 2 + i / 2,
                     winograd[i % 2][i / 2]);
    if (!is_replay() && (weights < OFTEN || windows < OFTEN))
        fail_msg("blocks of weights were chosen %d times, of windows %d times", weights, windows);
}

/* Rows of 9 to 12 taps, as the first and last layers of image filters have, in uniform blocks; of
 * 13 they are not. */
static void test_wide_filters(void **state) {
    (void)state;
    enum { CASES = 50, NARROWEST = 9, WIDEST = 12 };
    need_backend("gles");
    int chosen[WIDEST + 2] = {0};
    for (int i = 0; i < CASES; i++) {
        random_source r = random_from((uint32_t)next_case());
        int taps = NARROWEST + i % 5, stride = random_int(&r, 1, 2), batch = random_int(&r, 1, 2);
        int inputs = random_int(&r, 1, 9), outputs = random_int(&r, 1, 19);
        int height = random_int(&r, 9, 14), width = random_int(&r, 2 * WIDEST + 8, 61);
        int rows = random_int(&r, 1, 3);
        const bool transposed = random_one_in(&r, 3);
        case_text text = {""};
        text_add(&text, "%s x[%d,%d,%d,%d] w{%d,%d,%d,%d} b{%d} -> y strides=1,%d pads=%d,%d,0,%d",
                 transposed ? "ConvTranspose" : "Conv", batch, inputs, height, width,
                 transposed ? inputs : outputs, transposed ? outputs : inputs, rows,
                 transposed ? taps * stride : taps, outputs, stride, random_int(&r, 0, 1),
                 random_int(&r, 0, 5), random_int(&r, 0, 5));
        if (!transposed && random_one_in(&r, 2))
            text_add(&text, " dilations=2,2");
        const tsr_precision precision = i % 3 ? TSR_PRECISION_FP32 : TSR_PRECISION_FP16;
        const backend_limits *limits = draw_limits(i / 5 * 4);
        const char *kernels = planned_kernels(text.text, *limits, precision);
        chosen[taps] += !strncmp(kernels, "conv_uniform_block", strlen("conv_uniform_block"));
        run_case(&(backend_case){.text = text.text, .limits = *limits, .precision = precision});
    }
    expect_no_failed_case();
    assert_int_equal(chosen[WIDEST + 1], 0);
    for (int taps = NARROWEST; taps <= WIDEST && !is_replay(); taps++)
        assert_true(chosen[taps]);
}

/* Tens of thousands of input channels or of kernel rows: drivers may limit the iterations of the
 * loop over them, llvmpipe to 65535. Partial sums are made where it would be longer, and only
 * there. */
static void test_long_sums(void **state) {
    (void)state;
    need_backend("gles");
    const backend_limits direct = {.kernels = "direct"};
    static const struct {
        const char *text, *kernels;
        double tolerance; /* 0: as of short sums */
    } sums[] = {
        {"Conv x[1,50176,1,3] w{3,50176,1,1} -> y", "conv_direct", 0},
        {"Conv x[1,44001,3,1] w{2,44001,1,1} -> y strides=2,1", "conv_direct", 0},
        {"Conv x[1,100001,1,1] w{1,100001,1,1} -> y", "conv_direct", 0},
        {"Conv x[1,262200,1,1] w{1,262200,1,1} -> y", "conv_direct+split_k_sum", 0},
        {"Conv x[1,52432,3,3] w{1,52432,3,3} -> y", "conv_direct", 1e-3},
        {"Conv x[1,4,65531,1] w{1,4,65531,1} -> y", "conv_direct", 0},
        {"Conv x[1,8,32765,1] w{1,8,32765,1} -> y", "conv_direct", 0},
        {"Conv x[1,52,20000,1] w{1,52,20000,1} -> y", "conv_direct+split_k_sum", 0},
        {"Conv x[1,8,16000,17] w{1,8,16000,17} -> y", "conv_direct+split_k_sum", 1e-4},
        {"ConvTranspose x[1,140001,1,1] w{140001,1,2,2} -> y strides=2,2", "conv_transpose_direct",
         0},
        {"ConvTranspose x[1,140001,1,1] w{140001,1,4,2} -> y strides=2,2",
         "conv_transpose_direct+split_k_sum", 0},
    };
    tsr_device_info info;
    tsr_device_get_info(gpu_device(direct), &info);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (strstr(info.name, "llvmpipe"))
            assert_string_equal(planned_kernels(sums[i].text, direct, TSR_PRECISION_FP32),
                                sums[i].kernels);
        run_case(&(backend_case){
            .text = sums[i].text, .limits = direct, .tolerance = sums[i].tolerance});
    }
    expect_no_failed_case();
}

/* Two partial sums, two tiles of output channels, two images; then the sum of both. */
static void test_draws(void **state) {
    (void)state;
    need_backend("gles");
    expect_kernels("Conv x[2,8,12,13] w{7,8,5,5} -> y", 2048, "conv_uniform_block+conv_assemble");
    assert_int_equal(planned_draws, 2 * 2 * 2 + 1);
    expect_kernels("Conv x[2,8,12,13] w{7,8,5,5} -> y", 1024, "conv_direct");
    assert_int_equal(planned_draws, 1);
    expect_no_failed_case();
}

/* Rows of several tiles or windows in a uniform block: of all tiles, of some in images of a batch,
 * which begin anywhere in a row of the texture, of phases, and of windows, the last of which are
 * fewer. */
static void test_joined_draws(void **state) {
    (void)state;
    need_backend("gles");
    const char *pointwise = "Conv x[3,16,12,13] w{52,16,1,1} -> y", *block = "conv_uniform_block";
    expect_kernels(pointwise, 0, block);
    assert_int_equal(planned_draws, 1);
    expect_kernels(pointwise, 1024, block);
    assert_int_equal(planned_draws, 3 * 4);
    expect_kernels(pointwise, 256, block);
    assert_int_equal(planned_draws, 3 * 13);
    expect_kernels("ConvTranspose x[2,24,12,13] w{24,12,4,4} -> y strides=2,2", 0,
                   "conv_uniform_block+conv_assemble");
    assert_int_equal(planned_draws, 4 + 1);
    for (int groups = 3; groups < 8; groups++) {
        case_text text = {""};
        text_add(&text, "Conv x[%d,40,4,5] w{70,40,3,3} -> y pads=1,1,1,1 dilations=1,2", groups);
        expect_kernels(text.text, 0, "im2col+conv_im2col+im2col_assemble");
        assert_true(planned_draws < 2 + 2 * groups);
    }
    expect_no_failed_case();
}

/* Products of 240000, which 16 bits do not hold: each pixel's four channels are to sum up to 1200,
 * times a weight of 8. */
static void expect_finite(const char *text, const char *kernels, double expected) {
    static const float channels[4] = {30000, -30000, 30000, -28800};
    const backend_limits limits = {.kernels = "small"};
    assert_string_equal(planned_kernels(text, limits, TSR_PRECISION_FP16), kernels);
    tsr_model *model = make_model(text);
    tsr_session *session =
        make_session(gpu_device(limits), model,
                     &(tsr_session_desc){.poison = true, .precision = TSR_PRECISION_FP16});
    tsr_tensor_info info;
    EXPECT_OK(tsr_session_input(session, 0, &info));
    const size_t area = (size_t)(info.shape.dim[2] * info.shape.dim[3]);
    elements x = {4 * area, malloc(4 * area * sizeof(float))};
    assert_non_null(x.values);
    for (size_t i = 0; i < x.count; i++)
        x.values[i] = channels[i / area];
    EXPECT_OK(tsr_session_set_input(session, "x", x.values, x.count));
    EXPECT_OK(tsr_session_run(session));
    elements y = get_output(session, "y");
    for (size_t i = 0; i < y.count; i++)
        if ((double)y.values[i] != expected)
            fail_msg("%s: %g, not %g", text, (double)y.values[i], expected);
    free(x.values);
    free(y.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

static void test_large_products(void **state) {
    (void)state;
    need_backend("gles");
    const char *block = "conv_uniform_block";
    expect_finite("Reshape w<8,8,8,8> s(1,4,1,1) -> v; Conv x[1,4,12,13] v -> y", "conv_direct",
                  9600);
    expect_finite("Reshape w<8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8> s(1,4,2,2) -> v; "
                  "Conv x[1,4,12,13] v -> y",
                  block, 38400);
    expect_finite("Reshape w<8,8,8,8> s(1,4,1,1) -> v; Conv x[1,4,3,3] v -> y", "conv_direct",
                  9600);
    expect_finite("Reshape w<8,8,8,8,8,8,8,8,8,8,8,8,8,8,8,8> s(4,1,2,2) -> v; "
                  "ConvTranspose x[1,4,12,13] v -> y strides=2,2",
                  "conv_transpose_direct", 9600);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_sizes),
        cmocka_unit_test(test_wide_filters),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_long_sums),
        cmocka_unit_test(test_no_copies),
        cmocka_unit_test(test_texture_weights),
        cmocka_unit_test(test_computed_weights),
        cmocka_unit_test(test_more_planes),
        cmocka_unit_test(test_nans),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_joined_draws),
        cmocka_unit_test(test_large_products),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
