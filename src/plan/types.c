/* Element types on a GPU, which computes in floats: integers up to 2^24 and booleans are held
 * exactly, in 32 bits even in a half plan. A GPU that renders to 16-bit floats only holds bytes and
 * booleans. */
#include "plan/plan.h"

#include "base/error.h"
#include "graph/infer.h"

tsr_texel_format tsr_plan_format(const tsr_plan *plan, int value) {
    const tsr_value *v = &plan->graph->values[value];
    if (tsr_dtype_is_byte(v->dtype))
        return tsr_dtype_low(v->dtype) < 0 ? TSR_TEXEL_I8 : TSR_TEXEL_U8;
    bool half = plan->all_half && tsr_dtype_is_float(v->dtype) && !v->precise &&
                !(plan->precise && plan->precise[value]);
    return half ? TSR_TEXEL_F16 : TSR_TEXEL_F32;
}

bool tsr_plan_node_is_half(const tsr_plan *plan, const tsr_node *node) {
    if (tsr_sums_integers(node))
        return false;
    for (int i = 0; plan->precise && i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && plan->precise[node->outputs[i]])
            return false;
    return plan->all_half;
}

bool tsr_plan_has_half_products(const tsr_plan *plan) {
    return plan->half && !plan->precise_weights;
}

tsr_table_format tsr_plan_weight_format(const tsr_plan *plan) {
    bool half = plan->weights == TSR_WEIGHTS_FP16 ||
                (plan->weights != TSR_WEIGHTS_FP32 && tsr_plan_has_half_products(plan));
    return half ? TSR_TABLE_F16 : TSR_TABLE_F32;
}

/* The trait that an operator needs to compute the type exactly. */
static unsigned needed_traits(tsr_dtype dtype) {
    switch (dtype) {
    case TSR_DTYPE_BOOL:
        return TSR_TYPES_BOOL;
    case TSR_DTYPE_I8:
    case TSR_DTYPE_U8:
        return TSR_TYPES_NUMBERS | TSR_TYPES_BYTES;
    default:
        return TSR_TYPES_NUMBERS;
    }
}

tsr_status tsr_plan_check_type(const tsr_node *node, const tsr_value *value) {
    unsigned traits = tsr_op_get_info(node->op)->traits, needed = needed_traits(value->dtype);
    if (tsr_dtype_is_float(value->dtype) || traits & needed)
        return TSR_OK;
    if (traits & TSR_TYPES_BYTES)
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "tensor '%s' is %s: of integers a GPU computes this for int8 and uint8 "
                        "only, since others may pass 2^24",
                        value->name, tsr_dtype_name(value->dtype));
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "tensor '%s' is %s: a GPU does not compute this for it",
                    value->name, tsr_dtype_name(value->dtype));
}

tsr_status tsr_plan_check_sums(const tsr_graph *graph, const tsr_node *node) {
    if (!tsr_sums_integers(node))
        return TSR_OK;
    double largest = tsr_largest_sum(graph, node, 0, tsr_node_integer_sum(graph, node).length);
    if (largest <= TSR_EXACT_FLOATS)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "as %sInteger its sums may reach %lld, a GPU holds integers exactly up to %d; "
                    "where only Cast to floats reads them they are split, if they can be; "
                    "allow_cpu_fallback (--allow-cpu-fallback) runs it on the CPU",
                    tsr_node_op_name(node), (long long)largest, TSR_EXACT_FLOATS);
}

int tsr_plan_exact_integers(const tsr_plan *plan) {
    return plan->limits.half_only ? TSR_EXACT_HALVES : TSR_EXACT_FLOATS;
}

tsr_status tsr_plan_check_stored(const tsr_plan *plan, const tsr_value *value) {
    bool is_exact =
        tsr_dtype_is_float(value->dtype) ? !value->precise : tsr_dtype_is_byte(value->dtype);
    if (!plan->limits.half_only || is_exact)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "tensor '%s' of shape %s is %s: this GPU renders to 16-bit floats only, which "
                    "hold integers up to %d exactly",
                    value->name, tsr_shape_text(&value->shape), tsr_dtype_name(value->dtype),
                    TSR_EXACT_HALVES);
}

const float *tsr_plan_floats(tsr_plan *plan, const tsr_value *value) {
    if (tsr_dtype_is_float(value->dtype))
        return value->data;
    int64_t count = tsr_shape_count(&value->shape), most = tsr_plan_exact_integers(plan);
    const int64_t *ints = value->data;
    float *floats = TSR_NEW(plan->arena, count, float);
    if (!floats) {
        tsr_plan_out_of_memory(plan);
        return NULL;
    }
    for (int64_t i = 0; i < count; i++) {
        if (ints[i] > most || ints[i] < -most) {
            tsr_plan_fail(plan, tsr_fail(TSR_ERROR_UNSUPPORTED,
                                         "constant '%s' has the element %lld, which a GPU does not "
                                         "hold exactly",
                                         value->name, (long long)ints[i]));
            return NULL;
        }
        floats[i] = (float)ints[i];
    }
    return floats;
}

/* ---- conversions ----------------------------------------------------------------------------- */

static void convert(tsr_pass *pass, const char *function, float low, float high) {
    const float param[2] = {low, high};
    tsr_pass_post_unary(pass, TSR_OP_Cast, param);
    pass->posts[pass->post_count - 1].function = function;
}

/* A type whose numbers floats hold exactly, so that it wraps around. */
static bool is_small(tsr_dtype dtype) {
    return !tsr_dtype_is_float(dtype) && tsr_dtype_high(dtype) < TSR_EXACT_FLOATS;
}

void tsr_pass_wrap(tsr_pass *pass, tsr_dtype dtype) {
    if (is_small(dtype))
        convert(pass, "wrap", (float)tsr_dtype_low(dtype), (float)tsr_dtype_high(dtype));
}

void tsr_pass_cast(tsr_pass *pass, tsr_dtype from, tsr_dtype to) {
    if (to == TSR_DTYPE_BOOL)
        convert(pass, "is_true", 0, 0);
    else if (tsr_dtype_is_float(from)) /* of large types the nearest floats */
        convert(pass, "truncate", (float)tsr_dtype_low(to),
                to == TSR_DTYPE_U64 ? 0x1p64f : (float)tsr_dtype_high(to));
    else
        tsr_pass_wrap(pass, to);
}

tsr_status tsr_check_cast(const tsr_value *from, tsr_dtype to) {
    bool wraps = tsr_dtype_is_unsigned(to) && !is_small(to) && !tsr_dtype_is_float(from->dtype) &&
                 from->dtype != TSR_DTYPE_BOOL && !tsr_dtype_is_unsigned(from->dtype);
    if (!wraps)
        return TSR_OK;
    return tsr_fail(TSR_ERROR_UNSUPPORTED,
                    "tensor '%s' is %s: as %s its negative numbers would pass 2^24, which a GPU "
                    "does not hold exactly",
                    from->name, tsr_dtype_name(from->dtype), tsr_dtype_name(to));
}

bool tsr_cast_is_view(tsr_dtype from, tsr_dtype to) {
    if (tsr_dtype_is_float(to) || from == to)
        return true;
    return from == TSR_DTYPE_BOOL ||
           (!tsr_dtype_is_float(from) && to != TSR_DTYPE_BOOL && !is_small(to));
}
