/* Every operator of ops.def on a GPU backend and on cpu: tables of cases, and loops over ranks,
 * axes and modes. Each case runs in several environments, and every operator must have one. */
#include "graph/graph.h"
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <string.h>

/* ---- element by element ---- */

static void test_unary(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "Relu x[2,5,17,11] -> y"),
        CASE(16, "LeakyRelu x[2,5,67] -> y alpha=0.2"),
        CASE(16, "LeakyRelu x[1,3,4,40] -> y alpha=-1.5"),
        CASE(13, "Sigmoid x[3,7] -> y", .range = 8),
        CASE(13, "Sigmoid x[2,3,9,9] -> y", .range = 200),
        CASE(13, "Tanh x[] -> y"),
        /* Small ones, made as large as others so that what cancels shows. */
        CASE(13, "Tanh x[1,5,17,19] -> t; Mul t k<10> -> y", .range = 0.1f),
        CASE(13, "Tanh x[1,5,17,19] -> t; Mul t k<1e4> -> y", .range = 1e-4f),
        CASE(13, "Tanh x[1,5,17,19] -> y", .range = 40),
        CASE(6, "HardSigmoid x[9] -> y alpha=0.3 beta=0.4", .range = 4),
        CASE(13, "HardSigmoid x[1,1,1,1] -> y", .range = 4),
        CASE(14, "HardSwish x[1,4,2,2] -> y", .range = 5),
        CASE(13, "Exp x[3,5,1] -> y", .range = 3),
        CASE(13, "Neg x[1,5,33,3] -> y"),
        CASE(22, "Elu x[3,5,3,3] -> y alpha=1.5", .range = 4),
        CASE(13, "Elu x[13] -> y", .range = 4),
        CASE(13, "Clip x[1,4,4,9] lo<-0.5 hi<0.25 -> y"),
        CASE(13, "Clip x[2,3] lo<-0.25 -> y"),
        CASE(13, "Clip x[7] _ hi<0.1 -> y"),
        CASE(13, "Clip x[1,5,1,37] -> y"),
        CASE(6, "Clip x[1,2,4,4] -> y min=-0.5 max=0.5"),
        CASE(16, "PRelu x[2,5,4,4] s{5,1,1} -> y"),
        CASE(16, "PRelu x[2,5,4,9] s{9} -> y"),
        CASE(9, "PRelu x[2,5,3,9] s{1} -> y"),
        CASE(9, "PRelu x[2,5,3,9] s{2,5,3,9} -> y"),
        CASE(16, "PRelu x[2,5,3,9] s[5,1,1] -> y"),
        CASE(16, "PRelu x[2,5] s[2,5] -> y"),
        CASE(16, "Exp z[2,5,4,9] -> s; PRelu x[2,5,4,9] s -> y"),
        CASE(13, "Add x[1,5,33,3] x -> y"),
        CASE(13, "Mul x[2,5,17,11] z[2,5,17,11] -> y"),
        CASE(6, "Add x[1,4,4,4] b{4} -> y broadcast=1 axis=1"),
        CASE(13, "Not x:bool[2,5,17,11] -> y"),
    };
    RUN_CASES(cases);
}

/* Every pair of ranks, and of sizes and ones: bit i of ones is dimension i of a, bit 4 + i of b. */
static void check_broadcast(const char *op, int a_rank, int b_rank, int ones) {
    static const int base[4] = {2, 5, 3, 7};
    int a[4], b[4];
    for (int i = 0; i < 4; i++) {
        a[i] = ones >> i & 1 ? 1 : base[i];
        b[i] = ones >> (i + 4) & 1 ? 1 : base[i];
    }
    const char *left = text_list(a + 4 - a_rank, a_rank),
               *right = text_list(b + 4 - b_rank, b_rank);
    /* Far from zero for Div; where large ones cancel out, 16 bits are too few. */
    const float mean = strcmp(op, "Div") ? 0 : 3;
    const op_case c = {.opset = 14, .mean = mean, .weights_mean = mean};
    check(c, "%s a[%s] b[%s] -> y", op, left, right);
    check(c, "%s a[%s] b{%s} -> y", op, left, right);
    check(c, "%s a{%s} b[%s] -> y", op, left, right);
}

static void test_binary(void **state) {
    (void)state;
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div"};
    static const int ones[] = {0x00, 0xA5, 0x5A, 0x07, 0xD0};
    need_gpu();
    int turn = 0;
    for (int a_rank = 0; a_rank <= 4; a_rank++)
        for (int b_rank = 0; b_rank <= 4; b_rank++, turn++)
            for (int k = 0; k < 2; k++)
                check_broadcast(ops[(turn + k) % 4], a_rank, b_rank, ones[(turn + 2 * k) % 5]);
    expect_no_failed_case();
}

/* ---- matrices ---- */

static void test_gemm(void **state) {
    (void)state;
    static const char *const summands[] = {"",       "c{5}", "c[1,5]", "c{3,1}",
                                           "c[3,5]", "c{}",  "c[5]",   "c{1}"};
    static const char *const factors[] = {"alpha=0.5 beta=2.0", "", "beta=0.25", "alpha=-2.0",
                                          "beta=0.0"};
    need_gpu();
    for (int i = 0; i < 64; i++) {
        bool a = i & 1, b = i & 2, constant = i & 4;
        const char *c = summands[i / 8];
        check(OPSET(13), "Gemm a[%s] b%c%s%c%s%s -> y transA=%d transB=%d %s", a ? "6,3" : "3,6",
              constant ? '{' : '[', b ? "5,6" : "6,5", constant ? '}' : ']', *c ? " " : "", c, a, b,
              *c ? factors[i % 5] : "alpha=0.5");
    }
    static const op_case cases[] = {
        CASE(13, "Gemm a{3,6} b[6,5] c{5} -> y alpha=0.5"),
        CASE(13, "Gemm a{6,3} b[5,6] -> y transA=1 transB=1"),
        CASE(13, "Gemm a[1,300] b{300,70} c{70} -> y", .big = true),
        CASE(9, "Gemm a[70,9] b{9,130} c{130} -> y", .big = true),
        CASE(7, "Gemm a[3,4] b{4,5} c{1,5} -> y"),
        CASE(6, "Gemm a[3,4] b{4,5} c{5} -> y broadcast=1"),
    };
    RUN_CASES(cases);
}

