/* Lowers a graph to passes over tensors, and assigns the tensors storages (textures or buffers),
 * which are reused by lifetime. Nothing is allocated on a device: peak memory is known before. The
 * table of lowerings by operator is an option. */
#ifndef TSR_PLAN_PLAN_H
#define TSR_PLAN_PLAN_H

#include "base/cache.h"
#include "kernel_list.h"
#include "plan/layout.h"

/* Tensor 0 is what functions return after a failure. In a complete plan it is the staging texture
 * or buffer that an output is transferred through: src/gpu/transfer.h. */
enum { TSR_STAGING_TENSOR = 0 };

enum { TSR_MAX_SOURCES = 14, TSR_MAX_MORE = 2, TSR_MAX_PASS_POSTS = TSR_MAX_POSTS + 4 };

typedef struct tsr_pass tsr_pass;

/* Fills units first to first + count - 1 of a table's zeroed texels, row by row. Several threads
 * call it for different units, so no two units may share a texel. */
typedef void tsr_pack_fn(const void *data, int64_t first, int64_t count, float *texels);

/* How a table's texels are stored. */
typedef enum tsr_table_format {
    TSR_TABLE_F32,
    TSR_TABLE_F16,
    TSR_TABLE_I8,      /* integers, of packed weights: src/algorithm/integer_weights.h */
    TSR_TABLE_I8_OF_4, /* the same, four texels in one of a texture, read at once */
    TSR_TABLE_I4_OF_4  /* integers of 4 bits: src/algorithm/block_weights.h */
} tsr_table_format;

/* Bytes of a texel. */
size_t tsr_table_texel_bytes(tsr_table_format format);
/* Texels of a texture for a row of the table's, whose width is a multiple of four if one holds four
 * of these. */
bool tsr_table_is_of_4(tsr_table_format format);
int tsr_table_columns(int width, tsr_table_format format);

/* Of a table of blocks: 2^entries_log2 in a row. */
typedef struct tsr_table_size {
    int width, height; /* texels */
    int entries_log2;
} tsr_table_size;

/* Constants in the order in which a kernel reads them: packed weights, or a lookup table. */
typedef struct tsr_table {
    tsr_pack_fn *pack; /* NULL: no table, one that is computed, or a texture of the caller's */
    int tensor;    /* whose texels are the table, computed: src/plan/computed_table.c; 0: none */
    void *data;    /* argument of pack; stored in the plan's arena */
    int64_t units; /* number of units that pack fills */
    int width, height; /* RGBA texels */
    tsr_table_format format;
    bool dense; /* pack writes every texel: none needs to be zeroed */
    /* Plans on one device whose tables have equal keys share one: src/algorithm/packed_weights.h.
     */
    bool shared;
    tsr_cache_key key;
    int constant;      /* of the model, whose elements are packed: see tsr_value; 0: none */
    size_t weights_at; /* in data: the pointer to them */
    int64_t weights;   /* packed ones, without padding; 0: it has none */
    int scales;        /* constant tensor of these and zero points; 0: none */
} tsr_table;

typedef struct tsr_pass_post {
    tsr_op op;
    float param[2];
    int source; /* which of the pass's sources is the other operand; TSR_NONE for unary */
    bool swapped;
    bool has_param;       /* the function has `param` as a third argument */
    const char *function; /* tsr_<function> of the shaders; NULL: that of the operator */
    int blocksize; /* the operand is DepthToSpace(blocksize) of the source; 0: the source itself */
    bool dcr;      /* mode of DepthToSpace */
} tsr_pass_post;

typedef enum tsr_pass_kind {
    TSR_PASS_DRAW,   /* or, in a compute backend, a dispatch */
    TSR_PASS_CPU,    /* the whole node on the CPU: sources are read back, outputs stay in memory */
    TSR_PASS_UPLOAD, /* `value`, from memory to `output` */
    TSR_PASS_CONCAT, /* its source becomes the tiles of `output` from `tile` on; exists only until
                      tsr_plan_place_slices */
    TSR_PASS_SPLIT,  /* a draw, unless its output becomes the tiles of its source from `tile` on;
                      exists only until then, too */
} tsr_pass_kind;

