/* Elements by index, triangles, sums up to each element, repeated and made tensors, held against
 * cpu. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"

static void test_axes(void **state) {
    (void)state;
    static const int dims[] = {3, 6, 7, 5};
    need_gpu();
    for (int rank = 1; rank <= 4; rank++)
        for (int axis = 0; axis < rank; axis++) {
            case_text shape = {""}, indices = {""};
            int some[4];
            for (int i = 0; i < rank; i++)
                some[i] = i == axis ? 9 : dims[4 - rank + i] - i % 2;
            text_add(&shape, "%s", text_list(dims + 4 - rank, rank));
            text_add(&indices, "%s", text_list(some, rank));
            check((op_case){.opset = 18, .range = 2, .no_half = true},
                  "Cast z[%s] -> i to=7; GatherElements x[%s] i -> y axis=%d", indices.text,
                  shape.text, axis - rank);
            for (int form = 0; form < 4; form++)
                check(OPSET(14), "CumSum x[%s] a(%d) -> y exclusive=%d reverse=%d", shape.text,
                      axis, form % 2, form / 2);
        }
    for (int axis = 0; axis < 5; axis++) {
        int some[] = {2, 3, 2, 5, 6};
        some[axis] = 3;
        check((op_case){.opset = 18, .no_half = true, .big = true},
              "Cast z[%s] -> i to=7; GatherElements x[2,3,2,5,6] i -> y axis=%d",
              text_list(some, 5), axis);
    }
    check(OPSET(14), "CumSum x[2,3,4,5,6] a(2) -> y");
    check((op_case){.opset = 14, .mean = 1, .range = 0.1f, .big = true},
          "CumSum x[1,3000] a(1) -> y");
    expect_no_failed_case();
}

static void test_triangles(void **state) {
    (void)state;
    static const char *const shapes[] = {"5,4", "2,5,4", "2,3,7,9", "2,3,2,3,4", "1,1"};
    need_gpu();
    for (int i = 0; i < 5; i++)
        for (int k = -2; k < 3; k++)
            check(OPSET(14), "Trilu x[%s] k(%d) -> y upper=%d", shapes[i], k, k & 1);
    check(OPSET(14), "Trilu x:int64[3,5,5] -> y");
    check(OPSET(14), "Trilu x:bool[5,5] -> y upper=0");
    check(OPSET(14), "Conv x[1,3,9,9] w{6,3,1,1} -> c; Trilu c -> t; Relu t -> y");
    expect_no_failed_case();
}

static void test_expand(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(13, "Expand x[3,1] s(2,1,4) -> y"),
        CASE(13, "Expand x[] s(2,5,3) -> y"),
        CASE(13, "Expand x[2,5,7,9] s(1) -> y"),
        CASE(13, "Expand x[1,5,1,1] s(2,1,7,9) -> e; Relu e -> y"),
        CASE(13, "Expand x[2,1,3,1,2] s(2,4,3,5,2) -> y"),
        CASE(13, "Expand x:bool[3,1] s(3,4) -> y"),
        CASE(13, "Expand x[3] s(0,3) -> y"),
        CASE(13, "Tile x[2,5] s(2,3) -> y"),
        CASE(13, "Tile x[2,5,3,2] s(1,2,1,3) -> y"),
        CASE(13, "Tile x[5] s(0) -> y"),
        CASE(11, "OneHot i(1,-2,3) d(4) f<0.5,2> -> o; Mul o x[3,4] -> y"),
        CASE(11, "Cast x[3,5] -> i to=7; OneHot i d(4) f<0.5,2> -> y axis=1", .range = 4,
             .no_half = true),
        CASE(9, "EyeLike x[5,7] -> e k=-1; Mul e x -> y"),
        CASE(11, "Range a(1) e(9) s(2) -> r; Cast r -> c to=1; Add c x[4] -> y"),
        CASE(9, "Shape x[2,3,5] -> s; ConstantOfShape s -> c; Add c x -> y"),
        CASE(13, "Size x[2,3] -> s; Cast s -> c to=1; Mul x c -> y"),
        CASE(18, "CenterCropPad x[5,4,9] s(3,7) -> y axes=0,2"),
        CASE(22, "GlobalLpPool x[2,5,7,9] -> y"),
        CASE(22, "GlobalLpPool x[2,5,7,9] -> y p=1"),
        CASE(22, "GlobalLpPool x[2,5,7] -> y p=3"),
        CASE(15, "BatchNormalization x[4,5,7] s{5} b{5} m{5} v{5} -> y n w training_mode=1"),
        CASE(15, "BatchNormalization x[2,5,3,7] s{5} b{5} m{5} v{5} -> y n w training_mode=1 "
                 "momentum=0."),
        CASE(15, "BatchNormalization x[3,6] s{6} b{6} m{6} v{6} -> y _ _ training_mode=1",
             .range = 3),
    };
    RUN_CASES(cases);
}

/* Indices that are known only when the network runs, along each axis, and a table of words. */
static void test_computed_indices(void **state) {
    (void)state;
    static const char *const shapes[] = {"7", "3,7", "3,5,6", "3,4,5,7", "3,4,3,3,4"};
    static const char *const indices[] = {"", "1", "5", "3,4", "2,1,3"};
    const op_case c = {.opset = 13, .range = 2.9f, .no_half = true};
    need_gpu();
    for (int rank = 1; rank <= 5; rank++)
        for (int axis = 0; axis < rank; axis++)
            for (int i = 0; i < 5; i++)
                check(c, "Cast z[%s] -> i to=7; Gather x[%s] i -> y axis=%d", indices[i],
                      shapes[rank - 1], axis - (i % 2 ? rank : 0));
    check(c, "Cast z[3,9] -> i to=6; Gather table{5,13} i -> e; Transpose e -> t perm=1,0,2; "
             "Relu t -> y");
    check(c, "Cast z[4] -> i to=7; Gather x:int64[2,6] i -> y axis=1");
    check(c, "Cast z[4] -> i to=7; Conv x[1,3,5,5] w{6,3,1,1} -> a; Gather a i -> b axis=1; "
             "Add b b -> y");
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_computed_indices),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
