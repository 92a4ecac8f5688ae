#include "graph/ops.h"

#include <string.h>

static const tsr_op_info ops[TSR_OP_COUNT] = {
#define TSR_OP(Name, stem, min_in, max_in, min_out, max_out, parameters, traits)                   \
    {#Name, #stem, min_in, max_in, min_out, max_out, parameters, traits},
#include "graph/ops.def"
};

const tsr_op_info *tsr_op_get_info(tsr_op op) {
    return &ops[op];
}

bool tsr_op_has(tsr_op op, tsr_trait trait) {
    return (ops[op].traits & (unsigned)trait) != 0;
}

tsr_domain_id tsr_op_domain(tsr_op op) {
    static const unsigned char domains[TSR_OP_COUNT] = {
#define TSR_OF_DOMAIN(Name, domain) [TSR_OP_##Name] = TSR_DOMAIN_##domain,
#include "graph/ops.def"
    };
    return (tsr_domain_id)domains[op];
}

const char *tsr_domain_name(tsr_domain_id domain) {
    static const char *const names[TSR_DOMAIN_COUNT] = {"", "ai.onnx.preview.training",
                                                        "ai.tessera"};
    return names[domain];
}

bool tsr_op_is_elementwise(tsr_op op) {
    return tsr_op_has(op, TSR_IS_POST_OP) || tsr_op_has(op, TSR_IS_ELEMENTWISE);
}

tsr_op tsr_op_find(const char *name) {
    for (int op = 0; op < TSR_OP_COUNT; op++)
        if (strcmp(ops[op].name, name) == 0)
            return (tsr_op)op;
    return TSR_OP_COUNT;
}

/* ---- attributes: in the order of the operators ---- */

static const tsr_attr_info attrs[] = {
#define TSR_ATTR(Name, attribute, kind, values)                                                    \
    {TSR_OP_##Name, #attribute, TSR_ATTR_##kind, TSR_ATTR_VALUES_##values, false, 0},
#define TSR_PARAM(Name, attribute, value)                                                          \
    {TSR_OP_##Name, #attribute, TSR_ATTR_FLOAT, TSR_ATTR_VALUES_OPTIONAL, true, value},
#include "graph/ops.def"
};

enum { ATTR_COUNT = sizeof attrs / sizeof *attrs };

const tsr_attr_info *tsr_op_attrs(tsr_op op, int *count) {
    int first = 0, end;
    while (first < ATTR_COUNT && attrs[first].op != op)
        first++;
    for (end = first; end < ATTR_COUNT && attrs[end].op == op;)
        end++;
    *count = end - first;
    return &attrs[first];
}
