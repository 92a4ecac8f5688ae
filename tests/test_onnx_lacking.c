/* A model that has things that are not supported: one message lists all of them. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/refused.h"

#include <stdio.h>
#include <string.h>

static Tsr__GraphProto *graph_of(onnx_writer *writer) {
    return onnx_writer_model(writer)->graph;
}

static void everything_is_listed_at_once(void **state) {
    (void)state;
    onnx_writer *writer =
        onnx_case(30, "Foo x[1,4] -> a; Relu a -> b slope=1.0 bias=2; Bar b -> c; Foo c -> d; "
                      "Relu d -> e slope=2.0; Add e w{4} -> f; Add f v{4} -> y");
    for (int i = 0; i < 2; i++)
        graph_of(writer)->initializer[i]->data_type = 17;
    graph_of(writer)->node[2]->domain = "com.microsoft";
    graph_of(writer)->input[0]->type->tensor_type->elem_type = 8;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED,
                   "file.onnx: not supported: opset 30, which is newer than 27; operators Foo (2 "
                   "nodes, first 'Foo0'), com.microsoft.Bar (1 node, 'Bar2'); |attributes slope of "
                   "Relu (2 nodes, first 'Relu1'), bias of Relu (1 node, 'Relu1'); element types "
                   "float8e4m3fn (2 tensors, first 'w'), string (1 tensor, 'x')");
}

static void in_bodies_too(void **state) {
    (void)state;
    expect_refused_case(13,
                        "If c:bool[] -> y then_branch=@1 else_branch=@2; Add y x[2] -> s; "
                        "Foo s -> z @ Relu x -> r slope=1.0; Foo r -> a @ "
                        "Loop n(2) _ x -> b body=@3 @ Bar v[2] -> w",
                        TSR_ERROR_UNSUPPORTED,
                        "operators Foo (2 nodes, first 'Foo2'), Bar (1 node, 'Bar0'); attribute "
                        "slope of Relu (1 node, 'Relu0')");
}

static void forms_of_operators(void **state) {
    (void)state;
    expect_refused_case(
        7,
        "BatchNormalization x[1,2] g{2} b{2} m{2} v{2} -> a spatial=0; "
        "BatchNormalization a g b m v -> c spatial=0; Foo c -> y",
        TSR_ERROR_UNSUPPORTED,
        "operator Foo (1 node, 'Foo2'); form BatchNormalization (spatial = 0 is not "
        "supported; 2 nodes, first 'BatchNormalization0')");
}

/* Zeros in the place of what is lacking do not fit: that is not what is told. */
static void errors_that_follow_do_not_hide_it(void **state) {
    (void)state;
    onnx_writer *writer = onnx_case(13, "Reshape x[1,4] s(2,2) -> a; Gather a s -> y axis=0");
    graph_of(writer)->initializer[0]->data_type = 26;
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "element type int2 (1 tensor, 's')");
    writer = onnx_case(13, "Foo x[1] -> a; Relu nowhere -> y");
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator Foo (1 node, 'Foo0')");
    expect_refused_case(13, "Foo b -> a; Foo a -> b", TSR_ERROR_UNSUPPORTED,
                        "operator Foo (2 nodes, first 'Foo0')"); /* a cycle */
    writer = onnx_case(13, "Relu nowhere -> y");
    expect_refused(writer, TSR_ERROR_INVALID_MODEL, "nowhere");
}

static void constants_of_other_kinds(void **state) {
    (void)state;
    expect_refused_case(13,
                        "Constant -> a value_string=text; Constant -> b value_string=more; "
                        "Relu x[1] -> y",
                        TSR_ERROR_UNSUPPORTED,
                        "attribute value_string of Constant (2 nodes, first 'a')");
}

static void types_of_results(void **state) {
    (void)state;
    expect_refused_case(19, "Cast x[2] -> a to=17; Cast x -> b to=8; Cast x -> y to=17",
                        TSR_ERROR_UNSUPPORTED,
                        "forms Cast (to is float8e4m3fn; 2 nodes, first 'Cast0'), Cast (to is "
                        "string; 1 node, 'Cast1')");
}

static void the_list_is_bounded(void **state) {
    (void)state;
    onnx_writer *writer = onnx_writer_create(13);
    char op[40];
    for (int i = 0; i < 1000; i++) {
        snprintf(op, sizeof op, "Op%d", i % 100);
        onnx_add_node(writer, op, "n", "", "");
    }
    expect_refused(writer, TSR_ERROR_UNSUPPORTED,
                   "operators Op0 (10 nodes, first 'n')|Op63 (10 nodes, first 'n'); and 360 more");
}

static void names_are_escaped_and_cut(void **state) {
    (void)state;
    char name[3000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    name[1] = '\n';
    name[2] = '\033';
    onnx_writer *writer = onnx_writer_create(13);
    onnx_add_node(writer, name, name, "", "y");
    expect_refused(writer, TSR_ERROR_UNSUPPORTED, "operator a\\n\\x1baaaa|aaa... (1 node, 'a\\n");
    assert_in_range(strlen(tsr_last_error()), 1, 400);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_listed_at_once),
        cmocka_unit_test(in_bodies_too),
        cmocka_unit_test(forms_of_operators),
        cmocka_unit_test(errors_that_follow_do_not_hide_it),
        cmocka_unit_test(constants_of_other_kinds),
        cmocka_unit_test(types_of_results),
        cmocka_unit_test(the_list_is_bounded),
        cmocka_unit_test(names_are_escaped_and_cut),
    };
    return cmocka_run_group_tests_name("lacking", tests, NULL, NULL);
}
