/* Tensors of up to eight axes on a GPU backend, held against cpu: broadcasting in every pattern,
 * permutations, copies along each axis, batches of matrices. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <string.h>

enum { MOST_AXES = 8 };

/* Few elements, sizes that fill no texel. */
static int draw_dims(random_source *r, int least, int dims[MOST_AXES]) {
    int rank = random_int(r, least, MOST_AXES);
    for (int i = 0; i < rank; i++)
        dims[i] = random_int(r, 1, rank > 6 ? 2 : 4);
    dims[random_int(r, 0, rank - 1)] = random_int(r, 3, 5);
    return rank;
}

/* Some of the axes as 1, leading ones left out at times. */
static const char *draw_operand(random_source *r, const int *dims, int rank) {
    int operand[MOST_AXES], lead = random_one_in(r, 3) ? random_int(r, 0, rank) : 0;
    for (int i = lead; i < rank; i++)
        operand[i - lead] = random_one_in(r, 2) ? 1 : dims[i];
    return text_list(operand, rank - lead);
}

static void test_broadcasts(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Sub", "Mul"};
    need_gpu();
    for (int i = 0; i < some_cases(50); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MOST_AXES], rank = draw_dims(&r, 5, dims);
        const char *op = ops[i % 3], *a = draw_operand(&r, dims, rank),
                   *b = draw_operand(&r, dims, rank), *all = text_list(dims, rank);
        check(OPSET(14), "%s a[%s] b[%s] -> y", op, a, b);
        check(OPSET(14), "%s a[%s] b{%s} -> y", op, all, b);
        check(OPSET(14), "Sigmoid a[%s] -> s; %s b[%s] s -> y", all, op, a); /* a post-op */
    }
    expect_no_failed_case();
}

static void test_permutations(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(50); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MOST_AXES], perm[MOST_AXES], rank = draw_dims(&r, 5, dims);
        for (int k = 0; k < rank; k++)
            perm[k] = k;
        for (int k = rank - 1; k > 0; k--) {
            int other = random_int(&r, 0, k), moved = perm[k];
            perm[k] = perm[other];
            perm[other] = moved;
        }
        case_text text = {""};
        text_add(&text, "Transpose x[%s] -> %s", text_list(dims, rank), i % 2 ? "y" : "t");
        text_add_ints(&text, "perm", perm, rank);
        text_add(&text, "%s", i % 2 ? "" : "; Relu t -> y");
        run_case(&(backend_case){.text = text.text});
    }
    /* a channel shuffle */
    run_case(&(backend_case){
        .text = "Relu x[2,12,5,3] -> r; Reshape r s(2,3,4,5,3) -> a; "
                "Transpose a -> b perm=0,2,1,3,4; Reshape b t(2,12,5,3) -> c; Relu c -> y"});
    check(OPSET(13), "Reshape x[2,12,5,3] s(2,3,4,5,3) -> a; Gather a i(1,0) -> b axis=2; "
                     "Reshape b t(2,6,5,3) -> y");
    expect_no_failed_case();
}

/* Along each axis of tensors of five and more. */
static void test_each_axis(void **state) {
    (void)state;
    static const int dims[MOST_AXES] = {2, 3, 5, 2, 3, 2, 1, 2};
    need_gpu();
    for (int rank = 5; rank <= MOST_AXES; rank++)
        for (int axis = 0; axis < rank; axis++) {
            const char *x = text_list(dims, rank);
            check((op_case){.opset = 13, .big = true}, "Concat x[%s] x x x x -> y axis=%d", x,
                  axis);
            check(OPSET(13), "Relu x[%s] -> r; Concat r x -> y axis=%d", x, axis);
            check(OPSET(13), "Softmax x[%s] -> y axis=%d", x, axis);
            check(OPSET(11), "Softmax x[%s] -> y axis=%d", x, axis);
            check(OPSET(13), "Gather x[%s] i(0,-1,0) -> y axis=%d", x, axis);
            check(OPSET(13), "Slice x[%s] s(-1) e(-9) a(%d) p(-1) -> y", x, axis);
            check(OPSET(18), "Pad x[%s] p(1,2) k<0.5 a(%d) -> y", x, axis);
            check(OPSET(18), "Pad x[%s] p(0,1) _ a(%d) -> y mode=edge", x, axis);
            if (dims[axis] > 1)
                check(OPSET(13), "Split x[%s] s(1,%d) -> y z axis=%d", x, dims[axis] - 1, axis);
        }
    check(OPSET(13), "Slice x[2,3,4,5,6] s(0,1,2,0) e(2,3,4,9) a(0,1,2,4) p(1,1,1,2) -> y");
    check(OPSET(13), "InstanceNormalization x[2,3,4,5,3] s{3} b{3} -> y");
    check(OPSET(15), "BatchNormalization x[2,3,2,5,7] s{3} b{3} m{3} v<0.5,1,2> -> y");
    check(OPSET(13), "Relu x[2,5,3,3,4] -> r; Reshape r s(6,-1) -> y");
    expect_no_failed_case();
}

