/* GridSample. Coordinates are computed in float, as on GPUs and by ONNX Runtime, so that all take
 * the same one of two nearest pixels; sums in double. A coordinate that is NaN makes NaN. */
#include "cpu/call.h"

#include <math.h>

enum { MAX_TAPS = 4 };

/* Of an axis: the pixels that a point is made of, TSR_NONE for zeros beside the image. */
typedef struct taps {
    int64_t index[MAX_TAPS];
    double weight[MAX_TAPS];
} taps;

/* Clamped to positions that are ints on GPUs, too, and so are the pixels around. */
static float bounded(float x) {
    const float limit = 1 << 30;
    return fminf(fmaxf(x, -limit), limit);
}

static float locate(const tsr_grid_sample *s, float at, int64_t size) {
    at = bounded(at);
    return bounded(s->align_corners ? (at + 1) / 2 * (float)(size - 1)
                                    : ((at + 1) * (float)size - 1) / 2);
}

static int64_t reflect(const tsr_grid_sample *s, int64_t i, int64_t size) {
    int64_t edge = s->align_corners ? 0 : 1; /* repeated by each mirror image? */
    int64_t period = 2 * (size - 1 + edge);
    if (period == 0)
        return 0;
    i = (i % period + period) % period;
    return i < size ? i : period - edge - i;
}

static int64_t pad(const tsr_grid_sample *s, int64_t i, int64_t size) {
    if (i >= 0 && i < size)
        return i;
    if (s->padding == TSR_PAD_REFLECTION)
        return reflect(s, i, size);
    return s->padding == TSR_PAD_ZEROS ? TSR_NONE : i < 0 ? 0 : size - 1;
}

/* Keys' kernel with coefficient -0.75 at a distance. */
static double cubic_weight(double d) {
    const double a = -0.75;
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

static taps taps_of(const tsr_grid_sample *s, float at, int64_t size) {
    double x = locate(s, at, size), low = s->taps == 1 ? rint(x) : floor(x);
    int64_t first = (int64_t)low - (s->taps == 4);
    taps t;
    for (int k = 0; k < s->taps; k++) {
        double distance = fabs(x - (double)(first + k));
        t.index[k] = pad(s, first + k, size);
        t.weight[k] = s->taps == 1 ? 1 : s->taps == 2 ? 1 - distance : cubic_weight(distance);
    }
    return t;
}

/* Axes from the last one on: columns, rows, depths. Those that an image lacks are of one pixel. */
typedef struct sampler {
    tsr_grid_sample sample;
    int64_t size[TSR_MAX_SAMPLE_AXES];
    taps taps[TSR_MAX_SAMPLE_AXES];
    int count[TSR_MAX_SAMPLE_AXES]; /* of taps */
} sampler;

static sampler make_sampler(const tsr_grid_sample *sample, const tsr_shape *in) {
    sampler s = {.sample = *sample};
    for (int a = 0; a < TSR_MAX_SAMPLE_AXES; a++) {
        bool has = a < sample->axes;
        s.size[a] = has ? in->dim[in->rank - 1 - a] : 1;
        s.count[a] = has ? sample->taps : 1;
        s.taps[a] = (taps){.index = {0}, .weight = {1}};
    }
    return s;
}

/* False if a coordinate is NaN. */
static bool place_taps(sampler *s, const float *at) {
    for (int a = 0; a < s->sample.axes; a++) {
        if (isnan(at[a]))
            return false;
        s->taps[a] = taps_of(&s->sample, at[a], s->size[a]);
    }
    return true;
}

static double sample_row(const sampler *s, const float *row) {
    const taps *t = &s->taps[0];
    double sum = 0;
    for (int i = 0; i < s->count[0]; i++)
        if (t->index[i] != TSR_NONE)
            sum += t->weight[i] * row[t->index[i]];
    return sum;
}

static float sample_channel(const sampler *s, const float *x) {
    const taps *rows = &s->taps[1], *depths = &s->taps[2];
    double sum = 0;
    for (int k = 0; k < s->count[2]; k++)
        for (int j = 0; j < s->count[1]; j++)
            if (depths->index[k] != TSR_NONE && rows->index[j] != TSR_NONE)
                sum += depths->weight[k] * rows->weight[j] *
                       sample_row(s, x + (depths->index[k] * s->size[1] + rows->index[j]) *
                                             s->size[0]);
    return (float)sum;
}

tsr_status tsr_cpu_grid_sample(const tsr_cpu_call *call) {
    const tsr_shape *in = tsr_call_in_shape(call, 0), *out = tsr_call_out_shape(call, 0);
    int64_t channels = in->dim[1], points = tsr_dim_product(out, 2, out->rank);
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(call->graph, call->node, &sample));
    sampler s = make_sampler(&sample, in);
    int64_t pixels = s.size[0] * s.size[1] * s.size[2];
    for (int64_t n = 0; n < out->dim[0]; n++) {
        const float *x = (const float *)tsr_call_in(call, 0) + n * channels * pixels;
        const float *grid = (const float *)tsr_call_in(call, 1) + n * points * sample.axes;
        float *y = (float *)tsr_call_out(call, 0) + n * channels * points;
        for (int64_t i = 0; i < points; i++) {
            bool placed = place_taps(&s, grid + sample.axes * i);
            for (int64_t c = 0; c < channels; c++)
                y[c * points + i] = placed ? sample_channel(&s, x + c * pixels) : NAN;
        }
    }
    return TSR_OK;
}