static void test_matmul(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "MatMul a[3,6] b{6,5} -> y"),
        CASE(13, "MatMul a[3,6] b[6,5] -> y"),
        CASE(13, "MatMul a{3,6} b[6,5] -> y"),
        CASE(13, "MatMul a[1,1] b[1,1] -> y"),
        CASE(13, "MatMul a[40,6] b[6,37] -> y"),
        CASE(13, "MatMul a[2,3,6] b{6,5} -> y"),
        CASE(13, "MatMul a[2,4,3,6] b{6,5} -> y"),
        CASE(13, "MatMul a[2,4,3,6] b{6,1} -> y"),
        CASE(13, "MatMul a[2,3,6] b[6,5] -> y"),
        CASE(13, "MatMul a[2,3,6] b[2,6,5] -> y"),
        CASE(13, "MatMul a[1,3,6] b[4,6,5] -> y"),
        CASE(13, "MatMul a[3,6] b[2,6,5] -> y"),
        CASE(13, "MatMul a{2,3,6} b[6,5] -> y"),
        CASE(13, "MatMul a[2,4,3,6] b[6,5] -> y"),
        CASE(13, "MatMul a[2,1,3,6] b[4,6,5] -> y"),
        CASE(13, "MatMul a[2,1,3,6] b{1,4,6,5} -> y"),
        CASE(13, "MatMul a[2,5,19,6] b[2,5,6,35] -> y", .big = true),
        CASE(13, "MatMul a[6] b{6,5} -> y"),
        CASE(13, "MatMul a[2,3,6] b{6} -> y"),
        CASE(13, "MatMul a[6] b{6} -> y"),
        CASE(13, "MatMul a[6] b[6,5] -> y"),
        CASE(13, "MatMul a[6] b[2,6,5] -> y"),
        CASE(13, "MatMul a[2,3,6] b[6] -> y"),
        CASE(13, "MatMul a[6] b[6] -> y"),
        CASE(13, "MatMul a[2,4,3,6] b[6] -> y"),
    };
    RUN_CASES(cases);
}

/* ---- normalization ---- */

static void test_normalization(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(15, "BatchNormalization x[2,3,5,37] s{3} b{3} m{3} v<0.5,1,2> -> y epsilon=0.001"),
        CASE(9, "BatchNormalization x[2,3,7] s{3} b{3} m{3} v<0.5,1,2> -> y"),
        CASE(14, "BatchNormalization x[4,5] s{5} b{5} m{5} v<0.5,1,2,3,0.25> -> y"),
        CASE(7, "BatchNormalization x[1,3,4,4] s{3} b{3} m{3} v<0.5,1,2> -> y spatial=1"),
        CASE(15, "Conv x[1,5,9,9] w{3,5,3,3} k{3} -> c; "
                 "BatchNormalization c s{3} b{3} m{3} v<0.5,1,2> -> y"),
        CASE(15, "ConvTranspose x[1,5,5,5] w{5,3,3,3} -> c strides=2,2; "
                 "BatchNormalization c s{3} b{3} m{3} v<0.5,1,2> -> n; Relu n -> y"),
        CASE(15, "Relu x[2,3,9,9] -> r; BatchNormalization r s{3} b{3} m{3} v<0.5,1,2> -> n; "
                 "Conv n w{4,3,3,3} -> y pads=1,1,1,1"),
        CASE(17, "LayerNormalization x[2,5,17,11] s{11} b{11} -> y"),
        CASE(13, "InstanceNormalization x[2,5,1,1] s{5} b{5} -> y"),
        CASE(13, "InstanceNormalization x[2,5,17,11] s{5} b{5} -> y epsilon=0.01"),
        CASE(13, "InstanceNormalization x[1,3,300,5] s{3} b{3} -> y", .big = true),
        CASE(13, "InstanceNormalization x[1,3,5,300] s{3} b{3} -> y", .big = true),
        CASE(13, "InstanceNormalization x[2,3,67] s{3} b{3} -> y"),
        CASE(6, "InstanceNormalization x[1,2,16,256] s{2} b{2} -> y", .big = true),
        /* Inputs of size 1000 are themselves exact to 3e-5 only, and so is their mean: 1000 * 2^-24
           of a deviation of 1/2. */
        CASE(13, "InstanceNormalization x[1,5,150,131] s{5} b{5} -> y", .mean = 1000, .big = true,
             .no_half = true, .tolerance = 2e-4),
        CASE(13, "InstanceNormalization x[1,2,257,129] s{2} b{2} -> n; Relu n -> y", .mean = -1000,
             .big = true, .no_half = true, .tolerance = 2e-4),
        CASE(13, "Softmax x[2,5,17,11] -> y axis=1", .range = 60, .no_half = true),
        CASE(13, "Softmax x[1,1000] -> y", .range = 4),
        CASE(13, "Softmax x[2,303,3,5] -> y axis=1", .range = 60, .big = true, .no_half = true),
        CASE(13, "Softmax x[1,3,40,2] -> y axis=2"),
        /* Longer than one pass reduces. */
        CASE(13, "Softmax x[3,2001] -> y", .range = 4, .big = true),
        CASE(13, "Softmax x[300,5] -> y axis=0"),
        CASE(13, "Softmax x[1,3,299,5] -> y axis=2", .big = true),
        CASE(13, "Softmax x[1,3,5,299] -> y axis=3", .big = true),
        CASE(11, "Softmax x[2,7,17,33] -> y axis=1", .big = true),
        /* Columns that a transposed convolution has left apart. */
        CASE(13, "ConvTranspose x[1,5,9,13] w{5,3,3,3} -> c strides=2,2; "
                 "InstanceNormalization c s{3} b{3} -> y"),
        CASE(13, "ConvTranspose x[1,5,9,13] w{5,3,3,3} -> c strides=3,3; Softmax c -> y axis=3",
             .big = true),
        CASE(13, "Softmax x[2,3,4] -> y", .mean = 1000, .no_half = true),
        CASE(1, "Softmax x[2,5] -> y"),
    };
    RUN_CASES(cases);
}

