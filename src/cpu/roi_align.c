/* RoiAlign. Coordinates are computed in float, as on GPUs, so that all take the same pixels. */
#include "cpu/call.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>

/* Along an axis: the two pixels around a point and their weights, which are 0 far outside. */
typedef struct pixel_pair {
    int64_t index[2];
    float weight[2];
} pixel_pair;

static pixel_pair around(float at, int64_t size) {
    if (!(at >= -1 && at <= (float)size))
        return (pixel_pair){{0, 0}, {0, 0}};
    at = fminf(fmaxf(at, 0), (float)(size - 1));
    int64_t low = (int64_t)at, high = low + 1 < size ? low + 1 : size - 1;
    return (pixel_pair){{low, high}, {1 - (at - (float)low), at - (float)low}};
}

/* An axis of a region. */
typedef struct span {
    float first, bin;
    int points; /* of a bin */
} span;

static span make_span(const tsr_roi_align *roi, float low, float high, int64_t bins) {
    const float shift = roi->half_pixel ? 0.5f : 0;
    span s = {.first = low * roi->scale - shift, .points = roi->samples};
    float size = high * roi->scale - shift - s.first;
    size = roi->half_pixel ? size : fmaxf(size, 1);
    s.bin = size / (float)bins;
    if (!roi->samples)
        s.points = (int)fminf(fmaxf(ceilf(s.bin), 0), TSR_MAX_ROI_SAMPLES);
    return s;
}

static float point_of(const span *s, int64_t bin, int i) {
    return s->first + ((float)bin + ((float)i + 0.5f) / (float)s->points) * s->bin;
}

static float pool_bin(const tsr_roi_align *roi, const float *plane, int64_t height, int64_t width,
                      const span rows, const span columns, int64_t y, int64_t x) {
    double sum = 0, largest = 0;
    for (int j = 0; j < rows.points; j++) {
        const pixel_pair v = around(point_of(&rows, y, j), height);
        for (int i = 0; i < columns.points; i++) {
            const pixel_pair h = around(point_of(&columns, x, i), width);
            for (int k = 0; k < 4; k++) {
                double part = (double)(v.weight[k / 2] * h.weight[k % 2]) *
                              (double)plane[v.index[k / 2] * width + h.index[k % 2]];
                sum += part;
                largest = i + j + k == 0 || part > largest ? part : largest;
            }
        }
    }
    int count = rows.points * columns.points;
    return (float)(roi->largest ? largest : sum / (count ? count : 1));
}

tsr_status tsr_cpu_roi_align(const tsr_cpu_call *call) {
    const tsr_shape *in = tsr_call_in_shape(call, 0), *out = tsr_call_out_shape(call, 0);
    const float *x = tsr_call_in(call, 0), *regions = tsr_call_in(call, 1);
    const int64_t *images = tsr_call_in(call, 2), height = in->dim[2], width = in->dim[3];
    float *y = tsr_call_out(call, 0);
    tsr_roi_align roi;
    TSR_TRY(tsr_node_roi_align(call->node, &roi));
    for (int64_t r = 0; r < out->dim[0]; r++) {
        const float *edge = regions + 4 * r;
        if (images[r] < 0 || images[r] >= in->dim[0])
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "image %" PRId64 " of %" PRId64, images[r],
                            in->dim[0]);
        const span columns = make_span(&roi, edge[0], edge[2], roi.columns),
                   rows = make_span(&roi, edge[1], edge[3], roi.rows);
        for (int64_t c = 0; c < in->dim[1]; c++) {
            const float *plane = x + (images[r] * in->dim[1] + c) * height * width;
            for (int64_t i = 0; i < roi.rows * roi.columns; i++)
                *y++ = pool_bin(&roi, plane, height, width, rows, columns, i / roi.columns,
                                i % roi.columns);
        }
    }
    return TSR_OK;
}
