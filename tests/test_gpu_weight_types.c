/* Packed weights in 16, 8 and 4 bits: tsr_session_desc.weights. */
#include "support/backends.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Layers of at least 1024 weights, w, of which each kind of kernel reads some: what comes before
 * its use, then after. */
static const struct {
    const char *weights, *use;
    int axis; /* of output channels */
} layers[] = {
    {"w{19,13,3,3}", "Conv x[2,13,9,14] %s b{19} -> c pads=1,1,1,1; Relu c -> y", 0},
    {"w{36,30,1,1}", "Conv x[1,30,7,5] %s b{36} -> y", 0},
    {"w{40,17,4,4}", "Conv x[1,17,32,32] %s -> y strides=2,2 pads=1,1,1,1", 0},
    {"w{24,16,3,3}", "Conv x[3,32,6,5] %s b{24} -> y group=2 dilations=2,1 pads=2,1,2,1", 0},
    {"w{22,11,3,3}", "Conv x[1,22,6,5] %s b{22} -> y group=2 pads=1,1,1,1", 0},
    {"w{130,1,3,3}", "Conv x[1,130,8,9] %s b{130} -> y group=130 pads=1,1,1,1", 0},
    {"w{11,15,7}",
     "Conv x[2,15,33] %s -> c pads=3,3; Conv x2[2,15,33] %s -> d pads=3,3; "
     "Add c d -> y",
     0},
    {"w{10,9,3,3,3}", "Conv x[1,9,4,5,6] %s b{10} -> y pads=1,1,1,1,1,1", 0},
    {"w{13,14,4,4}", "ConvTranspose x[2,13,5,7] %s b{14} -> y strides=2,2 pads=1,1,1,1", 1},
    {"w{24,14,3,3}", "ConvTranspose x[1,24,4,3] %s b{14} -> y strides=3,2 pads=1,0,1,0", 1},
    {"w{70,33}", "MatMul x[3,5,70] %s -> y", 1},
    {"w{37,66}", "Gemm x[5,66] %s b{37} -> y transB=1 alpha=0.5", 0},
    /* Of few pixels: of one; of many output channels, two tiles of which lie side by side. */
    {"w{30,14,3,3}", "ConvTranspose x[1,30,1,1] %s b{14} -> y strides=3,2", 1},
    {"w{2048,20,1,1}", "Conv x[3,20,1,2] %s b{2048} -> y", 0},
    /* Kernels read the last of 10 taps, which is none of theirs. */
    {"w{12,13,1,9}", "Conv x[1,13,5,20] %s -> y pads=0,4,0,4", 0},
    {"w{130,1,1,9}", "Conv x[1,130,3,20] %s -> y group=130 pads=0,4,0,4", 0},
};
enum { LAYERS = sizeof layers / sizeof *layers };

/* The same element for the same place, whatever the text; channels differ in size, one is zero. */
static float element(void *user, const char *name, size_t i) {
    (void)user;
    uint32_t bits = (uint32_t)i * 2654435761U + (uint32_t)name[0];
    bits = (bits ^ bits >> 15) * 2246822519U;
    return (float)(bits >> 8) * 0x1p-23f - 1;
}

static tsr_model *model_of(const char *text) {
    return load_written(onnx_case_filled(21, text, element, NULL));
}

static const char *with_use(char *text, size_t size, const char *before, int layer,
                            const char *weights) {
    size_t length = (size_t)snprintf(text, size, "%s", before);
    snprintf(text + length, size - length, layers[layer].use, weights, weights);
    return text;
}

/* A constant's name first, so that it is one of the model. */
static tsr_model *plain_model(int layer) {
    char text[1024], first[256];
    snprintf(first, sizeof first, "Identity %s -> unused; ", layers[layer].weights);
    return model_of(with_use(text, sizeof text, first, layer, "w"));
}

/* How weights are quantized: int8 without zero points, or uint8 with one for each channel, one for
 * all, or one that int8 needs none for. */
