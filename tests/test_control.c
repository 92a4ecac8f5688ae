/* If, Loop and Scan, held against graphs without them. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plain graphs are of opset 13. */
static void expect_same(int opset, const char *text, const char *plain) {
    tsr_graph *graph = prepare_graph(onnx_case(opset, text)),
              *other = prepare_graph(onnx_case(13, plain));
    expect_same_results(graph, other, 1e-6);
    tsr_graph_destroy(graph);
    tsr_graph_destroy(other);
}

static void refuse_to_read(int opset, const char *text, const char *words) {
    size_t size;
    uint8_t *bytes = onnx_case_bytes(opset, text, &size);
    tsr_model *model;
    assert_int_not_equal(tsr_model_load_memory(bytes, size, NULL, &model), TSR_OK);
    if (!strstr(tsr_last_error(), words))
        fail_msg("'%s' instead of '%s'", tsr_last_error(), words);
    free(bytes);
}

#define YES "Cast one<1 -> yes to=9; "
#define NO "Cast zero<0 -> no to=9; "
#define BRANCHES "then_branch=@1 else_branch=@2 @ Add x two<2 -> r @ Mul x three<3 -> r"

static void branches(void **state) {
    (void)state;
    expect_same(13, YES "Relu a[2,3] -> x; If yes -> y " BRANCHES,
                "Relu a[2,3] -> x; Add x k<2 -> y");
    expect_same(13, NO "Relu a[2,3] -> x; If no -> y " BRANCHES,
                "Relu a[2,3] -> x; Mul x k<3 -> y");
    /* not known: both */
    expect_same(13, "Relu a[2,3] -> x; If c:bool[1] -> y " BRANCHES,
                "Relu a[2,3] -> x; Add x two<2 -> p; Mul x three<3 -> q; Where c:bool[1] p q -> y");
    /* Branches of different shapes, a value around them as output, two outputs. */
    expect_same(13,
                YES "Relu a[2,3] -> x; If yes -> y z then_branch=@1 else_branch=@2 "
                    "@ Neg x -> n!; Concat x x -> r axis=0 @ Neg x -> n!; Relu x -> r",
                "Relu a[2,3] -> x; Neg x -> y!; Concat x x -> z axis=0");
    refuse_to_prepare(13,
                      "Relu a[2,3] -> x; If c:bool[] -> y then_branch=@1 else_branch=@2 "
                      "@ Relu x -> r @ Concat x x -> r axis=0",
                      "known only at run time, and its branches give float32 of shape [2, 3] and "
                      "float32 of shape [4, 3]");
    refuse_to_prepare(13, "Relu a[2,3] -> x; If x -> y " BRANCHES,
                      "instead of one integer or bool");
    refuse_to_prepare(13, "Relu a[2] -> x; If c:bool[] -> y z " BRANCHES,
                      "2 outputs, its body makes 1");
}

/* In a branch of a branch; names that are used twice. */
static void nests(void **state) {
    (void)state;
    expect_same(13,
                YES "Relu a[3] -> x; If yes -> y then_branch=@1 else_branch=@2 "
                    "@ Add x f<1,2,3> -> t; If yes -> r then_branch=@3 else_branch=@4 "
                    "@ Relu x -> r @ Mul t x -> r @ Sub t x -> r",
                "Relu a[3] -> x; Add x f<1,2,3> -> t; Mul t x -> y");
    char text[2048] = YES "Relu a[3] -> x; If yes -> y then_branch=@1 else_branch=@1";
    for (int i = 1; i < 18; i++)
        sprintf(text + strlen(text), " @ If yes -> y then_branch=@%d else_branch=@%d", i + 1,
                i + 1);
    strcat(text, " @ Relu x -> y");
    refuse_to_read(13, text, "nested more than 16 deep");
}

#define SUM "@ Cast i:int64[] -> f to=1; Identity c:bool[] -> g!; Add s[2] x -> t!; Mul f s -> p"

