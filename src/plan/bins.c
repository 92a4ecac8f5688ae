/* How evenly llvmpipe's threads share the passes that write a tensor. The rasterizer divides the
 * render target into bins, squares of TSR_BIN x TSR_BIN texels, and one thread draws each bin, so
 * that it depends on the tensor's position in the texture. */
#include "plan/pack.h"

#include "base/divide.h"

#include <math.h>

enum { SHADED = 4 }; /* side of the squares that are shaded at once */

/* The most threads that are counted on. With more bins than threads another grid may be better for
 * the caches. */
enum { THREADS = 16 };

/* The weight of time against memory: if one thread did all the work of a plan, that would cost as
 * much as TIME_FOR_BYTES times its live_bytes_bound. On two cores MobileNet then takes 0.7 times as
 * long and a U-Net 0.8 times, in 1.03 and 1.05 times as many bytes. */
enum { TIME_FOR_BYTES = 2 };

/* In multiply-adds, by estimate: a texel that is read or written costs as much as TEXEL of them,
 * and waking another thread as much as LEAST_WORK. */
enum { TEXEL = 8, LEAST_WORK = 1 << 16 };

static double count_texels(const tsr_plan *plan, int tensor) {
    return (double)tsr_layout_floats(&plan->tensors[tensor].layout) / 4;
}

/* A node's multiply-adds are shared by its passes. */
static double work_of(const tsr_plan *plan, const tsr_pass *pass, const int *pass_counts) {
    double texels = tsr_pass_count_writes(pass) * count_texels(plan, pass->output);
    for (int i = 0; i < pass->source_count; i++)
        texels += count_texels(plan, pass->sources[i]);
    if (pass->node == TSR_NONE)
        return TEXEL * texels;
    return TEXEL * texels + (double)tsr_node_macs(plan->graph, &plan->graph->nodes[pass->node]) /
                                pass_counts[pass->node];
}

static void add_work(packer *p, int *pass_counts) {
    const tsr_plan *plan = p->plan;
    for (int i = 0; i < plan->pass_count; i++)
        if (plan->passes[i].node != TSR_NONE)
            pass_counts[plan->passes[i].node]++;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        double work = pass->kind == TSR_PASS_DRAW ? work_of(plan, pass, pass_counts) : 0;
        if (work < LEAST_WORK)
            continue;
        p->work[pass->output] += work;
        p->all_work += work;
    }
}

bool tsr_pack_list_work(packer *p) {
    const tsr_plan *plan = p->plan;
    if (!plan->device.bins)
        return true;
    int *pass_counts = TSR_NEW(plan->arena, plan->graph->node_count, int);
    p->work = TSR_NEW(plan->arena, plan->tensor_count, double);
    p->next_slice = TSR_NEW(plan->arena, plan->tensor_count, int);
    if (!pass_counts || !p->work || !p->next_slice)
        return false;
    add_work(p, pass_counts);
    for (int i = 1; i < plan->tensor_count; i++) {
        int *first = &p->next_slice[plan->tensors[i].root];
        if (plan->tensors[i].root != i) {
            p->next_slice[i] = *first;
            *first = i;
        }
    }
    return true;
}

/* Of `length` texels from `at` on: the share of them in the bin that has most. */
static double find_share(int64_t at, int64_t length) {
    const int64_t first = TSR_BIN - at % TSR_BIN;
    return (double)tsr_min(length, tsr_max(first, tsr_min(length - first, TSR_BIN))) /
           (double)length;
}

/* How far `length` texels that begin at `at` have to move for a bin's edge to cut them in half. */
static int64_t to_edge(int64_t at, int64_t length) {
    return (TSR_BIN - (at + length / 2 / SHADED * SHADED) % TSR_BIN) % TSR_BIN;
}

uint64_t tsr_pack_serial(const packer *p, int tensor, const rect *at, int columns_log2,
                         int64_t shift[2]) {
    double serial = 0, most = 0;
    shift[0] = shift[1] = 0;
    for (int i = p->work ? tensor : 0; i; i = p->next_slice[i]) {
        const tsr_plan_tensor *t = &p->plan->tensors[i];
        const rect r = t->layout.linear ? *at : tsr_pack_slice(t, at, columns_log2);
        const double work = p->work[i], share = find_share(r.x, r.w) * find_share(r.y, r.h);
        serial += work * fmax(share, 1.0 / THREADS);
        if (share == 1 && work > most) {
            most = work;
            shift[0] = to_edge(r.x, r.w);
            shift[1] = to_edge(r.y, r.h);
        }
    }
    return serial > 0 ? (uint64_t)(TIME_FOR_BYTES * serial / p->all_work *
                                   (double)p->plan->live_bytes_bound)
                      : 0;
}
