/* What exporters write for one operator is recognised, with its parts in any order; what only looks
 * like it is left alone. Results stay the same. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include "passes/passes.h"

#include <string.h>

typedef tsr_status pass_fn(tsr_graph *graph);

typedef struct pattern {
    const char *text;     /* of onnx_case() */
    const char *expected; /* operators after the pass; NULL: as before */
} pattern;

static void check_pattern(pass_fn *pass, const pattern *p) {
    char before[256], after[256];
    tsr_graph *plain = prepare_graph(onnx_case(18, p->text)), *rewritten = tsr_graph_clone(plain);
    assert_non_null(rewritten);
    list_nodes(plain, before, sizeof before);
    assert_int_equal(pass(rewritten), TSR_OK);
    list_nodes(rewritten, after, sizeof after);
    if (strcmp(after, p->expected ? p->expected : before) != 0)
        fail_msg("%s: %s instead of %s", p->text, after, p->expected ? p->expected : before);
    for (int n = 0; n < rewritten->node_count; n++)
        assert_int_equal(tsr_node_out(rewritten, &rewritten->nodes[n], 0)->producer, n);
    expect_same_results(plain, rewritten, 1e-5);
    tsr_graph_destroy(rewritten);
    tsr_graph_destroy(plain);
}

static void check_all(pass_fn *pass, const pattern *patterns, size_t count) {
    for (size_t i = 0; i < count; i++)
        check_pattern(pass, &patterns[i]);
}
#define CHECK_ALL(pass, patterns) check_all(pass, patterns, sizeof patterns / sizeof *patterns)

/* ---- swish ---- */

static void test_swish(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {"Sigmoid x[2,3,4] -> s; Mul x s -> y", "Swish"},
        {"Sigmoid x[2,3,4] -> s; Mul s x -> y", "Swish"},
        {"Mul x[2,3,4] k<1.702 -> a; Sigmoid a -> s; Mul x s -> y", "Swish"},
        {"Div x[2,3,4] k<4> -> a; Sigmoid a -> s; Mul x s -> y", "Swish"},
        {"Relu x[2,3] -> a; Sigmoid a -> s; Mul a s -> b; Neg b -> y", "Relu Swish Neg"},
        {"Sigmoid x[2,3] -> s!; Mul x s -> y", NULL},
        {"Sigmoid x[2,3] -> s; Neg s -> n!; Mul x s -> y", NULL},
        {"Sigmoid x[2,3] -> s; Mul z[2,3] s -> y", NULL},
        {"Sigmoid x[1,3] -> s; Mul x s -> a; Add x z[2,3] -> b; Mul a b -> y", "Swish Add Mul"},
        {"Mul x[2,3] k<2,3,4> -> a; Sigmoid a -> s; Mul x s -> y", NULL},
        {"Mul x[3] k{1,1,1} -> a; Sigmoid a -> s; Mul x s -> y", NULL}, /* more axes than x */
        {"Mul x[2,3] z[2,3] -> a; Sigmoid a -> s; Mul x s -> y", NULL},
    };
    CHECK_ALL(tsr_pass_recognize_swish, patterns);
}