/* A uniform block's size is a multiple of this many texels, and its offset a multiple of its size.
 */
enum { TSR_BLOCK_ALIGNED = 16 };

/* A draw of a pass that reads uniform blocks. It is repeated for every tile of its images, with the
 * next row, or for as many tiles as a block has rows. */
typedef struct tsr_draw {
    int args[TSR_MAX_DRAW_ARGS]; /* in the order of tsr_kernel.draw_args */
    int block;                   /* row of the table, or of source 0, where tile 0's begins */
} tsr_draw;

struct tsr_pass {
    tsr_pass_kind kind;
    int node;                 /* index in the graph; TSR_NONE for copies to plain outputs */
    const tsr_kernel *kernel; /* NULL unless it is TSR_PASS_DRAW, as args */
    const tsr_arg *args;      /* by field of the kernel */
    int output;               /* tensor; 0 for TSR_PASS_CPU */
    int more[TSR_MAX_MORE];   /* tensors that it writes, too: tsr_pass_also_writes() */
    int more_count;
    int planes; /* that a draw writes of each, if there are more; else all are written at once */
    int value;  /* of TSR_PASS_UPLOAD */
    int tile;   /* of TSR_PASS_CONCAT and TSR_PASS_SPLIT */
    int source_count, post_count;
    int sources[TSR_MAX_SOURCES]; /* the kernel's inputs, then operands of post-ops */
    const tsr_before *before;     /* source 0 is read through it; NULL: as it is */
    tsr_pass_post posts[TSR_MAX_PASS_POSTS];
    tsr_table table;
    tsr_draw *draws;         /* draw_count of them */
    int draw_count;          /* 0: a single draw without uniform blocks */
    int draw_images;         /* of the output, written by one of them; the last one may have less */
    int block_rows;          /* in a uniform block, of the table or of source 0 */
    bool blocks_from_source; /* uniform blocks are rows of source 0, and the table is a texture;
                                else they are rows of the table, of its tensor if it has one */
    /* A custom operator's body in the backend's shading language, and its attributes; else NULL. */
    const char *body;
    const tsr_custom_op *custom;
    const float *attrs;
    int groups[3]; /* workgroups of a compute kernel of form `entry`; 0: one invocation for each
                      texel of the output */
};

typedef struct tsr_plan_tensor {
    tsr_layout layout;
    const float *constant;     /* elements, uploaded once; NULL for tensors that are computed */
    bool keep;                 /* inputs, outputs, kept tensors: readable after a run */
    bool plain;                /* a 2D texture instead of a layer of an array */
    bool alone;                /* in a storage of its own, in the grid of its layout */
    bool separate;             /* alone and shared by plans: see tsr_plan_options */
    int first_pass, last_pass; /* that write and read it; -1 for inputs, pass_count for what stays
                                  readable after a run */
    int storage;               /* TSR_NONE for constants */
    bool in_two;               /* half of its planes in each of two storages */
    int storage_high;          /* the second storage; TSR_NONE without in_two */
    int view_of;    /* tensor whose integers it stands for, see tsr_layout.scale; 0: none */
    int root, tile; /* a slice of tensor `root` that begins at its tile `tile`; itself and 0 for
                       tensors that are no slice */
    bool blocks;    /* its root is copied to uniform blocks right after the pass that writes it */
    int64_t blocks_at; /* such a root's offset in the buffer of uniform blocks, bytes; else 0 */
} tsr_plan_tensor;

/* What tensors share: a texture, or a buffer of texture_w times 16 bytes. Tensors alive at the same
 * time have disjoint regions (tsr_layout.texture_x), but no pass reads and writes the same storage:
 * neither OpenGL ES nor WebGPU allows it, even for disjoint regions. */