typedef enum zero_points { NONE, OF_CHANNELS, OF_ALL, OF_THE_MIDDLE } zero_points;

/* The axes of weights, without that of output channels; *channels: the number of these. */
static void list_axes(const char *weights, int axis, char *axes, size_t size, int *channels) {
    size_t length = 0;
    int i = 0;
    for (const char *at = strchr(weights, '{'); at; at = strchr(at + 1, ','), i++)
        if (i == axis)
            *channels = (int)strtol(at + 1, NULL, 10);
        else
            length += (size_t)snprintf(axes + length, size - length, "%s%d", length ? "," : "", i);
}

/* Weights v from DequantizeLinear: each channel's largest is 127 or, with zero points, 150 steps,
 * of which some are beyond the range. */
static const char *quantized_weights(char *text, size_t size, const char *weights, int axis,
                                     zero_points zeros) {
    char axes[64], zero[128] = "", along[16] = "";
    int channels = 0;
    list_axes(weights, axis, axes, sizeof axes, &channels);
    if (zeros == OF_CHANNELS)
        snprintf(zero, sizeof zero,
                 "Abs z{%d} -> za; Mul za k255<255 -> zb; Round zb -> zc; Cast zc -> zp to=2; ",
                 channels);
    else if (zeros)
        snprintf(zero, sizeof zero, "Cast kz<%d -> zp to=2; ", zeros == OF_ALL ? 100 : 128);
    if (zeros < OF_ALL)
        snprintf(along, sizeof along, " axis=%d", axis);
    snprintf(text, size,
             "Abs %s -> a; ReduceMax a%s%s%s -> m keepdims=0; Div m k<%d -> f; %s"
             "QuantizeLinear w f %s -> q%s%s; DequantizeLinear q f %s -> v%s; ",
             weights, *along ? " n(" : "", *along ? axes : "", *along ? ")" : "", zeros ? 150 : 127,
             zero, zeros ? "zp" : "_", along, zeros ? "" : " output_dtype=3", zeros ? "zp" : "_",
             along);
    return text;
}

static tsr_model *quantized_model(int layer, zero_points zeros) {
    char text[1024], before[512];
    quantized_weights(before, sizeof before, layers[layer].weights, layers[layer].axis, zeros);
    return model_of(with_use(text, sizeof text, before, layer, "v"));
}

static elements run(tsr_session *session) {
    set_inputs(session, 3);
    EXPECT_OK(tsr_session_run(session));
    return get_output(session, "y");
}

/* What the GPU computes from the model is what the CPU does from `expected`; returns the bytes of
 * its packed weights. */
static uint64_t expect_same(const char *kernels, const tsr_model *model, const tsr_model *expected,
                            tsr_session_desc desc, double tolerance) {
    tsr_device *device = gpu_device((backend_limits){.kernels = kernels});
    desc.poison = true;
    desc.tune_ms = -1;
    tsr_session *session = make_session(device, model, &desc);
    elements actual = run(session), wanted = reference_output(expected, "y", 3);
    expect_close(actual, wanted, tolerance);
    free(actual.values);
    free(wanted.values);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    return report.packed_bytes;
}

/* The last three are for fragments. */
static const char *const kernels[] = {NULL, "plain", "shared", "blocks", "small", "midgard"};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static int kernel_count(void) {
    return gpu_has_textures() ? KERNELS : 3;
}

/* Weights that a model has in 8 bits stay so, exactly, in every kernel; sums keep 32 bits where
 * tensors have 16. */
