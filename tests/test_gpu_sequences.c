/* Recurrent layers, contractions, random numbers and regions, held against cpu, which
 * test_functions.c holds against loops. */
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

static void test_recurrent(void **state) {
    (void)state;
    static const char *const ways[] = {"forward", "reverse", "bidirectional"};
    static const struct {
        const char *op, *outputs;
        int gates;
    } cells[] = {{"LSTM", "y h c", 4}, {"GRU", "y h", 3}, {"RNN", "y h", 1}};
    need_gpu();
    for (int i = 0; i < some_cases(36); i++) {
        random_source r = random_from((uint32_t)next_case());
        int cell = i % 3, way = i / 3 % 3, directions = way == 2 ? 2 : 1,
            hidden = random_int(&r, 1, 9), size = random_int(&r, 1, 9),
            batch = random_int(&r, 1, 5), steps = random_int(&r, 1, 4),
            layout = random_int(&r, 0, 1), gates = cells[cell].gates;
        check((op_case){.opset = 14, .tolerance = 2e-3 /* of steps after steps in 16 bits */},
              "%s x[%d,%d,%d] w{%d,%d,%d} r{%d,%d,%d} b{%d,%d} -> %s direction=%s layout=%d",
              cells[cell].op, layout ? batch : steps, layout ? steps : batch, size, directions,
              gates * hidden, size, directions, gates * hidden, hidden, directions,
              2 * gates * hidden, cells[cell].outputs, ways[way], layout);
    }
    const op_case cases[] = {
        CASE(14, "LSTM x[3,2,5] w{1,12,5} r{1,12,3} _ _ h[1,2,3] c[1,2,3] p{1,9} -> y"),
        CASE(14, "LSTM x[3,2,5] w{1,12,5} r{1,12,3} _ _ _ _ p{1,9} -> y clip=0.25 input_forget=1"),
        CASE(14, "Cast i[2] -> l to=6; GRU x[3,2,5] w{1,9,5} r{1,9,3} _ l h[1,2,3] -> y s",
             .mean = 2, .no_half = true),
        CASE(14, "GRU x[3,2,5] w{1,9,5} r{1,9,3} b{1,18} -> y linear_before_reset=1"),
        CASE(14, "RNN x[3,2,5] w{2,3,5} r{2,3,3} -> _ y direction=bidirectional "
                 "activations=Relu|Softsign|"),
        CASE(14, "RNN x[3,2,5] w[1,3,5] r[1,3,3] -> y"),
        CASE(14, "LSTM x[2,1,5] w{1,12,5} r{1,12,3} -> y "
                 "activations=HardSigmoid|Affine|ScaledTanh| activation_alpha=0.3,0.5,0.8 "
                 "activation_beta=0.4,0.1,1.5"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_einsum(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(12, "Einsum x[3,5] z[5,7] -> y equation=ij,jk->ik"),
        CASE(12, "Einsum x[2,3,5] z[2,5,7] -> y equation=bij,bjk->bik"),
        CASE(12, "Einsum x[2,3,4,5] z[2,6,4,5] -> y equation=bqhd,bkhd->bhqk"),
        CASE(12, "Einsum x[2,3,5] -> y equation=bij->bji"),
        CASE(12, "Einsum x[2,3,5] -> y equation=bij->b"),
        CASE(12, "Einsum x[5,5] -> y equation=ii->i"),
        CASE(12, "Einsum x[3,5,5] -> y equation=...ii->...i"),
        CASE(12, "Einsum x[3] z[5] -> y equation=i,j"),
        CASE(12, "Einsum x[2,3] z[3,4] v[4,5] -> y equation=ab,bc,cd->ad"),
        CASE(12, "Einsum x[2,3,4] z[4,5] -> y equation=...a,ab->...b"),
        CASE(12, "Einsum x[2,5,3,7] w{6,5} -> e equation=nchw,dc->ndhw; Relu e -> y"),
        CASE(10, "ReverseSequence x[4,3,5] l(4,2,1) -> y"),
        CASE(10, "ReverseSequence x[3,4,5,2] l(4,2,1) -> y time_axis=1 batch_axis=0"),
        CASE(10, "Cast f[3] -> l to=7; ReverseSequence x[4,3] l -> y", .mean = 2, .no_half = true),
    };
    RUN_CASES(cases);
}

static void test_attention(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(23, "Attention q[2,3,5,8] k[2,3,7,8] v[2,3,7,6] -> y"),
        CASE(23, "Attention q[2,4,5,8] k[2,2,7,8] v[2,2,7,6] m[5,7] -> y is_causal=1"),
        CASE(23,
             "Attention q[1,4,5,8] k[1,2,3,8] v[1,2,3,6] m[5,4] p[1,2,4,8] u[1,2,4,6] -> y a b s "
             "qk_matmul_output_mode=3"),
        CASE(23,
             "Attention q[2,5,12] k[2,7,6] v[2,7,9] -> y q_num_heads=6 kv_num_heads=3 softcap=0.5"),
        CASE(23,
             "Greater m[2,1,5,7] t<-0.5 -> c; Attention q[2,3,5,8] k[2,3,7,8] v[2,3,7,8] c -> y",
             .no_half = true),
        CASE(24, "Cast f<5,7> -> l to=7; Attention q[2,3,5,8] k[2,3,7,8] v[2,3,7,8] _ _ _ l -> y "
                 "is_causal=1"),
        CASE(23, "RotaryEmbedding x[2,3,5,8] c[2,5,4] s[2,5,4] -> y"),
        CASE(23, "RotaryEmbedding x[2,5,27] c[2,5,2] s[2,5,2] -> y num_heads=3 interleaved=1 "
                 "rotary_embedding_dim=4"),
        CASE(23, "Unsqueeze p(3,0,1) a(0) -> i; RotaryEmbedding x[1,2,3,6] c{5,3} s{5,3} i -> y"),
    };
    RUN_CASES(cases);
}

static void test_windows(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(22, "LpPool x[2,5,7,9] -> y kernel_shape=3,2 strides=2,1 pads=1,0,1,1"),
        CASE(22, "LpPool x[2,5,7,9] -> y kernel_shape=2,2 p=1 dilations=2,2"),
        CASE(22, "LpPool x[1,3,11] -> y kernel_shape=3, p=3 auto_pad=SAME_UPPER"),
        CASE(18, "Col2Im x[2,12,20] i(5,6) k(2,2) -> y strides=1,1 pads=0,0,0,0"),
        CASE(18, "Col2Im x[1,18,8] i(7,5) k(3,3) -> y strides=2,2 pads=1,0,1,1"),
        CASE(18, "Col2Im x[1,6,5] i(9) k(3) -> y dilations=2,"),
        CASE(20, "AffineGrid t[2,2,3] s(2,3,4,5) -> y"),
        CASE(20, "AffineGrid t[1,3,4] s(1,3,4,5,3) -> y align_corners=1"),
        CASE(20, "AffineGrid t[2,2,3] s(2,3,6,5) -> g; GridSample x[2,5,7,9] g -> y",
             .no_half = true),
    };
    RUN_CASES(cases);
}

