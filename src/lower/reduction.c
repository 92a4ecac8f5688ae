#include "lower/reduction.h"

#include "base/divide.h"

/* SIDE: of a block where rounding errors matter, as a sum of short sums has smaller ones. */
enum { SIDE = 16, BUSY_GROUPS = 1024 };
/* A workgroup is worth its barriers if its invocations have so much each, or else would be few. */
enum { SHARED_TEXELS = 256, FEW_TEXELS = 8, FEW_PIXELS = 4096 };

tsr_pass *tsr_lower_reduction(tsr_plan *plan, const tsr_node *node, int input,
                              tsr_reduce_fn *reduce) {
    const tsr_problem problem = {
        .kind = TSR_REDUCTION, .node = node, .input = input, .output = TSR_NONE, .reduce = reduce};
    return tsr_lower_problem(plan, &problem);
}

tsr_reduction tsr_over_image(bool workgroups) {
    return (tsr_reduction){.axis = {[TSR_AXIS_H] = true, [TSR_AXIS_W] = true},
                           .exact = true,
                           .workgroups = workgroups};
}

/* Few, so that there are fragments enough to keep the device busy. But an image no larger than a
 * block, SIDE x SIDE texels, is reduced in one step, a larger one in two where it can be: a pass
 * costs a GPU more than the longer loop of a fragment. */
int64_t tsr_reduction_texels(const tsr_plan *plan, const tsr_layout *l, const tsr_reduction *r) {
    bool groups = r->workgroups, images = r->exact && !groups;
    int64_t texels = (int64_t)l->n * l->tiles * l->h * l->w, pixels = (int64_t)l->h * l->w,
            most = groups ? 4096 : SIDE * SIDE,
            least = groups   ? 256
                    : images ? 32
                             : 64,
            busy = groups ? BUSY_GROUPS : plan->device.busy_fragments;
    if (!busy || (images && pixels <= most))
        return most;
    if (images)
        least = tsr_max(least, tsr_divide_up(pixels, most));
    return tsr_min(tsr_max(texels / busy, least), most);
}

/* Of a block of an image, about as square as its rows allow. */
static int64_t side_of(int64_t texels, int rows) {
    return texels > SIDE * SIDE / 4 || rows < SIDE / 2 ? SIDE : SIDE / 2;
}

static int64_t count_texels(const tsr_shape *shape) {
    return shape->dim[0] * tsr_divide_up(shape->dim[1], 4) * shape->dim[2] * shape->dim[3];
}

/* Is it for a workgroup to make each pixel of the result? */
static bool for_groups(const tsr_reduction *r, const tsr_reduction_step *step) {
    return r->workgroups &&
           (step->texels >= SHARED_TEXELS ||
            (step->texels >= FEW_TEXELS && count_texels(&step->shape) < FEW_PIXELS));
}

tsr_reduction_step tsr_reduction_next(const tsr_layout *l, const tsr_reduction *r, int64_t texels) {
    const int size[4] = {l->n, l->tiles, l->h, l->w};
    const int group[4] = {1, 1, 1, l->planes * l->pixel_stride}; /* glsl kernels read whole ones */
    int64_t most = r->exact && !r->workgroups ? side_of(texels, l->h) : texels;
    tsr_reduction_step step = {.shape = {4, {l->n, l->c, l->h, l->w}}, .last = true, .texels = 1};
    for (int i = 3; i >= 0; i--) {
        int64_t wanted = ((texels < most ? texels : most) + group[i] - 1) / group[i] * group[i];
        step.block[i] = !r->axis[i] ? 1 : size[i] < wanted ? size[i] : (int)wanted;
        step.texels *= step.block[i];
        texels = texels > step.block[i] ? texels / step.block[i] : 1;
        if (!r->axis[i])
            continue;
        step.shape.dim[i] = tsr_divide_up(size[i], step.block[i]);
        step.last = step.last && step.shape.dim[i] == 1;
    }
    if (r->axis[TSR_AXIS_C] && !step.last)
        step.shape.dim[TSR_AXIS_C] *= 4; /* channels are added up within texels at last */
    step.by_groups = for_groups(r, &step);
    return step;
}

int tsr_reduction_result(tsr_plan *plan, const tsr_shape *shape) {
    return tsr_plan_tensor_make(plan, shape, (tsr_layout_hint){.planes = 1});
}

int tsr_reduction_pairs(tsr_plan *plan, const tsr_reduction_step *step) {
    return tsr_reduction_columns(plan, step, 2);
}

int tsr_reduction_columns(tsr_plan *plan, const tsr_reduction_step *step, int count) {
    tsr_shape columns = step->shape;
    columns.dim[TSR_AXIS_W] *= count;
    return tsr_plan_tensor_make(plan, &columns, (tsr_layout_hint){.planes = count});
}

float tsr_reduction_scale(const tsr_plan *plan, const tsr_reduction_step *step) {
    return plan->limits.half_only
               ? 1 / ((float)step->block[TSR_AXIS_H] * (float)step->block[TSR_AXIS_W])
               : 1;
}

void tsr_reduction_take(const tsr_reduction_step *step, tsr_layout *blocks) {
    blocks->n = (int)step->shape.dim[TSR_AXIS_N];
    blocks->c = (int)step->shape.dim[TSR_AXIS_C];
    blocks->tiles = (int)tsr_divide_up(blocks->c, 4);
    blocks->h = (int)step->shape.dim[TSR_AXIS_H];
    blocks->w = (int)step->shape.dim[TSR_AXIS_W];
    blocks->planes = blocks->pixel_stride = 1;
}

void tsr_reduction_groups(tsr_pass *pass, const tsr_reduction_step *step) {
    enum { INVOCATIONS = 64 }; /* of a workgroup where each takes a block */
    int64_t pixels = count_texels(&step->shape);
    tsr_pass_groups(pass, step->by_groups ? pixels : tsr_divide_up(pixels, INVOCATIONS));
}

tsr_args_extent tsr_extent_args(int64_t rows, int64_t columns) {
    return (tsr_args_extent){TSR_INT(rows), TSR_INT(columns)};
}