static void test_hard_swish(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {"Add x[2,3,4] k<3 -> a; Clip a l<0 h<6 -> c; Div c s<6 -> d; Mul x d -> y", "HardSwish"},
        {"Add k<3 x[2,3,4] -> a; Clip a l<0 h<6 -> c; Mul x c -> m; Div m s<6 -> y", "HardSwish"},
        {"Add x[2,3] k<3> -> a; Clip a l<0 h<6 -> c; Mul c s<0.16666667 -> d; Mul d x -> y",
         "HardSwish"},
        {"HardSigmoid x[2,3] -> s alpha=0.16666667 beta=0.5; Mul x s -> y", "HardSwish"},
        {"HardSigmoid x[2,3] -> s; Mul x s -> y", NULL}, /* alpha is 0.2 */
        {"HardSigmoid x[2,3] -> s alpha=0.16666667 beta=0.4; Mul x s -> y", NULL},
        {"Add x[2,3] k<2.9 -> a; Clip a l<0 h<6 -> c; Div c s<6 -> d; Mul x d -> y", NULL},
        {"Add x[2,3] k<3 -> a; Clip a l<0.1 h<6 -> c; Div c s<6 -> d; Mul x d -> y", NULL},
        {"Add x[2,3] k<3 -> a; Clip a _ h<6 -> c; Div c s<6 -> d; Mul x d -> y", NULL},
        {"Add x[2,3] k<3 -> a; Clip a l<0 h<6 -> c; Div c s<5 -> d; Mul x d -> y", NULL},
        {"Add x[2,3] k<3 -> a; Clip a l<0 h<6 -> c; Mul x c -> y", NULL},
        {"Add x[2,3] k<3 -> a; Clip a l<0 h<6 -> c!; Div c s<6 -> d; Mul x d -> y", NULL},
    };
    CHECK_ALL(tsr_pass_recognize_swish, patterns);
}

/* ---- gelu ---- */

#define ERF "Div x[2,3,4] r<1.41421354 -> d; Erf d -> e; Add e k<1 -> a; "
#define CUBE "Pow x[2,3,4] p<3 -> c; Mul c q<0.044715 -> d; Add x d -> s; "
#define TANH CUBE "Mul s r<0.79788458 -> m; Tanh m -> t; Add t k<1 -> a; "

static void test_gelu(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {ERF "Mul x a -> b; Mul b h<0.5 -> y", "Gelu"},
        {ERF "Mul x h<0.5 -> b; Mul b a -> y", "Gelu"},
        {ERF "Mul a h<0.5> -> b; Mul b x -> y", "Gelu"},
        {ERF "Mul x a -> b; Div b h<2 -> y", "Gelu"},
        {"Mul x[2,3] r<0.70710678 -> d; Erf d -> e; Add k<1 e -> a; Mul a x -> b; "
         "Mul h<0.5 b -> y",
         "Gelu"},
        {TANH "Mul x h<0.5 -> b; Mul b a -> y", "Gelu"},
        {TANH "Mul x a -> b; Mul h<0.5 b -> y", "Gelu"},
        {"Mul x[2,3] x -> x2; Mul x2 x -> x3; Mul q<0.044715 x3 -> d; Add d x -> s; "
         "Mul s r<0.79788458 -> m; Tanh m -> t; Add t k<1 -> a; Mul x h<0.5 -> b; Mul b a -> y",
         "Gelu"},
        {"Mul x[2,3] x -> x2; Mul x2 q<0.044715 -> d; Add d k<1 -> s; Mul r<0.79788458 x -> o; "
         "Mul o s -> m; Tanh m -> t; Add t k -> a; Mul x h<0.5 -> b; Mul b a -> y",
         "Gelu"},
        {ERF "Mul x a -> b; Mul b h<0.25 -> y", NULL},
        {ERF "Mul z[2,3,4] a -> b; Mul b h<0.5 -> y", NULL},
        {ERF "Mul x a -> b; Mul b h<0.5 -> y!; Neg a -> z", NULL},
        {"Div x[2,3] r<1.5 -> d; Erf d -> e; Add e k<1 -> a; Mul x a -> b; Mul b h<0.5 -> y", NULL},
        {"Div x[2,3] r<1.41421354 -> d; Erf d -> e; Add e k<2 -> a; Mul x a -> b; "
         "Mul b h<0.5 -> y",
         NULL},
        {"Pow x[2,3] p<2 -> c; Mul c q<0.044715 -> d; Add x d -> s; Mul s r<0.79788458 -> m; "
         "Tanh m -> t; Add t k<1 -> a; Mul x h<0.5 -> b; Mul b a -> y",
         NULL},
    };
    CHECK_ALL(tsr_pass_recognize_gelu, patterns);
}

/* ---- layer norm ---- */