typedef struct tsr_storage {
    int texture_w, texture_h, planes;
    tsr_texel_format format; /* of textures */
    bool plain, alone, separate;
} tsr_storage;

/* What suits fragments of a GPU, which OpenGL ES does not tell. */
typedef struct tsr_fragment_limits {
    int registers;        /* texels that one can keep without spilling; 0: any number */
    bool half_products;   /* 16-bit arithmetic is faster than that of 32 bits */
    bool texture_weights; /* weights are read faster from textures than from uniform blocks */
    int unroll;           /* taps that a trip of a loop should read at most; 0: one */
    bool dots; /* every instruction beside products costs: these are dot products of four input
                * channels, operators before them (tsr_before) have passes of their own */
} tsr_fragment_limits;

/* Properties of a device that the choice of kernels depends on. */
typedef struct tsr_device_profile {
    tsr_language language; /* of its programs */
    unsigned features;     /* that kernels may need: TSR_NEEDS_... */
    unsigned allowed;      /* algorithms, by the caller's choice: src/algorithm/algorithm.h */
    bool software;         /* a software rasteriser */
    bool bins;             /* threads share a pass by bins: src/plan/bins.c */
    bool recompiles;       /* programs for other sides of textures: see tsr_texture_side */
    bool specialize;       /* numbers classed as special are constants of programs */
    bool truncates_halves; /* what passes store in 16 bits is not rounded to nearest */
    bool fixed;            /* the caller chose the kernels: no fallback candidates */
    int planes;            /* default of tensors without a layout hint; 0: see choose_planes() */
    int draw_products;     /* multiply-adds that are worth a draw: see tsr_block_rows() */
    int busy_fragments;    /* split-K until a pass has this many fragments; 0: never */
    tsr_fragment_limits fragments;
} tsr_device_profile;

/* One way to compute a node, with its estimates: src/algorithm/algorithm.h. */
typedef struct tsr_candidate {
    const char *algorithm;
    double cost;
    uint64_t bytes;
    int live_texels;
    bool chosen;
    const char *winograd_tile; /* NULL if it is another algorithm */
} tsr_candidate;

typedef struct tsr_candidates {
    int count;
    const tsr_candidate *list;
} tsr_candidates;

/* How a node is to be computed. */
typedef struct tsr_node_choice {
    const char *algorithm; /* where it applies; NULL: that of the least estimated cost */
    bool only;             /* fail rather than use another */
    bool other_size;       /* it was measured with another batch or image size */
    bool least_bytes;      /* instead, the one whose passes leave least for each other */
} tsr_node_choice;

typedef struct tsr_plan {
    tsr_arena *arena;
    const tsr_graph *graph;
    tsr_layout_limits limits;
    bool all_half, keep_all, fallback, low_memory, again, copies_concats, copies_splits;
    bool needs_more; /* than tsr_plan_options.max_bytes */
    bool fused_only, separate;
    bool half;           /* of the node being lowered: see tsr_plan_node_is_half() */
    const bool *precise; /* as precise_weights: see tsr_plan_options */
    bool precise_weights;
    tsr_weight_type weights; /* of the caller's choice */
    bool unfused; /* nodes are lowered though their only reader could read their inputs instead */
    tsr_device_profile device;
    int max_loop_iterations, max_sources, block_texels;
    const tsr_node_choice *choices; /* by node; NULL: none */
    tsr_candidates *candidates;     /* by node; none for most operators */
    tsr_status status;              /* of the first failure: later calls do nothing */
    int node;                       /* being lowered */
    int axis;                       /* channel axis of output 0 of the node being lowered */
    const tsr_before *before;       /* kernels read read_before through it; NULL: none */
    int read_before;                /* tensor */
    const float *element_numbers;   /* see tsr_plan_element_numbers(): element_count of them */
    int64_t element_count;
    int *value_tensor;   /* by value index; TSR_NONE if it has none */
    int *value_axis;     /* and the channel axis that it has; TSR_NONE: other axes */
    int *value_planes;   /* the most that its tensor has; 0: as many as suit it */
    int *value_copy;     /* a copy with another channel axis; TSR_NONE if it has none */
    int *value_constant; /* the latest tensor of a constant's elements; 0: none yet */
    bool *value_on_cpu;  /* by value index: it is in memory: a node that ran on the CPU wrote it, or
                            it is an input that the device does not hold exactly */
    int *plain_outputs;  /* tensors of the graph outputs as plain textures; NULL: not requested */
    int pass_count, pass_capacity, tensor_count, tensor_capacity, storage_count;
    tsr_pass *passes;
    tsr_plan_tensor *tensors;
    tsr_storage *storages;
    uint64_t tensor_bytes, live_bytes_bound, constant_bytes, /* tables and constant tensors */
        copied_blocks_bytes, /* of the buffer that tensors are copied to as uniform blocks */
        separate_bytes;      /* of tensor_bytes, those of separate storages */
} tsr_plan;