static void loops(void **state) {
    (void)state;
    /* Carried values, rows, the number of the iteration, a value around it. */
    expect_same(13, "Relu a[2] -> x; Reshape n(3) e() -> m; Loop m _ x -> y rows body=@1 " SUM,
                "Relu a[2] -> x; Add x x -> t; Add t x -> u; Add u x -> y!; "
                "Mul x k<0 -> p; Mul t k1<1 -> q; Mul u k2<2 -> r; Unsqueeze p v(0) -> p1; "
                "Unsqueeze q v -> q1; Unsqueeze r v -> r1; Concat p1 q1 r1 -> rows axis=0");
    /* Ended by its condition. */
    expect_same(13,
                YES "Relu a[2] -> x; Loop _ yes x -> y body=@1 "
                    "@ Cast i:int64[] -> f to=1; Identity c:bool[] -> d; Less f k<3 -> g!; "
                    "Add s[2] x -> t",
                "Relu a[2] -> x; Mul x k<5 -> y");
    /* A shape that grows; no iteration; a loop in a loop. */
    expect_same(13,
                "Relu a[2] -> x; Reshape n(2) e() -> m; Loop m _ x -> y body=@1 "
                "@ Identity i:int64[] -> j; Identity c:bool[] -> g!; Concat s s[2] -> t axis=0",
                "Relu a[2] -> x; Concat x x x x -> y axis=0");
    expect_same(13, "Relu a[2] -> x; Reshape n(0) e() -> m; Loop m _ x -> y _ body=@1 " SUM,
                "Relu a[2] -> y");
    expect_same(13,
                "Relu a[2] -> x; Reshape n(3) e() -> m; Loop m _ x -> y body=@1 "
                "@ Identity i:int64[] -> j; Identity c:bool[] -> g!; Loop j _ s[2] -> t body=@2 "
                "@ Identity j:int64[] -> k; Identity d:bool[] -> g!; Add q[2] x -> t",
                "Relu a[2] -> x; Mul x k<4 -> y");
}

static void bad_loops(void **state) {
    (void)state;
    const char *const forever =
        "Relu a[2] -> x; Loop _ _ x -> y body=@1 "
        "@ Identity i:int64[] -> j; Identity c:bool[] -> g!; Add s[2] x -> t";
    refuse_to_prepare(13, forever, "its bodies have too many nodes in all");
    refuse_to_prepare(13,
                      "Relu a[2] -> x; Loop _ _ x -> y body=@1 @ Identity i:int64[] -> j; "
                      "Identity c:bool[] -> g; Identity s[2] -> t",
                      "its body has 3 inputs and 1 outputs");
    refuse_to_prepare(13, "Relu a[2] -> x; Loop m:int64[] _ x -> y body=@1 " SUM,
                      "the trip count 'm' is known only at run time");
    refuse_to_prepare(13, "Relu a[2] -> x; Loop _ c:bool[] x -> y body=@1 " SUM,
                      "the condition 'c' is known only at run time");
    refuse_to_prepare(13, "Relu a[2] -> x; Reshape n(0) e() -> m; Loop m _ x -> y z body=@1 " SUM,
                      "there is no iteration, and the shape of");
    refuse_to_read(13, "Relu a[2] -> x; Loop _ _ x x -> y body=@1 " SUM,
                   "the graph has 3 inputs, not 4");
    refuse_to_read(13, "Relu a[2] -> x; Loop _ _ x -> y body=3",
                   "\"body\" is an integer, not a graph");
    refuse_to_read(13, "Relu a[2] -> x; Loop _ _ x -> y body=@1 @ Identity lost -> y",
                   "\"lost\" is no input");
    refuse_to_read(13, "Relu a[2] -> y body=@1 @ Identity x[2] -> y",
                   "attribute body of Relu (1 node");
    refuse_to_read(13, "Relu a[2] -> x; Loop _ _ x -> y body=@1 @ Frobnicate x[2] -> y",
                   "not supported: operator Frobnicate (1 node");
}

#define CHOICE "If c:bool[] -> y then_branch=@1 else_branch=@2"
#define CHOSEN " @ Relu x -> t @ Neg x -> u"

/* Names with the prefix of a body, which a file may have, too; absent inputs at the end. */
static void hostile_names(void **state) {
    (void)state;
    refuse_to_read(13, "Relu If1.1/t[2] -> x; " CHOICE CHOSEN, "its output \"t\" exists already");
    refuse_to_read(13, "Relu a[2] -> x; " CHOICE "; Relu If1.1/t -> z" CHOSEN,
                   "\"If1.1/t\" is no input");
    refuse_to_read(13,
                   "Relu a[2] -> x; " CHOICE "; If c -> z then_branch=@3 else_branch=@3" CHOSEN
                   " @ Relu If1.1/t -> v",
                   "\"If1.1/t\" is no input");
    refuse_to_read(13, "Relu a[2] -> x; Reshape n(1) e() -> m; Loop m _ _ -> y body=@1 " SUM,
                   "the graph has 3 inputs, not 2");
    refuse_to_read(13, "Scan s[2] _ -> y body=@1 num_scan_inputs=1 @ Add p[2] q[2] -> y",
                   "the graph has 2 inputs, not 1");
    size_t size;
    uint8_t *bytes = onnx_case_bytes(13, "Relu a[2] -> x; " CHOICE CHOSEN, &size);
    tsr_model *model;
    tsr_device *device;
    tsr_session *session;
    assert_int_equal(tsr_model_load_memory(bytes, size, NULL, &model), TSR_OK);
    assert_int_equal(tsr_device_create(&(tsr_device_desc){.backend = "cpu"}, &device), TSR_OK);
    const tsr_session_desc desc = {.extra_outputs = (const char *const[]){"If1.1/t"},
                                   .extra_output_count = 1};
    assert_int_equal(tsr_session_create(device, model, &desc, &session),
                     TSR_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(tsr_last_error(), "is inside a node"));
    tsr_model_free(model);
    tsr_device_destroy(device);
    free(bytes);
}