static void test_softmax_axes(void **state) {
    (void)state;
    static const int dims[4] = {3, 6, 5, 7};
    need_gpu();
    for (int rank = 1; rank <= 4; rank++)
        for (int axis = 0; axis < rank; axis++) {
            check(OPSET(13), "Softmax x[%s] -> y axis=%d", text_list(dims, rank), axis);
            check(OPSET(13), "Softmax x[%s] -> y axis=%d", text_list(dims, rank), axis - rank);
            check(OPSET(11), "Softmax x[%s] -> y axis=%d", text_list(dims, rank), axis);
        }
    expect_no_failed_case();
}

/* ---- cutting and joining ---- */

/* Parts of different sizes along one axis; with wide ones all but the last are whole tiles. */
static void check_concat(int rank, int axis, int parts, bool wide) {
    case_text text = {"Concat"};
    int dims[4] = {2, 5, 3, 6};
    for (int i = 0; i < parts; i++) {
        dims[axis] = wide ? 4 * (1 + i % 2) : 1 + (i * 3 + parts) % 4;
        bool constant = i % 4 == 1;
        text_add(&text, " p%d%c%s%c", i, constant ? '{' : '[', text_list(dims, rank),
                 constant ? '}' : ']');
    }
    check(OPSET(13), "%s -> y axis=%d", text.text, parts % 2 ? axis : axis - rank);
}

static void test_concat(void **state) {
    (void)state;
    need_gpu();
    for (int parts = 2; parts <= 9; parts++)
        for (int rank = 1; rank <= 4; rank++)
            for (int axis = rank == 4 ? 0 : (parts % rank); axis < rank; axis++)
                check_concat(rank, axis, parts, axis == 1 && parts % 2);
    static const op_case cases[] = {
        CASE(13, "Concat x[1,2,3,3] z[1,5,3,3] x -> y axis=1"),
        CASE(13, "Concat x[1,8,17,11] z[1,3,17,11] -> y axis=1"),
        CASE(13, "Concat x[1,5,17,7] z[1,5,17,9] -> y axis=3"),
        CASE(13, "Concat x[1,5,2,3] e{1,0,2,3} z[1,4,2,3] -> y axis=1"),
        CASE(13, "Concat x[2,5] -> y axis=1"),
    };
    RUN_CASES(cases);
}

static void test_split(void **state) {
    (void)state;
    static const int sizes[3][3] = {{2, 1, 4}, {4, 8, 3}, {1, 1, 1}};
    int dims[4] = {2, 5, 3, 6};
    need_gpu();
    for (int rank = 1; rank <= 4; rank++)
        for (int axis = 0; axis < rank; axis++)
            for (int k = 0; k < 3; k++) {
                int size = dims[axis];
                dims[axis] = sizes[k][0] + sizes[k][1] + sizes[k][2];
                check(OPSET(13), "Split x[%s] s(%s) -> a b c axis=%d", text_list(dims, rank),
                      text_list(sizes[k], 3), axis);
                dims[axis] = size;
            }
    static const op_case cases[] = {
        CASE(13, "Split x[1,7,17,11] s(3,4) -> a b axis=1; Add a a -> y"),
        CASE(18, "Split x[1,7,2,2] -> a b c axis=1 num_outputs=3"),
        CASE(13, "Split x[6,2] -> a b"),
        CASE(11, "Split x[6] -> a b split=2,4 axis=0"),
        CASE(13, "Split x[1,6,2,2] s(2,2,2) -> a b c axis=-3; Mul a c -> y"),
    };
    RUN_CASES(cases);
}

static void test_slice(void **state) {
    (void)state;
    static const int ranges[][3] = {{1, -1, 1},  {-1, -100, -1}, {0, 100, 2}, {-2, 0, -2},
                                    {4, 100, 1}, {4, 100, 3},    {5, 1, -3}};
    static const int dims[4] = {6, 9, 7, 6};
    need_gpu();
    for (int rank = 1; rank <= 4; rank++)
        for (int axis = 0; axis < rank; axis++)
            for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
                check(OPSET(13), "Slice x[%s] b(%d) e(%d) a(%d) s(%d) -> y", text_list(dims, rank),
                      ranges[k][0], ranges[k][1], axis - (int)(k % 2) * rank, ranges[k][2]);
    static const op_case cases[] = {
        CASE(13, "Slice x[1,9,17,11] b(1,-1,2) e(7,-90,9) a(1,3,2) s(2,-2,3) -> y"),
        CASE(13, "Slice x[1,8,8,8] b(0,1,2) e(1,5,9) -> y"),
        CASE(9, "Slice x[1,8,8,8] -> y starts=0,1 ends=4,-1 axes=1,2"),
        CASE(13, "Slice x[1,16,33,4] b(4) e(10) a(1) -> y"),
    };
    RUN_CASES(cases);
}

