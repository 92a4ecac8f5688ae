/* The graph: values (tensors, constant or computed) and nodes in topological order. All of it is
 * in one arena. Nodes refer to values by index, not by pointer, so that copying arrays clones a
 * graph. */
#ifndef TSR_GRAPH_GRAPH_H
#define TSR_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/dtype.h"
#include "base/map.h"
#include "base/siphash.h"
#include "graph/ops.h"

enum { TSR_NONE = -1 };

struct tsr_body;

typedef struct tsr_attr {
    const char *name;
    tsr_attr_kind kind;
    int64_t i;
    float f;
    const char *s;
    int count;
    const int64_t *ints;
    const float *floats;
    const char *const *strings;
    const struct tsr_body *body;
} tsr_attr;

/* A float of a constant that is stored in the model's file, possibly unaligned. */
#if defined(__GNUC__)
typedef float tsr_unaligned_float __attribute__((aligned(1)));
#else
typedef float tsr_unaligned_float;
#endif

/* dtype is the type in the model; data of every floating type is stored as float, of every
 * integer type and bool as int64_t. Large floats of at least two axes may be stored in the
 * model's file. */
typedef struct tsr_value {
    const char *name;
    tsr_dtype dtype;
    tsr_shape shape;
    const char *dim_name[TSR_MAX_RANK];
    const void *data; /* a constant's elements; NULL: known only at run time */
    /* Number, from 1, of the model's constant whose elements data has; 0: of none. */
    int model_constant;
    /* By output channel: a factor of the weights of a convolution that are a constant of the model;
     * NULL: 1. */
    const double *scale;
    bool precise; /* floats that 16 bits may not hold: stored in 32 */
    int producer; /* node index; TSR_NONE for inputs and constants */
} tsr_value;

/* A post-op: an element by element operator that is applied to a node's result before it is
 * stored. src/passes/fuse.c makes them. */
typedef struct tsr_post {
    tsr_op op;      /* has the trait TSR_IS_POST_OP */
    float param[2]; /* see tsr_op_params(); of Clip: low, high */
    int operand;    /* value index of the other input of two; TSR_NONE for an operator of one */
    bool swapped;   /* operand op result, instead of result op operand */
    bool scaled;    /* of Add: result + param[0] * (operand - param[1]) */
    const char *node_name;
} tsr_post;

enum { TSR_MAX_POSTS = 32 };

/* A unary operator that a node applies to its input 0 as it reads it. src/passes/fuse_before.c
 * makes them. */
typedef struct tsr_before {
    tsr_op op;
    float param[2]; /* as of tsr_post */
    int value;      /* the operator's result: computed only where nothing reads through it */
    const char *node_name;
} tsr_before;

typedef struct tsr_node {
    const char *name; /* never NULL; generated if the file has none */
    tsr_op op;
    int input_count, output_count, attr_count, post_count;
    int *inputs, *outputs; /* value indices, TSR_NONE where an optional one is absent */
    tsr_attr *attrs;
    tsr_post *posts;
    const tsr_before *before;    /* NULL: input 0 is read as it is */
    const tsr_custom_op *custom; /* of TSR_OP_Custom: one of the graph's; else NULL */
    bool again; /* computes what another node did, to save memory: src/passes/recompute.h */
} tsr_node;

/* A graph that an attribute holds: a branch, what a loop repeats. Its values are in the table of
 * the graph around it; its nodes are copied before they are computed. What its nodes read of the
 * values around it are further inputs of the node that has the attribute. */
typedef struct tsr_body {
    int input_count, output_count, node_count;
    int *inputs, *outputs; /* value indices */
    tsr_node *nodes;       /* topologically sorted */
} tsr_body;

/* Elements of a constant that are still to be widened: tsr_graph_widen(). */
typedef struct tsr_narrow {
    struct tsr_narrow *next;
    size_t count;
    const unsigned char *bytes; /* in one of the graph's maps */
    float *elements;
} tsr_narrow;

/* What a file says of its model that no operator reads. */
typedef struct tsr_metadata {
    const char *key, *value;
} tsr_metadata;

typedef struct tsr_graph {
    tsr_arena *arena;
    const char *file;     /* for messages */
    const tsr_maps *maps; /* files in which constants may be stored; NULL: none */
    tsr_narrow *narrow;   /* a list */
    uint64_t max_bytes;   /* of tsr_model_desc */
    uint64_t max_work;    /* of tsr_model_desc */
    bool is_exported;     /* a file is written of it, where float16 and float32 are not the same */
    uint64_t model_id;    /* of the model that it was cloned from: no other has it; 0: of none */
    int opset;
    int value_count, value_capacity;
    tsr_value *values;
    int node_count;
    tsr_node *nodes; /* topologically sorted */
    int input_count, output_count;
    int *inputs, *outputs; /* value indices, without initializers */
    tsr_hash_key name_key;
    int name_slot_count, *name_slots; /* hash table of tsr_graph_find_value */
    int made_count;                   /* names that passes have numbered */
    const tsr_custom_op *custom_ops;  /* by src/graph/custom.c: defaults filled in */
    int custom_op_count;
    int metadata_count;
    const tsr_metadata *metadata;
    struct tsr_weight_steps **weight_steps; /* a list: src/algorithm/integer_weights.c */
} tsr_graph;

