/* Arithmetic on shapes as exporters write it: once symbolic sizes are bound nothing of it is left,
 * neither nodes nor passes, only what the data goes through. */
#include "support/gpu_plans.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"

#include "api/bind.h"
#include "cpu/cpu.h"
#include "onnx/onnx.h"
#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINDINGS = 3 };

static const int64_t sizes[BINDINGS][3] = {{1, 4, 6}, {3, 8, 5}, {2, 1, 9}}; /* N, H, W */

typedef struct subgraph {
    const char *text;            /* its inputs have the symbolic sizes N, H and W */
    const char *nodes;           /* after preparation, in order */
    int passes;                  /* at most, once that is optimized */
    const char *shape[BINDINGS]; /* of the last output */
} subgraph;

/* x.shape[i] is Shape, Gather by a scalar; as part of a list it is unsqueezed. */
#define SIZES                                                                                      \
    "Cast k0<0 -> i0 to=7; Cast k1<1 -> i1 to=7; Cast k2<2 -> i2 to=7; Cast k3<3 -> i3 to=7; "     \
    "Shape x[N,4,H,W] -> s; Gather s i0 -> n axis=0; Gather s i1 -> c axis=0; "                    \
    "Gather s i2 -> h axis=0; Gather s i3 -> w axis=0; Unsqueeze n z(0) -> nl; "                   \
    "Unsqueeze c z -> cl; Unsqueeze h z -> hl; Unsqueeze w z -> wl; "

