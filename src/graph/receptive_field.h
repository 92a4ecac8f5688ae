/* Which part of a picture the elements of a tensor depend on: a walk through the graph. */
#ifndef TSR_GRAPH_RECEPTIVE_FIELD_H
#define TSR_GRAPH_RECEPTIVE_FIELD_H

#include "base/cache.h"
#include "graph/graph.h"

enum { TSR_PICTURE_ROWS, TSR_PICTURE_COLUMNS, TSR_PICTURE_AXES };

/* Element i along a tensor's axis depends on those of the picture from (i * step + low) / unit to
 * (i * step + high) / unit, at most: `unit / step` is the tensor's scale. */
typedef struct tsr_field {
    int axis;
    int64_t unit, step, low, high;
} tsr_field;

typedef struct tsr_field_map {
    bool depends; /* on the picture at all */
    tsr_field axis[TSR_PICTURE_AXES];
} tsr_field_map;

typedef struct tsr_receptive_fields {
    tsr_field_map *values; /* by value, in the graph's arena */
    /* Parts of a picture that begin at multiples of it have the same grids in all tensors. */
    int64_t alignment[TSR_PICTURE_AXES];
    /* Of the numbers that nodes compute with and that follow from shapes: x divided by its width,
     * say. They are equal for pictures of two sizes if the keys are. */
    tsr_cache_key numbers;
    /* The first node that normalizes by all pixels of the picture; NULL: none. Tensors after it
     * have the fields that they would have without. */
    const tsr_node *whole;
} tsr_receptive_fields;

/* All shapes are known and function operators replaced (tsr_prepare). axes: of the graph's input
 * that is the picture. TSR_ERROR_UNSUPPORTED names the first node that computes more than sums over
 * a neighbourhood, or knows the picture's size. */
tsr_status tsr_receptive_fields_of(tsr_graph *graph, int input, const int axes[TSR_PICTURE_AXES],
                                   tsr_receptive_fields *fields);

#endif