typedef tsr_status tsr_lower_fn(tsr_plan *plan, const tsr_node *node);

typedef struct tsr_plan_options {
    tsr_layout_limits limits;
    tsr_device_profile device;
    bool half; /* 16-bit storage for everything except partial sums and integers; for these,
                  too, with limits.half_only */
    const bool *precise; /* by value: stored in 32 bits nevertheless, unless limits.half_only; NULL:
                            none. So are the inner tensors and weights of the node that writes it,
                            and its products have 32 bits. */
    bool precise_weights; /* all nodes' weights and products have 32 bits, too */
    tsr_weight_type weights;
    bool keep_all;   /* share no storage */
    bool fallback;   /* nodes that cannot be lowered run on the CPU, instead of failing the plan */
    bool low_memory; /* algorithms prefer few intermediate bytes to full occupancy */
    bool again;      /* the graph was planned before: do not log messages again */
    bool copies_concats; /* write no operand of a concat in place */
    bool copies_splits;  /* read no part of a tensor in place */
    bool fused_only;     /* fail where post-ops need a pass of their own */
    /* Inputs and outputs of the graph have storages of their own, and the layout that their shape
     * alone decides: the same in every plan for the device. */
    bool separate;
    int max_loop_iterations; /* of all loops of a fragment together, 0: no limit */
    int block_texels;        /* of 16 bytes, per uniform block; a multiple of TSR_BLOCK_ALIGNED */
    int max_sources;         /* of a pass, 0: TSR_MAX_SOURCES */
    bool plain_outputs;      /* copy graph outputs to plain textures: one plane, not wrapped */
    uint64_t max_bytes;      /* refuse plans of more; 0: no limit */
    bool *needs_more;        /* set if a plan is refused so; may be NULL */
    tsr_lower_fn *const *lower;     /* by operator; NULL where there is none */
    const tsr_node_choice *choices; /* by node; NULL: none */
} tsr_plan_options;

/* graph must outlive the plan. */
tsr_status tsr_plan_create(const tsr_graph *graph, const tsr_plan_options *options,
                           tsr_plan **plan);
void tsr_plan_destroy(tsr_plan *plan);

/* The steps of tsr_plan_create: src/plan/lower.c, src/plan/separate.c, src/plan/storage.c,
 * src/plan/inplace_concat.c, src/plan/joined_packing.c and src/plan/pack.c. */
tsr_status tsr_plan_lower(tsr_plan *plan, const tsr_plan_options *options);
tsr_status tsr_plan_add_plain_outputs(tsr_plan *plan);
tsr_status tsr_plan_separate(tsr_plan *plan);
tsr_status tsr_plan_assign_storages(tsr_plan *plan, uint64_t max_bytes);
/* First and last pass of every tensor; a slice has those of its root. */
void tsr_plan_find_lifetimes(tsr_plan *plan);
/* May the pass clear all texels of the textures that it writes before it draws, and is that less to
 * transfer on a GPU that renders in tiles? Without, it loads and stores the tensor's texels; with,
 * it stores all and loads none. Nothing that is readable then may be in these textures. */
