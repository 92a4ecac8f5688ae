/* Joining without copies: which passes are left. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/plans.h"

#include <stdio.h>
#include <time.h>

typedef struct join_case {
    const char *text;
    int in_textures, in_buffers; /* passes */
} join_case;

static const join_case join_cases[] = {
    {"Relu x[1,8,16,16] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 3, 3},
    {"Relu x[1,8,16,16] -> a; Relu z[1,3,16,16] -> b; Concat a b -> y axis=1", 2, 2},
    /* an input is copied, inputs alone in one pass */
    {"Relu x[1,8,16,16] -> a; Concat x a -> c axis=1; Relu c -> y", 3, 3},
    {"Concat x[1,8,16,16] z[1,8,16,16] -> c axis=1; Relu c -> y", 2, 2},
    /* b is made of a; e of c, which is larger; a is there twice */
    {"Relu x[1,8,16,16] -> a; Relu a -> b; Concat a b -> c axis=1; Relu c -> y", 4, 4},
    {"Relu x[1,8,16,16] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> e; Relu x -> d; "
     "Concat e c d -> f axis=1; Relu f -> y",
     6, 6},
    {"Relu x[1,8,16,16] -> a; Concat a a -> c axis=1; Relu c -> y", 3, 3},
    /* one in the other; one tensor in two, which lie apart and together */
    {"Relu x[1,8,16,16] -> a; Relu x -> b; Relu x -> d; Concat a b -> c axis=1; "
     "Concat d c -> e axis=1; Relu e -> y",
     4, 4},
    {"Relu x[1,8,16,16] -> a; Relu x -> b; Relu x -> d; Concat a b -> c axis=1; "
     "Concat a d -> e axis=1; Relu c -> f; Relu e -> g; Concat f g -> y axis=1",
     6, 6},
    {"Relu x[1,8,16,16] -> a; Relu x -> b; Relu x -> d; Concat a b -> c axis=1; "
     "Concat a d -> e axis=1; Concat c e -> y axis=1",
     5, 5},
    /* what begins within a texel, in another image, where no binding may; one tile in any grid,
     * three in one of one column only */
    {"Relu x[1,6,16,16] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 4, 4},
    {"Relu x[2,8,16,16] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 4, 4},
    {"Relu x[1,8,9,30] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 3, 4},
    {"Relu x[1,4,16,8] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 3, 3},
    {"Relu x[1,12,16,8] -> a; Relu x -> b; Concat a b -> c axis=1; Relu c -> y", 4, 3},
};

static void test_joins(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof join_cases / sizeof *join_cases; i++) {
        const join_case *c = &join_cases[i];
        tsr_graph *graph = prepare_graph(onnx_case(13, c->text));
        for (int kind = 0; kind < 4; kind++) {
            tsr_plan *plan = plan_for(graph, kind & 1 ? BUFFERS : TEXTURES, kind & 2, false);
            check_plan(plan);
            int expected = kind & 1 ? c->in_buffers : c->in_textures;
            if (plan->pass_count != expected)
                fail_msg("%d passes instead of %d in %s: %s", plan->pass_count, expected,
                         kind & 1 ? "buffers" : "textures", c->text);
            tsr_plan_destroy(plan);
        }
        tsr_graph_destroy(graph);
    }
}

/* Small tensors that are made early, each joined with a large one made late, then halved. */
static tsr_graph *make_early_parts(int count) {
    onnx_writer *writer = onnx_writer_create(13);
    char name[4][16], both[48];
    onnx_add_input(writer, "x", TSR_F32, SHAPE(1, 4, 64, 64));
    onnx_add_input(writer, "z", TSR_F32, SHAPE(1, 28, 64, 64));
    for (int i = 0; i < count; i++) {
        snprintf(name[0], sizeof name[0], "a%d", i);
        onnx_add_node(writer, "Relu", name[0], "x", name[0]);
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++)
            snprintf(name[k], sizeof name[k], "%c%d", "abcd"[k], i);
        snprintf(both, sizeof both, "%s,%s", name[0], name[1]);
        onnx_add_node(writer, "Relu", name[1], "z", name[1]);
        onnx_set_int(writer, onnx_add_node(writer, "Concat", name[2], both, name[2]), "axis", 1);
        Tsr__NodeProto *pool = onnx_add_node(writer, "MaxPool", name[3], name[2], name[3]);
        onnx_set_ints(writer, pool, "kernel_shape", 2, INTS(2, 2));
        onnx_set_ints(writer, pool, "strides", 2, INTS(2, 2));
        add_output(writer, name[3], TSR_F32);
    }
    return prepare_graph(writer);
}

/* Joining takes memory earlier, but at most half as much again. */
static void test_memory(void **state) {
    (void)state;
    enum { COUNT = 12 };
    tsr_graph *graph = make_early_parts(COUNT);
    for (int kind = 0; kind < 2; kind++) {
        tsr_plan *joined = plan_for(graph, kind ? BUFFERS : TEXTURES, false, false);
        tsr_plan *copied = plan_copies_for(graph, kind ? BUFFERS : TEXTURES);
        check_plan(joined);
        assert_int_equal(copied->pass_count, 4 * COUNT);
        assert_in_range(joined->pass_count, 3 * COUNT + 1, 4 * COUNT);
        assert_true(joined->live_bytes_bound <= copied->live_bytes_bound / 2 * 3);
        tsr_plan_destroy(joined);
        tsr_plan_destroy(copied);
    }
    tsr_graph_destroy(graph);
}

enum { CHAIN = 1500, CHAIN_SECONDS = 10 };

/* c1 of c0 and r1, c2 of c1 and r2, ...: all lie in the last, and planning ends soon. */
static void test_long_chain(void **state) {
    (void)state;
    onnx_writer *writer = onnx_writer_create(13);
    char part[16], both[48], next[16];
    onnx_add_input(writer, "x", TSR_F32, SHAPE(1, 4, 1, 32));
    onnx_add_node(writer, "Relu", "c0", "x", "c0");
    for (int i = 1; i <= CHAIN; i++) {
        snprintf(part, sizeof part, "r%d", i);
        onnx_add_node(writer, "Relu", part, "x", part);
        snprintf(both, sizeof both, "c%d,%s", i - 1, part);
        snprintf(next, sizeof next, "c%d", i);
        onnx_set_int(writer, onnx_add_node(writer, "Concat", next, both, next), "axis", 1);
    }
    add_output(writer, next, TSR_F32);
    tsr_graph *graph = prepare_graph(writer);
    for (int kind = 0; kind < 2; kind++) {
        clock_t start = clock();
        tsr_plan *plan = plan_for(graph, kind ? BUFFERS : TEXTURES, false, false);
        assert_true(clock() - start < (clock_t)CHAIN_SECONDS * CLOCKS_PER_SEC);
        assert_int_equal(plan->pass_count, CHAIN + 1);
        check_inside(plan);
        tsr_plan_destroy(plan);
    }
    tsr_graph_destroy(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