/* Over the last axes from each on, with and without bias and moments. */
static void test_layer_normalization(void **state) {
    (void)state;
    static const int dims[MOST_AXES] = {2, 3, 5, 2, 3, 2, 1, 2};
    need_gpu();
    for (int rank = 1; rank <= MOST_AXES; rank++)
        for (int axis = 0; axis < rank; axis++) {
            const char *x = text_list(dims, rank), *s = text_list(dims + axis, rank - axis);
            /* of two elements the deviation is their difference */
            const op_case c = {.opset = 17,
                               .mean = axis % 2 ? 3 : 0,
                               .tolerance = 1e-4,
                               .no_half = rank - axis < 3};
            check(c, "LayerNormalization x[%s] s{%s} b{%s} -> y axis=%d epsilon=0.01", x, s, s,
                  axis);
            check(c, "LayerNormalization x[%s] s[%s] -> n axis=%d; Relu n -> y", x, s, axis - rank);
            check(c, "LayerNormalization x[%s] s[%s] b[%s] -> y m i axis=%d epsilon=0.01", x, s, s,
                  axis);
        }
    static const op_case cases[] = {
        CASE(17, "LayerNormalization x[3,1,333] s{333} b{333} -> y", .big = true),
        CASE(17, "LayerNormalization x[2,5,4096] s{4096} b{4096} -> y", .big = true),
        CASE(17, "LayerNormalization x[2,3,17,257] s{17,257} b{17,257} -> y axis=2", .big = true),
        CASE(17, "LayerNormalization x[3,5000] s{5000} -> y", .big = true),
        CASE(17, "LayerNormalization x[70,40] s{40} b{40} -> y", .mean = 1000, .tolerance = 2e-4,
             .no_half = true, .big = true),
        CASE(17, "LayerNormalization x[1,3,70,66] s{3,70,66} b{3,70,66} -> y axis=1", .mean = 100,
             .tolerance = 2e-4, .no_half = true, .big = true),
        CASE(17, "MatMul x[2,5,9] w{9,11} -> a; Add a c{11} -> h; "
                 "LayerNormalization h s{11} b{11} -> n; MatMul n v{11,7} -> p; Relu p -> y"),
    };
    RUN_CASES(cases);
}

static void test_batches(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(40); i++) {
        random_source r = random_from((uint32_t)i);
        int dims[MOST_AXES], rank = random_int(&r, 1, MOST_AXES - 2), m = random_int(&r, 1, 6),
                             k = random_int(&r, 1, 9), n = random_int(&r, 1, 6);
        for (int d = 0; d < rank; d++)
            dims[d] = random_int(&r, 1, rank > 3 ? 2 : 4);
        const char *a = draw_operand(&r, dims, rank), *b = draw_operand(&r, dims, rank);
        const char *a_comma = *a ? "," : "", *b_comma = *b ? "," : "";
        check(OPSET(13), "MatMul a[%s%s%d,%d] b[%s%s%d,%d] -> y", a, a_comma, m, k, b, b_comma, k,
              n);
        check(OPSET(13), "MatMul a[%s%s%d,%d] b{%s%s%d,%d} -> p; Relu p -> y", a, a_comma, m, k, b,
              b_comma, k, n);
    }
    check((op_case){.opset = 13, .big = true}, "MatMul a[2,1,3,1,2,4,6] b[3,1,2,1,6,5] -> y");
    check(OPSET(13), "MatMul a[2,3,2,2,4,6] b{6,5} -> p; Add p c{5} -> y");
    check(OPSET(13), "MatMul a[6] b[2,3,2,6,5] -> y");
    check(OPSET(13), "MatMul a[2,3,2,4,6] b[6] -> y");
    expect_no_failed_case();
}

