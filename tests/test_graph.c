/* Graphs: values by name, attributes, clones, shapes and the operator table. */
#include "graph/graph.h"

#include "support/main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_find_value(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    tsr_graph *graph = tsr_graph_create("many.onnx");
    assert_non_null(graph);
    assert_string_equal(graph->file, "many.onnx");
    assert_int_equal(tsr_graph_find_value(graph, "v0"), TSR_NONE);
    char name[16];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(tsr_graph_add_value(graph, name), i);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(tsr_graph_find_value(graph, name), i);
        assert_string_equal(graph->values[i].name, name);
    }
    assert_int_equal(tsr_graph_find_value(graph, "v10000"), TSR_NONE);
    assert_int_equal(tsr_graph_find_value(graph, ""), TSR_NONE);
    assert_int_equal(graph->values[7].shape.rank, -1);
    assert_int_equal(graph->values[7].producer, TSR_NONE);
    assert_null(graph->values[7].data);
    tsr_graph_destroy(graph);
    tsr_graph_destroy(NULL);
}

static void test_constant(void **state) {
    (void)state;
    static const int64_t data[2] = {3, -4};
    tsr_graph *graph = tsr_graph_create(NULL);
    tsr_shape shape = tsr_shape_make(1, (int64_t[]){2});
    int index = tsr_graph_add_constant(graph, "c", TSR_DTYPE_I32, &shape, data);
    assert_int_equal(index, 0);
    assert_ptr_equal(graph->values[index].data, data);
    assert_int_equal(graph->values[index].dtype, TSR_DTYPE_I32);
    assert_true(tsr_shape_equal(&graph->values[index].shape, &shape));
    tsr_graph_destroy(graph);
}

/* y = Elu(x), z = Neg(y) */
static tsr_graph *two_nodes(void) {
    static int inputs[2] = {0, 1}, outputs[2] = {1, 2};
    static tsr_attr alpha = {.name = "alpha", .kind = TSR_ATTR_FLOAT, .f = 0.5f};
    tsr_graph *graph = tsr_graph_create("two.onnx");
    assert_non_null(graph);
    tsr_graph_add_value(graph, "x");
    tsr_graph_add_value(graph, "y");
    tsr_graph_add_value(graph, "z");
    graph->node_count = 2;
    graph->nodes = TSR_NEW(graph->arena, 2, tsr_node);
    for (int i = 0; i < 2; i++) {
        graph->nodes[i] = (tsr_node){.name = "n",
                                     .op = i ? TSR_OP_Neg : TSR_OP_Elu,
                                     .input_count = 1,
                                     .output_count = 1,
                                     .inputs = &inputs[i],
                                     .outputs = &outputs[i]};
        graph->values[outputs[i]].producer = i;
    }
    graph->nodes[0].attrs = &alpha;
    graph->nodes[0].attr_count = 1;
    graph->input_count = graph->output_count = 1;
    graph->inputs = &inputs[0];
    graph->outputs = &outputs[1];
    return graph;
}

static void test_clone(void **state) {
    (void)state;
    tsr_graph *graph = two_nodes(), *clone = tsr_graph_clone(graph);
    assert_non_null(clone);
    clone->nodes[0].inputs[0] = 2;
    clone->nodes[0].attrs[0].f = 9;
    clone->nodes[1].op = TSR_OP_Exp;
    clone->values[0].dtype = TSR_DTYPE_F16;
    clone->outputs[0] = 1;
    assert_int_equal(tsr_graph_add_value(clone, "new"), 3);
    assert_int_equal(tsr_graph_find_value(clone, "new"), 3);
    assert_int_equal(tsr_graph_find_value(clone, "z"), 2);
    assert_string_equal(clone->file, "two.onnx");

    assert_int_equal(graph->nodes[0].inputs[0], 0);
    assert_true(tsr_attr_float(&graph->nodes[0], "alpha", 1) == 0.5f);
    assert_int_equal(graph->nodes[1].op, TSR_OP_Neg);
    assert_int_equal(graph->values[0].dtype, TSR_DTYPE_F32);
    assert_int_equal(graph->outputs[0], 2);
    assert_int_equal(graph->value_count, 3);
    assert_int_equal(tsr_graph_find_value(graph, "new"), TSR_NONE);
    tsr_graph_destroy(clone);
    tsr_graph_destroy(graph);
}

static void test_slots_and_attributes(void **state) {
    (void)state;
    tsr_graph *graph = two_nodes();
    tsr_node *elu = &graph->nodes[0];
    assert_ptr_equal(tsr_node_in(graph, elu, 0), &graph->values[0]);
    assert_null(tsr_node_in(graph, elu, 1));
    assert_ptr_equal(tsr_node_out(graph, elu, 0), &graph->values[1]);
    assert_null(tsr_node_out(graph, elu, 1));
    assert_int_equal(tsr_attr_int(elu, "alpha", 7), 7); /* of another kind: absent */
    assert_string_equal(tsr_attr_string(elu, "beta", "none"), "none");
    int count = 5;
    assert_null(tsr_attr_ints(elu, "alpha", &count));
    assert_int_equal(count, 0);
    tsr_graph_destroy(graph);
}

