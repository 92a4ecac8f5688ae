/* Constant folding, with what it may still use. */
#ifndef TSR_PASSES_FOLD_H
#define TSR_PASSES_FOLD_H

#include "passes/passes.h"

typedef struct tsr_folding {
    tsr_eval_fn eval;
    void **elements;    /* scratch: one pointer per value */
    int room;           /* pointers */
    double bytes;       /* left for results, and for constants of function operators */
    double work;        /* left: tsr_node_work() */
    const bool *needed; /* by value of the first `counted`: has to be constant; NULL: fold all */
    int counted;
    bool exports;       /* for a file: functions stay, and nothing is folded that makes it large */
    const int *readers; /* of the first `counted` values, for a file; NULL: not counted */
    int nodes_before;   /* set at the end: of the graph, before those of constants were taken out */
} tsr_folding;

tsr_folding tsr_folding_begin(const tsr_graph *graph, tsr_eval_fn eval);
/* The same for a graph that is written to a file. */
tsr_status tsr_folding_begin_export(const tsr_graph *graph, tsr_eval_fn eval, tsr_folding *folding);
/* Evaluates the node, whose shapes are known, and drops it, if its inputs are constant and enough
 * is left. */
tsr_status tsr_fold_node(tsr_graph *graph, tsr_node *node, tsr_folding *f);

#endif
