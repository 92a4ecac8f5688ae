/* Each pass on small graphs: what it changes, what it must leave alone, and that results stay the
 * same. */
#include "support/main.h"
#include "support/pass_graphs.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* All passes. */
static tsr_status optimize(tsr_graph *graph) {
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make(NULL, &optimizer), TSR_OK);
    return tsr_optimize(graph, &optimizer);
}

/* The rewritten graph has that many nodes, each after what it reads, and gives the same
 * results. */
static void finish(pair p, int node_count) {
    assert_int_equal(p.after->node_count, node_count);
    for (int n = 0; n < node_count; n++)
        assert_int_equal(producer_of(p.after, tsr_node_out(p.after, &p.after->nodes[n], 0)->name) -
                             p.after->nodes,
                         n);
    expect_same_results(p.before, p.after, 1e-5);
    free_pair(p);
}

static void expect_posts(const tsr_graph *graph, const char *value, const char *expected) {
    char text[256] = "";
    const tsr_node *host = producer_of(graph, value);
    strcat(text, tsr_op_get_info(host->op)->name);
    for (int i = 0; i < host->post_count; i++) {
        strcat(text, "+");
        strcat(text, tsr_op_get_info(host->posts[i].op)->name);
    }
    assert_string_equal(text, expected);
}

/* ---- prepare ---- */

/* The usual way of flattening after a batch of unknown size. */
static void test_shape_arithmetic_folds(void **state) {
    (void)state;
    begin(SHAPE(2, 3, 4));
    node("Shape", "x", "shape");
    onnx_add_ints(writer, "zero", SCALAR, INTS(0));
    node("Gather", "shape,zero", "batch");
    onnx_add_ints(writer, "axes", SHAPE(1), INTS(0));
    node("Unsqueeze", "batch,axes", "batch_list");
    onnx_add_ints(writer, "rest", SHAPE(1), INTS(-1));
    onnx_set_int(writer, node("Concat", "batch_list,rest", "target"), "axis", 0);
    node("Reshape", "x,target", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 1);
    assert_int_equal(graph->nodes[0].op, TSR_OP_Reshape);
    expect_shape(value_named(graph, "y"), SHAPE(2, 12));
    tsr_graph_destroy(graph);
}

static void test_output_can_fold(void **state) {
    (void)state;
    begin(SHAPE(2, 3));
    onnx_set_int(writer, node("Shape", "x", "shape"), "start", 1);
    add_output(writer, "shape", TSR_DTYPE_I64);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 0);
    assert_int_equal(*(const int64_t *)value_named(graph, "shape")->data, 3);
    assert_int_equal(value_named(graph, "shape")->producer, TSR_NONE);
    tsr_graph_destroy(graph);
}

static void test_empty_tensors_fold(void **state) {
    (void)state;
    begin(SHAPE(0, 3));
    node("Relu", "x", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 0);
    assert_non_null(value_named(graph, "y")->data);
    tsr_graph_destroy(graph);
}

static void test_dropout_mask_folds(void **state) {
    (void)state;
    begin(SHAPE(2));
    node("Dropout", "x", "y,mask");
    onnx_set_int(writer, node("Cast", "mask", "kept"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F32));
    node("Mul", "y,kept", "z");
    add_output(writer, "z", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 2);
    expect_floats(value_named(graph, "kept")->data, FLOATS(1, 1), 2, 0);
    assert_int_equal(producer_of(graph, "y")->output_count, 1);
    tsr_graph_destroy(graph);
}

/* Weights of 16 bits become floats without a copy; floats of 16 bits are rounded. */
static void test_widening_shares_elements(void **state) {
    (void)state;
    begin(SHAPE(2));
    onnx_add_floats(writer, "w", SHAPE(2), FLOATS(1, 0.1f));
    onnx_set_int(writer, node("Cast", "w", "half"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F16));
    onnx_set_int(writer, node("Cast", "half", "wide"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F32));
    node("Mul", "x,wide", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 1);
    assert_ptr_equal(value_named(graph, "wide")->data, value_named(graph, "half")->data);
    expect_floats(value_named(graph, "wide")->data, FLOATS(1, 0.0999755859375f), 2, 0);
    assert_ptr_not_equal(value_named(graph, "half")->data, value_named(graph, "w")->data);
    tsr_graph_destroy(graph);
}

