/* AdamUpdate. */
#include "cpu/call.h"
#include "graph/update.h"

#include <math.h>

/* An element. */
typedef struct element {
    double x, mean, square;
} element;

static element update(element e, double gradient, const tsr_adam *adam, const float factors[4]) {
    double g = (factors[0] == 0 ? 0 : gradient * factors[0]) + adam->norm_coefficient * e.x;
    e.mean += adam->mean_part * (g - e.mean);
    e.square += adam->square_part * (g * g - e.square);
    e.x = e.x * factors[3] - e.mean * factors[1] / (sqrt(e.square) * factors[2] + adam->epsilon);
    return e;
}

tsr_status tsr_cpu_adam_update(const tsr_cpu_call *call) {
    const float *in[TSR_ADAM_INPUTS];
    float *out[TSR_ADAM_OUTPUTS];
    const tsr_adam adam = tsr_adam_of(call->node);
    const int64_t count = tsr_shape_count(tsr_call_in_shape(call, 0));
    for (int k = 0; k < TSR_ADAM_INPUTS; k++)
        in[k] = tsr_call_in(call, k);
    for (int k = 0; k < TSR_ADAM_OUTPUTS; k++)
        out[k] = tsr_call_out(call, k);
    for (int64_t i = 0; i < count; i++) {
        const element before = {in[TSR_ADAM_X][i], in[TSR_ADAM_MEANS][i], in[TSR_ADAM_SQUARES][i]};
        const element e = update(before, in[TSR_ADAM_GRADIENT][i], &adam, in[TSR_ADAM_FACTORS]);
        out[0][i] = (float)e.x;
        out[1][i] = (float)e.mean;
        out[2][i] = (float)e.square;
    }
    return TSR_OK;
}
