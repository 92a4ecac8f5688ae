#include "algorithm/phases.h"
#include "algorithm/block_weights.h"

#include "base/divide.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    return b ? greatest_common_divisor(b, a % b) : a;
}

void tsr_phase_steps(const tsr_window *w, int64_t steps[2]) {
    for (int i = 0; i < 2; i++) {
        steps[i] = w->stride[i] / greatest_common_divisor(w->stride[i], w->dilation[i]);
        /* So that tap + step stays an integer. */
        steps[i] = steps[i] < w->kernel[i] ? steps[i] : w->kernel[i];
    }
}

bool tsr_phase_tap(const tsr_window *w, const int64_t phase[2], const int64_t index[2],
                   size_t *element) {
    int64_t k[2];
    for (int i = 0; i < 2; i++)
        k[i] = (phase[i] + w->pad_begin[i]) % w->stride[i] + index[i] * w->stride[i];
    *element = (size_t)(k[0] * w->kernel[1] + k[1]);
    return k[0] < w->kernel[0] && k[1] < w->kernel[1];
}

bool tsr_phases_make(const tsr_plan *plan, const tsr_problem *problem, tsr_layout *output,
                     tsr_phases *p) {
    if (!tsr_problem_layout(plan, problem, (tsr_layout_hint){.planes = TSR_BLOCK_PLANES}, output))
        return false;
    const tsr_convolution *conv = &problem->conv;
    const tsr_window *w = &conv->window;
    bool transposed = problem->kind == TSR_CONV_TRANSPOSE;
    bool dilated = w->dilation[0] > 1 || w->dilation[1] > 1,
         empty = w->stride[0] > w->kernel[0] || w->stride[1] > w->kernel[1];
    const int64_t size[2] = {output->h, output->w};
    *p = (tsr_phases){.conv = *conv,
                      .transposed = transposed,
                      .images = output->n,
                      .tiles = tsr_divide_up(conv->group_inputs, 4),
                      .outputs = tsr_divide_up(conv->group_outputs, 4)};
    for (int i = 0; i < 2; i++) {
        p->stride[i] = transposed ? 1 : w->stride[i];
        p->count[i] = transposed ? w->stride[i] : 1;
        p->taps[i] = tsr_divide_up(w->kernel[i], p->count[i]);
        p->size[i] = tsr_divide_up(size[i], p->count[i]);
    }
    return w->group == 1 && !(transposed && (dilated || empty));
}

int tsr_phases_output(tsr_plan *plan, const tsr_problem *problem) {
    int output = tsr_problem_output(plan, problem, 1);
    tsr_plan_narrow(plan, output, TSR_BLOCK_PLANES);
    return output;
}

int tsr_phases_pad(const tsr_phases *p, int64_t phase, int axis) {
    const tsr_window *w = &p->conv.window;
    int64_t pad = w->pad_begin[axis];
    return (int)(p->transposed ? p->taps[axis] - 1 - (phase + pad) / w->stride[axis] : pad);
}

/* The kernel's element for a tap; false if the phase has no such tap. Phases begin with the
 * output's first pixel; as a convolution a phase has the taps in reverse order. */
static bool find_tap(const tsr_phases *p, const int64_t phase[2], const int64_t tap[2],
                     size_t *element) {
    const tsr_window *w = &p->conv.window;
    const int64_t index[2] = {p->taps[0] - 1 - tap[0], p->taps[1] - 1 - tap[1]};
    if (p->transposed)
        return tsr_phase_tap(w, phase, index, element);
    *element = (size_t)(tap[0] * w->kernel[1] + tap[1]);
    return true;
}

/* Four inputs by `outputs` outputs. Unrolled for four of them: most of the time of creating
 * a session is spent here. */
static void add_channels(const tsr_convolution *c, const tsr_unaligned_float *weights,
                         const double scale[4], int64_t inputs, int64_t outputs, int64_t stride,
                         float *texels) {
    for (int64_t i = 0; i < 4 && i < inputs; i++, texels += stride * 4) {
        const tsr_unaligned_float *w = weights + (size_t)i * c->stride_input;
        if (outputs < 4) {
            for (int64_t o = 0; o < outputs; o++)
                texels[o] += (float)(w[(size_t)o * c->stride_output] * scale[o]);
            continue;
        }
        texels[0] += (float)(w[0] * scale[0]);
        texels[1] += (float)(w[c->stride_output] * scale[1]);
        texels[2] += (float)(w[2 * c->stride_output] * scale[2]);
        texels[3] += (float)(w[3 * c->stride_output] * scale[3]);
    }
}

/* The same as integers in blocks. */
static void add_blocks(const tsr_convolution *c, int64_t input, int64_t output, size_t tap,
                       int64_t stride, float *texels) {
    for (int64_t i = 0; i < 4 && input + i < c->group_inputs; i++)
        for (int64_t o = 0; o < 4 && output + o < c->group_outputs; o++)
            texels[i * stride * 4 + o] += tsr_block_integer(c, output + o, input + i, tap);
}

void tsr_phases_add(const tsr_phases *p, const int64_t phase[2], const int64_t tap[2], int64_t tile,
                    int64_t output, int64_t stride, double factor, float *texels) {
    const tsr_convolution *c = &p->conv;
    size_t element;
    double scale[4];
    if (!find_tap(p, phase, tap, &element))
        return;
    for (int o = 0; o < 4; o++)
        scale[o] = tsr_weight_scale(c, (int)output * 4 + o) * factor;
    if (c->blocks) {
        add_blocks(c, tile * 4, output * 4, element, stride, texels);
        return;
    }
    add_channels(c,
                 c->weights + (size_t)output * 4 * c->stride_output +
                     (size_t)tile * 4 * c->stride_input + element,
                 scale, c->group_inputs - tile * 4, c->group_outputs - output * 4, stride, texels);
}