/* 1 x 20,000 times 20,000 x 1 would be 400 million elements made from 40 thousand. */
static void test_folding_is_bounded(void **state) {
    (void)state;
    begin(SHAPE(1));
    constant("column", SHAPE(20000, 1), 0, 1);
    constant("row", SHAPE(1, 20000), 0, 1);
    node("Mul", "column,row", "large");
    onnx_add_ints(writer, "index", SCALAR, INTS(0));
    node("Gather", "large,index", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 2);
    assert_null(value_named(graph, "large")->data);
    tsr_graph_destroy(graph);
}

static void test_failures_name_the_node(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    constant("w", SHAPE(1, 3, 1, 1), 0, 1);
    onnx_add_node(writer, "Conv", "broken", "x,w", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = read_graph(writer);
    assert_int_equal(tsr_prepare(graph, tsr_cpu_eval, NULL), TSR_ERROR_SHAPE);
    assert_non_null(strstr(tsr_last_error(), "broken"));
    tsr_graph_destroy(graph);
}

/* ---- remove dead ---- */

static void test_dead_nodes_go(void **state) {
    (void)state;
    begin(SHAPE(1, 1, 2, 2));
    node("Relu", "x", "a");
    node("Exp", "a", "unread");
    node("Neg", "unread", "unread_too");
    onnx_set_ints(writer, node("MaxPool", "a", "y,indices"), "kernel_shape", 2, INTS(2, 2));
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(graph->node_count, 2);
    assert_int_equal(producer_of(graph, "y")->output_count, 1);
    assert_int_equal(value_named(graph, "unread")->producer, TSR_NONE);
    assert_int_equal(value_named(graph, "indices")->producer, TSR_NONE);
    tsr_graph_destroy(graph);
}

/* ---- Transposes of many axes ---- */

static void expect_four_axes(const tsr_graph *graph) {
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; i < graph->nodes[n].input_count; i++)
            assert_in_range(tsr_node_in(graph, &graph->nodes[n], i)->shape.rank, 0, 4);
}

/* x, seen as more axes, transposed and made a list, needs that many nodes when it is optimised. */
static void transposed(int rank, const int64_t *dims, const int64_t *perm, int node_count) {
    tsr_shape shape = tsr_shape_make(rank, dims), count = {1, {tsr_shape_count(&shape)}};
    begin(1, count.dim);
    onnx_add_ints(writer, "axes", SHAPE(rank), dims);
    node("Reshape", "x,axes", "a");
    onnx_set_ints(writer, node("Transpose", "a", "b"), "perm", (size_t)rank, perm);
    onnx_add_ints(writer, "list", SHAPE(1), INTS(-1));
    node("Reshape", "b,list", "y");
    pair p = apply(optimize, "y");
    expect_four_axes(p.after);
    finish(p, node_count);
}

static void test_wide_transposes_split(void **state) {
    (void)state;
    transposed(SHAPE(1, 1, 3, 3, 4, 5), INTS(0, 1, 4, 2, 5, 3), 3); /* PixelShuffle of one image */
    transposed(SHAPE(2, 3, 2, 2, 4, 5), INTS(0, 1, 4, 2, 5, 3), 5);
    transposed(SHAPE(2, 2, 3, 4, 5), INTS(0, 2, 1, 3, 4), 3);       /* of groups of channels */
    transposed(SHAPE(2, 1, 3, 1, 4, 1), INTS(5, 0, 3, 2, 1, 4), 1); /* moves only axes of one */
    transposed(SHAPE(2, 3, 2, 3, 2), INTS(4, 3, 2, 1, 0), 9);
    transposed(SHAPE(2, 3, 2, 3, 2, 1, 2, 2), INTS(6, 4, 7, 0, 2, 1, 5, 3), 7);
}

/* ---- bypass ---- */