static const subgraph cases[] = {
    /* x.view(x.size(0), -1) */
    {"Cast k<0 -> i to=7; Shape x[N,4,H,W] -> s; Gather s i -> n axis=0; Unsqueeze n a(0) -> u; "
     "Concat u r(-1) -> t axis=0; Reshape x t -> y",
     "Reshape",
     1,
     {"[1, 96]", "[3, 160]", "[2, 36]"}},
    /* x.view(n, c, h * w) */
    {SIZES "Mul h w -> p; Unsqueeze p z -> pl; Concat nl cl pl -> t axis=0; Reshape x t -> y",
     "Reshape",
     1,
     {"[1, 4, 24]", "[3, 4, 40]", "[2, 4, 9]"}},
    /* flatten(2).transpose(1, 2) */
    {"Shape x[N,4,H,W] -> s; Slice s b(0) e(2) a(0) -> l; Concat l r(-1) -> t axis=0; "
     "Reshape x t -> f; Transpose f -> y perm=0,2,1",
     "Reshape+Transpose",
     2,
     {"[1, 24, 4]", "[3, 40, 4]", "[2, 9, 4]"}},
    /* x.reshape(-1): the product of all sizes */
    {"Shape x[N,4,H,W] -> s; ReduceProd s -> p keepdims=1; Reshape x p -> y",
     "Reshape",
     1,
     {"[96]", "[480]", "[72]"}},
    /* token.expand(n, -1, -1): Where chooses between sizes of -1 and 1 */
    {SIZES "Concat nl r(-1,-1,-1) -> t axis=0; ConstantOfShape q(4) -> of; Cast of -> oz to=7; "
           "Add oz i1 -> ones; Mul ones minus(-1) -> wanted; Equal t wanted -> same; "
           "Where same ones t -> size; Expand token{1,4,1,1} size -> e; Add e x -> y",
     "Add",
     1,
     {"[1, 4, 4, 6]", "[3, 4, 8, 5]", "[2, 4, 1, 9]"}},
    /* zeros(n, 4, h, w) beside the data */
    {"Shape x[N,4,H,W] -> s; ConstantOfShape s -> zeros; Concat x zeros -> y axis=1",
     "Concat",
     1,
     {"[1, 8, 4, 6]", "[3, 8, 8, 5]", "[2, 8, 1, 9]"}},
    /* interpolate(x, size=skip.shape[2:]) */
    {"Shape x[N,4,H,W] -> s; Slice s b(0) e(2) a(0) -> l; Shape skip[N,3,9,7] -> k; "
     "Slice k b2(2) e2(4) a -> r; Concat l r -> size axis=0; "
     "Resize x _ _ size -> y mode=nearest; Relu skip -> other!; Relu y -> z",
     "Resize+Relu+Relu",
     2,
     {"[1, 4, 9, 7]", "[3, 4, 9, 7]", "[2, 4, 9, 7]"}},
    /* interpolate(x, scale_factor=1.5): sizes by Cast, Mul, Floor, Cast */
    {"Shape x[N,4,H,W] -> s; Slice s b(2) e(4) a(0) -> hw; Cast hw -> f to=1; "
     "Mul f k<1.5 -> g; Floor g -> d; Cast d -> i to=7; Slice s b0(0) e0(2) a -> nc; "
     "Concat nc i -> size axis=0; Resize x _ _ size -> y mode=linear",
     "Resize",
     1,
     {"[1, 4, 6, 9]", "[3, 4, 12, 7]", "[2, 4, 1, 13]"}},
    /* the scales themselves: wanted size / size */
    {"Shape x[N,4,H,W] -> s; Slice s b(2) e(4) a(0) -> hw; Cast hw -> f to=1; "
     "Div want<12,18> f -> r; Concat one<1,1> r -> scales axis=0; "
     "Resize x _ scales -> y mode=nearest",
     "Resize",
     1,
     {"[1, 4, 12, 18]", "[3, 4, 12, 18]", "[2, 4, 12, 18]"}},
    /* positions: arange(w), added */
    {SIZES "Range i0 w i1 -> r; Cast r -> f to=1; Unsqueeze f u(0) -> p; Add x p -> y",
     "Add",
     1,
     {"[1, 4, 4, 6]", "[3, 4, 8, 5]", "[2, 4, 1, 9]"}},
    /* learned positions: table[arange(w)] */
    {SIZES "Range i0 w i1 -> r; Gather table{12,1} r -> g axis=0; Transpose g -> p perm=1,0; "
           "Add x p -> y",
     "Add",
     1,
     {"[1, 4, 4, 6]", "[3, 4, 8, 5]", "[2, 4, 1, 9]"}},
    /* x[..., : w // 2] */
    {SIZES "Div w i2 -> half; Unsqueeze half z -> e; Slice x b(0) e a(3) -> y",
     "Slice",
     1,
     {"[1, 4, 4, 3]", "[3, 4, 8, 2]", "[2, 4, 1, 4]"}},
    /* F.pad to multiples of 4: PyTorch turns its list around by Reshape, Slice, Transpose */
    {SIZES
     "Cast k4<4 -> i4 to=7; Mod w i4 -> wm; Sub i4 wm -> wp; Mod wp i4 -> wq; "
     "Unsqueeze wq z -> wr; Concat zero(0) wr zero zero -> given axis=0; "
     "ConstantOfShape four(4) -> of; Cast of -> rest to=7; Concat given rest -> all axis=0; "
     "Reshape all pair(-1,2) -> m; Slice m from(-1) to(-9) ax(0) step(-1) -> turned; "
     "Transpose turned -> tt perm=1,0; Reshape tt flat(-1) -> pads64; Cast pads64 -> pads to=7; "
     "Pad x pads -> y mode=constant",
     "Pad",
     1,
     {"[1, 4, 4, 8]", "[3, 4, 8, 8]", "[2, 4, 1, 12]"}},
    /* a causal mask: arange(w)[:, None] < arange(w), -inf where it holds */
    {SIZES "Range i0 w i1 -> r; Unsqueeze r one(1) -> column; Less column r -> later; "
           "MatMul x2[N,4,W,H] x -> scores; Where later inf<-1e9> scores -> y",
     "MatMul+Where",
     2,
     {"[1, 4, 6, 6]", "[3, 4, 5, 5]", "[2, 4, 9, 9]"}},
    /* the same by Trilu of ones */
    {SIZES "Concat hl wl -> t axis=0; ConstantOfShape t -> zeros; Add zeros one<1> -> ones; "
           "Cast i1 -> d to=7; Trilu ones d -> upper upper=1; Cast upper -> b to=9; "
           "Where b inf<-1e9> x -> y",
     "Where",
     1,
     {"[1, 4, 4, 6]", "[3, 4, 8, 5]", "[2, 4, 1, 9]"}},
    /* x.repeat(1, 12 // c, 1, 1) */
    {SIZES "Div twelve(12) cl -> q; Concat one(1) q one one -> r axis=0; Tile x r -> y",
     "Reshape+Expand+Reshape+Identity",
     2,
     {"[1, 12, 4, 6]", "[3, 12, 8, 5]", "[2, 12, 1, 9]"}},
    /* a grid of anchors: two ranges, expanded, stacked */
    {SIZES "Range i0 h i1 -> ry; Range i0 w i1 -> rx; Unsqueeze ry a1(1) -> cy; "
           "Concat hl wl -> hw axis=0; Expand cy hw -> gy; Expand rx hw -> gx; "
           "Unsqueeze gx last(2) -> px; Unsqueeze gy last -> py; Concat px py -> st axis=2; "
           "Cast st -> f to=1; Transpose f -> g perm=2,0,1; "
           "Slice x b(0) e(2) ac(1) -> xy; Add xy g -> y",
     "Slice+Add",
     2,
     {"[1, 2, 4, 6]", "[3, 2, 8, 5]", "[2, 2, 1, 9]"}},
    /* x.split(c // 2): sizes computed from the shape */
    {SIZES "Div c i2 -> half; Sub c half -> rest; Unsqueeze half z -> a; Unsqueeze rest z -> b; "
           "Concat a b -> parts axis=0; Split x parts -> p q axis=1; Mul p q -> y",
     "Split+Mul",
     3,
     {"[1, 2, 4, 6]", "[3, 2, 8, 5]", "[2, 2, 1, 9]"}},
    /* scaled_dot_product_attention's factor: sqrt(1 / sqrt(size)) of both sides */
    {"Shape x[N,4,H,W] -> s; Slice s b(-1) e(9) a(0) -> l; Cast l -> f to=1; Sqrt f -> r; "
     "Div one<1> r -> q; Sqrt q -> scale; Mul x scale -> y",
     "Mul",
     1,
     {"[1, 4, 4, 6]", "[3, 4, 8, 5]", "[2, 4, 1, 9]"}},
    /* sum / x.numel() */
    {"Size x[N,4,H,W] -> n; Cast n -> f to=1; ReduceSum x -> sum; Div sum f -> y",
     "ReduceSum+Div",
     5,
     {"[1, 1, 1, 1]", "[1, 1, 1, 1]", "[1, 1, 1, 1]"}},
    /* a condition on a size: If, both branches of which are written */
    {SIZES "Equal h i1 -> is; If is -> y then_branch=@1 else_branch=@2 @ "
           "Flatten x -> a axis=2 @ Flatten x -> b axis=3",
     "Flatten+Identity",
     1,
     {"[16, 6]", "[96, 5]", "[8, 9]"}},
};

