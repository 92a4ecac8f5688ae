/* Gradients on a GPU against cpu's: what rules make of each operator runs there. */
#include "support/backends.h"
#include "support/draw_gradients.h"
#include "support/graph_maker.h"
#include "support/main.h"
#include "support/sessions.h"

#include "api/model.h"
#include "passes/gradient.h"

#include <math.h>

/* Outputs are the gradients that are computed, each once. */
static void output_gradients(gradient_graph *g) {
    tsr_graph *graph = g->graph;
    int count = 0;
    graph->outputs = TSR_NEW(graph->arena, g->count, int);
    assert_non_null(graph->outputs);
    for (int i = 0; i < g->count; i++) {
        bool listed = graph->values[g->gradients[i]].producer == TSR_NONE;
        for (int k = 0; k < count; k++)
            listed = listed || graph->outputs[k] == g->gradients[i];
        if (!listed)
            graph->outputs[count++] = g->gradients[i];
    }
    graph->output_count = count;
}

/* Floats in the range, or beyond it where the name asks for others; integers 0 or 1. */
static void set_drawn_inputs(tsr_session *session, gradient_range range, uint32_t seed) {
    for (int i = 0; i < tsr_session_input_count(session); i++) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_session_input(session, i, &info));
        size_t count = (size_t)tsr_shape_count(&info.shape);
        float *floats = malloc((count + 1) * sizeof *floats);
        assert_non_null(floats);
        for (size_t k = 0; k < count; k++) {
            float at = graph_element(seed, info.name, k);
            floats[k] = tsr_dtype_is_float(info.dtype)
                            ? (range.low + range.high + at * (range.high - range.low)) / 2
                            : at > 0;
        }
        EXPECT_OK(tsr_session_set_input(session, info.name, floats, count));
        free(floats);
    }
}

/* NULL if the device refuses it. */
static tsr_session *run_on(tsr_device *device, const tsr_model *model, gradient_range range,
                           uint32_t seed) {
    tsr_session *session;
    tsr_status status = tsr_session_create(device, model, NULL, &session);
    if (status == TSR_ERROR_UNSUPPORTED || status == TSR_ERROR_LIMIT)
        return NULL;
    EXPECT_OK(status);
    set_drawn_inputs(session, range, seed);
    EXPECT_OK(tsr_session_run(session));
    return session;
}

/* What is not finite there is not here, either. */
static void compare_output(tsr_session *gpu, tsr_session *reference, int i, const char *text) {
    const double tolerance = gpu_is_half_only() ? 5 * HALF_CHAIN_TOLERANCE : 20 * SUM_TOLERANCE;
    tsr_tensor_info info;
    EXPECT_OK(tsr_session_output(gpu, i, &info));
    elements actual = get_output(gpu, info.name), expected = get_output(reference, info.name);
    double largest = 1e-2; /* less may be what is left of larger terms */
    for (size_t k = 0; k < expected.count; k++)
        if (isfinite(expected.values[k]))
            largest = fmax(largest, fabsf(expected.values[k]));
    for (size_t k = 0; k < expected.count; k++) {
        double a = actual.values[k], e = expected.values[k];
        if (isfinite(e) ? !(fabs(a - e) <= tolerance * largest) : isfinite(a))
            fail_msg("%s: element %zu of %s is %.9g instead of %.9g", text, k, info.name, a, e);
    }
    free(actual.values);
    free(expected.values);
}

/* All gradients; the graph is the model's then. False if the GPU refuses it. */
static bool compare(gradient_graph *g, tsr_device *cpu, const char *text, gradient_range range,
                    uint32_t seed) {
    tsr_model *model;
    output_gradients(g);
    EXPECT_OK(tsr_model_of_graph(g->graph, &model));
    g->graph = NULL;
    tsr_session *gpu = run_on(gpu_device((backend_limits){0}), model, range, seed);
    tsr_session *reference = gpu ? run_on(cpu, model, range, seed) : NULL;
    for (int i = 0; gpu && i < tsr_session_output_count(gpu); i++)
        compare_output(gpu, reference, i, text);
    tsr_session_destroy(gpu);
    tsr_session_destroy(reference);
    tsr_model_free(model);
    return gpu != NULL;
}

static void check_case(tsr_device *cpu, const char *text, uint32_t seed) {
    gradient_graph g;
    if (read_gradients(&g, 22, text, seed) != TSR_OK)
        fail_msg("%s: %s", text, tsr_last_error());
    assert_true(g.count > 0);
    if (!compare(&g, cpu, text, (gradient_range){-1, 1}, seed))
        fail_msg("%s: %s", text, tsr_last_error());
    free_gradients(&g);
}

/* Inputs are from -1 to 1. Weights are constants, with which convolutions run everywhere. Their
 * programs take long to compile where there are textures, which get every fourth case, buffers the
 * others. */