/* Nodes of every kind that read h. */
static const char *const readers[] = {
    "Relu h -> y",
    "Neg h -> n; Sigmoid n -> s; Mul s h -> y",
    "Add h z[2,4,5,8] -> y",
    "Sub z[2,4,5,8] h -> y",
    "Mul h z[4,1,8] -> y",
    "Mul h z[4,1,1] -> y",
    "Add h z[5,1] -> y",
    "Sub z{4,1,8} h -> y",
    "Add h z[3,1,4,5,8] -> y",
    "PRelu h s{4,1,1} -> y",
    "Transpose h -> y perm=0,2,3,1",
    "Reshape h s(2,20,8) -> r; Relu r -> y",
    "Reshape h s(2,4,5,2,4) -> r; Transpose r -> y perm=0,1,3,2,4",
    "Reshape h s(8,40) -> y",
    "Flatten h -> f; MatMul f v{160,3} -> y",
    "Concat h z[2,4,5,8] -> y axis=1",
    "Concat h h -> y axis=3",
    "Concat h h -> c axis=0; Relu c -> y",
    "Split h s(3,5) -> y z axis=3",
    "Slice h s(1) e(9) a(2) -> y",
    "Gather h i(2,0) -> y axis=3",
    "Softmax h -> y axis=3",
    "Softmax h -> y axis=1",
    "DepthToSpace h -> y blocksize=2",
    "Conv h k{3,4,3,3} -> c; Relu c -> y",
    "GlobalAveragePool h -> y",
    "InstanceNormalization h s{4} b{4} -> y",
    "LayerNormalization h s{5,8} -> n axis=2; Add n h -> y",
    "MatMul h v[8,3] -> y",
    "MatMul h v{2,4,8,3} -> y",
    "MatMul v[3,5] h -> y",
    "Identity h -> i; Exp i -> y",
    "Cast h -> c to=3; Neg c -> y",
    "Dropout h -> d; MatMul d v{8,9} -> p; LayerNormalization p s{9} b{9} -> n; Add n p -> y",
};

/* The result of a product has its last axis in the texel: nodes of every kind read it. */
static void test_last_axis(void **state) {
    (void)state;
    need_gpu();
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        check(OPSET(17), "MatMul x[2,4,5,3] w{3,8} -> h; %s", readers[i]);
        check(OPSET(17), "MatMul x[2,4,5,3] w{3,8} -> m; Tanh m -> h; %s", readers[i]);
        check(OPSET(17), "LayerNormalization x[2,4,5,8] w{8} -> h; %s", readers[i]);
    }
    check(OPSET(17), "MatMul x[1,8,6,3] w{3,8} -> h; DepthToSpace z[1,32,3,4] -> d blocksize=2; "
                     "Mul h d -> y");
    check(OPSET(17), "MatMul x[7] w{7,5} -> h; Relu h -> y");
    check(OPSET(17), "MatMul x[2,3,4,5,6,7] w{7,5} -> h; Add h z[4,1,1,5] -> y");
    expect_no_failed_case();
}

/* Random factors of a number. */
static int draw_factors(random_source *r, int number, int most, int *factors) {
    int count = 0;
    while (count < most - 1 && number > 1) {
        int factor = random_int(r, 1, number);
        if (number % factor != 0)
            continue;
        factors[count++] = factor;
        number /= factor;
    }
    factors[count++] = number;
    return count;
}

static void draw_perm(random_source *r, int rank, int *perm) {
    for (int i = 0; i < rank; i++)
        perm[i] = i;
    for (int i = rank - 1; i > 0; i--) {
        int other = random_int(r, 0, i), moved = perm[i];
        perm[i] = perm[other];
        perm[other] = moved;
    }
}

/* A Transpose reads a view as the tensor lies, where axes of this are products of the view's: with
 * the last axis in the texel or the usual one; others are copied before. */