/* Sums along an axis, row by row: CumSum. */
static void scans(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        random_source r = random_from(seed);
        int rank = random_int(&r, 1, 4), axis = random_int(&r, 0, rank - 1),
            reverse = random_int(&r, 0, 1);
        char dims[64] = "", rest[64] = "", text[1024], plain[256];
        for (int i = 0; i < rank; i++) {
            int size = random_int(&r, 1, 4);
            sprintf(dims + strlen(dims), "%s%d", i ? "," : "", size);
            if (i != axis)
                sprintf(rest + strlen(rest), "%s%d", *rest ? "," : "", size);
        }
        int shown = random_one_in(&r, 2) ? axis - rank : axis;
        snprintf(text, sizeof text,
                 "Mul w{%s} k<0 -> zeros; Scan zeros x[%s] -> _ y body=@1 num_scan_inputs=1 "
                 "scan_input_axes=%d, scan_output_axes=%d, scan_input_directions=%d, "
                 "scan_output_directions=%d, @ Add s[%s] row[%s] -> t!; Identity t -> u",
                 rest, dims, shown, shown, reverse, reverse, rest, rest);
        snprintf(plain, sizeof plain, "CumSum x[%s] s(%d) -> y reverse=%d", dims, axis, reverse);
        expect_same(13, text, plain);
    }
}

static void scan_forms(void **state) {
    (void)state;
    const char *const body = "@ Add s[2] p[2] -> t!; Mul p q[2] -> u";
    char text[512];
    snprintf(text, sizeof text, "Scan s0{2} x[2,2] z[2,2] -> s1 y body=@1 num_scan_inputs=2 %s",
             body);
    expect_same(13, text,
                "Split x[2,2] -> x0 x1 axis=0; Reshape x0 sh(2) -> a; Reshape x1 sh -> b; Add "
                "s0{2} a -> c; "
                "Add c b -> s1!; Mul x z[2,2] -> y");
    /* Of opset 8: batches. */
    expect_same(8,
                "Scan _ x[3,2] z[3,4,2] -> s1 y body=@1 num_scan_inputs=1 directions=1, "
                "@ Add s[2] p[2] -> t!; Mul s p -> u",
                "Unsqueeze x[3,2] one(1) -> x1; Slice z[3,4,2] b(-1) e(-9) one st(-1) -> back; "
                "ReduceSum z one -> sum keepdims=0; Add x sum -> s1!; "
                "CumSum back one -> before exclusive=1; Add x1 before -> state; "
                "Mul state back -> y");
    refuse_to_prepare(13, "Scan x[2,2] z[3,2] -> y body=@1 num_scan_inputs=2 @ Add p[2] q[2] -> y",
                      "axis 0 of [3, 2] has not length 2");
    refuse_to_prepare(13,
                      "Scan x[2,2] -> y body=@1 num_scan_inputs=1 scan_input_axes=2, "
                      "@ Relu p[2] -> y",
                      "axis 2 is out of range");
    refuse_to_prepare(13,
                      "Scan x[2,2] -> y body=@1 num_scan_inputs=1 scan_output_axes=4294967296, "
                      "@ Relu p[2] -> y",
                      "axis 4294967296 is out of range");
    refuse_to_prepare(13, "Scan x[2,2] -> y body=@1 num_scan_inputs=2 @ Relu p[2] -> y",
                      "2 inputs are scanned; its body has 1 inputs");
    refuse_to_read(
        8, "Relu l[1] -> n; Scan n x[3,1,2] -> y body=@1 num_scan_inputs=1 @ Relu p[2] -> y",
        "sequence_lens is not supported");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches),   cmocka_unit_test(nests),         cmocka_unit_test(loops),
        cmocka_unit_test(bad_loops),  cmocka_unit_test(hostile_names), cmocka_unit_test(scans),
        cmocka_unit_test(scan_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
