/* Which algorithm computes a node: the one place that decides. */
#include "algorithm/algorithm.h"
#include "algorithm/integer_weights.h"

#include "base/divide.h"
#include "base/error.h"

#include <string.h>

/* Small modules of pages have those of one language. */
static const tsr_algorithm *const algorithms[] = {
#if !defined TSR_SMALL || defined TSR_GLES
    &tsr_conv_direct,
    &tsr_conv_direct_split_k,
    &tsr_conv_depthwise_direct,
    &tsr_conv_uniform_block,
    &tsr_conv_direct_taps,
    &tsr_conv_direct_taps_split_k,
    &tsr_conv_depthwise_taps,
    &tsr_conv_uniform_block_taps,
    &tsr_conv_im2col,
    &tsr_conv_winograd,
    &tsr_pool_row,
    &tsr_resize_row,
#endif
#if !defined TSR_SMALL || defined TSR_WEBGPU
    &tsr_gemm_registers,
    &tsr_gemm_workgroup,
    &tsr_gemm_sliced_k,
    &tsr_gemm_subgroup_matrix,
    &tsr_reduce_workgroup,
#endif
    &tsr_conv_any,
    &tsr_matmul_any,
    &tsr_pool_any,
    &tsr_resize_any,
    &tsr_reduce_invocation,
};
enum { COUNT = sizeof algorithms / sizeof *algorithms };
#ifndef TSR_SMALL
_Static_assert((int)COUNT == (int)TSR_ALGORITHMS, "see algorithm.h");
#endif

