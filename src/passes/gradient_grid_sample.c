/* The gradients of GridSample: a result is a sum of pixels times weights, a pixel of each axis by
 * each of its taps. Its pixels get its gradient times their weights, the grid the slopes of the
 * weights. Points are rows: values are [N, P] by image and point. */
#include "passes/gradient_rules.h"

#include "base/error.h"
#include "graph/infer.h"

enum { MAX_TAPS = 4 };

/* An axis of the image, from the last one on: of each tap the pixel, float32, and its weight. */
typedef struct axis_taps {
    int index[MAX_TAPS], weight[MAX_TAPS];
    int slope[MAX_TAPS]; /* of the weight by the grid; only where that is wanted */
} axis_taps;

typedef struct sampling {
    tsr_gradient_call *g;
    tsr_grid_sample sample;
    int64_t batch, channels, points, pixels, size[TSR_MAX_SAMPLE_AXES];
    axis_taps taps[TSR_MAX_SAMPLE_AXES];
    int dy; /* [N P, C] */
} sampling;

static int number(const sampling *s, double value) {
    return tsr_build_number(&s->g->b, (float)value);
}

static int combine(const sampling *s, tsr_op op, int left, int right) {
    return TSR_BUILD(&s->g->b, op, left, right);
}

static int by_number(const sampling *s, tsr_op op, int value, double right) {
    return combine(s, op, value, number(s, right));
}

/* Values from `first` on are stored in 32 bits: places in the image. */
static void store_exactly(const sampling *s, int first) {
    for (int v = first; v < s->g->b.graph->value_count; v++)
        s->g->b.graph->values[v].precise = true;
}

/* ---- taps ------------------------------------------------------------------------------------ */

/* In pixels, as src/cpu/grid_sample.c computes it. */
static int locate(const sampling *s, int axis) {
    const int inputs[] = {s->g->node->inputs[1], tsr_build_index(&s->g->b, axis)};
    const tsr_attr last = tsr_int_attr("axis", s->sample.axes + 1);
    int at = tsr_build_with(&s->g->b, TSR_OP_Gather, 2, inputs, 1, &last);
    at = tsr_build_reshape(&s->g->b, at, &(tsr_shape){2, {s->batch, s->points}});
    at = by_number(s, TSR_OP_Add, at, 1);
    if (s->sample.align_corners)
        return by_number(s, TSR_OP_Mul, by_number(s, TSR_OP_Div, at, 2), (double)s->size[axis] - 1);
    at = by_number(s, TSR_OP_Mul, at, (double)s->size[axis]);
    return by_number(s, TSR_OP_Div, by_number(s, TSR_OP_Sub, at, 1), 2);
}

/* i mod period is i - period * floor((i + 0.5) / period): no quotient is near an integer. */
static int reflect(const sampling *s, int i, int64_t size) {
    const int64_t edge = s->sample.align_corners ? 0 : 1, period = 2 * (size - 1 + edge);
    if (period == 0)
        return i;
    int part = by_number(s, TSR_OP_Div, by_number(s, TSR_OP_Add, i, 0.5), (double)period);
    int turns = by_number(s, TSR_OP_Mul, TSR_GRAD(s->g, Floor, part), (double)period);
    int rest = combine(s, TSR_OP_Sub, i, turns);
    return combine(s, TSR_OP_Min, rest,
                   combine(s, TSR_OP_Sub, number(s, (double)(period - edge)), rest));
}

/* A pixel of the image for each, whatever the number. */
static int pad(const sampling *s, int i, int64_t size) {
    if (s->sample.padding == TSR_PAD_REFLECTION)
        i = reflect(s, i, size);
    return TSR_GRAD(s->g, Clip, i, number(s, 0), number(s, (double)size - 1));
}

/* ((c3 d + c2) d + c1) d + c0 */
static int polynomial(const sampling *s, int d, const double c[4]) {
    int sum = number(s, c[3]);
    for (int i = 2; i >= 0; i--)
        sum = by_number(s, TSR_OP_Add, combine(s, TSR_OP_Mul, sum, d), c[i]);
    return sum;
}

/* Of tap k by what is left of the position after its integer: Keys' kernel, a = -0.75, whose
 * distance is that plus 1, that, and 1 and 2 minus that. */