static void test_quantized(void **state) {
    (void)state;
    need_gpu();
    const bool half = gpu_is_half_only();
    for (int i = 0; i < LAYERS; i++) {
        tsr_model *model = quantized_model(i, NONE);
        for (int k = 0; k < kernel_count(); k++) {
            uint64_t narrow = expect_same(kernels[k], model, model, (tsr_session_desc){0},
                                          half ? HALF_TOLERANCE : SUM_TOLERANCE),
                     wide = expect_same(kernels[k], model, model,
                                        (tsr_session_desc){.weights = TSR_WEIGHTS_FP32},
                                        half ? HALF_TOLERANCE : SUM_TOLERANCE);
            bool blocks = k >= 3 || (k == 0 && gpu_has_textures()); /* these are of floats */
            if (!half && !blocks)
                assert_int_equal(4 * narrow, wide);
            expect_same(kernels[k], model, model,
                        (tsr_session_desc){.precision = TSR_PRECISION_FP16},
                        HALF_PRODUCTS_TOLERANCE);
        }
        tsr_model_free(model);
    }
}

/* The same with zero points: weights take as many bytes as without. */
static void test_zero_points(void **state) {
    (void)state;
    need_gpu();
    const double tolerance = gpu_is_half_only() ? HALF_TOLERANCE : SUM_TOLERANCE;
    for (int i = 0; i < LAYERS; i++) {
        uint64_t narrow[KERNELS];
        tsr_model *model = quantized_model(i, OF_CHANNELS);
        for (int k = 0; k < kernel_count(); k++) {
            narrow[k] = expect_same(kernels[k], model, model, (tsr_session_desc){0}, tolerance);
            expect_same(kernels[k], model, model,
                        (tsr_session_desc){.precision = TSR_PRECISION_FP16},
                        HALF_PRODUCTS_TOLERANCE);
        }
        tsr_model_free(model);
        for (zero_points zeros = NONE; zeros <= OF_THE_MIDDLE; zeros++) {
            const int k = i % kernel_count();
            model = quantized_model(i, zeros);
            assert_int_equal(
                narrow[k], expect_same(kernels[k], model, model, (tsr_session_desc){0}, tolerance));
            tsr_model_free(model);
        }
    }
}

/* Those of a model in 32 bits are rounded to 127 steps of each channel's largest, or to 16 bits. */
static void test_rounded(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    for (int i = 0; i < LAYERS; i++) {
        tsr_model *plain = plain_model(i), *quantized = quantized_model(i, NONE);
        for (int k = 0; k < kernel_count(); k++) {
            /* Uniform blocks of few weights hold them as they are. */
            bool blocks = k >= 3 || (k == 0 && gpu_has_textures());
            expect_same(kernels[k], plain, quantized,
                        (tsr_session_desc){.weights = TSR_WEIGHTS_INT8},
                        blocks ? 1e-2 : SUM_TOLERANCE);
            uint64_t halves = expect_same(kernels[k], plain, plain,
                                          (tsr_session_desc){.weights = TSR_WEIGHTS_FP16}, 1e-3),
                     floats = expect_same(kernels[k], plain, plain,
                                          (tsr_session_desc){.weights = TSR_WEIGHTS_FP32},
                                          SUM_TOLERANCE);
            if (!blocks)
                assert_int_equal(2 * halves, floats);
        }
        tsr_model_free(plain);
        tsr_model_free(quantized);
    }
}

/* Integers that are weights, as of ConvInteger, give integers. */
static void test_exact(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    /* Without and with zero points; of 4 bits with one. */
    static const struct {
        int factor, least, most;
    } ranges[] = {{150, -128, 127}, {250, -30, 225}, {250, -225, 30}, {12, -3, 12}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "Mul w{20,16,2,2} k<%d -> m; Clip m l<%d h<%d -> n; Round n -> v; "
                 "Round x[1,16,5,6] -> r; Conv r v -> y",
                 ranges[i].factor, ranges[i].least, ranges[i].most);
        tsr_model *model = model_of(text);
        for (int k = 0; k < kernel_count(); k++)
            expect_same(kernels[k], model, model, (tsr_session_desc){0}, 1e-30);
        tsr_model_free(model);
    }
}