#define MEAN "ReduceMean x[2,3,5] n(-1) -> m; "
#define CENTRED MEAN "Sub x m -> c; "
#define VARIANCE CENTRED "Pow c p<2 -> s; ReduceMean s n -> v; Add v e<1e-5 -> a; Sqrt a -> d; "

static void test_layer_norm(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {VARIANCE "Div c d -> q; Mul q g{5} -> h; Add h b{5} -> y", "LayerNormalization"},
        {VARIANCE "Div c d -> q; Mul g{5} q -> h; Add b{5} h -> y", "LayerNormalization"},
        {VARIANCE "Div c d -> y", "LayerNormalization"},
        {VARIANCE "Div c d -> q; Add q b{5} -> y", "LayerNormalization"},
        {VARIANCE "Div c d -> q; Mul q g{5} -> y", "LayerNormalization"},
        {VARIANCE "Reciprocal d -> i; Mul c i -> q; Mul q g{5} -> h; Add h b{5} -> y",
         "LayerNormalization"},
        {CENTRED "Mul c c -> s; ReduceMean s n -> v; Add e<1e-3 v -> a; Sqrt a -> d; "
                 "Div c d -> q; Mul q g{5} -> y",
         "LayerNormalization"},
        {CENTRED "Sub x m -> c2; Pow c2 p<2 -> s; ReduceMean s n -> v; Add v e<1e-5 -> a; "
                 "Sqrt a -> d; Div c d -> y",
         "LayerNormalization"},
        {"ReduceMean x[2,3,5] n(1,2) -> m; Sub x m -> c; Pow c p<2 -> s; ReduceMean s n -> v; "
         "Add v e<1e-5 -> a; Sqrt a -> d; Div c d -> q; Mul q g{3,5} -> h; Add h b{3,5} -> y",
         "LayerNormalization"},
        /* scales that have another shape stay behind */
        {VARIANCE "Div c d -> q; Mul q g{1,5} -> y", "LayerNormalization Mul"},
        {VARIANCE "Div c d -> q; Mul q z[5] -> y", "LayerNormalization Mul"},
        {VARIANCE "Div c d -> q; Mul q g{5} -> h; Mul h g2{5} -> y", "LayerNormalization Mul"},
        {VARIANCE "Div c d -> q; Add q b{5} -> h; Mul h g{5} -> y", "LayerNormalization Mul"},
        {VARIANCE "Div c d -> q!; Mul q g{5} -> y", "LayerNormalization Mul"},
        /* other axes, other means, results that are read elsewhere */
        {"ReduceMean x[2,3,5] n(1) -> m; Sub x m -> c; Pow c p<2 -> s; ReduceMean s n -> v; "
         "Add v e<1e-5 -> a; Sqrt a -> d; Div c d -> y",
         NULL},
        {CENTRED "Pow c p<2 -> s; ReduceMean s n2(1,2) -> v; Add v e<1e-5 -> a; Sqrt a -> d; "
                 "Div c d -> y",
         NULL},
        {CENTRED "Pow c p<3 -> s; ReduceMean s n -> v; Add v e<9> -> a; Sqrt a -> d; Div c d -> y",
         NULL},
        {"ReduceMean z[2,3,5] n(-1) -> m; Sub x[2,3,5] m -> c; Pow c p<2 -> s; "
         "ReduceMean s n -> v; Add v e<1e-5 -> a; Sqrt a -> d; Div c d -> y",
         NULL},
        {"ReduceMean x[2,3,5] n(1,2) -> m; Sub x m -> c; Pow c p<2 -> s; ReduceMean s n -> v; "
         "Add v e<1e-5 -> a; Sqrt a -> d; Div c d -> q; Mul q g{5} -> y", /* of another shape */
         NULL},
        {VARIANCE "Div x d -> y", NULL},
        {VARIANCE "Div c d -> q; Add q m -> y", NULL},
        {VARIANCE "Div c d -> q; Add q c -> y", NULL},
        {VARIANCE "Neg v -> w!; Div c d -> y", NULL},
    };
    CHECK_ALL(tsr_pass_recognize_layer_norm, patterns);
}

/* ---- shuffles ---- */