static void test_rules(void **state) {
    (void)state;
    static const char *const cases[] = {
        "Relu x[2,5,3] -> a; Gelu a -> b; Softplus b -> c; Mul c x -> d; Elu d -> y",
        "HardSigmoid x[2,7] -> a; HardSwish a -> b; Mish x -> c; Swish c -> d; Add b d -> y",
        "LeakyRelu x[9] -> a; Selu a -> b; Celu b -> c; Softsign c -> d; Shrink d -> y",
        "Exp x[2,3,4] -> a; Log a -> b; Sqrt a -> c; Div b c -> d; Erf d -> e; Pow a e -> y",
        "Sigmoid x[2,3,5] -> a; Sub a z[3,1] -> b; Max b z -> c; Clip c l<-0.5 h<0.6 -> d; "
        "Greater d x -> g; Where g d z -> y",
        "PRelu x[2,3,4,5] w[3,1,1] -> a; Mean a x w -> b; Tanh b -> y",
        "Conv x[2,3,9,8] v{6,3,3,2} -> a strides=2,3 pads=1,0,1,1; Relu a -> b; "
        "ConvTranspose b u{6,2,3,3} -> c strides=2,2 group=2; AveragePool c -> y "
        "kernel_shape=3,2 strides=2,2 pads=1,0,1,1",
        "Gemm x[4,3] w[5,3] wb[5] -> a transB=1 alpha=0.5; Softmax a -> b; MatMul b v[2,5,3] -> c; "
        "LogSoftmax c -> y axis=1",
        "BatchNormalization x[2,4,5,3] s{4} b{4} m{4} p{4} -> a; InstanceNormalization a t{4} u{4} "
        "-> c; LayerNormalization c w[3] wb[3] -> y",
        "GlobalAveragePool x[2,3,4,5] -> a; GlobalMaxPool x -> b; Add a b -> c; Mul c x -> y",
        "ReduceMax x[2,5,4] n(1) -> a; ReduceL2 x n -> b; ReduceLogSumExp x m(0,2) -> c; "
        "ReduceProd x o(-1) -> d; ReduceL1 x m -> e; Mul a b -> f; Mul f d -> g; Mul g c -> h; "
        "Mul h e -> y",
        "Transpose x[2,3,4,6] -> a perm=0,2,3,1; Slice a b(1,-1) c(4,-7) d(1,2) e(2,-2) -> s; "
        "Pad s p(0,1,0,1,0,0,2,0) -> t mode=edge; CumSum t i(2) -> u; Trilu u -> y",
        "Split x[2,8,4,4] -> a b axis=1 num_outputs=2; DepthToSpace a -> c blocksize=2; "
        "SpaceToDepth c -> d blocksize=4; Concat d d -> e axis=1; Tile e t(1,2,1,1) -> y",
        "Conv x[1,2,7,9] v{4,2,3,3} -> a; MaxPool a -> y kernel_shape=3,2 strides=2,2 pads=1,0,1,1",
        "Gather x[5,4] i(1,-2,1,0) -> a axis=1; Mul z[2,4] q<3 -> f; "
        "Cast f -> j to=7; GatherElements a j -> b axis=0; "
        "TopK b k(2) -> c n; Reshape i1(0,0,1) s(3,1) -> t; ScatterND c t w[3,2] -> y",
        "Resize x[1,2,5,4] _ s<1,1,2,1.5> -> a mode=linear; Resize a _ t<1,1,0.5,2> -> y",
        "GridSample x[2,5,4,3] w[2,3,7,2] -> a; GridSample a v[2,5,5,2] -> b mode=cubic "
        "padding_mode=reflection; RoiAlign b p{3,4} r(1,0,1) -> y output_height=2 output_width=3 "
        "sampling_ratio=2 spatial_scale=3.5",
        "Reshape i(0,2,2,1,1,0) s(2,3) -> j; ScatterElements x[3,7] j u[2,3] -> a reduction=mul; "
        "Reshape a t(1,3,7) -> b; TensorScatter b v[1,3,4] k:int64[1] -> y mode=circular axis=2",
    };
    need_gpu();
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (all_cases() || ((i % 4 == 0) == gpu_has_textures() && !(few_cases() && i % 3)))
            check_case(cpu, cases[i], (uint32_t)i);
    tsr_device_destroy(cpu);
}

/* ---- random nodes ---- */

/* Weights are constants in every second draw. */
static void check_op(tsr_op op, tsr_device *cpu, int count) {
    const char *name = tsr_op_get_info(op)->name;
    int compared = 0;
    for (int tries = 0; tries < 50 + 10 * count && compared < count; tries++) {
        case_text text;
        gradient_graph g = {0};
        uint32_t seed = (uint32_t)(tries * TSR_OP_COUNT + (int)op);
        bool made = draw_gradients(&g, op, tries % 2, seed, &text) && g.count > 0;
        compared += made && compare(&g, cpu, text.text, gradient_range_of(op), seed);
        if (g.graph || made)
            free_gradients(&g);
    }
    if (all_cases())
        print_message("%s: %d nodes compared\n", name, compared);
    if (compared == 0 && tsr_gradient_kind_of(op) == TSR_GRADIENT_RULE)
        fail_msg("%s: no gradient was compared: %s", name, tsr_last_error());
}

/* Programs of textures take long to compile. */
static void test_random_nodes(void **state) {
    (void)state;
    need_gpu();
    int count = all_cases() ? count_gradient_cases() : few_cases() ? 0 : gpu_has_textures() ? 1 : 8;
    tsr_device *cpu = make_device(&(tsr_device_desc){.backend = "cpu"});
    for (int op = 0; op < TSR_OP_COUNT && count; op++)
        if (can_make_node((tsr_op)op))
            check_op((tsr_op)op, cpu, count);
    tsr_device_destroy(cpu);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_random_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