bool tsr_plan_clears(const tsr_plan *plan, int pass);
/* The most bytes alive during one pass; no other tensor can use those of one that is alone. change:
 * of pass_count + 1, overwritten. */
uint64_t tsr_plan_live_bytes(const tsr_plan *plan, uint64_t *change);
/* Before nodes are lowered: sets value_planes of what is to be joined with others. */
void tsr_plan_expect_concats(tsr_plan *plan);
/* In-place concat and split: operands become slices of the output, parts of the input, where
 * possible; others are copied. */
tsr_status tsr_plan_place_slices(tsr_plan *plan);
/* Packings of weights that are parts of one tensor become one pass, if there is room. */
tsr_status tsr_plan_join_packings(tsr_plan *plan, uint64_t max_bytes);
/* Bytes of a storage if it had w x h texels, with the rows of zeros below them. */
uint64_t tsr_storage_bytes(const tsr_plan *plan, const tsr_storage *storage, int64_t w, int64_t h);
/* The side of a texture that needs `side` texels. llvmpipe compiles a program again for each
 * combination of textures' sides that are powers of two and that are not: there it is none, if one
 * more texel fits the device's limit. Tables' columns are always a power of two. */
int tsr_texture_side(const tsr_plan *plan, int side);
/* Of the texture that holds it. */
int tsr_table_rows(const tsr_plan *plan, const tsr_table *table);
/* Planes of a storage of the tensor. */
int tsr_plan_storage_planes(const tsr_plan_tensor *tensor);
/* Storages and positions for all tensors that are alive in some pass, in few bytes: near
 * live_bytes_bound. */
tsr_status tsr_plan_pack(tsr_plan *plan);

/* ---- for lowerings: after a failure each returns a harmless value; see plan->status ---- */

tsr_status tsr_plan_fail(tsr_plan *plan, tsr_status status);
tsr_status tsr_plan_out_of_memory(tsr_plan *plan);
const tsr_layout *tsr_plan_layout(const tsr_plan *plan, int tensor);

/* The layout of a tensor that is made with this hint. Without planes in the hint it has
 * device.planes, if that fits. */
tsr_status tsr_plan_make_layout(const tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint,
                                tsr_layout *layout);
/* Element types: src/plan/types.c. How a tensor for this value is stored. */
tsr_texel_format tsr_plan_format(const tsr_plan *plan, int value);
/* Has the node inner tensors and weights of 16 bits? Not if one of its outputs is precise. */
bool tsr_plan_node_is_half(const tsr_plan *plan, const tsr_node *node);
/* May products of the node being lowered have 16 bits? */
bool tsr_plan_has_half_products(const tsr_plan *plan);
/* How packed weights of the node being lowered are stored that are no integers. */
tsr_table_format tsr_plan_weight_format(const tsr_plan *plan);
/* Fails, with the reason, if the node does not compute this input's type exactly on a GPU. */
tsr_status tsr_plan_check_type(const tsr_node *node, const tsr_value *value);
/* Fails, with the reason, if the node sums integers and a sum may be larger than floats hold. */
tsr_status tsr_plan_check_sums(const tsr_graph *graph, const tsr_node *node);
/* Fails if the value's type, of which any element may be computed, is not exact as it would be
 * stored. */
tsr_status tsr_plan_check_stored(const tsr_plan *plan, const tsr_value *value);
/* The largest integer up to which all are stored exactly. */
int tsr_plan_exact_integers(const tsr_plan *plan);
/* A constant's elements; integers become floats in the plan's arena. NULL after a failure. */
const float *tsr_plan_floats(tsr_plan *plan, const tsr_value *value);
/* Post-ops: integers of 8 bits wrap around; others and floats stay. */
void tsr_pass_wrap(tsr_pass *pass, tsr_dtype dtype);
/* Converts where tsr_cast_is_view is false. */
void tsr_pass_cast(tsr_pass *pass, tsr_dtype from, tsr_dtype to);
bool tsr_cast_is_view(tsr_dtype from, tsr_dtype to);
tsr_status tsr_check_cast(const tsr_value *from, tsr_dtype to);

