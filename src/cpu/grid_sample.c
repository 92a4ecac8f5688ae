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

static float sample_plane(const float *x, int64_t width, const taps *rows, const taps *columns,
                          int count) {
    double sum = 0;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++)
            if (rows->index[j] != TSR_NONE && columns->index[i] != TSR_NONE)
                sum += rows->weight[j] * columns->weight[i] *
                       x[rows->index[j] * width + columns->index[i]];
    return (float)sum;
}

tsr_status tsr_cpu_grid_sample(const tsr_cpu_call *call) {
    const tsr_shape *in = tsr_call_in_shape(call, 0), *out = tsr_call_out_shape(call, 0);
    int64_t height = in->dim[2], width = in->dim[3], points = out->dim[2] * out->dim[3];
    tsr_grid_sample sample;
    TSR_TRY(tsr_node_grid_sample(call->node, &sample));
    for (int64_t n = 0; n < out->dim[0]; n++) {
        const float *x = (const float *)tsr_call_in(call, 0) + n * in->dim[1] * height * width;
        const float *grid = (const float *)tsr_call_in(call, 1) + n * points * 2;
        float *y = (float *)tsr_call_out(call, 0) + n * in->dim[1] * points;
        for (int64_t i = 0; i < points; i++) {
            const float *at = grid + 2 * i;
            bool is_nan = isnan(at[0]) || isnan(at[1]);
            taps rows = taps_of(&sample, at[1], height), columns = taps_of(&sample, at[0], width);
            for (int64_t c = 0; c < in->dim[1]; c++)
                y[c * points + i] = is_nan ? NAN
                                           : sample_plane(x + c * height * width, width, &rows,
                                                          &columns, sample.taps);
        }
    }
    return TSR_OK;
}