/* Integers by integers with zero points of both: sums of products are exact. */
static void test_exact_bytes(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    tsr_model *model = model_of("Abs w{24,17,3,3} -> a; Mul a k1<255 -> m; Cast m -> q to=2; "
                                "Abs z{24} -> b; Mul b k2<255 -> c; Cast c -> wz to=2; "
                                "Cast k3<77 -> xz to=2; "
                                "Abs x[2,17,5,6] -> p; Mul p k4<250 -> r; Cast r -> u to=2; "
                                "ConvInteger u q xz wz -> i pads=1,1,1,1; "
                                "Cast i -> y to=1");
    for (int k = 0; k < kernel_count(); k++)
        expect_same(kernels[k], model, model, (tsr_session_desc){0}, 1e-30);
    tsr_model_free(model);
}

/* Weights that 8 bits cannot be: they stay floats. */
static void test_kept(void **state) {
    (void)state;
    need_gpu();
    static const char *const texts[] = {
        "Reciprocal k<0 -> i; Mul w{20,16,2,2} k2<1 -> m; ReduceMax m -> t keepdims=0; "
        "Less m t -> l; Where l m i -> v; Conv x[1,16,5,6] v -> y", /* one is infinite */
        "Conv x[1,4,5,6] w{4,4,3,3} -> y",                          /* few */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tsr_model *model = model_of(texts[i]);
        tsr_device *device = gpu_device((backend_limits){.kernels = "plain"});
        tsr_session *session =
            make_session(device, model, &(tsr_session_desc){.weights = TSR_WEIGHTS_INT8});
        tsr_report report;
        EXPECT_OK(tsr_session_report(session, &report));
        assert_true(report.weight_bytes >=
                    4 * 4 * 9 * sizeof(float) / (gpu_is_half_only() ? 2 : 1));
        tsr_session_destroy(session);
        tsr_model_free(model);
    }
}

static void test_refused(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = gpu_device((backend_limits){0});
    tsr_model *model = plain_model(0);
    tsr_session *session;
    expect_failure(tsr_session_create(device, model,
                                      &(tsr_session_desc){.weights = (tsr_weight_type)5}, &session),
                   TSR_ERROR_INVALID_ARGUMENT, "there is no type of weights 5");
    if (!gpu_is_half_only()) {
        const float values[19 * 13 * 9] = {0};
        for (tsr_weight_type type = TSR_WEIGHTS_INT8; type <= TSR_WEIGHTS_INT4; type++) {
            session = make_session(device, model, &(tsr_session_desc){.weights = type});
            expect_failure(tsr_session_set_weights(session, "w", values, 19 * 13 * 9),
                           TSR_ERROR_UNSUPPORTED, "8 bits or 4");
            tsr_session_destroy(session);
        }
    }
    tsr_model_free(model);
}

/* ---- blocks of 4 bits ------------------------------------------------------------------------ */

/* Weights that DequantizeLinear makes, in blocks along an axis of a matrix or of what they are. */
static const struct {
    const char *weights, *shape, *use;
    int axis; /* of blocks */
} blocked[] = {
    {"19,117", "19,13,3,3", "Conv x[2,13,9,14] v b{19} -> c pads=1,1,1,1; Relu c -> y", 1},
    {"36,70", "36,70,1,1", "Conv x[1,70,7,5] v b{36} -> y", 1},
    {"40,272", "40,17,4,4", "Conv x[1,17,32,32] v -> y strides=2,2 pads=1,1,1,1", 1},
    {"24,144", "24,16,3,3", "Conv x[3,32,6,5] v -> y group=2 dilations=2,1 pads=2,1,2,1", 1},
    {"14,130,3,3", "14,130,3,3", "Conv x[1,130,6,5] v -> y pads=1,1,1,1", 1},
    {"11,105", "11,15,7", "Conv x[2,15,33] v -> y pads=3,3", 1},
    {"10,243", "10,9,3,3,3", "Conv x[1,9,4,5,6] v b{10} -> y pads=1,1,1,1,1,1", 1},
    {"130,224", "130,14,4,4", "ConvTranspose x[2,130,5,7] v -> y strides=2,2 pads=1,1,1,1", 0},
    {"140,126", "140,14,3,3", "ConvTranspose x[1,140,4,3] v -> y strides=3,2 pads=1,0,1,0", 0},
    {"70,33", "70,33", "MatMul x[3,5,70] v -> y", 0},
    {"37,266", "37,266", "Gemm x[5,266] v b{37} -> y transB=1 alpha=0.5", 1},
    {"13,130,1,9", "13,130,1,9", "Conv x[1,130,5,20] v -> y pads=0,4,0,4", 1},
    {"13,360", "13,40,1,9", "Conv x[1,40,5,20] v -> y pads=0,4,0,4", 1},
    {"14,2080", "14,130,4,4",
     "Transpose v -> t perm=1,0,2,3; ConvTranspose x[1,130,3,4] t -> y strides=3,3", 1},
};
enum { BLOCKED = sizeof blocked / sizeof *blocked };