/* The tensor of a value with the usual channel axis, made on first use for graph inputs and
 * constants. May add a pass. */
int tsr_plan_value(tsr_plan *plan, int value);
/* The same with another channel axis; with the one that it has. */
int tsr_plan_value_with(tsr_plan *plan, int value, int channel_axis);
int tsr_plan_value_as_is(tsr_plan *plan, int value);
/* Input 0 of the node being lowered, for kernels that read it as their first input: they read it
 * through the node's operator before, if it has one. */
int tsr_plan_input(tsr_plan *plan, const tsr_node *node);
/* The result of an operator before as a tensor, made on first use by a pass of its own. */
int tsr_plan_before(tsr_plan *plan, const tsr_before *before, int input);
/* Has the tensor, however it is folded, these axes N, C, H and W? */
bool tsr_plan_is_seen_as(const tsr_plan *plan, int tensor, const tsr_shape *folded);
/* The tensor of a value that is broadcast to a shape, seen with as many axes, ones in front. May
 * add passes. */
int tsr_plan_operand(tsr_plan *plan, int value, const tsr_shape *result);
/* That shape. */
tsr_shape tsr_operand_shape(const tsr_shape *shape, int rank);
/* Copies of the tensor, of such a shape, along the axes in which the result's is larger. */
int tsr_plan_expand(tsr_plan *plan, int tensor, const tsr_shape *shape, const tsr_shape *result);
int tsr_plan_tensor_make(tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint);
/* The same for a tensor that only its node's passes write, and read as their first source. If it
 * has twice the planes of other tensors, it is stored in two storages, which others can share. */
int tsr_plan_tensor_inner(tsr_plan *plan, const tsr_shape *shape, tsr_layout_hint hint);
/* A new tensor for elements of a value. */
int tsr_plan_tensor_like(tsr_plan *plan, const tsr_shape *shape, int value);
/* A new tensor; precise: 32 bits even in a half plan (inner sums). */
int tsr_plan_tensor_new(tsr_plan *plan, const tsr_shape *shape, bool precise);
/* A new tensor for elements of another one; for what is computed from them, floats of as many bits.
 */
int tsr_plan_tensor_moved(tsr_plan *plan, const tsr_shape *shape, int from);
int tsr_plan_tensor_computed(tsr_plan *plan, const tsr_shape *shape, int from);
/* A constant tensor; elements must outlive the plan (or come from plan->arena); misaligned ones are
 * copied there. */
int tsr_plan_constant(tsr_plan *plan, const tsr_shape *shape, const void *elements);
/* The same of a constant value, seen with another shape. */
int tsr_plan_constant_value(tsr_plan *plan, const tsr_value *value, const tsr_shape *shape);
/* A new tensor for output i of the node being lowered. */
int tsr_plan_output(tsr_plan *plan, const tsr_node *node, int i);
/* The same, whose fragments write pixels this many columns apart: see tsr_layout. */
int tsr_plan_output_strided(tsr_plan *plan, const tsr_node *node, int i, int pixel_stride);
/* Limits the planes of a tensor that no pass uses yet. */
void tsr_plan_narrow(tsr_plan *plan, int tensor, int planes);
/* The same elements in the same order with another shape: the tensor itself if the texels agree,
 * else a copying pass. */
int tsr_plan_reshape(tsr_plan *plan, int tensor, const tsr_shape *shape);
/* Output i of the node is this tensor (a view), or a copy where a graph output would be an input or
 * a constant. */
void tsr_plan_alias(tsr_plan *plan, const tsr_node *node, int i, int tensor);
/* Output i has the tensor's elements in their order, with other axes: who reads it chooses some. */
void tsr_plan_alias_as_is(tsr_plan *plan, const tsr_node *node, int i, int tensor);

typedef struct tsr_concat_operand {
    int value, tile;
} tsr_concat_operand;