static void test_pad(void **state) {
    (void)state;
    static const char *const modes[] = {"constant", "reflect", "edge"};
    static const int ends[][2] = {{2, 1}, {0, 3}, {-1, 2}, {-2, -1}, {3, 0}};
    static const int dims[4] = {4, 5, 6, 7};
    need_gpu();
    for (int mode = 0; mode < 3; mode++)
        for (int axis = 0; axis < 4; axis++)
            for (int k = 0; k < 5; k++) {
                int rank = axis < 3 && k % 2 ? axis + 1 : 4, pads[8] = {0};
                pads[axis] = ends[k][0];
                pads[axis + rank] = ends[k][1];
                check(OPSET(13), "Pad x[%s] p(%s) v<0.5 -> y mode=%s", text_list(dims, rank),
                      text_list(pads, 2 * rank), modes[mode]);
            }
    static const op_case cases[] = {
        CASE(13, "Pad x[1,1,17,9] p(0,4,1,1,0,2,3,1) -> y"),
        CASE(13, "Pad x[2,4,11,11] p(1,3,1,2,0,1,3,-5) -> y mode=reflect"),
        CASE(13, "Pad x[2,4,11,11] p(1,3,1,2,0,1,3,-5) -> y mode=edge"),
        CASE(13, "Pad x[1,1,1,1] p(1,2,3,4,4,3,2,1) -> y mode=edge"),
        CASE(13, "Pad x[1,4,9,9] p(0,0,8,8,0,0,8,8) -> y mode=reflect"),
        CASE(18, "Pad x[1,2,3,3] p(1,1) _ a(3) -> y mode=reflect"),
        CASE(18, "Pad x[1,2,3,3] p(2,1,0,1) v<-1 a(-1,1) -> y"),
        CASE(2, "Pad x[1,2,3,3] -> y pads=0,0,1,1,0,0,1,1 value=1.5"),
    };
    RUN_CASES(cases);
}

/* ---- moving ---- */

static void test_transpose(void **state) {
    (void)state;
    static const int dims[4] = {2, 5, 3, 7};
    need_gpu();
    for (int rank = 2; rank <= 4; rank++)
        for (int code = 0; code < 256 >> 2 * (4 - rank); code++) {
            int perm[4], used = 0;
            for (int i = 0; i < rank; i++)
                used |= 1 << (perm[i] = code >> 2 * i & 3);
            if (used == (1 << rank) - 1)
                check(OPSET(13), "Transpose x[%s] -> y perm=%s", text_list(dims, rank),
                      text_list(perm, rank));
        }
    static const op_case cases[] = {
        CASE(13, "Transpose x[2,5,3,7] -> y"),
        CASE(13, "Transpose x[1,8,17,11] -> y perm=0,2,3,1"),
        CASE(13, "Transpose x[1,17,11,8] -> y perm=0,3,1,2"),
        CASE(13, "Transpose x[5] -> y"),
        CASE(13, "Transpose x[1,40,9] -> y perm=2,0,1"),
    };
    RUN_CASES(cases);
}

static void test_blocks_and_gather(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "DepthToSpace x[1,8,17,11] -> y blocksize=2"),
        CASE(13, "DepthToSpace x[2,20,3,5] -> y blocksize=2 mode=CRD"),
        CASE(13, "DepthToSpace x[1,27,4,3] -> y blocksize=3 mode=DCR"),
        CASE(11, "DepthToSpace x[1,9,1,1] -> y blocksize=3 mode=CRD"),
        CASE(13, "SpaceToDepth x[1,2,18,12] -> y blocksize=2"),
        CASE(13, "SpaceToDepth x[2,3,6,9] -> y blocksize=3"),
        CASE(13, "SpaceToDepth x[1,5,4,4] -> y blocksize=4"),
        CASE(13, "Gather x[4,3,5,9] i(2,-1,0) -> y axis=0"),
        CASE(13, "Gather x[2,9,5,7] i(8,-9,0,0,3) -> y axis=1"),
        CASE(13, "Gather x[2,5,17,11] i(16,-17,3) -> y axis=2"),
        CASE(13, "Gather x[2,5,3,11] i(0,-1,5) -> y axis=-1"),
        CASE(13, "Gather x[9] i(8,1) -> y"),
        CASE(13, "Gather x[4,9] i(8,1,-2) -> y axis=1"),
        CASE(13, "Reshape i(0,1,2,-1,4,1) s(2,3) -> j; Gather x[2,6,5] j -> y axis=1"),
        CASE(13, "Reshape i(0,1,2,-1) s(2,2) -> j; Gather x[7] j -> y"),
        CASE(13, "Reshape i(0,1,2,1) s(2,1,2) -> j; Gather x[3,5] j -> y axis=1"),
        CASE(13, "Squeeze i(2) a(0) -> j; Gather x[2,6,5,7] j -> y axis=2"),
        CASE(13, "Squeeze i(-3) a(0) -> j; Gather x[2,6] j -> y axis=1"),
        CASE(13, "Squeeze i(1) a(0) -> j; Gather x[4] j -> y"),
    };
    RUN_CASES(cases);
}

/* Nothing of what is stored beside a tensor's elements may reach a result: not even what 1 / 0
 * leaves in padding channels. */
static void test_padding_channels(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "Div k<1 x[1,5,9,9] -> d; Conv d w{4,5,3,3} -> y pads=1,1,1,1", .mean = 3),
        CASE(13, "Div k<1 x[1,7,9,9] -> d; ConvTranspose d w{7,3,4,4} -> y strides=2,2", .mean = 3),
        CASE(13, "Div k<1 x[3,5] -> d; Gemm d w{5,6} -> y", .mean = 3),
        CASE(13, "Div k<1 x[3,5] -> d; MatMul d w[5,6] -> y", .mean = 3),
        CASE(13, "Div k<1 x[3,5] -> d; Softmax d -> y", .mean = 3),
        CASE(13, "Div k<1 x[1,6,3,3] -> d; Concat d z[1,3,3,3] -> c axis=1; Conv c w{2,9,1,1} -> y",
             .mean = 3),
    };
    RUN_CASES(cases);
}

/* ---- shapes ---- */