static void test_pixel_shuffle(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {"Reshape x[2,12,3,5] s(2,3,2,2,3,5) -> a; Transpose a -> b perm=0,1,4,2,5,3; "
         "Reshape b t(2,3,6,10) -> y",
         "DepthToSpace"},
        {"Reshape x[2,12,3,5] s(2,2,2,3,3,5) -> a; Transpose a -> b perm=0,3,4,1,5,2; "
         "Reshape b t(2,3,6,10) -> y",
         "DepthToSpace"},
        {"Reshape x[2,3,6,10] s(2,3,3,2,5,2) -> a; Transpose a -> b perm=0,3,5,1,2,4; "
         "Reshape b t(2,12,3,5) -> y",
         "SpaceToDepth"},
        {"Reshape x[2,1,6,10] s(2,1,3,2,5,2) -> a; Transpose a -> b perm=0,1,3,5,2,4; "
         "Reshape b t(2,4,3,5) -> y",
         "SpaceToDepth"},
        /* channels before blocks, other blocks, another order, another shape, other readers */
        {"Reshape x[2,3,6,10] s(2,3,3,2,5,2) -> a; Transpose a -> b perm=0,1,3,5,2,4; "
         "Reshape b t(2,12,3,5) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,3,4,1,3,5) -> a; Transpose a -> b perm=0,1,4,2,5,3; "
         "Reshape b t(2,3,12,5) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,3,2,2,3,5) -> a; Transpose a -> b perm=0,1,4,3,5,2; "
         "Reshape b t(2,3,6,10) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,3,2,2,3,5) -> a; Transpose a -> b perm=0,1,4,2,5,3; "
         "Reshape b t(2,3,60) -> y",
         NULL},
        {"Reshape x[2,12,15] s(2,3,2,2,3,5) -> a; Transpose a -> b perm=0,1,4,2,5,3; "
         "Reshape b t(2,3,6,10) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,3,2,2,3,5) -> a; Transpose a -> b! perm=0,1,4,2,5,3; "
         "Reshape b t(2,3,6,10) -> y",
         NULL},
    };
    CHECK_ALL(tsr_pass_recognize_shuffle, patterns);
}

static void test_channel_shuffle(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {"Reshape x[2,12,3,5] s(2,4,3,3,5) -> a; Transpose a -> b perm=0,2,1,3,4; "
         "Reshape b t(2,12,3,5) -> y",
         "Gather"},
        {"Reshape x[2,12,3,5] s(2,2,6,15) -> a; Transpose a -> b perm=0,2,1,3; "
         "Reshape b t(2,12,3,5) -> y",
         "Gather"},
        {"Reshape x[1,6] s(1,2,3) -> a; Transpose a -> b perm=0,2,1; Reshape b t(1,6) -> y",
         "Gather"},
        {"Reshape x[2,12,3,5] s(2,4,3,3,5) -> a; Transpose a -> b perm=0,2,1,4,3; "
         "Reshape b t(2,12,3,5) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,4,3,3,5) -> a; Transpose a -> b perm=0,2,1,3,4; "
         "Reshape b t(2,12,5,3) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(4,2,3,3,5) -> a; Transpose a -> b perm=0,2,1,3,4; "
         "Reshape b t(2,12,3,5) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,4,9,5) -> a; Transpose a -> b perm=0,2,1,3; "
         "Reshape b t(2,12,3,5) -> y",
         NULL},
        {"Reshape x[2,12,3,5] s(2,4,3,3,5) -> a!; Transpose a -> b perm=0,2,1,3,4; "
         "Reshape b t(2,12,3,5) -> y",
         NULL},
    };
    CHECK_ALL(tsr_pass_recognize_shuffle, patterns);
}

#define INDICES "Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; "

