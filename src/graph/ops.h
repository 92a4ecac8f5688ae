/* The table of operators (ops.def) as data: counts of inputs and outputs, traits, attributes. */
#ifndef TSR_GRAPH_OPS_H
#define TSR_GRAPH_OPS_H

#include "tessera.h"

enum { TSR_VARIADIC = 1 << 20 };

/* Domains of operators: ai.onnx, ONNX's preview of training, and that of operators that ONNX does
 * not have. The latter two are read and written in version 1. */
typedef enum tsr_domain_id {
    TSR_DOMAIN_ONNX,
    TSR_DOMAIN_TRAINING,
    TSR_DOMAIN_TESSERA,
    TSR_DOMAIN_COUNT
} tsr_domain_id;
enum { TSR_DOMAIN_VERSION = 1 };

/* A set of inputs, as bits. */
#define TSR_INPUTS(first, last) ((2u << (last)) - (1u << (first)))

typedef enum tsr_op {
#define TSR_OP(Name, ...) TSR_OP_##Name,
#include "graph/ops.def"
    TSR_OP_COUNT,
#ifdef TSR_SMALL /* the names of the others: nodes that have them fail */
#define TSR_LEFT_OUT
#define TSR_OP(Name, ...) TSR_OP_##Name,
#include "graph/ops.def"
#endif
#ifdef TSR_WITHOUT_GRADIENT /* a build without the rules of src/passes/gradients.def */
    TSR_OP_Gradient,        /* no node has it */
    TSR_OP_AdamUpdate,      /* trainers are not linked */
    TSR_OP_LeakyReluGrad,
#endif
    TSR_OP_NAMES
} tsr_op;

/* Does this build have the operator? */
#define TSR_HAS(Name) (TSR_OP_##Name < TSR_OP_COUNT)

/* What passes and shape rules ask of an operator. Bits. */
typedef enum tsr_trait {
    /* Element by element on its first input: a node can apply it to its result before that is
     * stored. */
    TSR_IS_POST_OP = 1 << 0,
    /* Output 0 has the elements of input 0 in their order; their type may differ. */
    TSR_IS_VIEW = 1 << 1,
    /* The result depends on the shape of input 0, not on its elements. */
    TSR_READS_SHAPE_ONLY = 1 << 2,
    /* The types that a GPU computes exactly, besides floats: src/plan/types.c. Of a unary operator,
     * those that it is defined for. */
    TSR_TYPES_FLOATS = 0,
    TSR_TYPES_NUMBERS = 1 << 3, /* integers: no result is larger than the operands */
    TSR_TYPES_BYTES = 1 << 4,   /* integers of 8 bits: results wrap around */
    TSR_TYPES_BOOL = 1 << 5,
    TSR_TYPES_ALL = TSR_TYPES_NUMBERS | TSR_TYPES_BOOL,
    /* A GPU computes it with the last axis in the texel where input 1 is constant. */
    TSR_PREFERS_LAST_AXIS = 1 << 6,
    /* Element by element, as post-ops are, which need not have it. */
    TSR_IS_ELEMENTWISE = 1 << 7,
    /* Of operators of two inputs: it is not defined for floats; its result is bool. */
    TSR_TAKES_NO_FLOATS = 1 << 8,
    TSR_YIELDS_BOOL = 1 << 9,
    /* A GPU can apply a cheap unary operator to input 0 as it reads it: src/passes/fuse_before.c.
     */
    TSR_APPLIES_BEFORE = 1 << 10,
    /* A GPU never computes it: the shape of its result depends on elements. */
    TSR_IS_CPU_ONLY = 1 << 11,
    /* Input 0 is read, or copied, in an order of texels that the lowering chooses: a view of it
     * needs none of its own. */
    TSR_READS_AS_IS = 1 << 12,
    /* A GPU computes with parameters that are no constants, too, if more slowly. */
    TSR_PARAMETERS_MAY_VARY = 1 << 13,
    /* The kinds of operators of two inputs. */
    TSR_BINARY_ARITHMETIC = TSR_IS_POST_OP | TSR_TYPES_BYTES,
    TSR_BINARY_POWER = TSR_IS_POST_OP,
    TSR_BINARY_COMPARISON = TSR_IS_ELEMENTWISE | TSR_TYPES_NUMBERS | TSR_YIELDS_BOOL,
    TSR_BINARY_EQUALITY = TSR_IS_ELEMENTWISE | TSR_TYPES_ALL | TSR_YIELDS_BOOL,
    TSR_BINARY_LOGIC = TSR_IS_ELEMENTWISE | TSR_TYPES_BOOL | TSR_TAKES_NO_FLOATS,
    TSR_BINARY_BITS = TSR_IS_ELEMENTWISE | TSR_TYPES_BYTES | TSR_TAKES_NO_FLOATS,
} tsr_trait;

typedef struct tsr_op_info {
    const char *name, *stem;
    int min_inputs, max_inputs, min_outputs, max_outputs;
    unsigned parameters; /* bit i: input i has to be constant on a GPU, or may: see tsr_trait */
    unsigned traits;     /* of tsr_trait */
} tsr_op_info;

/* Does a function of two inputs take the operator's params, too? */
static inline bool tsr_binary_has_params(tsr_op op) {
    return TSR_HAS(LeakyReluGrad) && op == TSR_OP_LeakyReluGrad;
}

const tsr_op_info *tsr_op_get_info(tsr_op op);
bool tsr_op_has(tsr_op op, tsr_trait trait);
tsr_domain_id tsr_op_domain(tsr_op op);
/* As files have it; "" of ONNX's. */
const char *tsr_domain_name(tsr_domain_id domain);
/* Is it computed element by element, as a post-op or else? */
bool tsr_op_is_elementwise(tsr_op op);
/* TSR_OP_COUNT if there is no such operator. */
tsr_op tsr_op_find(const char *name);

typedef enum tsr_attr_kind {
    TSR_ATTR_INT,
    TSR_ATTR_FLOAT,
    TSR_ATTR_STRING,
    TSR_ATTR_INTS,
    TSR_ATTR_FLOATS,
    TSR_ATTR_STRINGS,
    TSR_ATTR_GRAPH,
} tsr_attr_kind;

/* What a node may give; all but the first are optional. */
typedef enum tsr_attr_values {
    TSR_ATTR_VALUES_REQUIRED,
    TSR_ATTR_VALUES_OPTIONAL,
    TSR_ATTR_VALUES_FLAG,         /* 0 or 1 */
    TSR_ATTR_VALUES_FLOAT_TYPE,   /* ONNX's number of a floating type */
    TSR_ATTR_VALUES_NOT_NEGATIVE, /* finite */
    TSR_ATTR_VALUES_INTERNAL,     /* not of ONNX: src/passes sets it, a file cannot name it */
} tsr_attr_values;

typedef struct tsr_attr_info {
    tsr_op op;
    const char *name;
    tsr_attr_kind kind;
    tsr_attr_values values;
    bool is_param;       /* of its functions: TSR_PARAM */
    float default_value; /* of a param */
} tsr_attr_info;

/* The attributes of an operator at opset 27: an array of *count. */
const tsr_attr_info *tsr_op_attrs(tsr_op op, int *count);

#endif