static void test_no_ops_go(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    node("Relu", "x", "a");
    node("Identity", "a", "b");
    node("Dropout", "b", "c");
    onnx_set_int(writer, node("Cast", "c", "d"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F64));
    onnx_set_ints(writer, node("Transpose", "d", "e"), "perm", 4, INTS(0, 1, 2, 3));
    onnx_add_ints(writer, "none", SHAPE(8), INTS(0, 0, 0, 0, 0, 0, 0, 0));
    node("Pad", "e,none", "f");
    onnx_add_ints(writer, "starts", SHAPE(1), INTS(0));
    onnx_add_ints(writer, "ends", SHAPE(1), INTS(100));
    node("Slice", "f,starts,ends", "g");
    onnx_add_floats(writer, "scales", SHAPE(4), FLOATS(1, 1, 1, 1));
    onnx_set_string(writer, node("Resize", "g,,scales", "h"), "mode", "linear");
    onnx_set_int(writer, node("Concat", "h", "i"), "axis", 1);
    node("Neg", "i", "y");
    pair p = apply(tsr_pass_bypass, "y");
    assert_int_equal(tsr_graph_find_value(p.after, "a"), producer_of(p.after, "y")->inputs[0]);
    finish(p, 2);
}

static void test_moving_nodes_stay(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 2));
    onnx_set_ints(writer, node("Transpose", "x", "a"), "perm", 3, INTS(0, 2, 1));
    onnx_add_ints(writer, "starts", SHAPE(1), INTS(-1));
    onnx_add_ints(writer, "ends", SHAPE(1), INTS(-100));
    onnx_add_ints(writer, "axes", SHAPE(1), INTS(1));
    onnx_add_ints(writer, "steps", SHAPE(1), INTS(-1));
    node("Slice", "a,starts,ends,axes,steps", "b");
    onnx_add_ints(writer, "pads", SHAPE(6), INTS(0, 0, 1, 0, 0, -1));
    node("Pad", "b,pads", "y");
    finish(apply(tsr_pass_bypass, "y"), 3);
}

/* The node before writes the output of the graph, and whoever read its own result reads that. */
static void test_bypass_keeps_output_names(void **state) {
    (void)state;
    begin(SHAPE(4));
    node("Relu", "x", "a");
    node("Identity", "a", "y");
    node("Neg", "a", "b");
    add_output(writer, "b", TSR_DTYPE_F32);
    pair p = apply(tsr_pass_bypass, "y");
    assert_int_equal(producer_of(p.after, "y")->op, TSR_OP_Relu);
    assert_int_equal(producer_of(p.after, "b")->inputs[0], tsr_graph_find_value(p.after, "y"));
    finish(p, 2);
}

static void test_bypass_keeps_what_it_must(void **state) {
    (void)state;
    begin(SHAPE(4)); /* an input handed out, and one result under two names */
    node("Identity", "x", "same");
    node("Relu", "x", "a");
    node("Identity", "a", "b");
    add_output(writer, "same", TSR_DTYPE_F32);
    add_output(writer, "a", TSR_DTYPE_F32);
    finish(apply(tsr_pass_bypass, "b"), 3);
}

static void test_reshapes_join(void **state) {
    (void)state;
    begin(SHAPE(2, 1, 3));
    onnx_add_ints(writer, "axes", SHAPE(1), INTS(1));
    node("Squeeze", "x,axes", "a");
    node("Flatten", "a", "b");
    onnx_add_ints(writer, "shape", SHAPE(2), INTS(3, -1));
    node("Reshape", "b,shape", "y");
    pair p = apply(tsr_pass_bypass, "y");
    assert_int_equal(producer_of(p.after, "y")->op, TSR_OP_Reshape);
    assert_int_equal(producer_of(p.after, "y")->inputs[0], tsr_graph_find_value(p.after, "x"));
    finish(p, 1);
}

static void test_shared_reshapes_stay(void **state) {
    (void)state;
    begin(SHAPE(2, 1, 3));
    node("Flatten", "x", "a");
    node("Identity", "a", "b"); /* goes, so that a has two readers */
    onnx_add_ints(writer, "shape", SHAPE(2), INTS(3, 2));
    node("Reshape", "b,shape", "y");
    node("Neg", "a", "z");
    add_output(writer, "z", TSR_DTYPE_F32);
    finish(apply(tsr_pass_bypass, "y"), 3);
}