/* The same numbers on every backend. */
static void test_random_numbers(void **state) {
    (void)state;
    need_gpu();
    const op_case cases[] = {
        CASE(22, "RandomNormal -> r shape=2,5,7 seed=3.0; Add r x[7] -> y"),
        CASE(22, "RandomUniform -> r shape=2,5,7 low=-1.0; Add r x[7] -> y"),
        CASE(22, "RandomNormalLike x[2,5,7] -> r mean=2.0 scale=0.5; Mul r x -> y"),
        CASE(22, "RandomUniformLike x[2,5,7] -> r high=3.0; Mul r x -> y"),
        CASE(22, "Bernoulli x[2,5,7] -> y seed=1.0", .mean = 0.5, .range = 0.5, .no_half = true),
        CASE(22, "Multinomial x[3,5] -> y sample_size=9", .no_half = true),
        CASE(13, "Cast k<1 -> t to=9; Dropout x[2,5,7,9] r<0.25 t -> y m seed=1"),
        CASE(17, "HannWindow s(9) -> w; Mul w x[3,9] -> y"),
        CASE(17, "HammingWindow s(9) -> w periodic=0; Mul w x[3,9] -> y"),
        CASE(17, "BlackmanWindow s(9) -> w; Mul w x[3,9] -> y"),
    };
    RUN_CASES(cases);
}

static void test_regions(void **state) {
    (void)state;
    static const char *const modes[] = {"avg", "max"};
    need_gpu();
    for (int i = 0; i < some_cases(48); i++) {
        random_source r = random_from((uint32_t)next_case());
        int channels = random_int(&r, 1, 9), height = random_int(&r, 1, 13),
            width = random_int(&r, 1, 13);
        check(
            (op_case){.opset = i & 1 ? 16 : 10, .mean = 4, .range = 5, .no_half = true},
            "RoiAlign x[2,%d,%d,%d] r[3,4] i(1,0,1) -> y mode=%s output_height=%d output_width=%d "
            "sampling_ratio=%d spatial_scale=%s",
            channels, height, width, modes[i / 2 % 2], random_int(&r, 1, 5), random_int(&r, 1, 5),
            random_int(&r, 0, 3), random_one_in(&r, 2) ? "1.0" : "0.5");
    }
    check((op_case){.opset = 16, .mean = 4, .range = 5, .no_half = true},
          "Cast f<1,0.0,1> -> i to=7; RoiAlign x[2,5,9,7] r[3,4] i -> a output_height=3; Relu a -> "
          "y");
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recurrent),      cmocka_unit_test(test_einsum),
        cmocka_unit_test(test_attention),      cmocka_unit_test(test_windows),
        cmocka_unit_test(test_random_numbers), cmocka_unit_test(test_regions),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