static void test_transposed_views(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(40); i++) {
        random_source r = random_from((uint32_t)i);
        const int n = random_int(&r, 1, 3), length = random_int(&r, 1, 6),
                  last = (int[]){1, 6, 8, 12, 20}[i % 5];
        int seen[MOST_AXES], perm[MOST_AXES], rank = 0;
        if (i % 3 == 0) { /* of all axes together */
            rank = draw_factors(&r, n * length * last, 4, seen);
        } else {
            seen[rank++] = n;
            seen[rank++] = length;
            rank += draw_factors(&r, last, 2, seen + rank);
        }
        draw_perm(&r, rank, perm);
        case_text text = {""};
        if (i % 2)
            text_add(&text, "MatMul x[%d,%d,3] w{3,%d} -> h; ", n, length, last);
        else
            text_add(&text, "Relu x[%d,%d,%d] -> h; ", n, length, last);
        text_add(&text, "Reshape h s(%s) -> v; Transpose v -> %s", text_list(seen, rank),
                 i % 4 < 2 ? "y" : "t");
        text_add_ints(&text, "perm", perm, rank);
        text_add(&text, "%s", i % 4 < 2 ? "" : "; Mul t k<2 -> y");
        check((op_case){.opset = 13, .nans = 7, .infinities = 5}, "%s", text.text);
    }
    static const op_case cases[] = {
        CASE(13, "MatMul x[2,5,3] w{3,8} -> h; Transpose h -> y perm=0,2,1"), /* whole texels */
        CASE(13, "MatMul x[2,5,3] w{3,8} -> h; Reshape h s(2,5,2,4) -> v!; Transpose v -> y"),
        CASE(13, "MatMul x[2,5,3] w{3,8} -> h; Reshape h s(2,5,2,4) -> v; Transpose v -> t; "
                 "Softmax v -> y; Exp t -> z!"),
        CASE(13, "Reshape x[2,5,8] s(2,5,2,4) -> v; Transpose v -> y perm=0,2,1,3"),
        CASE(13, "Transpose x[2,3,5,4] -> t perm=0,2,1,3; Reshape t s(2,5,12) -> v; "
                 "MatMul v w{12,7} -> y"),
        CASE(17, "Transpose x[2,3,5,4] -> t perm=0,2,1,3; Reshape t s(2,5,12) -> v; "
                 "LayerNormalization v g{12} -> y"),
    };
    RUN_CASES(cases);
}

/* Nodes of the model whose passes have such a kernel. */
static int count_kernels(const char *text, const char *kernel) {
    size_t size;
    int count = 0;
    uint8_t *bytes = onnx_case_bytes(17, text, &size);
    tsr_model *model;
    tsr_session *session;
    tsr_report report;
    assert_int_equal(tsr_model_load_memory(bytes, size, NULL, &model), TSR_OK);
    assert_int_equal(tsr_session_create(gpu_device((backend_limits){0}), model, NULL, &session),
                     TSR_OK);
    assert_int_equal(tsr_session_report(session, &report), TSR_OK);
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        assert_int_equal(tsr_session_node_report(session, i, &node), TSR_OK);
        count += strstr(node.kernel, kernel) != NULL;
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
    free(bytes);
    return count;
}

/* Of the blocks of a transformer, only the first copies: what comes after it reads texels of the
 * last axis and writes such. Heads are moved to and fro by a pass each, and one that gives the last
 * product the last axis. */
static void test_last_axis_is_kept(void **state) {
    (void)state;
    need_gpu();
    assert_int_equal(
        count_kernels("MatMul x[2,7,12] w{12,20} -> a; Add a b{20} -> c; LayerNormalization c "
                      "s{20} t{20} -> n; MatMul n u{20,40} -> d; Sigmoid d -> e; Mul d e -> f; "
                      "MatMul f v{40,20} -> g; Add g c -> y",
                      "reshape"),
        1);
    static const char heads[] = "MatMul x[7,12] w{12,20} -> a; Reshape a s(1,7,5,4) -> h; "
                                "Transpose h -> t perm=0,2,1,3; Softmax t -> u; "
                                "Transpose u -> v perm=0,2,1,3; Reshape v r(1,7,20) -> j; "
                                "MatMul j m{20,3} -> y";
    assert_int_equal(count_kernels(heads, "transpose_view"), 1);
    assert_int_equal(count_kernels(heads, "reshape"), 1);
}

static void test_refusals(void **state) {
    (void)state;
    need_gpu();
    run_case(&(backend_case){.opset = 13,
                             .text = "Cast z[2,3,2,2,2] -> i to=7; GatherElements x[2,3,4,5,6] i "
                                     "-> y axis=2",
                             .refusal = TSR_ERROR_UNSUPPORTED,
                             .reason = "more than 4 axes"});
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broadcasts),
        cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_each_axis),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_layer_normalization),
        cmocka_unit_test(test_last_axis),
        cmocka_unit_test(test_transposed_views),
        cmocka_unit_test(test_last_axis_is_kept),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
