/* The rule of AdamUpdate. */
#include "graph/rules.h"
#include "graph/update.h"

#include "base/error.h"

static float alpha_of(const tsr_node *node) {
    return tsr_attr_float(node, "alpha", 0.9f);
}

static float beta_of(const tsr_node *node) {
    return tsr_attr_float(node, "beta", 0.999f);
}

tsr_adam tsr_adam_of(const tsr_node *node) {
    return (tsr_adam){1 - alpha_of(node), 1 - beta_of(node), tsr_attr_float(node, "epsilon", 1e-6f),
                      tsr_attr_float(node, "norm_coefficient", 0)};
}

tsr_status tsr_check_adam(float alpha, float beta) {
    return alpha >= 0 && alpha <= 1 && beta >= 0 && beta <= 1
               ? TSR_OK
               : tsr_fail(TSR_ERROR_INVALID_MODEL, "alpha and beta have to be between 0 and 1");
}

tsr_status tsr_infer_adam_update(tsr_graph *graph, tsr_node *node) {
    const tsr_value *x = tsr_node_in(graph, node, TSR_ADAM_X);
    TSR_TRY(tsr_require_float(graph, node, TSR_ADAM_INPUTS));
    TSR_TRY(tsr_check_adam(alpha_of(node), beta_of(node)));
    for (int i = TSR_ADAM_GRADIENT; i < TSR_ADAM_FACTORS; i++) {
        const tsr_value *value = tsr_node_in(graph, node, i);
        if (!tsr_shape_equal(&value->shape, &x->shape))
            return tsr_fail(TSR_ERROR_SHAPE, "input %d ('%s') has shape %s, its tensor ('%s') %s",
                            i, value->name, tsr_shape_text(&value->shape), x->name,
                            tsr_shape_text(&x->shape));
    }
    TSR_TRY(tsr_require_vector(tsr_node_in(graph, node, TSR_ADAM_FACTORS), 4));
    for (int i = 0; i < TSR_ADAM_OUTPUTS; i++)
        TSR_TRY(tsr_set_output(graph, node, i, x->dtype, &x->shape));
    return TSR_OK;
}