/* ---- batch norm ---- */

static void batch_norm(const char *input, const char *output, int64_t channels) {
    char inputs[64];
    constant("scale", SHAPE(channels), 0.5f, 0.25f);
    constant("shift", SHAPE(channels), -1, 0.5f);
    constant("mean", SHAPE(channels), 0.125f, -0.25f);
    constant("variance", SHAPE(channels), 0.5f, 1);
    snprintf(inputs, sizeof inputs, "%s,scale,shift,mean,variance", input);
    onnx_set_float(writer, node("BatchNormalization", inputs, output), "epsilon", 1e-3f);
}

static void test_batch_norm_folds_into_conv(void **state) {
    (void)state;
    begin(SHAPE(2, 4, 5, 5));
    constant("w", SHAPE(6, 2, 3, 3), -0.5f, 0.01f);
    constant("b", SHAPE(6), 1, -1);
    onnx_set_int(writer, node("Conv", "x,w,b", "a"), "group", 2);
    batch_norm("a", "y", 6);
    pair p = apply(tsr_pass_fold_batch_norm, "y");
    assert_int_equal(producer_of(p.after, "y")->op, TSR_OP_Conv);
    finish(p, 1);
}

static void test_batch_norm_folds_into_conv_transpose(void **state) {
    (void)state;
    begin(SHAPE(1, 4, 3, 3));
    constant("w", SHAPE(4, 3, 2, 2), -0.5f, 0.02f);
    onnx_set_int(writer, node("ConvTranspose", "x,w", "a"), "group", 2);
    batch_norm("a", "y", 6);
    pair p = apply(tsr_pass_fold_batch_norm, "y");
    assert_int_equal(producer_of(p.after, "y")->input_count, 3);
    finish(p, 1);
}

/* Here the convolution's own result is needed too. */
static void test_batch_norm_becomes_mul_and_add(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3));
    constant("w", SHAPE(3, 2, 1), -0.5f, 0.25f);
    node("Conv", "x,w", "a");
    batch_norm("a", "b", 3);
    node("Add", "a,b", "y");
    pair p = apply(tsr_pass_rewrite_batch_norm, "y");
    const tsr_node *add = producer_of(p.after, "b");
    assert_int_equal(add->op, TSR_OP_Add);
    assert_int_equal(p.after->nodes[p.after->values[add->inputs[0]].producer].op, TSR_OP_Mul);
    expect_shape(tsr_node_in(p.after, add, 1), SHAPE(1, 3, 1));
    finish(p, 4);
}

/* ---- posts ---- */

static void test_chain_fuses(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 4, 4));
    constant("w", SHAPE(3, 2, 3, 3), -0.5f, 0.03f);
    constant("slope", SHAPE(3, 1, 1), 0.1f, 0.1f);
    constant("factor", SCALAR, 3, 0);
    constant("low", SCALAR, -0.5f, 0);
    node("Conv", "x,w", "a");
    node("PRelu", "a,slope", "b");
    node("Mul", "b,factor", "c");
    node("Sub", "factor,c", "d");
    node("Clip", "d,low", "e");
    node("Sigmoid", "e", "y");
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Conv+PRelu+Mul+Sub+Clip+Sigmoid");
    const tsr_post *posts = p.after->nodes[0].posts;
    assert_false(posts[1].swapped);
    assert_true(posts[2].swapped);
    assert_true(posts[3].param[0] == -0.5f && posts[3].param[1] == FLT_MAX);
    assert_string_equal(posts[4].node_name, "y");
    finish(p, 1);
}

/* The convolution moves after the node that makes the other operand. */
static void test_residual_sum_fuses(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    constant("w", SHAPE(2, 2, 1, 1), -0.5f, 0.3f);
    node("Conv", "x,w", "a");
    node("Exp", "x", "b");
    node("Sub", "b,a", "c");
    node("Relu", "c", "y");
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Conv+Sub+Relu");
    assert_true(p.after->nodes[1].posts[0].swapped);
    assert_int_equal(p.after->nodes[1].posts[0].operand, tsr_graph_find_value(p.after, "b"));
    finish(p, 2);
}