static void test_every_nth_channel(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {INDICES "Reshape x[1,8,3,5] s(4,2,15) -> a; Transpose a -> b perm=1,0,2; "
                 "Reshape b t(2,-1,4,3,5) -> c; Gather c i0 -> d axis=0; Gather c i1 -> e axis=0; "
                 "Sub d e -> y",
         "Slice Slice Sub"},
        {INDICES "Reshape x[3,6,5] s(6,3,5) -> a; Transpose a -> b perm=1,0,2; "
                 "Reshape b t(3,3,2,5) -> c; Gather c i1 -> y axis=0",
         "Slice"},
        {"Cast k<-1 -> i to=7; Reshape x[3,6,5] s(6,3,5) -> a; Transpose a -> b perm=1,0,2; "
         "Reshape b t(3,3,2,5) -> c; Gather c i -> y axis=0",
         "Slice"},
        {INDICES "Reshape x[3,6,5] s(6,3,5) -> a; Transpose a -> b perm=1,0,2; "
                 "Reshape b t(3,3,2,5) -> c; Gather c i1 -> y axis=1",
         NULL},
        {INDICES "Reshape x[3,6,5] s(6,3,5) -> a; Transpose a -> b perm=1,0,2; "
                 "Reshape b t(3,2,3,5) -> c; Gather c i1 -> y axis=0",
         NULL},
        {"Reshape x[3,6,5] s(6,3,5) -> a; Transpose a -> b perm=1,0,2; "
         "Reshape b t(3,3,2,5) -> c; Gather c i(1) -> y axis=0",
         NULL},
        {INDICES "Reshape x[3,6,5] s(3,6,5) -> a; Transpose a -> b perm=1,0,2; "
                 "Reshape b t(6,3,1,5) -> c; Gather c i1 -> y axis=0",
         "Slice"},
    };
    CHECK_ALL(tsr_pass_recognize_shuffle, patterns);
}

/* ---- attention ---- */

/* Queries, keys and values of a linear layer: one of each of [2,5,3,2,4], moved. */
#define SELECTED                                                                                   \
    "Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; Cast k2<-1 -> i2 to=7; "                          \
    "Reshape x[2,5,24] s(2,5,3,2,4) -> r; Transpose r -> t perm=2,0,3,1,4; "
#define PARTS "Gather t i0 -> q; Gather t i1 -> k; Gather t i2 -> v; "
#define SCORES "Transpose k -> kt perm=0,1,3,2; MatMul q kt -> w; "
#define MIXED "Softmax w -> p; MatMul p v -> y"
#define MOVED "Reshape Transpose Slice Slice Slice "
/* The same by Split. */
#define SPLIT                                                                                      \
    "Split x[2,5,24] -> a b c axis=-1; Reshape a s(2,5,2,4) -> ar; Reshape b s -> br; "            \
    "Reshape c s -> cr; "

