/* What a place means for a software rasteriser: llvmpipe's threads share a pass by bins, squares of
 * 64x64 texels of the texture. A pass that writes to a single bin has a single thread. */
#include "plan/pack.h"

#include "base/divide.h"

#include <math.h>

/* More bins than threads do not help: other grids may be better for the caches then. */
enum { SIDE = 64, ALIGNED = 4, THREADS = 16 };

/* A thread that has all of a plan's work while others wait costs as much as this many times the
 * plan's bytes: on two cores MobileNet then takes 0.7 times as long and a U-Net 0.8 times, in at
 * most 1.05 times as many bytes. */
enum { TIME_FOR_BYTES = 2 };

static double count_texels(const tsr_plan *plan, int tensor) {
    return (double)tsr_layout_bytes(&plan->tensors[tensor].layout) / 16;
}

/* In multiply-adds, by estimate: a texel that is read or written costs as much as TEXEL of them.
 * Waking another thread takes as long as LEAST_WORK. */
enum { TEXEL = 8, LEAST_WORK = 1 << 16 };

static double work_of(const tsr_plan *plan, const tsr_pass *pass) {
    double texels = count_texels(plan, pass->output);
    for (int i = 0; i < pass->source_count; i++)
        texels += count_texels(plan, pass->sources[i]);
    return TEXEL * texels +
           (pass->node == TSR_NONE
                ? 0
                : (double)tsr_node_macs(plan->graph, &plan->graph->nodes[pass->node]));
}

bool tsr_pack_list_work(packer *p) {
    const tsr_plan *plan = p->plan;
    if (!plan->device.software || tsr_pack_in_buffer(p))
        return true;
    p->work = TSR_NEW(plan->arena, plan->tensor_count, double);
    p->next_slice = TSR_NEW(plan->arena, plan->tensor_count, int);
    if (!p->work || !p->next_slice)
        return false;
    for (int i = 0; i < plan->pass_count; i++) {
        double work = work_of(plan, &plan->passes[i]);
        if (plan->passes[i].kind != TSR_PASS_DRAW || work < LEAST_WORK)
            continue;
        p->work[plan->passes[i].output] += work;
        p->all_work += work;
    }
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
    const int64_t first = SIDE - at % SIDE;
    return (double)tsr_min(length, tsr_max(first, tsr_min(length - first, SIDE))) / (double)length;
}

/* How far a bin's edge lies from the middle of `length` texels from `at` on. */
static int64_t to_edge(int64_t at, int64_t length) {
    return (SIDE - (at + length / 2 / ALIGNED * ALIGNED) % SIDE) % SIDE;
}

uint64_t tsr_pack_serial(const packer *p, int tensor, const rect *at, int columns_log2,
                         int64_t shift[2]) {
    double serial = 0, most = 0;
    shift[0] = shift[1] = 0;
    for (int i = p->work ? tensor : 0; i; i = p->next_slice[i]) {
        const tsr_plan_tensor *t = &p->plan->tensors[i];
        const tsr_layout *l = &t->layout;
        const int64_t rows = tsr_divide_up((int64_t)l->n * l->tiles, (int64_t)1 << columns_log2),
                      y = at->y + (t->tile >> columns_log2) * l->h,
                      h = l->linear ? at->h : rows * l->h;
        double share = find_share(at->x, at->w) * find_share(y, h);
        serial += p->work[i] * fmax(share, 1.0 / THREADS);
        if (share == 1 && p->work[i] > most) {
            most = p->work[i];
            shift[0] = to_edge(at->x, at->w);
            shift[1] = to_edge(y, h);
        }
    }
    return (uint64_t)(TIME_FOR_BYTES * serial / (p->all_work + 1) *
                      (double)p->plan->live_bytes_bound);
}