/* PRelu on the node that makes its slope. */
static void test_slope_fuses(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    constant("w", SHAPE(2, 2, 1, 1), -0.5f, 0.3f);
    node("Conv", "x,w", "slope");
    node("PRelu", "x,slope", "y");
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Conv+PRelu");
    assert_true(p.after->nodes[0].posts[0].swapped);
    finish(p, 1);
}

/* With its attribute, on the node that makes either input. */
static void test_leaky_relu_grad_fuses(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    constant("w", SHAPE(2, 2, 1, 1), -0.5f, 0.3f);
    node("Conv", "x,w", "a");
    onnx_set_float(writer, node("LeakyReluGrad", "a,x", "b"), "alpha", 0.25f);
    node("Conv", "b,w", "c");
    onnx_set_float(writer, node("LeakyReluGrad", "x,c", "y"), "alpha", -0.5f);
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "b", "Conv+LeakyReluGrad");
    expect_posts(p.after, "y", "Conv+LeakyReluGrad");
    const tsr_post *first = p.after->nodes[0].posts, *second = p.after->nodes[1].posts;
    assert_true(!first->swapped && first->param[0] == 0.25f);
    assert_true(second->swapped && second->param[0] == -0.5f);
    finish(p, 2);
}

static void test_later_convolution_hosts(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 3, 3));
    constant("w", SHAPE(2, 2, 1, 1), -0.5f, 0.3f);
    node("Conv", "x,w", "a");
    node("Conv", "x,w", "b");
    node("Add", "b,a", "y");
    pair p = apply(tsr_pass_fuse_posts, "y");
    assert_int_equal(p.after->nodes[1].posts[0].operand, tsr_graph_find_value(p.after, "a"));
    finish(p, 2);
}

static void test_elementwise_nodes_host(void **state) {
    (void)state;
    begin(SHAPE(2, 3));
    constant("c", SHAPE(3), 1, 1);
    node("Add", "x,c", "a");
    node("Relu", "a", "b");
    node("Neg", "b", "y");
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Add+Relu+Neg");
    finish(p, 1);
}

static void test_shared_results_do_not_fuse(void **state) {
    (void)state;
    begin(SHAPE(2, 3));
    node("Exp", "x", "a");
    node("Mul", "a,a", "b"); /* reads it twice */
    node("Neg", "b", "c");   /* b is an output */
    node("Relu", "c", "d");  /* c is read twice */
    node("Add", "c,d", "y");
    add_output(writer, "b", TSR_DTYPE_F32);
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Relu+Add");
    assert_true(p.after->nodes[3].posts[0].swapped);
    finish(p, 4);
}

static void test_other_shapes_do_not_fuse(void **state) {
    (void)state;
    begin(SHAPE(1, 2));
    constant("larger", SHAPE(3, 2), 1, 1);
    onnx_add_ints(writer, "shape", SHAPE(2), INTS(2, 3));
    node("Exp", "x", "a");
    node("Add", "a,larger", "b"); /* broadcast to another shape */
    node("Reshape", "b,shape", "c");
    node("Relu", "c", "y"); /* a reshaping node computes nothing */
    pair p = apply(tsr_pass_fuse_posts, "y");
    expect_posts(p.after, "y", "Relu");
    finish(p, 4);
}

static void test_split_and_used_indices_do_not_host(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 2, 2));
    Tsr__NodeProto *split = node("Split", "x", "a,b");
    onnx_set_int(writer, split, "axis", 1);
    onnx_set_int(writer, split, "num_outputs", 2);
    node("Relu", "a", "c");
    onnx_set_ints(writer, node("MaxPool", "b", "d,indices"), "kernel_shape", 2, INTS(1, 1));
    node("Relu", "d", "e");
    onnx_set_int(writer, node("Cast", "indices", "f"), "to", tsr_dtype_to_onnx(TSR_DTYPE_F32));
    node("Neg", "f", "g");
    onnx_set_int(writer, node("Concat", "c,e,g", "y"), "axis", 1);
    finish(apply(tsr_pass_fuse_posts, "y"), 7);
}

