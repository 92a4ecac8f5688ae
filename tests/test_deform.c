/* DeformConv, held against a direct loop over ONNX's text. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

typedef struct deform {
    int64_t batch, channels, in[2], out_channels, group, offset_group;
    int64_t kernel[2], stride[2], dilation[2], pad[4], out[2]; /* pads: begins, ends */
    bool has_bias, has_mask;
    float *x, *w, *offset, *bias, *mask;
} deform;

static float *draw_elements(onnx_writer *writer, random_source *r, const char *name, int rank,
                            const int64_t *dims, float scale) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    float *elements = malloc((size_t)count * sizeof *elements + 1);
    assert_non_null(elements);
    for (int64_t i = 0; i < count; i++)
        elements[i] = random_float(r, 0, scale);
    onnx_add_floats(writer, name, rank, dims, elements);
    return elements;
}

static deform draw_deform(random_source *r) {
    deform d = {.batch = random_int(r, 1, 2),
                .group = random_int(r, 1, 2),
                .offset_group = random_int(r, 1, 3),
                .has_bias = random_one_in(r, 2),
                .has_mask = random_one_in(r, 2)};
    d.channels = d.group * d.offset_group * random_int(r, 1, 2);
    d.out_channels = d.group * random_int(r, 1, 3);
    for (int i = 0; i < 2; i++) {
        d.kernel[i] = random_int(r, 1, 3);
        d.stride[i] = random_int(r, 1, 2);
        d.dilation[i] = random_int(r, 1, 2);
        d.pad[i] = random_int(r, 0, 2);
        d.pad[2 + i] = random_int(r, 0, 2);
        int64_t extent = (d.kernel[i] - 1) * d.dilation[i] + 1;
        d.in[i] = extent + random_int(r, 0, 4);
        d.out[i] = (d.in[i] + d.pad[i] + d.pad[2 + i] - extent) / d.stride[i] + 1;
    }
    return d;
}

static tsr_graph *build(random_source *r, deform *d) {
    onnx_writer *writer = onnx_writer_create(22);
    const int64_t taps = d->offset_group * d->kernel[0] * d->kernel[1];
    d->x = draw_elements(writer, r, "x", SHAPE(d->batch, d->channels, d->in[0], d->in[1]), 1);
    d->w = draw_elements(writer, r, "w",
                         SHAPE(d->out_channels, d->channels / d->group, d->kernel[0], d->kernel[1]),
                         1);
    d->offset =
        draw_elements(writer, r, "offset", SHAPE(d->batch, 2 * taps, d->out[0], d->out[1]), 2.5f);
    d->bias = draw_elements(writer, r, "bias", SHAPE(d->out_channels), 1);
    d->mask = draw_elements(writer, r, "mask", SHAPE(d->batch, taps, d->out[0], d->out[1]), 1);
    Tsr__NodeProto *node = onnx_add_node(writer, "DeformConv", "deform",
                                         d->has_bias && d->has_mask ? "x,w,offset,bias,mask"
                                         : d->has_mask              ? "x,w,offset,,mask"
                                         : d->has_bias              ? "x,w,offset,bias"
                                                                    : "x,w,offset",
                                         "y");
    onnx_set_ints(writer, node, "strides", 2, d->stride);
    onnx_set_ints(writer, node, "dilations", 2, d->dilation);
    onnx_set_ints(writer, node, "pads", 4, d->pad);
    onnx_set_int(writer, node, "group", d->group);
    onnx_set_int(writer, node, "offset_group", d->offset_group);
    add_output(writer, "y", TSR_DTYPE_F32);
    return prepare_graph(writer);
}

/* Of a plane between pixels; outside it are zeros. */
static double sample(const deform *d, const float *plane, double y, double x) {
    double sum = 0, top = floor(y), left = floor(x);
    for (int i = 0; i < 4; i++) {
        double row = top + i / 2, column = left + i % 2;
        if (row >= 0 && row < (double)d->in[0] && column >= 0 && column < (double)d->in[1])
            sum += plane[(int64_t)row * d->in[1] + (int64_t)column] * (1 - fabs(y - row)) *
                   (1 - fabs(x - column));
    }
    return sum;
}