static void test_shapes(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(14, "Reshape x[1,8,3,5] s(0,-1) -> y"),
        CASE(14, "Reshape x[2,3,4,5] s(5,4,3,2) -> y"),
        CASE(14, "Reshape x[2,60] s(2,3,4,5) -> y"),
        CASE(14, "Reshape x[1,5,17,11] s(1,11,17,5) -> y"),
        CASE(14, "Reshape x[7] s(7,1,1,1) -> y"),
        CASE(14, "Reshape x[1] s(1,1) -> y"),
        CASE(14, "Reshape x[2,5,1,1] s(2,5) -> y"),
        CASE(14, "Conv x[1,4,5,6] w{8,4,1,1} -> c; Reshape c s(1,2,-1,6) -> r; Tanh r -> y"),
        CASE(13, "Flatten x[2,3,4] -> y axis=-1"),
        CASE(13, "Flatten x[2,3,4,5] -> y axis=0"),
        CASE(13, "Flatten x[2,5,1,1] -> y"),
        CASE(13, "GlobalAveragePool x[2,5,3,3] -> g; Flatten g -> f; Gemm f w{5,7} b{7} -> y"),
        CASE(13, "Squeeze x[1,3,1,7] a(0,-2) -> y"),
        CASE(13, "Squeeze x[1,3,1] -> y"),
        CASE(11, "Squeeze x[1,3,1] -> y axes=0,"),
        CASE(13, "Unsqueeze x[3,5] a(0,3) -> y"),
        CASE(13, "Unsqueeze x[] a(0) -> y"),
        CASE(11, "Unsqueeze x[3] -> y axes=0,2"),
        CASE(13, "Identity x[1,3] -> y"),
        CASE(13, "Relu x[1,3] -> r; Identity r -> y"),
        CASE(13, "Dropout x[1,3] r<0.5 -> y m"),
        CASE(7, "Relu x[2,5,3] -> r; Dropout r -> d ratio=0.5; Neg d -> y"),
        CASE(13, "Cast x[1,3,5,5] -> y to=1"),
        CASE(13, "Cast x[1,3] -> y to=11"),
        /* A GPU backend rounds nothing between 32-bit tensors. */
        CASE(13, "Cast x[1,3,5,5] -> h to=10; Cast h -> y to=1", .tolerance = 1e-3),
        CASE(13, "Constant -> c value_floats=1.0,2.0; Add x[3,2] c -> y"),
        CASE(13, "Constant -> c value_float=0.5; Mul x[2] c -> y"),
        CASE(15, "Shape x[2,3,4] -> s start=1 end=3; Reshape z[12] s -> y"),
        CASE(13, "Shape x[2,3,4,5] -> s; Gather s i(2) -> h; Mul h k(5) -> d; Concat b(2,3) d -> t "
                 "axis=0; Reshape x t -> y"),
    };
    RUN_CASES(cases);
}

/* ---- limits ---- */

/* What a backend cannot do it says, with the reason. */
static void expect_refusal(const char *text, const char *words) {
    if (run_case(&(backend_case){.text = text, .refusal = TSR_ERROR_UNSUPPORTED, .reason = words}))
        fail_msg("not refused: %s", text);
}

static void test_refusals(void **state) {
    (void)state;
    need_gpu();
    expect_refusal("MaxPool x[1,2,5,5] -> m i kernel_shape=2,2; Add i k(5) -> y", "'i' is int64");
    expect_refusal("Gemm x[2,0] w{0,3} z[3] -> y", "[2, 0]");
    expect_refusal("Gather x[1,1,16777217] s(0,16777216) -> y axis=2", "exact");
    expect_refusal("Resize x[1,1,16777217] _ _ s(1,1,100) -> y", "exact");
    expect_no_failed_case();
}

/* Sums of enough steps that a fragment's driver may stop the loop: right, or refused there. */
static void test_long_loops(void **state) {
    (void)state;
    need_gpu();
    static const char *const texts[] = {
        "AveragePool x[1,1,300,300] -> y kernel_shape=260,300",
        "MatMul x[1,3,9000] z[1,9000,8] -> y",
        "MatMul x[1,1,65534] z[1,65534,1] -> y",
        "Softmax x[1,43680] -> y",
        "Softmax x[1,44000] -> y",
        "Conv x[1,128,16,128] w{4,128,16,16} -> y strides=16,16",
        "Conv x[1,88000,1,1] w{1,88000,1,1} -> y",
        "ConvTranspose x[1,88000,1,1] w{88000,1,2,2} -> y strides=2,2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        run_case(&(backend_case){.text = texts[i],
                                 .refusal = gpu_has_textures() ? TSR_ERROR_UNSUPPORTED : TSR_OK,
                                 .reason = "this driver stops them after",
                                 .tolerance = 1e-4}); /* long sums */
    expect_no_failed_case();
}

/* Sums over no elements, beside a tensor that has some. */
static void test_empty_sums(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(13, "Conv x[1,0,5,5] w{4,0,3,3} -> y"),
        CASE(13, "Conv x[1,0,5,5] w{4,0,3,3} b{4} -> c; Add c z[1,4,3,3] -> y"),
        CASE(13, "ConvTranspose x[2,0,3,3] w{0,5,3,3} b{5} -> y strides=2,2"),
        CASE(13, "MatMul x[2,0] w{0,3} -> m; Mul m z[2,3] -> y"),
        CASE(13, "MatMul x[2,0] z[0,3] -> y"),
        CASE(13, "Gemm x[2,0] w{0,3} b{3} -> y"),
        CASE(13, "Pad x[1,0,2,2] p(0,2,0,1,0,1,0,0) v<0.5 -> y"),
    };
    RUN_CASES(cases);
}

/* ---- every line of ops.def ---- */

/* Every unary operator of ops.def, alone and as a post-op. Late, so that a new one leaves the
 * numbers of other cases, which seed them, as they are. */
static void test_every_unary(void **state) {
    (void)state;
    static const char *const names[] = {
#define TSR_UNARY(Name, stem, types) #Name,
#include "graph/ops.def"
    };
    static const float ranges[] = {1e-4f, 0.1f, 4, 8};
    need_gpu();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool steep = is_steep(names[i]);
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            check((op_case){.opset = 22, .range = ranges[r], .no_half = steep},
                  "%s x[2,5,7,9] -> y", names[i]);
        check((op_case){.opset = 22, .no_half = steep},
              "Conv x[1,3,9,9] w{6,3,1,1} -> %s %s c -> y", steep ? "b; Sigmoid b -> c;" : "c;",
              names[i]);
    }
    expect_no_failed_case();
}

/* One of each operator whose other cases are in test_gpu_indices, _nan, _pools, _reduce, _resize,
 * _scatter and _types. */