/* Scales are positive. */
static float blocked_element(void *user, const char *name, size_t i) {
    float x = element(user, name, i);
    return *name == 's' ? 0.15F + 0.1F * x : x;
}

/* ONNX's types: those without a sign have a zero point beside each scale. */
static const struct {
    int type, bits, most_zero;
} block_types[] = {{22, 4, 0}, {21, 4, 15}, {3, 8, 0}, {2, 8, 255}};
enum { BLOCK_TYPES = sizeof block_types / sizeof *block_types };

/* block 0: a scale for each output channel. */
static tsr_model *blocked_model(int layer, int block, int type) {
    char text[1024], scales[64], attributes[64];
    int64_t dims[5];
    int rank = 0, axis = blocked[layer].axis, length = 0;
    for (const char *at = blocked[layer].weights; at; at = strchr(at, ',')) {
        at += *at == ',';
        dims[rank++] = strtol(at, NULL, 10);
    }
    for (int i = 0; i < rank && block; i++)
        length += snprintf(scales + length, sizeof scales - (size_t)length, "%s%d", i ? "," : "",
                           (int)(i == axis ? (dims[i] + block - 1) / block : dims[i]));
    snprintf(attributes, sizeof attributes, "axis=%d block_size=%d", axis, block);
    if (!block) {
        snprintf(scales, sizeof scales, "%d", (int)dims[1 - axis]);
        snprintf(attributes, sizeof attributes, "axis=%d", 1 - axis);
    }
    snprintf(text, sizeof text,
             "Abs z{%s} -> za; Mul za kz<%d -> zb; Round zb -> zc; Cast zc -> zp to=%d; "
             "Mul w{%s} kw<%d -> u; QuantizeLinear u s{%s} zp -> q %s; "
             "DequantizeLinear q s zp -> d %s; Reshape d n(%s) -> v; %s",
             scales, block_types[type].most_zero, block_types[type].type, blocked[layer].weights,
             block_types[type].bits == 4 ? 1 : 16, scales, attributes, attributes,
             blocked[layer].shape, blocked[layer].use);
    return load_written(onnx_case_filled(21, text, blocked_element, NULL));
}

/* They stay as they are, exactly, in every kernel. wide: the bytes of those in floats, by kernel.
 */
static void check_blocks(int layer, int block, int type, const uint64_t *wide) {
    const int bits = block_types[type].bits;
    bool transposed = strstr(blocked[layer].use, "ConvT") != NULL;
    tsr_model *model = blocked_model(layer, block, type);
    for (int k = 0; k < kernel_count(); k++) {
        if (type > 0 && !all_cases() && (layer + k + block / 32 + type) % (bits == 4 ? 2 : 6))
            continue;
        uint64_t narrow =
            expect_same(kernels[k], model, model, (tsr_session_desc){0}, SUM_TOLERANCE);
        /* Where each tap has scales, kernels that pad other rows. */
        if (k < 3 && (gpu_has_textures() ? k > 0 : !transposed))
            assert_int_equal((uint64_t)(32 / bits) * narrow, wide[k]);
        assert_true(bits == 8 || 7 * narrow <= wide[k]); /* uniform blocks are of floats */
    }
    tsr_model_free(model);
}

