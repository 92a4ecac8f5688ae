/* Networks between QuantizeLinear and DequantizeLinear: tensors are stored in 8 bits and read as
 * floats. All numbers are multiples of powers of two, so that sums are exact in any order, and
 * backends agree to the last step. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/random.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>

enum { CASES = 66, MOST_LAYERS = 5 };

typedef struct chain {
    random_source random;
    case_text text;
    int count;  /* of the names made so far */
    int latest; /* "d<latest>" is the latest tensor */
    int channels, rows, columns;
} chain;

static int draw(chain *c, int low, int high) {
    return random_int(&c->random, low, high);
}

/* x -> quantized -> d<count>, by a scale of 2^-4 to 2^-1; zero points are of the middle, of 0, or
 * neither, in either type. */
static void add_pair(chain *c, const char *x) {
    static const struct {
        int type, zero_point;
    } kinds[] = {{2, 0}, {2, 128}, {2, 7}, {3, 0}, {3, -5}};
    const int kind = draw(c, 0, 4), i = ++c->count;
    const double scale = 1.0 / (double)(2 << draw(c, 0, 3));
    text_add(&c->text,
             "Cast k%d<%d -> z%d to=%d; QuantizeLinear %s s%d<%g z%d -> q%d; DequantizeLinear q%d "
             "t%d<%g z%d -> d%d; ",
             i, kinds[kind].zero_point, i, kinds[kind].type, x, i, scale, i, i, i, i, scale, i, i);
    c->latest = i;
}

/* Weights of 8 bits: v<count>; of either type, with zero points that int8 needs as well, or not. */
static void add_weights(chain *c, const char *shape) {
    static const struct {
        int type, factor, zero_point;
    } kinds[] = {{3, 64, 0}, {2, 64, 128}, {2, 150, 100}};
    const int kind = draw(c, 0, 2), i = c->count;
    text_add(&c->text,
             "Mul w%d{%s} e%d<%d -> f%d; Cast y%d<%d -> o%d to=%d; "
             "QuantizeLinear f%d u%d<1 o%d -> h%d; DequantizeLinear h%d n%d<0.0625 o%d -> v%d; ",
             i, shape, i, kinds[kind].factor, i, i, kinds[kind].zero_point, i, kinds[kind].type, i,
             i, i, i, i, i, i, i);
}