/* Posts are computed in floats. */
static void test_integers_do_not_fuse(void **state) {
    (void)state;
    writer = onnx_writer_create(22);
    onnx_add_input(writer, "x", TSR_DTYPE_I64, SHAPE(3));
    node("Neg", "x", "a");
    node("Relu", "a", "y");
    add_output(writer, "y", TSR_DTYPE_I64);
    tsr_graph *graph = prepare_graph(writer);
    assert_int_equal(tsr_pass_fuse_posts(graph), TSR_OK);
    assert_int_equal(graph->node_count, 2);
    tsr_graph_destroy(graph);
}

static void test_chains_are_bounded(void **state) {
    (void)state;
    begin(SHAPE(3));
    char name[16] = "x", next[16];
    for (int i = 0; i < TSR_MAX_POSTS + 3; i++) {
        snprintf(next, sizeof next, "v%d", i);
        node("Neg", name, next);
        memcpy(name, next, sizeof name);
    }
    pair p = apply(tsr_pass_fuse_posts, name);
    assert_int_equal(p.after->nodes[0].post_count, TSR_MAX_POSTS);
    assert_int_equal(p.after->nodes[1].post_count, 1);
    finish(p, 2);
}

/* ---- all together ---- */

static void test_optimize(void **state) {
    (void)state;
    begin(SHAPE(1, 2, 4, 4));
    constant("w", SHAPE(4, 2, 3, 3), -0.5f, 0.02f);
    onnx_set_ints(writer, node("Conv", "x,w", "a"), "pads", 4, INTS(1, 1, 1, 1));
    batch_norm("a", "b", 4);
    node("Relu", "b", "c");
    node("Dropout", "c", "d");
    constant("v", SHAPE(2, 4, 1, 1), -1, 0.3f);
    node("Conv", "d,v", "e");
    node("Add", "e,x", "f");
    node("Identity", "f", "y");
    pair p = apply(optimize, "y");
    expect_posts(p.after, "c", "Conv+Relu");
    expect_posts(p.after, "y", "Conv+Add");
    finish(p, 2);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_arithmetic_folds),
        cmocka_unit_test(test_output_can_fold),
        cmocka_unit_test(test_empty_tensors_fold),
        cmocka_unit_test(test_dropout_mask_folds),
        cmocka_unit_test(test_widening_shares_elements),
        cmocka_unit_test(test_folding_is_bounded),
        cmocka_unit_test(test_failures_name_the_node),
        cmocka_unit_test(test_dead_nodes_go),
        cmocka_unit_test(test_wide_transposes_split),
        cmocka_unit_test(test_no_ops_go),
        cmocka_unit_test(test_moving_nodes_stay),
        cmocka_unit_test(test_bypass_keeps_output_names),
        cmocka_unit_test(test_bypass_keeps_what_it_must),
        cmocka_unit_test(test_reshapes_join),
        cmocka_unit_test(test_shared_reshapes_stay),
        cmocka_unit_test(test_batch_norm_folds_into_conv),
        cmocka_unit_test(test_batch_norm_folds_into_conv_transpose),
        cmocka_unit_test(test_batch_norm_becomes_mul_and_add),
        cmocka_unit_test(test_chain_fuses),
        cmocka_unit_test(test_residual_sum_fuses),
        cmocka_unit_test(test_slope_fuses),
        cmocka_unit_test(test_leaky_relu_grad_fuses),
        cmocka_unit_test(test_later_convolution_hosts),
        cmocka_unit_test(test_elementwise_nodes_host),
        cmocka_unit_test(test_shared_results_do_not_fuse),
        cmocka_unit_test(test_other_shapes_do_not_fuse),
        cmocka_unit_test(test_split_and_used_indices_do_not_host),
        cmocka_unit_test(test_integers_do_not_fuse),
        cmocka_unit_test(test_chains_are_bounded),
        cmocka_unit_test(test_optimize),
    };
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