static void weigh(const sampling *s, int k, int rest, int *weight, int *slope) {
    static const double linear[2][4] = {{1, -1}, {0, 1}},
                        cubic[MAX_TAPS][4] = {{0, -0.75, 1.5, -0.75},
                                              {1, 0, -2.25, 1.25},
                                              {0, 0.75, 1.5, -1.25},
                                              {0, 0, -0.75, 0.75}};
    const double one[4] = {1};
    const double *c = s->sample.taps == 1 ? one : s->sample.taps == 2 ? linear[k] : cubic[k];
    const double derived[4] = {c[1], 2 * c[2], 3 * c[3]};
    *weight = polynomial(s, rest, c);
    *slope = tsr_grad_wants(s->g, 1) ? polynomial(s, rest, derived) : TSR_NONE;
}

static void place_taps(sampling *s, int axis) {
    tsr_gradient_call *g = s->g;
    const int64_t size = s->size[axis];
    const double scale = (double)(size - (s->sample.align_corners ? 1 : 0)) / 2;
    const int first = g->b.graph->value_count;
    int at = locate(s, axis),
        low = s->sample.taps == 1 ? TSR_GRAD(g, Round, at) : TSR_GRAD(g, Floor, at),
        rest = combine(s, TSR_OP_Sub, at, low);
    for (int k = 0; k < s->sample.taps; k++) {
        axis_taps *t = &s->taps[axis];
        int i = by_number(s, TSR_OP_Add, low, k - (s->sample.taps == MAX_TAPS)), inside;
        t->index[k] = pad(s, i, size);
        store_exactly(s, first);
        weigh(s, k, rest, &t->weight[k], &t->slope[k]);
        if (t->slope[k] != TSR_NONE)
            t->slope[k] = by_number(s, TSR_OP_Mul, t->slope[k], scale);
        if (s->sample.padding != TSR_PAD_ZEROS)
            continue;
        inside = combine(s, TSR_OP_Equal, i, t->index[k]);
        t->weight[k] = tsr_grad_where(g, inside, t->weight[k]);
        if (t->slope[k] != TSR_NONE)
            t->slope[k] = tsr_grad_where(g, inside, t->slope[k]);
    }
}

/* ---- sums over taps -------------------------------------------------------------------------- */

/* The tap of an axis in combination number c. */
static int tap_of(const sampling *s, int c, int axis) {
    for (int a = 0; a < axis; a++)
        c /= s->sample.taps;
    return c % s->sample.taps;
}

static int combination_count(const sampling *s) {
    int count = 1;
    for (int a = 0; a < s->sample.axes; a++)
        count *= s->sample.taps;
    return count;
}

/* Rows of [N pixels, C], as [N P, 1]. GPUs add floats, which hold them exactly. */
static int find_rows(const sampling *s, int c) {
    tsr_builder *b = &s->g->b;
    const int first = b->graph->value_count;
    int sum = tsr_build_cast(b, tsr_build_indices(b, TSR_DTYPE_I64, s->batch, 0, 2), TSR_DTYPE_F32);
    for (int a = s->sample.axes - 1; a >= 0; a--)
        sum = combine(s, TSR_OP_Add, by_number(s, TSR_OP_Mul, sum, (double)s->size[a]),
                      s->taps[a].index[tap_of(s, c, a)]);
    sum = tsr_build_cast(b, sum, TSR_DTYPE_I64);
    store_exactly(s, first);
    return tsr_build_reshape(b, sum, &(tsr_shape){2, {s->batch * s->points, 1}});
}

/* The product of the weights, of which one may be replaced by its slope, as [N P, 1]. */
static int multiply(const sampling *s, int c, int sloping) {
    int product = TSR_NONE;
    for (int a = 0; a < s->sample.axes; a++) {
        const axis_taps *t = &s->taps[a];
        int k = tap_of(s, c, a), factor = a == sloping ? t->slope[k] : t->weight[k];
        product = a == 0 ? factor : combine(s, TSR_OP_Mul, product, factor);
    }
    return tsr_build_reshape(&s->g->b, product, &(tsr_shape){2, {s->batch * s->points, 1}});
}

static int join(const sampling *s, const int *parts, int count, int axis) {
    const tsr_attr along = tsr_int_attr("axis", axis);
    return tsr_build_with(&s->g->b, TSR_OP_Concat, count, parts, 1, &along);
}

/* [N, C, M] <-> [N, M, C], of rows [N M, C]. */
static int to_rows(const sampling *s, int value, int64_t count) {
    static const int64_t order[] = {0, 2, 1};
    int seen = tsr_grad_reshape(s->g, value, &(tsr_shape){3, {s->batch, s->channels, count}});
    return tsr_grad_reshape(s->g, tsr_grad_transpose(s->g, seen, order),
                            &(tsr_shape){2, {s->batch * count, s->channels}});
}

