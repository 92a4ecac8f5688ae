/* Optimizers' updates of tensors. */
#ifndef TSR_GRAPH_UPDATE_H
#define TSR_GRAPH_UPDATE_H

#include "graph/graph.h"

/* Inputs of AdamUpdate; its outputs: the tensor, means and squares after the update. */
enum {
    TSR_ADAM_X,
    TSR_ADAM_GRADIENT,
    TSR_ADAM_MEANS,   /* of gradients, averaged over updates */
    TSR_ADAM_SQUARES, /* the same of their squares */
    TSR_ADAM_FACTORS, /* of the gradient, which counts as 0 if that is 0, whatever it is; of the
                         mean: the step size; of the square's root; of the tensor before it changes
                       */
    TSR_ADAM_INPUTS,
    TSR_ADAM_OUTPUTS = 3,
};

/* Attributes of AdamUpdate. What averages change by: part * (now - before). */
typedef struct tsr_adam {
    float mean_part, square_part; /* 1 - alpha, 1 - beta */
    float epsilon, norm_coefficient;
} tsr_adam;

tsr_adam tsr_adam_of(const tsr_node *node);
/* The same of Adam and AdamUpdate: are both between 0 and 1? */
tsr_status tsr_check_adam(float alpha, float beta);

#endif