static void test_blocks(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    for (int i = 0; i < BLOCKED; i++)
        for (int block = 16; block <= 128; block *= 2) {
            const int size = block == 16 ? 0 : block;
            uint64_t wide[KERNELS];
            tsr_model *model = blocked_model(i, size, 0);
            for (int k = 0; k < kernel_count(); k++)
                wide[k] =
                    expect_same(kernels[k], model, model,
                                (tsr_session_desc){.weights = TSR_WEIGHTS_FP32}, SUM_TOLERANCE);
            tsr_model_free(model);
            for (int type = 0; type < BLOCK_TYPES; type++)
                check_blocks(i, size, type, wide);
        }
}

/* The layer's weights: strides of output channels, of input channels, and taps. */
typedef struct sizes {
    int outputs, inputs, taps, output_stride, input_stride;
} sizes;

static sizes sizes_of(int layer) {
    int dims[5] = {1, 1, 1, 1, 1}, rank = 0;
    for (const char *at = strchr(layers[layer].weights, '{'); at; at = strchr(at, ',')) {
        at++;
        dims[rank++] = (int)strtol(at, NULL, 10);
    }
    if (rank == 5) { /* a tap along the depth is an input channel */
        dims[1] *= dims[2];
        dims[2] = 1;
    }
    int taps = dims[2] * dims[3] * dims[4];
    return layers[layer].axis == 0 ? (sizes){dims[0], dims[1], taps, dims[1] * taps, taps}
                                   : (sizes){dims[1], dims[0], taps, taps, dims[1] * taps};
}

/* To -8 to 7 steps, in blocks of all taps of 2^n input channels, at most 144 weights of them. */
static float *rounded_weights(int layer) {
    const sizes s = sizes_of(layer);
    int channels = 4;
    while (channels < 128 && 2 * channels * s.taps <= 144)
        channels *= 2;
    float *rounded = calloc((size_t)(s.outputs * s.inputs * s.taps), sizeof *rounded);
    assert_non_null(rounded);
    for (int o = 0; o < s.outputs; o++)
        for (int begin = 0; begin < s.inputs; begin += channels) {
            int end = begin + channels < s.inputs ? begin + channels : s.inputs;
            float step = 0;
            for (int pass = 0; pass < 2; pass++)
                for (int k = begin * s.taps; k < end * s.taps; k++) {
                    int at = o * s.output_stride + k / s.taps * s.input_stride + k % s.taps;
                    float w = element(NULL, "w", (size_t)at);
                    if (pass)
                        rounded[at] = fminf(rintf(w / step), 7) * step;
                    else
                        step = fmaxf(step, w < 0 ? w / -8 : w / 7);
                }
        }
    return rounded;
}

static float rounded_element(void *user, const char *name, size_t i) {
    return *name == 'w' ? ((const float *)user)[i] : element(NULL, name, i);
}