static double tap(const deform *d, int64_t n, int64_t c, int64_t i, int64_t j,
                  const int64_t at[2]) {
    int64_t g = c / (d->channels / d->offset_group),
            t = ((n * d->offset_group + g) * d->kernel[0] + i) * d->kernel[1] + j,
            area = d->out[0] * d->out[1], pixel = at[0] * d->out[1] + at[1];
    double y = (double)(at[0] * d->stride[0] - d->pad[0] + i * d->dilation[0]),
           x = (double)(at[1] * d->stride[1] - d->pad[1] + j * d->dilation[1]);
    y += d->offset[2 * t * area + pixel];
    x += d->offset[(2 * t + 1) * area + pixel];
    double value = sample(d, d->x + (n * d->channels + c) * d->in[0] * d->in[1], y, x);
    return d->has_mask ? value * d->mask[t * area + pixel] : value;
}

static double expected(const deform *d, int64_t n, int64_t k, const int64_t at[2]) {
    int64_t each = d->channels / d->group, first = k / (d->out_channels / d->group) * each;
    double sum = d->has_bias ? d->bias[k] : 0;
    for (int64_t c = 0; c < each; c++)
        for (int64_t i = 0; i < d->kernel[0]; i++)
            for (int64_t j = 0; j < d->kernel[1]; j++)
                sum += d->w[((k * each + c) * d->kernel[0] + i) * d->kernel[1] + j] *
                       tap(d, n, first + c, i, j, at);
    return sum;
}

static void random_cases(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        random_source r = random_from(seed);
        deform d = draw_deform(&r);
        tsr_graph *graph = build(&r, &d);
        const tsr_value *y = value_named(graph, "y");
        expect_shape(y, SHAPE(d.batch, d.out_channels, d.out[0], d.out[1]));
        assert_non_null(y->data);
        const float *got = y->data;
        for (int64_t i = 0; i < tsr_shape_count(&y->shape); i++) {
            const int64_t area = d.out[0] * d.out[1], at[] = {i % area / d.out[1], i % d.out[1]};
            double wanted = expected(&d, i / area / d.out_channels, i / area % d.out_channels, at);
            if (!(fabs((double)got[i] - wanted) <= 1e-4))
                fail_msg("seed %u, element %d: %g instead of %g", seed, (int)i, (double)got[i],
                         wanted);
        }
        tsr_graph_destroy(graph);
        free(d.x);
        free(d.w);
        free(d.offset);
        free(d.bias);
        free(d.mask);
    }
}

static void refuse(const char *text, const char *words) {
    refuse_to_prepare(22, text, words);
}

static void refusals(void **state) {
    (void)state;
    refuse("DeformConv x[1,2,5,5] w{2,2,3,3} o[1,18,3,4] -> y",
           "'o' of shape [1, 18, 3, 4] instead of [1, 18, 3, 3]");
    refuse("DeformConv x[1,2,5,5] w{2,2,3,3} o[1,18,3,3] _ m[1,18,3,3] -> y",
           "'m' of shape [1, 18, 3, 3] instead of [1, 9, 3, 3]");
    refuse("DeformConv x[1,2,5,5] w{2,2,3,3} o[1,54,3,3] -> y offset_group=3",
           "3 groups of offsets for 2 channels");
    refuse("DeformConv x[1,2,5,5] w{2,1,3,3} o[1,18,3,3] -> y", "do not fit 2 channels");
    refuse("DeformConv x[1,0,5,5] w{2,0,3,3} o[1,18,3,3] -> y offset_group=1073741823",
           "too many offsets");
    refuse("DeformConv x[0,1,1,1] w{1,1,2,2} o[0,8,1073741824,1073741824] -> y "
           "pads=1073741824,1073741824,0,0",
           "is too large");
    refuse("DeformConv x[1,2,5] w{2,2,3} o[1,6,3] -> y", "of images only");
    refuse("DeformConv x:int8[1,2,5,5] w{2,2,3,3} o[1,18,3,3] -> y", "input 1 is of type float32");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cases),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