static void bind(tsr_graph *graph, const int64_t size[3]) {
    const tsr_dim_binding dims[] = {{"N", size[0]}, {"H", size[1]}, {"W", size[2]}};
    const tsr_session_desc desc = {.dims = dims, .dim_count = 3};
    assert_int_equal(tsr_bind(graph, &desc), TSR_OK);
}

static const char *node_list(const tsr_graph *graph, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int n = 0; n < graph->node_count && used < size; n++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", n ? "+" : "",
                                 tsr_node_op_name(&graph->nodes[n]));
    return text;
}

/* Of nodes on the GPU; there are no others. */
static int count_passes(const tsr_graph *graph) {
    tsr_plan *plan = plan_on_gpu(graph, NULL, false);
    for (int i = 0; i < plan->pass_count; i++)
        assert_int_not_equal(plan->passes[i].kind, TSR_PASS_CPU);
    int count = plan->pass_count;
    tsr_plan_destroy(plan);
    return count;
}

static bool check_subgraph(const subgraph *c, int binding) {
    char nodes[256];
    tsr_graph *graph = read_graph(onnx_case(18, c->text));
    bind(graph, sizes[binding]);
    if (tsr_prepare(graph, tsr_cpu_eval, NULL) != TSR_OK)
        fail_msg("%s: %s", c->text, tsr_last_error());
    const char *shape =
        tsr_shape_text(&graph->values[graph->outputs[graph->output_count - 1]].shape);
    bool same = !strcmp(node_list(graph, nodes, sizeof nodes), c->nodes) &&
                !strcmp(shape, c->shape[binding]);
    tsr_optimizer optimizer;
    assert_int_equal(tsr_optimizer_make(NULL, &optimizer), TSR_OK);
    assert_int_equal(tsr_optimize(graph, &optimizer), TSR_OK);
    int passes = count_passes(graph);
    if (!same || passes > c->passes)
        print_error("%s\n  binding %d: %s, %d passes, %s; instead of %s, at most %d passes, %s\n",
                    c->text, binding, nodes, passes, shape, c->nodes, c->passes, c->shape[binding]);
    tsr_graph_destroy(graph);
    return same && passes <= c->passes;
}

static void test_only_the_data_path_is_left(void **state) {
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int binding = 0; binding < BINDINGS; binding++)
            failed += !check_subgraph(&cases[i], binding);
    assert_int_equal(failed, 0);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_data_path_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