static void give_image(const sampling *s, const int *rows) {
    enum { MOST = MAX_TAPS * MAX_TAPS * MAX_TAPS };
    static const int64_t order[] = {0, 2, 1};
    static const tsr_attr add = {.name = "reduction", .kind = TSR_ATTR_STRING, .s = "add"};
    const int count = combination_count(s);
    const tsr_shape shape = tsr_grad_shape(s->g, s->g->x),
                    image = {2, {s->batch * s->pixels, s->channels}},
                    planes = {3, {s->batch, s->pixels, s->channels}};
    int parts[MOST];
    for (int c = 0; c < count; c++)
        parts[c] = combine(s, TSR_OP_Mul, s->dy, multiply(s, c, TSR_NONE));
    const int inputs[] = {tsr_grad_zeros(s->g, &image), join(s, rows, count, 0),
                          join(s, parts, count, 0)};
    int sums = tsr_build_with(&s->g->b, TSR_OP_ScatterND, 3, inputs, 1, &add);
    sums = tsr_grad_transpose(s->g, tsr_grad_reshape(s->g, sums, &planes), order);
    tsr_grad_give(s->g, 0, tsr_grad_reshape(s->g, sums, &shape));
}

/* What moves with a point is, by combination, the sum over channels of pixel times gradient. */
static void give_grid(const sampling *s, const int *rows) {
    static const int64_t channels[] = {1};
    const tsr_shape shape = tsr_grad_shape(s->g, s->g->node->inputs[1]);
    int image = to_rows(s, s->g->x, s->pixels), sums[TSR_MAX_SAMPLE_AXES];
    for (int c = 0; c < combination_count(s); c++) {
        int pixels = TSR_GRAD(s->g, GatherND, image, rows[c]);
        int each = tsr_grad_reduce(s->g, TSR_OP_ReduceSum, combine(s, TSR_OP_Mul, pixels, s->dy), 1,
                                   channels);
        for (int a = 0; a < s->sample.axes; a++) {
            int part = combine(s, TSR_OP_Mul, each, multiply(s, c, a));
            sums[a] = c == 0 ? part : combine(s, TSR_OP_Add, sums[a], part);
        }
    }
    tsr_grad_give(s->g, 1, tsr_grad_reshape(s->g, join(s, sums, s->sample.axes, 1), &shape));
}

static void check(const sampling *s) {
    const int64_t exact = 1 << 24;
    for (int i = 0; i < 2; i++)
        if (tsr_node_in(s->g->b.graph, s->g->node, i)->dtype != TSR_DTYPE_F32)
            tsr_grad_refuse(s->g, "of other types than float32 it");
    if (s->batch * s->pixels > exact)
        tsr_grad_refuse(s->g, "of more than 2^24 pixels it");
}

/* Of nearest pixels, the grid's gradient is zero. */
void tsr_gradient_grid_sample(tsr_gradient_call *g) {
    enum { MOST = MAX_TAPS * MAX_TAPS * MAX_TAPS };
    const tsr_shape in = tsr_grad_shape(g, g->x), out = tsr_grad_shape(g, g->y),
                    grid = tsr_grad_shape(g, g->node->inputs[1]);
    sampling s = {.g = g,
                  .batch = in.dim[0],
                  .channels = in.dim[1],
                  .points = tsr_dim_product(&out, 2, out.rank),
                  .pixels = tsr_dim_product(&in, 2, in.rank)};
    int rows[MOST];
    check(&s);
    tsr_build_fail(&g->b, tsr_node_grid_sample(g->b.graph, g->node, &s.sample));
    for (int a = 0; a < s.sample.axes && g->b.status == TSR_OK; a++) {
        s.size[a] = in.dim[in.rank - 1 - a];
        place_taps(&s, a);
    }
    if (g->b.status != TSR_OK)
        return;
    s.dy = to_rows(&s, g->dy, s.points);
    for (int c = 0; c < combination_count(&s); c++)
        rows[c] = find_rows(&s, c);
    if (tsr_grad_wants(g, 0))
        give_image(&s, rows);
    if (tsr_grad_wants(g, 1) && s.sample.taps == 1)
        tsr_grad_give(g, 1, tsr_grad_zeros(g, &grid));
    else if (tsr_grad_wants(g, 1))
        give_grid(&s, rows);
}