static void test_rounded_to_blocks(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    for (int i = 0; i < LAYERS; i++) {
        char text[1024], first[256];
        snprintf(first, sizeof first, "Identity %s -> unused; ", layers[i].weights);
        float *weights = rounded_weights(i);
        bool shares = i == 4 || i == 5 || i == LAYERS - 1; /* groups share texels: 8 bits */
        tsr_model *plain = plain_model(i),
                  *rounded = shares ? quantized_model(i, NONE)
                                    : load_written(onnx_case_filled(
                                          21, with_use(text, sizeof text, first, i, "w"),
                                          rounded_element, weights));
        for (int k = 0; k < kernel_count(); k++) {
            bool blocks = k >= 3 || (k == 0 && gpu_has_textures());
            uint64_t narrow = expect_same(kernels[k], plain, rounded,
                                          (tsr_session_desc){.weights = TSR_WEIGHTS_INT4},
                                          shares && blocks ? 1e-2 : SUM_TOLERANCE),
                     wide = expect_same(kernels[k], plain, plain,
                                        (tsr_session_desc){.weights = TSR_WEIGHTS_FP32},
                                        SUM_TOLERANCE);
            if (!blocks)
                assert_int_equal((shares ? 4 : 8) * narrow, wide);
            expect_same(
                kernels[k], plain, rounded,
                (tsr_session_desc){.weights = TSR_WEIGHTS_INT4, .precision = TSR_PRECISION_FP16},
                HALF_PRODUCTS_TOLERANCE);
        }
        tsr_model_free(plain);
        tsr_model_free(rounded);
        free(weights);
    }
}

/* Reports count weights as they are stored, without padding. */
static void test_reported(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    enum { OTHERS = (5 * 264 + 5 * 36) * 4, WEIGHTS = 264 * 36 };
    static const struct {
        tsr_weight_type type;
        uint64_t bytes;
    } wanted[] = {{TSR_WEIGHTS_FP32, WEIGHTS * 4},
                  {TSR_WEIGHTS_FP16, WEIGHTS * 2},
                  {TSR_WEIGHTS_INT8, WEIGHTS},
                  {TSR_WEIGHTS_INT4, WEIGHTS / 2 + 3 * 36 * 4}};
    tsr_model *model = model_of("Identity w{264,36} -> unused; MatMul x[5,264] w -> y");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        tsr_device *device = gpu_device((backend_limits){.kernels = "plain"});
        tsr_session *session =
            make_session(device, model, &(tsr_session_desc){.weights = wanted[i].type});
        tsr_node_report report;
        EXPECT_OK(tsr_session_node_report(session, 0, &report));
        assert_int_equal(report.bytes, OTHERS + wanted[i].bytes);
        tsr_session_destroy(session);
    }
    tsr_model_free(model);
}

/* The same of those of a model: zero points are of 32 bits a channel, or 16 a block. */
static void test_reported_zero_points(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    enum { OTHERS = (5 * 264 + 5 * 36) * 4, WEIGHTS = 264 * 36, BLOCKS = 264 / 32 + 1 };
    static const uint64_t bytes[] = {WEIGHTS, WEIGHTS + 36 * 4, WEIGHTS + 36 * 4, WEIGHTS,
                                     WEIGHTS / 2 + 36 * (BLOCKS * 4 + (BLOCKS + 1) / 2 * 4)};
    for (int i = 0; i < 5; i++) {
        char text[1024];
        quantized_weights(text, sizeof text, "w{264,36}", 1, (zero_points)i);
        if (i == 4)
            snprintf(text, sizeof text,
                     "Abs z{9,36} -> za; Mul za k<15 -> zb; Cast zb -> zp to=21; "
                     "QuantizeLinear w{264,36} s{9,36} zp -> q axis=0 block_size=32; "
                     "DequantizeLinear q s zp -> v axis=0 block_size=32; ");
        strcat(text, "MatMul x[5,264] v -> y");
        tsr_model *model = load_written(onnx_case_filled(21, text, blocked_element, NULL));
        tsr_device *device = gpu_device((backend_limits){.kernels = "plain"});
        tsr_session *session = make_session(device, model, &(tsr_session_desc){0});
        tsr_node_report report;
        EXPECT_OK(tsr_session_node_report(session, 0, &report));
        assert_int_equal(report.bytes, OTHERS + bytes[i]);
        tsr_session_destroy(session);
        tsr_model_free(model);
    }
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_zero_points),
        cmocka_unit_test(test_rounded),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_exact_bytes),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_rounded_to_blocks),
        cmocka_unit_test(test_reported),
        cmocka_unit_test(test_reported_zero_points),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