static void test_attention(void **state) {
    (void)state;
    static const pattern patterns[] = {
        {SELECTED PARTS SCORES MIXED, MOVED "Transpose MatMul Softmax MatMul"},
        {SELECTED "Gather t i2 -> a; Gather t i0 -> b; Gather t i1 -> c; Sum a b c -> y",
         MOVED "Sum"},
        {"Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; Reshape x[5,24] s(1,5,2,3,4) -> r; "
         "Transpose r -> t perm=0,3,2,1,4; Gather t i1 -> a axis=2; Gather t i0 -> b axis=-3; "
         "Sub a b -> y",
         "Reshape Transpose Slice Slice Sub"},
        {SPLIT "Transpose ar -> q perm=0,2,1,3; Transpose br -> kt perm=0,2,3,1; "
               "Transpose cr -> v perm=0,2,1,3; MatMul q kt -> w; " MIXED,
         "Reshape Transpose Slice Slice Transpose Slice MatMul Softmax MatMul"},
        /* a scale of queries becomes one of scores; one that is no number does not */
        {SELECTED PARTS
         "Mul q n<0.5 -> qs; Transpose k -> kt perm=0,1,3,2; MatMul qs kt -> w; " MIXED,
         MOVED "Transpose MatMul Mul Softmax MatMul"},
        {SELECTED PARTS
         "Div q n<2> -> qs; Transpose k -> kt perm=0,1,3,2; MatMul qs kt -> w; " MIXED,
         MOVED "Transpose MatMul Div Softmax MatMul"},
        {SELECTED PARTS
         "Mul q n[1] -> qs; Transpose k -> kt perm=0,1,3,2; MatMul qs kt -> w; " MIXED,
         MOVED "Mul Transpose MatMul Softmax MatMul"},
        {SELECTED PARTS
         "Mul q n<0.5 -> qs!; Transpose k -> kt perm=0,1,3,2; MatMul qs kt -> w; " MIXED,
         MOVED "Mul Transpose MatMul Softmax MatMul"},
        {SELECTED PARTS "Mul q n<0.5 -> qs; Transpose k -> kt perm=0,1,3,2; MatMul qs kt -> w; "
                        "Neg q -> z!; " MIXED,
         MOVED "Mul Transpose MatMul Neg Softmax MatMul"},
        /* something else is read, too; parts are missing, are lists, or are of other sizes */
        {SELECTED PARTS "Neg t -> z!; " SCORES MIXED, NULL},
        {SELECTED "Gather t i0 -> a; Gather t i1 -> b; Neg r -> z!; Add a b -> y", NULL},
        {SELECTED "Gather t i0 -> a; Gather t j(1) -> b; Add a b -> y", NULL},
        {SELECTED "Gather t i0 -> a; Gather t i1 -> b axis=1; Add a a -> c; Neg b -> z!; "
                  "Neg c -> y",
         NULL},
        {SELECTED "Gather t i1 -> y", NULL}, /* one alone gains nothing */
        {"Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; Reshape x[2,5,24] s(2,5,3,2,4) -> r; "
         "Transpose r -> t perm=2,0,1,3,4; Gather t i0 -> a; Gather t i1 -> b; Sub a b -> y",
         NULL},
        {SPLIT "Transpose ar -> q perm=0,2,1,3; Transpose br -> k perm=0,2,1,3; "
               "Transpose cr -> v perm=0,1,2,3; Add q k -> w; Neg v -> z!; Neg w -> y",
         NULL},
        {SPLIT "Transpose ar -> q perm=0,2,1,3; Transpose br -> k perm=0,2,1,3; "
               "Transpose cr -> v perm=0,2,1,3; Neg cr -> z!; Sum q k v -> y",
         NULL},
        {"Split x[2,5,24] z(8,16) -> a b axis=2; Reshape a s(2,5,2,4) -> ar; "
         "Reshape b u(2,5,4,4) -> br; Transpose ar -> q perm=0,2,1,3; "
         "Transpose br -> k perm=0,2,1,3; Neg q -> w!; Neg k -> y",
         NULL},
        {"Split x[2,5,24] -> a b axis=2; Reshape a s(2,5,3,4) -> ar; Reshape b u(2,5,2,6) -> br; "
         "Transpose ar -> q perm=0,2,1,3; Transpose br -> k perm=0,2,1,3; Neg q -> w!; Neg k -> y",
         NULL}, /* other heads */
        {"Split x[4,5,8] -> a b axis=0; Reshape a s(2,5,2,4) -> ar; Reshape b s -> br; "
         "Transpose ar -> q perm=0,2,1,3; Transpose br -> k perm=0,2,1,3; Sub q k -> y",
         NULL},
        {"Split x[2,5,8] -> a b axis=2; Reshape a s(5,2,2,2) -> ar; Reshape b t(1,5,8,1) -> br; "
         "Transpose ar -> q perm=0,2,1,3; Transpose br -> k perm=0,2,1,3; Neg q -> z!; Neg k -> y",
         NULL},
    };
    CHECK_ALL(tsr_pass_recognize_attention, patterns);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swish),
        cmocka_unit_test(test_hard_swish),
        cmocka_unit_test(test_gelu),
        cmocka_unit_test(test_layer_norm),
        cmocka_unit_test(test_pixel_shuffle),
        cmocka_unit_test(test_channel_shuffle),
        cmocka_unit_test(test_every_nth_channel),
        cmocka_unit_test(test_attention),
    };
    return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