tsr_graph *tsr_graph_create(const char *file); /* NULL when out of memory */
void tsr_graph_destroy(tsr_graph *graph);
/* A copy whose nodes and values can be changed. Names and constants are borrowed from the
 * source, which must outlive it. NULL when out of memory. */
tsr_graph *tsr_graph_clone(const tsr_graph *source);

/* By value: the last node that makes or reads it; node_count for outputs of the graph. Values that
 * no node has stay as they are. */
void tsr_graph_last_uses(const tsr_graph *graph, int *last_use);

/* The most bytes of values that exist at one time: from their node, or the beginning, to their last
 * use, TSR_NONE for those that are not used. Constants do not count. change: node_count + 1
 * zeros. */
uint64_t tsr_graph_peak_bytes(const tsr_graph *graph, const int *last_use,
                              uint64_t (*bytes)(const tsr_value *value), uint64_t *change);

/* Appends a value (rank -1, no data; the name is copied) and returns its index, or TSR_NONE when
 * out of memory. Pointers to values become invalid. The name must not be changed: values are
 * found by it. */
int tsr_graph_add_value(tsr_graph *graph, const char *name);
/* Appends a constant; data (float or int64_t elements) is borrowed. */
int tsr_graph_add_constant(tsr_graph *graph, const char *name, tsr_dtype dtype,
                           const tsr_shape *shape, const void *data);
/* Copies a constant that is unaligned in a file to the arena; false when out of memory. */
bool tsr_graph_copy_to_arena(tsr_graph *graph, int value);
/* Widens large float16 constants, which a file in memory had, for about `ms` milliseconds; true:
 * all are. Until then nothing may read constants. */
bool tsr_graph_widen(tsr_graph *graph, double ms);
int tsr_graph_find_value(const tsr_graph *graph, const char *name); /* TSR_NONE if absent */
/* Appends to a list of values in the graph's arena, its inputs or outputs; false when out of
 * memory.
 */
bool tsr_graph_append(tsr_graph *graph, int **list, int *count, int value);
bool tsr_graph_is_input(const tsr_graph *graph, int value);
bool tsr_graph_is_output(const tsr_graph *graph, int value);

/* "[1, 3, ?, 256]", for messages: in one of eight per-thread buffers, which are reused in turn. */
const char *tsr_shape_text(const tsr_shape *shape);
bool tsr_shape_equal(const tsr_shape *a, const tsr_shape *b);
tsr_shape tsr_shape_make(int rank, const int64_t *dims);
/* Product of the dimensions first to last - 1. */
int64_t tsr_dim_product(const tsr_shape *shape, int first, int last);

/* The operator's name; of a custom operator the caller's. */
const char *tsr_node_op_name(const tsr_node *node);
/* How often the node and its post-ops read the value. */
int tsr_node_count_reads(const tsr_node *node, int value);
/* Is it a Cast that makes float32 of a constant of 16 bits, as files have weights? */
bool tsr_node_widens_constant(const tsr_graph *graph, const tsr_node *node);
/* Input or output i of a node, NULL if absent. */
const tsr_value *tsr_node_in(const tsr_graph *graph, const tsr_node *node, int i);
tsr_value *tsr_node_out(const tsr_graph *graph, const tsr_node *node, int i);

/* NULL if absent. tessera.h declares tsr_attr_int() and the like, which are given ONNX's
 * default; src/onnx checks kinds. */
const tsr_attr *tsr_node_attr(const tsr_node *node, const char *name);

/* What an attribute holds, as *size bytes: numbers, or a text. NULL of texts and of graphs. */
const void *tsr_attr_bytes(const tsr_attr *attr, size_t *size);

/* The params of an operator (TSR_PARAM of ops.def), from its attributes or by default; 0 for
 * those that it lacks. */
void tsr_op_params(const tsr_node *node, float param[2]);

/* Multiply-adds of a node, counted from shapes; 0 for operators that are not sums of products
 * (TSR_MACS of ops.def). */
int64_t tsr_node_macs(const tsr_graph *graph, const tsr_node *node);
/* Of all nodes; INT64_MAX if there are more. */
int64_t tsr_graph_macs(const tsr_graph *graph);
/* Operations that a node takes on the CPU: its multiply-adds or the elements that its windows
 * cover, and the elements that it reads and writes. */
double tsr_node_work(const tsr_graph *graph, const tsr_node *node);
/* Floats that a node and its post-ops read and write, weights included, each tensor counted
 * once. */
int64_t tsr_node_floats(const tsr_graph *graph, const tsr_node *node);

#endif
