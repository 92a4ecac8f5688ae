/* NonMaxSuppression: of boxes that overlap those with the best scores. */
#include "graph/selection.h"

#include "base/allocator.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

typedef struct rectangle {
    float low[2], high[2];
} rectangle;

typedef struct candidate {
    float score;
    int64_t box;
} candidate;

/* Absent: `usual`. */
static float float_input(const tsr_graph *graph, const tsr_node *node, int i, float usual) {
    const tsr_value *value = tsr_node_in(graph, node, i);
    return value ? *(const float *)value->data : usual;
}

tsr_status tsr_node_boxes(const tsr_graph *graph, const tsr_node *node, tsr_boxes *boxes) {
    const tsr_value *corners = tsr_node_in(graph, node, 0), *scores = tsr_node_in(graph, node, 1),
                    *most = tsr_node_in(graph, node, 2);
    *boxes = (tsr_boxes){.batches = scores->shape.dim[0],
                         .classes = scores->shape.dim[1],
                         .count = scores->shape.dim[2],
                         .corners = corners->data,
                         .scores = scores->data,
                         .by_center = tsr_attr_int(node, "center_point_box", 0) != 0,
                         .most = most ? *(const int64_t *)most->data : 0,
                         .overlap = float_input(graph, node, 3, 0),
                         .has_least = tsr_node_in(graph, node, 4) != NULL,
                         .least = float_input(graph, node, 4, 0)};
    double pairs = (double)boxes->batches * (double)boxes->classes * (double)boxes->count *
                   fmin((double)boxes->count, fmax((double)boxes->most, 0));
    if (pairs > (double)graph->max_work)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%llu pairs of boxes to compare, max_work is %llu",
                        (unsigned long long)fmin(pairs, 1e18), (unsigned long long)graph->max_work);
    return TSR_OK;
}

/* Corners may be given in any order. */
static rectangle rectangle_of(const tsr_boxes *b, int64_t batch, int64_t box) {
    const float *c = b->corners + (batch * b->count + box) * 4;
    rectangle r;
    for (int i = 0; i < 2; i++) {
        float first = b->by_center ? c[i] - c[2 + i] / 2 : c[i],
              second = b->by_center ? c[i] + c[2 + i] / 2 : c[2 + i];
        r.low[i] = fminf(first, second);
        r.high[i] = fmaxf(first, second);
    }
    return r;
}

static float area(const rectangle *r) {
    return (r->high[0] - r->low[0]) * (r->high[1] - r->low[1]);
}

/* Is the share that is common to both more than `most`? */
static bool overlap(const rectangle *a, const rectangle *b, float most) {
    rectangle common;
    for (int i = 0; i < 2; i++) {
        common.low[i] = fmaxf(a->low[i], b->low[i]);
        common.high[i] = fminf(a->high[i], b->high[i]);
        if (!(common.high[i] > common.low[i]))
            return false;
    }
    float both = area(&common);
    return both / (area(a) + area(b) - both) > most;
}

/* Better scores first, then lower indices. */
static int compare_candidates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->box > y->box) - (x->box < y->box);
}

/* NaN is no score. */
static int64_t list_candidates(const tsr_boxes *b, const float *scores, candidate *list) {
    int64_t count = 0;
    for (int64_t i = 0; i < b->count; i++)
        if (b->has_least ? scores[i] > b->least : scores[i] == scores[i])
            list[count++] = (candidate){scores[i], i};
    qsort(list, (size_t)count, sizeof *list, compare_candidates);
    return count;
}

/* The candidates that are kept come first; their number. */
static int64_t suppress(const tsr_boxes *b, int64_t batch, candidate *list, int64_t count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count && kept < b->most; i++) {
        rectangle r = rectangle_of(b, batch, list[i].box);
        bool fits = true;
        for (int64_t k = 0; k < kept && fits; k++) {
            rectangle other = rectangle_of(b, batch, list[k].box);
            fits = !overlap(&r, &other, b->overlap);
        }
        if (fits)
            list[kept++] = list[i];
    }
    return kept;
}

tsr_status tsr_choose_boxes(const tsr_boxes *b, int64_t **chosen, int64_t *count) {
    int64_t classes = b->batches * b->classes, most = b->count < b->most ? b->count : b->most;
    candidate *list = tsr_calloc((size_t)b->count + 1, sizeof *list);
    int64_t *triples = NULL;
    if (chosen && most > 0)
        triples = tsr_calloc((size_t)(classes * most) * 3 + 1, sizeof *triples);
    *count = 0;
    if (chosen)
        *chosen = triples;
    if (!list || (chosen && most > 0 && !triples)) {
        tsr_free(list);
        tsr_free(triples);
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the candidates");
    }
    for (int64_t c = 0; c < classes && most > 0; c++) {
        int64_t found = list_candidates(b, b->scores + c * b->count, list),
                kept = suppress(b, c / b->classes, list, found);
        for (int64_t k = 0; k < kept; k++, ++*count) {
            if (!triples)
                continue;
            triples[*count * 3] = c / b->classes;
            triples[*count * 3 + 1] = c % b->classes;
            triples[*count * 3 + 2] = list[k].box;
        }
    }
    tsr_free(list);
    return TSR_OK;
}