static void test_op_params(void **state) {
    (void)state;
    static const struct {
        tsr_op op;
        float alpha, beta;
    } cases[] = {{TSR_OP_Relu, 0, 0},
                 {TSR_OP_LeakyRelu, 0.01f, 0},
                 {TSR_OP_LeakyReluGrad, 0.01f, 0},
                 {TSR_OP_HardSigmoid, 0.2f, 0.5f},
                 {TSR_OP_HardSwish, 0, 0},
                 {TSR_OP_Elu, 1, 0}};
    float param[2];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_op_params(&(tsr_node){.op = cases[i].op}, param);
        assert_true(param[0] == cases[i].alpha && param[1] == cases[i].beta);
    }
    tsr_attr attrs[] = {{.name = "beta", .kind = TSR_ATTR_FLOAT, .f = 3},
                        {.name = "alpha", .kind = TSR_ATTR_FLOAT, .f = 2}};
    tsr_op_params(&(tsr_node){.op = TSR_OP_HardSigmoid, .attrs = attrs, .attr_count = 2}, param);
    assert_true(param[0] == 2 && param[1] == 3);
}

static void test_shapes(void **state) {
    (void)state;
    tsr_shape scalar = {.rank = 0}, unknown = {.rank = -1};
    tsr_shape open = tsr_shape_make(3, (int64_t[]){1, -1, 256});
    tsr_shape empty = tsr_shape_make(3, (int64_t[]){INT64_MAX, INT64_MAX, 0});
    tsr_shape huge = tsr_shape_make(2, (int64_t[]){(int64_t)1 << 32, (int64_t)1 << 31});
    assert_int_equal(tsr_shape_count(&scalar), 1);
    assert_int_equal(tsr_shape_count(&unknown), -1);
    assert_int_equal(tsr_shape_count(&open), -1);
    assert_int_equal(tsr_shape_count(&empty), 0);
    assert_int_equal(tsr_shape_count(&huge), -1);
    assert_string_equal(tsr_shape_text(&scalar), "[]");
    assert_string_equal(tsr_shape_text(&open), "[1, ?, 256]");
    assert_string_equal(tsr_shape_text(&unknown), "[unknown rank]");
    tsr_shape widest = {.rank = TSR_MAX_RANK};
    for (int i = 0; i < TSR_MAX_RANK; i++)
        widest.dim[i] = INT64_MAX;
    assert_int_equal(strlen(tsr_shape_text(&widest)), 8 * 19 + 7 * 2 + 2);
    assert_true(tsr_shape_equal(&open, &open));
    assert_false(tsr_shape_equal(&open, &empty));
    assert_false(tsr_shape_equal(&scalar, &unknown));
}

static void test_types(void **state) {
    (void)state;
    assert_string_equal(tsr_dtype_name(TSR_DTYPE_F16), "float16");
    assert_string_equal(tsr_dtype_name((tsr_dtype)99), "unknown type");
    assert_int_equal(tsr_dtype_size(TSR_DTYPE_F64), 8);
    assert_int_equal(tsr_dtype_size(TSR_DTYPE_BOOL), 1);
    assert_int_equal(tsr_dtype_size((tsr_dtype)99), 0);
    assert_true(tsr_dtype_is_float(TSR_DTYPE_F64));
    assert_false(tsr_dtype_is_float(TSR_DTYPE_U8));
}

static void test_op_table(void **state) {
    (void)state;
    for (int op = 0; op < TSR_OP_COUNT; op++)
        assert_int_equal(tsr_op_find(tsr_op_get_info((tsr_op)op)->name), op);
    assert_int_equal(tsr_op_find("conv"), TSR_OP_COUNT);
    const tsr_op_info *conv = tsr_op_get_info(TSR_OP_Conv);
    assert_string_equal(conv->stem, "conv");
    assert_int_equal(conv->parameters, 6);
    assert_int_equal(tsr_op_get_info(TSR_OP_Concat)->max_inputs, TSR_VARIADIC);
    assert_int_equal(tsr_op_find("Constant"), TSR_OP_COUNT);
    assert_true(tsr_op_has(TSR_OP_Relu, TSR_TYPES_NUMBERS));
    assert_false(tsr_op_has(TSR_OP_Exp, TSR_TYPES_NUMBERS));
    assert_true(tsr_op_has(TSR_OP_Div, TSR_IS_POST_OP));
    assert_false(tsr_op_has(TSR_OP_Conv, TSR_IS_POST_OP));
}

static void test_op_attributes(void **state) {
    (void)state;
    enum {
        ATTR_LINES = 0
#define TSR_ATTR(...) +1
#include "graph/ops.def"
    };
    int count, total = 0;
    const tsr_attr_info *attrs = tsr_op_attrs(TSR_OP_HardSigmoid, &count);
    assert_int_equal(count, 2);
    assert_string_equal(attrs[1].name, "beta");
    assert_true(attrs[1].is_param && attrs[1].default_value == 0.5f &&
                attrs[1].values == TSR_ATTR_VALUES_OPTIONAL);
    attrs = tsr_op_attrs(TSR_OP_Concat, &count);
    assert_int_equal(count, 1);
    assert_true(attrs[0].values == TSR_ATTR_VALUES_REQUIRED && attrs[0].kind == TSR_ATTR_INT);
    tsr_op_attrs(TSR_OP_Relu, &count);
    assert_int_equal(count, 0);
    for (int op = 0; op < TSR_OP_COUNT; op++) {
        attrs = tsr_op_attrs((tsr_op)op, &count);
        for (int i = 0; i < count; i++)
            assert_int_equal(attrs[i].op, op);
        total += count;
    }
    assert_int_equal(total, ATTR_LINES); /* those of one operator are together */
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_value),    cmocka_unit_test(test_constant),
        cmocka_unit_test(test_clone),         cmocka_unit_test(test_slots_and_attributes),
        cmocka_unit_test(test_op_params),     cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_types),         cmocka_unit_test(test_op_table),
        cmocka_unit_test(test_op_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