/* Is the value a single constant float? */
bool tsr_plan_number(const tsr_plan *plan, int value, float *number);
/* The function of glsl/unary.glsl and its sibling that computes the binary operator with such a
 * second operand, as its parameter; NULL if there is none, or if the value is no number. */
const char *tsr_plan_number_function(const tsr_plan *plan, tsr_op op, int operand, float *number);
/* If the node dequantizes a tensor of 8-bit integers, with its post-op, its output is that tensor
 * read as floats. */
bool tsr_plan_dequantizes(tsr_plan *plan, const tsr_node *node);
/* The same tensor without its scale, which is 1 for others. */
int tsr_plan_unscaled(tsr_plan *plan, int tensor, float *scale);
/* Cast of floats to 8 bits: true if the pass that computes them for this node alone writes its
 * output instead. */
bool tsr_plan_converts_in_place(tsr_plan *plan, const tsr_node *node);
/* The pass that this many more post-ops can be fused into, since only one node reads the tensor
 * that it writes; NULL if there is none. */
tsr_pass *tsr_plan_find_host(const tsr_plan *plan, int post_count, int tensor);

/* In-place concat: output 0 of the node, whose operands become slices that begin at `tile`, in
 * ascending order; post-ops are applied. False, without any effect, if the layout does not allow it
 * or if every operand would be copied. */
bool tsr_plan_concat_in_place(tsr_plan *plan, const tsr_node *node,
                              const tsr_concat_operand *operands, int count);

/* In-place split: a tensor for output i of the node, which is whole tiles of the tensor `whole`
 * from `tile` on, so that it may become a slice of it; 0 if the layout does not allow it.
 * tsr_plan_split_pass() says so of the pass that copies these tiles, the latest. */
int tsr_plan_output_part(tsr_plan *plan, const tsr_node *node, int i, int whole, int tile);
void tsr_plan_split_pass(tsr_plan *plan, int tile);

/* A fragment of the pass being made runs nested loops, outermost first, with these iteration
 * counts, `times` times. Fails if the driver's max_loop_iterations would stop them. */
void tsr_plan_loops(tsr_plan *plan, int times, int depth, const int64_t *iterations);

/* Appends a pass that computes tensor `output` with kernel `stem`, whose fields are set by name:
 * TSR_PASS(plan, output, reduce, .X = TSR_TENSOR(source), .factor = TSR_FLOAT(0.5)). The plan fails
 * if one is missing or does not fit 32 bits, or if the device has no such kernel. Arguments must
 * not change the plan. Valid until the next pass is appended. */