const char *tsr_algorithm_name(const char *name) {
    for (int i = 0; i < COUNT; i++)
        if (!strcmp(algorithms[i]->name, name))
            return algorithms[i]->name;
    return NULL;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* tsr_device_desc.kernels. Each allows what those before it do. */
typedef enum kernel_choice {
    KERNELS_AUTO,
    KERNELS_PLAIN,
    KERNELS_DIRECT,
    KERNELS_SHARED,
    KERNELS_BLOCKS,
    KERNELS_SMALL,
    KERNELS_MIDGARD,
    KERNELS_VALHALL,
    KERNELS_COUNT
} kernel_choice;

/* KERNELS_COUNT if there is none of this name. */
static kernel_choice find_kernels(const char *name) {
    static const char *const names[] = {"",       "plain", "direct",  "shared",
                                        "blocks", "small", "midgard", "valhall"};
    int i = KERNELS_AUTO;
    while (name && i < KERNELS_COUNT && strcmp(names[i], name))
        i++;
    return (kernel_choice)i;
}

bool tsr_kernels_known(const char *kernels) {
    return find_kernels(kernels) != KERNELS_COUNT;
}

static const tsr_fragment_limits fragments_of[KERNELS_COUNT] = {
    [KERNELS_SMALL] = TSR_FRAGMENTS_SMALL,
    [KERNELS_MIDGARD] = TSR_FRAGMENTS_MIDGARD,
    [KERNELS_VALHALL] = TSR_FRAGMENTS_VALHALL};

static tsr_device_profile glsl_profile(kernel_choice choice, bool is_software,
                                       tsr_fragment_limits fragments) {
    static const unsigned allowed[] = {[KERNELS_AUTO] = TSR_ALLOW_ALL,
                                       [KERNELS_PLAIN] = TSR_ALLOW_ANY | TSR_ALLOW_DIRECT,
                                       [KERNELS_DIRECT] = TSR_ALLOW_ANY | TSR_ALLOW_DIRECT,
                                       [KERNELS_SHARED] =
                                           TSR_ALLOW_ANY | TSR_ALLOW_DIRECT | TSR_ALLOW_SPLIT_K,
                                       [KERNELS_BLOCKS] = TSR_ALLOW_ALL,
                                       [KERNELS_SMALL] = TSR_ALLOW_ALL,
                                       [KERNELS_MIDGARD] = TSR_ALLOW_ALL,
                                       [KERNELS_VALHALL] = TSR_ALLOW_ALL};
    enum { BUSY_FRAGMENTS = 16384, BUSY_FRAGMENTS_OF_FEW = 2048 }; /* of large and small GPUs */
    bool gpu = choice >= KERNELS_SHARED || (choice == KERNELS_AUTO && !is_software);
    if (choice != KERNELS_AUTO)
        fragments = fragments_of[choice];
    bool few = fragments.registers != 0;
    int busy = few ? BUSY_FRAGMENTS_OF_FEW : BUSY_FRAGMENTS;
    return (tsr_device_profile){.allowed = allowed[choice] | (few ? TSR_ALLOW_TAPS : 0),
                                .software = !gpu,
                                .specialize = gpu,
                                .busy_fragments = gpu ? busy : 0,
                                .planes = gpu && choice != KERNELS_SHARED ? TSR_BLOCK_PLANES : 0,
                                .fragments = fragments};
}

static tsr_device_profile wgsl_profile(kernel_choice choice, bool is_software) {
    static const unsigned allowed[] = {[KERNELS_AUTO] = TSR_ALLOW_ALL,
                                       [KERNELS_PLAIN] = TSR_ALLOW_ANY,
                                       [KERNELS_DIRECT] = TSR_ALLOW_ANY | TSR_ALLOW_DIRECT,
                                       [KERNELS_SHARED] = TSR_ALLOW_ANY | TSR_ALLOW_WORKGROUPS,
                                       [KERNELS_BLOCKS] = TSR_ALLOW_ANY | TSR_ALLOW_WORKGROUPS,
                                       [KERNELS_SMALL] = TSR_ALLOW_ANY | TSR_ALLOW_WORKGROUPS,
                                       [KERNELS_MIDGARD] = TSR_ALLOW_ANY | TSR_ALLOW_WORKGROUPS,
                                       [KERNELS_VALHALL] = TSR_ALLOW_ANY | TSR_ALLOW_WORKGROUPS};
    bool gpu = choice >= KERNELS_SHARED || (choice == KERNELS_AUTO && !is_software);
    return (tsr_device_profile){.allowed = allowed[choice], .software = !gpu};
}

tsr_device_profile tsr_device_profile_make(tsr_language language, const char *kernels,
                                           bool is_software, tsr_fragment_limits fragments) {
    kernel_choice choice = find_kernels(kernels);
    tsr_device_profile p = language == TSR_GLSL ? glsl_profile(choice, is_software, fragments)
                                                : wgsl_profile(choice, is_software);
    p.language = language;
    p.fixed = choice != KERNELS_AUTO;
    return p;
}

/* ---- problems -------------------------------------------------------------------------------- */

static tsr_shape output_shape(const tsr_plan *plan, const tsr_problem *p) {
    if (p->made)
        return *p->made;
    if (p->output == TSR_NONE)
        return plan->graph->values[p->node->outputs[0]].shape;
    const tsr_layout *l = tsr_plan_layout(plan, p->output);
    return (tsr_shape){4, {l->n, l->c, l->h, l->w}};
}

bool tsr_problem_layout(const tsr_plan *plan, const tsr_problem *p, tsr_layout_hint hint,
                        tsr_layout *layout) {
    const tsr_shape shape = output_shape(plan, p);
    return tsr_plan_make_layout(plan, &shape, hint, layout) == TSR_OK;
}

int tsr_problem_output(tsr_plan *plan, const tsr_problem *p, int pixel_stride) {
    if (p->made)
        return tsr_plan_tensor_make(plan, p->made, (tsr_layout_hint){.pixel_stride = pixel_stride});
    return p->output == TSR_NONE ? tsr_plan_output_strided(plan, p->node, 0, pixel_stride)
                                 : p->output;
}

tsr_pass *tsr_problem_refuse(tsr_plan *plan, const char *why) {
    if (plan->status == TSR_OK)
        tsr_plan_fail(plan, tsr_fail(TSR_ERROR_UNSUPPORTED, "%s", why));
    return tsr_plan_pass_of(plan, TSR_PASS_DRAW, 0);
}

double tsr_problem_products(const tsr_plan *plan, const tsr_problem *p) {
    tsr_layout l;
    if (!tsr_problem_layout(plan, p, (tsr_layout_hint){0}, &l))
        return 0;
    double texels = (double)l.n * l.tiles;
    if (p->kind == TSR_MATMUL)
        return texels * l.h * l.w * (double)tsr_divide_up(p->inner, 4);
    const int64_t size[2] = {l.h, l.w}, *kernel = p->conv.window.kernel;
    for (int i = 0; i < 2; i++) { /* phases of a transposed one are padded to equal sizes */
        int64_t phases = p->kind == TSR_CONV_TRANSPOSE ? p->conv.window.stride[i] : 1;
        texels *= (double)(tsr_divide_up(size[i], phases) * phases) *
                  (double)tsr_divide_up(kernel[i], phases);
    }
    return texels * tsr_tiles_per_output(&p->conv);
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool is_candidate(const tsr_plan *plan, const tsr_algorithm *a, const tsr_problem *p) {
    const tsr_device_profile *d = &plan->device;
    return (a->languages & (unsigned)d->language) && (a->kinds & (unsigned)p->kind) &&
           !(a->allowed_by & ~d->allowed) && !(a->needs & ~d->features);
}

static double cost_of(const tsr_plan *plan, const tsr_problem *p, const tsr_estimate *e) {
    if (tsr_has_computed_costs(plan, &p->conv))
        return e->cost + e->passes * TSR_COMPUTED_PASS_COST + e->draws * TSR_COMPUTED_DRAW_COST;
#ifndef TSR_SMALL /* modules of pages that train nothing */
    if (p->conv.tensor && !plan->device.software)
        return e->cost + e->passes * TSR_PASS_COST;
#endif
    (void)plan;
    (void)p;
    return e->cost;
}

/* Indices of those that apply, with their estimates. */
static int list_candidates(const tsr_plan *plan, const tsr_problem *p, int index[TSR_ALGORITHMS],
                           tsr_candidate list[TSR_ALGORITHMS]) {
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
        const tsr_algorithm *a = algorithms[i];
        tsr_estimate e;
        if (!is_candidate(plan, a, p) || !a->estimate(plan, p, &e))
            continue;
        index[count] = i;
        list[count++] = (tsr_candidate){a->name, cost_of(plan, p, &e), e.bytes, e.live_texels,
                                        false,   e.winograd_tile};
    }
    return count;
}

/* Texels that spill out of the device's registers. */
static int spilled(const tsr_plan *plan, const tsr_candidate *c) {
    int registers = plan->device.fragments.registers;
    return registers && c->live_texels > registers ? c->live_texels - registers : 0;
}

/* That of fewest spills, then of least cost or, if bytes matter most, of least bytes. */
static int find_least(const tsr_plan *plan, const tsr_candidate *list, int count, bool bytes) {
    int best = 0;
    for (int i = 1; i < count; i++) {
        bool less = list[i].cost < list[best].cost;
        if (spilled(plan, &list[i]) != spilled(plan, &list[best]))
            less = spilled(plan, &list[i]) < spilled(plan, &list[best]);
        else if (bytes && list[i].bytes != list[best].bytes)
            less = list[i].bytes < list[best].bytes;
        best = less ? i : best;
    }
    return best;
}

/* Measured times come first: they are in the plan's choices; then the estimates. */
static int choose(const tsr_plan *plan, const tsr_candidate *list, int count) {
    const tsr_node_choice *choice = plan->choices ? &plan->choices[plan->node] : NULL;
    int least = find_least(plan, list, count, choice && choice->least_bytes);
    for (int i = 0; choice && choice->algorithm && i < count; i++)
        if (!strcmp(list[i].algorithm, choice->algorithm) &&
            (!choice->other_size || list[i].cost <= TSR_MAX_COST_RATIO * list[least].cost))
            return i;
    return least;
}

static void note(tsr_plan *plan, const tsr_candidate *list, int count) {
    tsr_candidate *copy = TSR_NEW(plan->arena, count, tsr_candidate);
    if (!copy) {
        tsr_plan_out_of_memory(plan);
        return;
    }
    memcpy(copy, list, (size_t)count * sizeof *copy);
    plan->candidates[plan->node] = (tsr_candidates){count, copy};
}

static tsr_pass *lower_chosen(tsr_plan *plan, const tsr_problem *p) {
    int index[TSR_ALGORITHMS];
    tsr_candidate list[TSR_ALGORITHMS];
    int count = plan->status == TSR_OK ? list_candidates(plan, p, index, list) : 0;
    if (count == 0)
        return tsr_problem_refuse(plan, "no algorithm computes this here");
    int chosen = choose(plan, list, count);
    list[chosen].chosen = true;
    note(plan, list, count);
    return algorithms[index[chosen]]->lower(plan, p);
}

tsr_pass *tsr_lower_problem(tsr_plan *plan, const tsr_problem *given) {
    tsr_problem p = *given;
    bool has_weights = p.kind == TSR_CONV || p.kind == TSR_CONV_TRANSPOSE;
    const float *scale = has_weights ? tsr_make_integers(plan, &p.conv) : NULL;
    float input_scale = 1;
    if (scale && !plan->before) /* integers by integers, whose sums are exact */
        p.input = tsr_plan_unscaled(plan, p.input, &input_scale);
    tsr_pass *pass = lower_chosen(plan, &p);
    if (scale && plan->status == TSR_OK)
        tsr_scale_sums(plan, pass, scale, input_scale, p.conv.window.group * p.conv.group_outputs);
    return pass;
}