static void test_every_other(void **state) {
    (void)state;
    static const op_case cases[] = {
        CASE(18, "BitwiseNot x:uint8[2,5,7] -> y"),
        CASE(13, "MaxPool x[2,5,17,11] -> y kernel_shape=2,2 strides=2,2"),
        CASE(13, "AveragePool x[2,5,7,9] -> y kernel_shape=7,9"),
        CASE(13, "GlobalAveragePool x[2,5,3,4] -> y"),
        CASE(22, "GlobalMaxPool x[2,5,17,11] -> y"),
        CASE(13, "MaxPoolGrad x[2,5,17,11] g[2,5,8,5] -> y kernel_shape=2,2 strides=2,2"),
        CASE(13, "AdamUpdate x[2,5,7] g[2,5,7] v[2,5,7] h{2,5,7} f<1,0.5,1,1> -> y m n",
             .weights_mean = 3),
        CASE(13, "LeakyReluGrad g[2,5,7] x[2,5,7] -> y alpha=0.25"),
        CASE(13, "ConvWeightGrad x[2,5,9,7] g[2,3,9,7] -> y kernel_shape=3,3 pads=1,1,1,1"),
        CASE(13, "Resize x[1,3,4,5] _ s<1,1,2,1.5> -> y mode=linear"),
        CASE(20, "GridSample x[1,3,4,5] g[1,3,2,2] -> y", .no_half = true),
        CASE(20, "IsInf x[2,5,7] -> y", .infinities = 3),
        CASE(20, "IsNaN x[2,5,7] -> y", .nans = 3),
        CASE(13, "LogSoftmax x[2,5,7] -> y"),
        CASE(13, "Hardmax x[2,5,7] -> h; Add h x -> y"),
        CASE(22, "LpNormalization x[2,5,7] -> y"),
        CASE(13, "MeanVarianceNormalization x[2,5,7,9] -> y", .range = 3),
        CASE(21, "GroupNormalization x[2,6,7] s{6} b{6} -> y num_groups=2"),
        CASE(23, "RMSNormalization x[2,5,7] s{7} -> y"),
        CASE(13, "LRN x[2,5,7,9] -> y size=3"),
        CASE(13, "NegativeLogLikelihoodLoss x[3,5] t(1,4,0) -> y"),
        CASE(13, "SoftmaxCrossEntropyLoss x[3,5] t(1,4,0) -> y"),
        CASE(13, "Adam k<0.1 t(3) x[2,5,7] g[2,5,7] v[2,5,7] h{2,5,7} -> y", .weights_mean = 2),
        CASE(13, "Adagrad k<0.1 t(3) x[2,5,7] g[2,5,7] h{2,5,7} -> y", .weights_mean = 2),
        CASE(13, "Momentum k<0.1 t(3) x[2,5,7] g[2,5,7] v[2,5,7] -> y alpha=0.5 beta=0.25 "
                 "mode=standard norm_coefficient=0.125"),
        CASE(13, "Conv x[2,3,7,5] w{5,3,3,3} -> c; Tanh c -> t; ReduceMean t -> l keepdims=0; "
                 "Gradient w x -> y xs=w| zs=x| y=l"),
        CASE(22, "GlobalLpPool x[2,5,7,9] -> y"),
        CASE(18, "ReduceSum x[2,5,7] a(1) -> y"),
        CASE(18, "ReduceMean x[2,5,7] a(2) -> y"),
        CASE(18, "ReduceMax x[2,5,7] a(0) -> y"),
        CASE(18, "ReduceMin x[2,5,7] a(1) -> y"),
        CASE(18, "ReduceProd x[2,5,7] a(2) -> y"),
        CASE(18, "ReduceL1 x[2,5,7] a(2) -> y"),
        CASE(18, "ReduceL2 x[2,5,7] a(2) -> y"),
        CASE(18, "ReduceSumSquare x[2,5,7] a(2) -> y"),
        CASE(18, "ReduceLogSum x[2,5,7] a(2) -> y", .mean = 3),
        CASE(18, "ReduceLogSumExp x[2,5,7] a(2) -> y"),
        CASE(13, "ArgMax x:int8[2,5,7] -> y axis=1"),
        CASE(13, "ArgMin x:int8[2,5,7] -> y axis=2"),
        CASE(13, "GatherElements x[5] i(1,0,3) -> y"),
        CASE(14, "CumSum x[2,5] a(1) -> y"),
        CASE(26, "CumProd x[2,5] a(1) -> y"),
        CASE(13, "GatherND x[2,5] i(1,2) -> y"),
        CASE(18, "ScatterElements x[5] i(1,2) u[2] -> y"),
        CASE(18, "ScatterND x[5,4] i(1) u[4] -> y"),
        CASE(24, "TensorScatter x[2,5,4] u[2,3,4] i(1,2) -> y"),
        CASE(11, "TopK x[5,4] k(2) -> y i"),
        CASE(26, "BitCast x:uint8[5,4] -> y to=3"),
        CASE(11, "Reshape i(0,3,9,11) s(1,1,2,2) -> p; MaxUnpool x[1,1,2,2] p -> y "
                 "kernel_shape=2,2 strides=2,2"),
        CASE(13, "Expand x[3,1] s(3,4) -> y"),
        CASE(14, "Trilu x[5,4] -> y"),
        CASE(13, "Tile x[2,5] s(2,3) -> y"),
        CASE(11, "OneHot i(1,2,3) d(4) f<0.5,2> -> o; Mul o x[3,4] -> y"),
        CASE(9, "EyeLike x[5,7] -> e; Mul e x -> y"),
        CASE(11, "Range a(1) e(9) s(2) -> r; Cast r -> c to=1; Add c x[4] -> y"),
        CASE(9, "ConstantOfShape s(2,3) -> c; Add c x[2,3] -> y"),
        CASE(13, "Size x[2,3] -> s; Cast s -> c to=1; Mul x c -> y"),
        CASE(18, "CenterCropPad x[5,4,9] s(3,7) -> y axes=0,2"),
        CASE(15, "CastLike x:int8[3,5] t(1) -> y"),
        CASE(25, "QuantizeLinear x[3,5,7] s<0.0625> -> y", .range = 9, .no_half = true),
        CASE(25, "Cast f<7> -> z to=3; QuantizeLinear x[3,5,7] s<0.0625> z -> y", .range = 9,
             .no_half = true),
        CASE(25, "QuantizeLinear x[2,5,7] s<0.125,0.5,0.25,1,2> -> y axis=1 output_dtype=3",
             .range = 99, .no_half = true),
        CASE(25, "DequantizeLinear x:uint8[2,5,7] s<0.125,0.5,0.25,1,2> -> y axis=1"),
        CASE(25, "Reshape s<0.125,0.5,0.25,1,2,3> r(3,2) -> t; "
                 "DequantizeLinear x:int8[3,7] t -> y axis=1 block_size=4"),
        CASE(11, "DynamicQuantizeLinear x[2,5,7] -> q s z; Cast q -> f to=1; Mul f s -> y",
             .tolerance = 1e-2),
        CASE(13,
             "Cast f<3> -> z to=2; QuantizeLinear w{6,3,3,3} u<0.0625> z -> q; "
             "QLinearConv x:uint8[2,3,7,9] a<0.5> z q u z c<4> z b(1,-2,3,4,5,6) -> y "
             "pads=1,1,1,1",
             .no_half = true),
        CASE(13,
             "Cast f<3> -> z to=2; "
             "QLinearMatMul x:uint8[5,9] a<0.5> z w:uint8[9,7] u<0.25> z c<64> z -> y",
             .no_half = true),
        CASE(10, "Cast f<3> -> z to=2; QuantizeLinear w{6,3,3,3} u<0.0625> z -> q; "
                 "ConvInteger x:uint8[2,3,7,9] q z z -> y pads=1,1,1,1"),
        CASE(10, "Cast f<3> -> z to=2; MatMulInteger x:uint8[5,9] w:uint8[9,7] z -> y"),
        CASE(14, "LSTM x[2,2,5] w{1,12,5} r{1,12,3} -> y", .tolerance = 2e-3),
        CASE(14, "GRU x[2,2,5] w{1,9,5} r{1,9,3} -> y", .tolerance = 2e-3),
        CASE(14, "RNN x[2,2,5] w{1,3,5} r{1,3,3} -> y"),
        CASE(12, "Einsum x[3,5] z[5,7] -> y equation=ij,jk->ki"),
        CASE(10, "ReverseSequence x[4,3,5] l(4,2,1) -> y"),
        CASE(22, "RandomNormal -> r shape=5,7 seed=3.0; Add r x[7] -> y"),
        CASE(22, "RandomUniform -> r shape=5,7; Add r x[7] -> y"),
        CASE(22, "RandomNormalLike x[2,5,7] -> r; Mul r x -> y"),
        CASE(22, "RandomUniformLike x[2,5,7] -> r; Mul r x -> y"),
        CASE(22, "Bernoulli x[2,5,7] -> b; Mul b x -> y", .mean = 9),
        CASE(22, "Multinomial x[3,1] -> y sample_size=3"),
        CASE(23, "Attention q[1,2,3,4] k[1,2,5,4] v[1,2,5,4] -> y"),
        CASE(23, "RotaryEmbedding x[1,2,3,4] c[1,3,2] s[1,3,2] -> y"),
        CASE(22, "LpPool x[2,5,7,9] -> y kernel_shape=3,2"),
        CASE(18, "Col2Im x[1,20,5] i(5,5) k(1,5) -> y"),
        CASE(19, "DeformConv x[2,4,7,6] w{6,4,3,3} o[2,18,7,6] b{6} m[2,9,7,6] -> y pads=1,1,1,1",
             .no_half = true),
        CASE(22,
             "DeformConv x[1,6,9,7] w{4,3,2,3} o[1,24,4,3] -> y group=2 offset_group=2 "
             "strides=2,2 dilations=1,1 pads=0,1,0,0",
             .no_half = true),
        CASE(12, "MaxPool x:uint8[1,3,7,9] -> y kernel_shape=3,2 strides=2,1"),
        CASE(12, "MaxPool x:int8[1,3,7,9] -> y kernel_shape=3,3 pads=1,1,1,1"),
        CASE(20, "AffineGrid t[2,2,3] s(2,3,4,5) -> y"),
        CASE(13, "Relu a[2,3] -> x; If c:bool[] -> r then_branch=@1 else_branch=@2; Add r x -> y "
                 "@ Add x k<2 -> t @ Mul x l<3 -> e"),
        CASE(13, "Relu a[2,5] -> x; Loop n(3) _ x -> y z body=@1 @ Cast i:int64[] -> f to=1; "
                 "Identity c:bool[] -> g!; Add s[2,5] x -> t!; Mul f s -> p"),
        CASE(13, "Scan s[5] x[3,5] -> t y body=@1 num_scan_inputs=1 @ Add s[5] p[5] -> t!; "
                 "Mul s p -> u"),
        CASE(17, "HannWindow s(9) -> w; Mul w x[3,9] -> y"),
        CASE(17, "HammingWindow s(9) -> w; Mul w x[3,9] -> y"),
        CASE(17, "BlackmanWindow s(9) -> w; Mul w x[3,9] -> y"),
        CASE(16, "Reshape f<0,0,3,3,1,2,5,6> s(2,4) -> r; RoiAlign x[2,5,9,7] r i(1,0) -> y"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

/* What no GPU computes. */
static const struct {
    const char *op, *text;
} of_cpu_only[] = {
    {"NonZero", "NonZero x[5,4] -> y"},
    {"Compress", "Compress x[5,4] c:bool[5] -> y axis=0"},
    {"Unique", "Unique x[5,4] -> y i"},
    {"NonMaxSuppression", "NonMaxSuppression x[1,6,4] s[1,2,6] k(3) -> y"},
};
enum { OF_CPU_ONLY = sizeof of_cpu_only / sizeof *of_cpu_only };

static void test_cpu_only(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < OF_CPU_ONLY; i++)
        expect_refusal(of_cpu_only[i].text, "allow_cpu_fallback");
    expect_no_failed_case();
}

static bool is_of_cpu_only(const char *op) {
    bool found = false;
    for (int i = 0; i < OF_CPU_ONLY; i++)
        found = found || !strcmp(of_cpu_only[i].op, op);
    return found;
}

/* The last test: every line of ops.def has had a case; Custom has a test of its own. Where 16 bits
 * are too few for some, these have none. */
static void test_coverage(void **state) {
    (void)state;
    need_gpu();
    int missing = 0;
    if (is_replay() || gpu_is_half_only() || some_cases(8) < 8)
        return;
    for (int op = 0; op < TSR_OP_COUNT; op++) {
        const char *name = tsr_op_get_info((tsr_op)op)->name;
        if (op != TSR_OP_Custom && op != TSR_OP_FunctionCall && !is_of_cpu_only(name) &&
            !was_covered(name)) {
            print_error("%s has no case here\n", name);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

/* ---- operators of two and more inputs ---- */

typedef struct binary {
    const char *name;
    unsigned traits;
} binary;

/* What every operator of two inputs is given: operands of its type, which broadcast in every way.
 */
static const char *const operands[][2] = {
    {"[2,5,7,9]", "[2,5,7,9]"}, {"[2,5,7,9]", "[5,1,1]"},       {"[2,5,7,9]", "[]"},
    {"[1,5,1,9]", "[2,1,7,1]"}, {"[9]", "[2,5,7,9]"},           {"[7,9]", "[5,1,9]"},
    {"[2,3,5,7,3]", "[5,7,1]"}, {"[2,1,3,2,2,3]", "[3,1,2,1]"}, {"[]", "[]"},
    {"[1,1,1,1]", "[1,6,1,1]"},
};

static void test_every_binary(void **state) {
    (void)state;
    static const binary binaries[] = {
#define TSR_BINARY(Name, stem, kind) {#Name, TSR_BINARY_##kind},
#define TSR_NARY(Name, stem, types) {#Name, TSR_IS_POST_OP | TSR_TYPES_##types},
#include "graph/ops.def"
    };
    need_gpu();
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        const char *name = binaries[i].name;
        unsigned traits = binaries[i].traits;
        bool is_mod = !strcmp(name, "Mod"), is_pow = !strcmp(name, "Pow"),
             is_steep = is_mod || is_pow || !strcmp(name, "Div") || (traits & TSR_YIELDS_BOOL);
        const char *type = !(traits & TSR_TAKES_NO_FLOATS) ? ""
                           : traits & TSR_TYPES_BOOL       ? ":bool"
                                                           : ":uint8";
        const char *attributes = is_mod                      ? " fmod=1"
                                 : !strcmp(name, "BitShift") ? " direction=RIGHT"
                                                             : "";
        const op_case c = {.opset = 22, .mean = is_pow ? 3 : 0, .range = 2, .no_half = is_steep};
        for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
            if (!strcmp(name, "PRelu") && k > 2)
                break;
            check(c, "%s x%s%s z%s%s -> y%s", name, type, operands[k][0], type, operands[k][1],
                  attributes);
        }
        if (traits & TSR_IS_POST_OP)
            check(c, "Conv x[2,3,7,9] w{6,3,1,1} -> c; Sigmoid c -> s; %s s z[6,1,1] -> y%s", name,
                  attributes);
    }
    expect_no_failed_case();
}

static void test_several_inputs(void **state) {
    (void)state;
    static const char *const names[] = {"Max", "Min", "Sum", "Mean"};
    need_gpu();
    for (int i = 0; i < 4; i++) {
        check(OPSET(13), "%s x[2,5,7,9] -> y", names[i]);
        check(OPSET(13), "%s x[2,5,7,9] z[5,1,1] k<0.5 -> y", names[i]);
        check(OPSET(13), "%s x[5,1,1] z[2,5,7,9] v[9] u[7,1] -> y", names[i]);
        check(OPSET(13), "Conv x[1,3,7,9] w{6,3,1,1} -> c; %s c z[6,1,1] c -> y", names[i]);
        check(OPSET(8), "%s x[3] z[3] v[3] -> y", names[i]);
    }
    const op_case others[] = {
        CASE(16, "Less x[2,5,7,9] z[5,1,1] -> c; Where c x z -> y", .no_half = true),
        CASE(16, "Where c:bool[2,5,7,9] x[2,5,7,9] z[2,5,7,9] -> y"),
        CASE(16, "Where c:bool[5,1,1] x[2,1,7,9] z[9] -> y"),
        CASE(16, "Where c:bool[] x[] z[3,5] -> y"),
        CASE(16, "Where c:bool[9] k<0.0 x[2,5,7,9] -> w; Relu w -> y"),
        CASE(16, "Where c:bool[2,3,1,2,7] x[3,5,1,1] z[2,1,5,2,1] -> y"),
        CASE(13, "Clip x[2,5,7,9] lo[] hi[] -> y"),
        CASE(13, "Clip x[2,5,7,9] _ hi[] -> y"),
        CASE(13, "Clip x[2,5,7,9] lo[] -> y"),
        CASE(15, "Pow x[2,5,7,9] k(3) -> y", .tolerance = 1e-4),
        CASE(15, "Conv x[1,3,7,9] w{6,3,1,1} -> c; Pow c k<2 -> y"),
    };
    RUN_CASES(others);
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_binary),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_normalization),
        cmocka_unit_test(test_softmax_axes),

        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_pad),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_blocks_and_gather),
        cmocka_unit_test(test_padding_channels),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_loops),
        cmocka_unit_test(test_empty_sums),
        cmocka_unit_test(test_every_unary),
        cmocka_unit_test(test_every_binary),
        cmocka_unit_test(test_several_inputs),
        cmocka_unit_test(test_every_other),
        cmocka_unit_test(test_cpu_only),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