#define TSR_PASS(plan, output, stem, ...)                                                          \
    tsr_plan_pass(plan, output, &tsr_kernel_##stem, &(struct tsr_args_##stem){__VA_ARGS__})
tsr_pass *tsr_plan_pass(tsr_plan *plan, int output, const tsr_kernel *kernel, const void *args);
/* Appends a pass of another kind than TSR_PASS_DRAW. */
tsr_pass *tsr_plan_pass_of(tsr_plan *plan, tsr_pass_kind kind, int output);
void tsr_pass_source(tsr_plan *plan, tsr_pass *pass, int tensor);
/* The latest pass writes this tensor beside its output: what its kernel leaves in tsr_more0, of the
 * next one in tsr_more1. All have the same layout. It has no table and takes no post-ops. */
void tsr_pass_also_writes(tsr_plan *plan, tsr_pass *pass, int tensor);
/* Workgroups of a kernel of form `entry`, folded so that no dimension exceeds WebGPU's 65535. */
void tsr_pass_groups(tsr_pass *pass, int64_t count);
/* A pass that copies, and broadcasts where output is larger; post-ops are fused into it. */
tsr_pass *tsr_plan_copy(tsr_plan *plan, int source, int output);
/* Of a table of `count` blocks of `block` texels, as a texture or buffer holds it; the plan fails
 * where none does. */
tsr_table_size tsr_table_entries(tsr_plan *plan, tsr_table_format format, int block, int64_t count);
/* Gives the pass a table; the `size` bytes of data are copied to the plan's arena. */
void tsr_pass_table(tsr_plan *plan, tsr_pass *pass, const tsr_table *table, const void *data,
                    size_t size);
/* Gives the latest pass a table that is computed: the size and format of `table`, texels of a new
 * tensor, which is a texture of its own or the pass's uniform blocks. Returns the tensor. */
int tsr_pass_computed_table(tsr_plan *plan, tsr_pass *pass, const tsr_table *table);
/* The latest pass becomes the one before the last. Returns the latest then. */
tsr_pass *tsr_plan_move_back(tsr_plan *plan);
/* For elements 0 to count - 1 of a tensor in row-major order, floats that tell their number as
 * their bits: TSR_ELEMENT_BITS plus it. They are neither 0 nor denormal. */
enum { TSR_ELEMENT_BITS = 0x00800000 };
const float *tsr_plan_element_numbers(tsr_plan *plan, int64_t count);
/* Does the pass read its table as uniform blocks? */
bool tsr_pass_has_table_blocks(const tsr_pass *pass);
/* The tensor whose rows the pass reads as uniform blocks; 0: none. */
int tsr_pass_blocks_tensor(const tsr_pass *pass);
/* The tensors that a pass reads: its sources, and a table that is computed. */
int tsr_pass_count_reads(const tsr_pass *pass);
int tsr_pass_read(const tsr_pass *pass, int i);
/* Does it write tensors beside its output? In pages, which do not train, none does. */
static inline bool tsr_pass_writes_more(const tsr_pass *pass) {
#ifdef TSR_WITHOUT_GRADIENT
    (void)pass;
    return false;
#else
    return pass->more_count > 0;
#endif
}
/* Is it copied as uniform blocks with its root? Pages have no such tensors:
 * src/plan/joined_packing.c. */
static inline bool tsr_tensor_has_blocks(const tsr_plan_tensor *tensor) {
#ifdef TSR_WITHOUT_GRADIENT
    (void)tensor;
    return false;
#else
    return tensor->blocks;
#endif
}
/* Does it write this tensor and no other, so that post-ops may follow? */
static inline bool tsr_pass_writes_only(const tsr_pass *pass, int tensor) {
    return pass->output == tensor && !tsr_pass_writes_more(pass);
}
/* The tensors that it writes: none if it runs on the CPU. */
static inline int tsr_pass_count_writes(const tsr_pass *pass) {
    if (pass->kind == TSR_PASS_CPU)
        return 0;
    return tsr_pass_writes_more(pass) ? 1 + pass->more_count : 1;
}
static inline int tsr_pass_written(const tsr_pass *pass, int i) {
    return i > 0 ? pass->more[i - 1] : pass->output;
}
/* How often the pass is drawn; 0 for what is not. Rectangles of a texture that a draw's tiles are
 * not in one of count once. */
int64_t tsr_pass_count_draws(const tsr_plan *plan, const tsr_pass *pass);
/* Gives the pass `count` draws, which the caller sets with TSR_DRAW; NULL when out of memory. */
tsr_draw *tsr_plan_draws(tsr_plan *plan, tsr_pass *pass, int count);
/* Sets draw i of kernel `stem`: its first uniform block, and its arguments by name. */
#define TSR_DRAW(plan, pass, i, first_block, stem, ...)                                            \
    tsr_pass_draw(plan, pass, i, first_block, &(struct tsr_draw_args_##stem){__VA_ARGS__})
void tsr_pass_draw(tsr_plan *plan, const tsr_pass *pass, int i, int block, const void *args);
void tsr_pass_post_unary(tsr_pass *pass, tsr_op op, const float param[2]);
void tsr_pass_post_binary(tsr_plan *plan, tsr_pass *pass, tsr_op op, int tensor, bool swapped);
/* The function of the pass's last post-op, a binary one, takes these, too. */
void tsr_pass_post_param(tsr_pass *pass, const float param[2]);

#endif