static int window_out(int in, int kernel, int stride, int dilation, int pads) {
    return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

static void add_conv(chain *c) {
    char shape[64];
    const bool depthwise = draw(c, 0, 2) == 0;
    const int group = depthwise ? c->channels : 1,
              outputs = depthwise ? c->channels : draw(c, 1, 30), kernel = draw(c, 1, 3),
              stride = draw(c, 1, 2), dilation = draw(c, 1, 2),
              pads[] = {draw(c, 0, 2), draw(c, 0, 2), draw(c, 0, 2), draw(c, 0, 2)};
    const int reach = (kernel - 1) * dilation + 1;
    if (reach > c->rows + pads[0] + pads[2] || reach > c->columns + pads[1] + pads[3])
        return;
    snprintf(shape, sizeof shape, "%d,%d,%d,%d", outputs, c->channels / group, kernel, kernel);
    add_weights(c, shape);
    text_add(&c->text, "Conv d%d v%d -> a%d strides=%d,%d dilations=%d,%d group=%d", c->latest,
             c->count, c->count, stride, stride, dilation, dilation, group);
    text_add_ints(&c->text, "pads", pads, 4);
    text_add(&c->text, "; ");
    c->channels = outputs;
    c->rows = window_out(c->rows, kernel, stride, dilation, pads[0] + pads[2]);
    c->columns = window_out(c->columns, kernel, stride, dilation, pads[1] + pads[3]);
}

static void add_conv_transpose(chain *c) {
    char shape[64];
    const int outputs = draw(c, 1, 9), kernel = draw(c, 2, 4), stride = draw(c, 1, 2);
    if (c->rows > 20)
        return;
    snprintf(shape, sizeof shape, "%d,%d,%d,%d", c->channels, outputs, kernel, kernel);
    add_weights(c, shape);
    text_add(&c->text, "ConvTranspose d%d v%d -> a%d strides=%d,%d; ", c->latest, c->count,
             c->count, stride, stride);
    c->channels = outputs;
    c->rows = (c->rows - 1) * stride + kernel;
    c->columns = (c->columns - 1) * stride + kernel;
}

static void add_pool(chain *c) {
    const bool mean = draw(c, 0, 1);
    if (c->rows < 2 || c->columns < 2)
        return;
    text_add(&c->text, "%s d%d -> a%d kernel_shape=2,2%s; ", mean ? "AveragePool" : "MaxPool",
             c->latest, c->count, mean ? "" : " pads=0,1,1,0");
    c->rows -= mean;
    c->columns -= mean;
}

/* Two tensors, one of which is quantized for the second time. */
static void add_two(chain *c) {
    const bool joined = draw(c, 0, 1);
    const int x = c->latest, i = c->count;
    text_add(&c->text, "LeakyRelu d%d -> l%d alpha=0.25; ", x, i);
    char name[16];
    snprintf(name, sizeof name, "l%d", i);
    add_pair(c, name);
    text_add(&c->text, joined ? "Concat d%d d%d -> a%d axis=1; " : "Add d%d d%d -> a%d; ", x,
             c->latest, i);
    c->count = i;
    c->channels *= 1 + joined;
}

static void add_layer(chain *c) {
    const size_t before = strlen(c->text.text);
    const int i = ++c->count;
    switch (draw(c, 0, 5)) {
    case 0:
        add_conv_transpose(c);
        break;
    case 1:
        add_pool(c);
        break;
    case 2:
        add_two(c);
        break;
    default:
        add_conv(c);
    }
    if (strlen(c->text.text) == before)
        return;
    char name[16];
    snprintf(name, sizeof name, "a%d", i);
    if (draw(c, 0, 2) == 0) {
        text_add(&c->text, "Relu a%d -> r%d; ", i, i);
        snprintf(name, sizeof name, "r%d", i);
    }
    c->count = i + 10; /* after those of add_two() */
    add_pair(c, name);
}

static const char *write_chain(chain *c, uint32_t seed) {
    *c = (chain){.random = random_from(seed)};
    const int images = draw(c, 1, 2), layers = draw(c, 1, MOST_LAYERS);
    c->channels = draw(c, 1, 9);
    c->rows = draw(c, 1, 14);
    c->columns = draw(c, 1, 19);
    text_add(&c->text, "DequantizeLinear x:%s[%d,%d,%d,%d] k0<0.125 -> d0; ",
             draw(c, 0, 1) ? "uint8" : "int8", images, c->channels, c->rows, c->columns);
    for (int i = 0; i < layers; i++)
        add_layer(c);
    text_add(&c->text, draw(c, 0, 1) ? "Identity d%d -> y" : "Identity q%d -> y", c->latest);
    return c->text.text;
}

static case_environments environments_here(void) {
    static const backend_case textures[] = {
        {.limits = {0}},
        {.limits.no_float_targets = true},
        {.limits.kernels = "blocks"},
        {.limits.kernels = "shared"},
        {.limits.kernels = "small"},
        {.limits.kernels = "midgard", .limits.no_float_targets = true},
        {.limits.kernels = "valhall"},
        {.limits.max_draw_buffers = 2},
        {.limits.max_texture_size = 64, .limits.max_draw_buffers = 1},
        {.precision = TSR_PRECISION_FP16},
        {.keep_tensors = true},
    };
    return environments_or_buffers(textures, sizeof textures / sizeof *textures);
}

static void test_chains(void **state) {
    (void)state;
    need_gpu();
    const case_environments here = environments_here();
    const int count = some_cases(CASES);
    chain *c = malloc(sizeof *c);
    assert_non_null(c);
    for (int i = 0; i < count; i++) {
        backend_case run = here.list[i % here.count];
        run.opset = 21;
        run.text = write_chain(c, (uint32_t)i);
        run_case(&run);
    }
    free(c);
    expect_no_failed_case();
}

/* Tensors that are read in several ways, moved, joined, and that need a pass after all. */
static void test_readers(void **state) {
    (void)state;
    need_gpu();
#define QUANTIZED(c)                                                                               \
    "Cast k<9 -> z to=2; QuantizeLinear x[2," c ",5,6] s<0.25 z -> q; "                            \
    "DequantizeLinear q a<0.25 z -> d; "
    static const char *const texts[] = {
        QUANTIZED("3") "DequantizeLinear q b<0.5 z -> e; Add d e -> y",
        QUANTIZED("3") "Cast q -> r to=1; Conv d w{5,3,3,3} -> c! pads=1,1,1,1; "
                       "ReduceSum r i(1) -> t!; ReduceMean d i2(1) -> y",
        QUANTIZED("3") "Softmax d -> e axis=1; Conv e w{5,3,3,3} -> y",
        QUANTIZED("8") "Split q -> g h axis=1 num_outputs=2; DequantizeLinear h b<0.5 z -> e; "
                       "Conv e w{6,4,3,3} -> c! pads=1,1,1,1; Relu d -> y",
        QUANTIZED("4") "Transpose q -> p perm=0,2,3,1; DequantizeLinear p b<0.25 z -> e; "
                       "MatMul e w{4,7} -> y",
        QUANTIZED("4") "QuantizeLinear v[2,8,5,6] t<0.25 z -> u; Concat u q -> j axis=1; "
                       "DequantizeLinear j b<0.25 z -> e; Conv e w{6,12,3,3} -> c!; Neg d -> y",
        "DequantizeLinear x:uint8[2,6,5,7] s<0.5 -> y",
        "Cast k<9 -> z to=3; DequantizeLinear x:int8[2,6,5,7] s<0.5 z -> d; "
        "Conv d w{6,6,3,3} -> y pads=1,1,1,1",
        "QuantizeLinear x[2,3,2,3,4,5] s<0.25 -> q; Cast q -> f to=1; "
        "Pad f p(0,1,0,1,0,1,1,0,1,0,1,0) k<0.5 -> y",
        /* padding channels that are not stored as the zero point */
        "Cast k<128 -> z to=2; Relu x[1,8] -> a; Relu u[1,7] -> b; QuantizeLinear a s<0.25 z -> g; "
        "QuantizeLinear b t<0.25 z -> h; Concat g h -> j axis=1; DequantizeLinear j r<0.25 z -> d; "
        "LayerNormalization d l{15} -> y",
        "Cast k<128 -> z to=2; Relu x[1,15] -> r; QuantizeLinear r s<0.25 z -> q; "
        "Split q sp(8,7) -> a b axis=1; DequantizeLinear b t<0.25 z -> d; "
        "LayerNormalization d l{7} -> y!; DequantizeLinear a u<0.25 z -> e; "
        "LayerNormalization e m{8} -> v",
        "QuantizeLinear x[5,7] s<0.25 -> q; DequantizeLinear q t<0.25 -> d; "
        "LayerNormalization d l{7} -> y!; Cast k<9 -> z to=2; DequantizeLinear q u<0.25 z -> e; "
        "Neg e -> v",
        "QuantizeLinear x[5,7] s<0.25 -> q; Cast q -> f to=1; Sub f k<-1 -> g; "
        "LayerNormalization g l{7} -> y",
        /* and, outside the image, one that 8 bits do not hold */
        "Cast k<3 -> h to=3; Expand h s(6,8,3,3) -> g; DequantizeLinear g n<0.25 -> v; "
        "Cast x:uint8[1,8,9,9] -> f to=1; Sub f t<300 -> d; Conv d v -> y pads=1,1,1,1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int way = 0; way < 3; way++)
            run_case(&(backend_case){.opset = 21,
                                     .text = texts[i],
                                     .limits.no_float_targets = way == 1 && gpu_has_textures(),
                                     .keep_tensors = way == 2});
    expect_no_failed_case();
}

static tsr_report report_of(const tsr_model *model) {
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, NULL);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    return report;
}

/* A layer is a pass, and its tensors have a quarter of the bytes. */
static void test_passes(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        lacking("a GPU that renders to 32-bit floats");
    tsr_model *floats = make_model("Relu x[1,8,32,32] -> a; "
                                   "Conv a w{16,8,3,3} -> b pads=1,1,1,1; Relu b -> c; "
                                   "Conv c v{8,16,3,3} -> y pads=1,1,1,1");
    tsr_model *quantized =
        make_model("Cast k<3 -> z to=2; Relu x[1,8,32,32] -> a; "
                   "QuantizeLinear a s<0.01 -> aq; DequantizeLinear aq t<0.01 -> ad; "
                   "Conv ad w{16,8,3,3} -> b pads=1,1,1,1; Relu b -> c; "
                   "QuantizeLinear c p<0.01 z -> cq; DequantizeLinear cq q<0.01 z -> cd; "
                   "Conv cd v{8,16,3,3} -> y pads=1,1,1,1");
    const tsr_report a = report_of(floats), b = report_of(quantized);
    /* x is quantized by one; a large GPU has others that add partial sums up */
    assert_true(a.pass_count >= 2);
    assert_int_equal(b.pass_count, a.pass_count + 1);
    assert_true(b.live_bytes_bound < a.live_bytes_bound);
    tsr_model_free(floats);
    tsr_model_free(quantized);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_readers),
                                       cmocka_unit_test(test_passes)};
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
