/* Results whose shapes depend on elements: of Unique and NonMaxSuppression. Shape rules need their
 * sizes, the reference operators all of them. */
#ifndef TSR_GRAPH_SELECTION_H
#define TSR_GRAPH_SELECTION_H

#include "graph/graph.h"

/* Is element i not 0? elements: floats or int64_t. */
static inline bool tsr_is_nonzero(tsr_dtype dtype, const void *elements, int64_t i) {
    return tsr_dtype_is_float(dtype) ? ((const float *)elements)[i] != 0
                                     : ((const int64_t *)elements)[i] != 0;
}

/* The different slices of a tensor, in the order of the result. All arrays are one block. */
typedef struct tsr_unique {
    int64_t count;
    int64_t *first;    /* by different slice: where it is first */
    int64_t *repeated; /* by different slice: how often it is there */
    int64_t *inverse;  /* by slice: which of the different ones it is */
} tsr_unique;

/* Slices along an axis, single elements where axis is TSR_NONE. elements: floats or int64_t. The
 * caller frees first with tsr_free(). */
tsr_status tsr_find_unique(tsr_dtype dtype, const tsr_shape *shape, const void *elements, int axis,
                           bool sorted, tsr_unique *unique);

/* See NonMaxSuppression in ONNX's text. */
typedef struct tsr_boxes {
    int64_t batches, classes, count; /* count: boxes of a batch */
    const float *corners, *scores;
    bool by_center;
    int64_t most; /* of a class */
    float overlap;
    bool has_least;
    float least; /* score, exclusive */
} tsr_boxes;

/* The inputs of a node; its elements are known. */
tsr_status tsr_node_boxes(const tsr_graph *graph, const tsr_node *node, tsr_boxes *boxes);
/* Triples of batch, class and box; *chosen is NULL where only their number is wanted. The caller
 * frees *chosen with tsr_free(). */
tsr_status tsr_choose_boxes(const tsr_boxes *boxes, int64_t **chosen, int64_t *count);

#endif
