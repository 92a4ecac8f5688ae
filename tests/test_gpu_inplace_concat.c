/* Concatenations whose operands are written where the result is stored, on a GPU backend: how many
 * passes are left, what it takes in memory, and the same numbers as on cpu. */
#include "support/backends.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct concat_case {
    const char *text;
    int in_textures, in_buffers; /* passes */
} concat_case;

static const concat_case cases[] = {
    {"Relu x[1,8,16,16] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     3, 3},
    {"Relu x[1,8,16,16] -> a; Relu z[1,3,16,16] -> b; Concat a b -> y axis=1", 2, 2},
    /* an input is copied, inputs alone in one pass */
    {"Relu x[1,8,16,16] -> a; Concat x a -> c axis=1; MaxPool c -> y kernel_shape=2,2", 3, 3},
    {"Concat x[1,8,16,16] z[1,8,16,16] -> c axis=1; MaxPool c -> y kernel_shape=2,2", 2, 2},
    /* b is made of a; e of c, which is larger; a is there twice */
    {"Relu x[1,8,16,16] -> a; Relu a -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     4, 4},
    {"Relu x[1,8,16,16] -> a; Neg x -> b; Concat a b -> c axis=1; Relu c -> e; Abs x -> d; "
     "Concat e c d -> f axis=1; MaxPool f -> y kernel_shape=2,2",
     6, 6},
    {"Relu x[1,8,16,16] -> a; Concat a a -> c axis=1; MaxPool c -> y kernel_shape=2,2", 3, 3},
    /* one in the other; one tensor in two, which lie apart and together */
    {"Relu x[1,8,16,16] -> a; Neg x -> b; Abs x -> d; Concat a b -> c axis=1; "
     "Concat d c -> e axis=1; MaxPool e -> y kernel_shape=2,2",
     4, 4},
    {"Relu x[1,8,16,16] -> a; Neg x -> b; Abs x -> d; Concat a b -> c axis=1; "
     "Concat a d -> e axis=1; MaxPool c -> f kernel_shape=3,3 pads=1,1,1,1; "
     "MaxPool e -> g kernel_shape=3,3 pads=1,1,1,1; "
     "Concat f g -> y axis=1",
     6, 6},
    {"Relu x[1,8,16,16] -> a; Neg x -> b; Abs x -> d; Concat a b -> c axis=1; "
     "Concat a d -> e axis=1; Concat c e -> y axis=1",
     5, 5},
    /* what begins within a texel, in another image, where no binding may; one tile in any grid,
     * three in one of one column only */
    {"Relu x[1,6,16,16] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     4, 4},
    {"Relu x[2,8,16,16] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     4, 4},
    {"Relu x[1,8,9,30] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     3, 4},
    {"Relu x[1,4,16,8] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     3, 3},
    {"Relu x[1,12,16,8] -> a; Neg x -> b; Concat a b -> c axis=1; MaxPool c -> y kernel_shape=2,2",
     4, 3},
};

/* What a session of the model reports; frees the model. */
static tsr_report plan(tsr_model *model, const tsr_session_desc *desc) {
    tsr_session *session = make_session(gpu_device((backend_limits){0}), model, desc);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    tsr_model_free(model);
    return report;
}

static void test_passes(void **state) {
    (void)state;
    need_gpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int half = 0; half < 2; half++) {
            const concat_case *c = &cases[i];
            const tsr_session_desc desc = {
                .plan_only = true, .precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32};
            int passes = plan(make_model(c->text), &desc).pass_count;
            int expected = gpu_has_textures() ? c->in_textures : c->in_buffers;
            if (passes != expected)
                fail_msg("%d passes instead of %d: %s", passes, expected, c->text);
        }
}

static void test_results(void **state) {
    (void)state;
    need_gpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int half = 0; half < 2; half++)
            run_case(&(backend_case){.text = cases[i].text,
                                     .precision = half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32});
    expect_no_failed_case();
}

/* ---- many ---- */

static void add_concat(onnx_writer *writer, const char *first, const char *second,
                       const char *name) {
    char both[48];
    snprintf(both, sizeof both, "%s,%s", first, second);
    onnx_set_int(writer, onnx_add_node(writer, "Concat", name, both, name), "axis", 1);
}

/* Small tensors that are made early, each concatenated with a large one made late, then halved. */
static tsr_model *make_early_parts(int count) {
    onnx_writer *writer = onnx_writer_create(13);
    char name[4][16];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 4, 64, 64));
    onnx_add_input(writer, "z", TSR_DTYPE_F32, SHAPE(1, 28, 64, 64));
    for (int i = 0; i < count; i++) {
        snprintf(name[0], sizeof name[0], "a%d", i);
        onnx_add_node(writer, "Relu", name[0], "x", name[0]);
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++)
            snprintf(name[k], sizeof name[k], "%c%d", "abcd"[k], i);
        onnx_add_node(writer, "Relu", name[1], "z", name[1]);
        add_concat(writer, name[0], name[1], name[2]);
        Tsr__NodeProto *pool = onnx_add_node(writer, "MaxPool", name[3], name[2], name[3]);
        onnx_set_ints(writer, pool, "kernel_shape", 2, INTS(2, 2));
        onnx_set_ints(writer, pool, "strides", 2, INTS(2, 2));
        add_output(writer, name[3], TSR_DTYPE_F32);
    }
    return load_written(writer);
}

/* All in place, the large ones would be there as early as the small ones: some are copied, so that
 * at most half as much again is alive as with copies only. */
static void test_memory(void **state) {
    (void)state;
    enum { COUNT = 12, INPUTS = 1 + 7, PARTS = 1 + 7, POOLED = 2, TILE = 64 * 64 * 16 };
    /* While the last ones are copied. */
    const uint64_t copying = (INPUTS + 2 * PARTS + POOLED * (COUNT - 1)) * TILE;
    need_gpu();
    const tsr_session_desc desc = {.plan_only = true, .optimizer_passes = "-cse"};
    const tsr_report report = plan(make_early_parts(COUNT), &desc);
    assert_in_range(report.pass_count, 3 * COUNT + 1, 4 * COUNT - 1);
    assert_true(report.live_bytes_bound <= copying / 2 * 3);
}

/* Halves of tensors: one is pooled at once, the others after all of them, so that a half that is
 * read in place keeps both. */
static tsr_model *make_halves(int count) {
    onnx_writer *writer = onnx_writer_create(13);
    char name[5][32];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 16, 64, 64));
    for (int i = 0; i < count; i++) {
        snprintf(name[0], sizeof *name, "t%d", i);
        snprintf(name[1], sizeof *name, "p%d,q%d", i, i);
        snprintf(name[2], sizeof *name, "q%d", i);
        snprintf(name[3], sizeof *name, "m%d", i);
        onnx_add_node(writer, "Exp", name[0], "x", name[0]);
        onnx_set_int(writer, onnx_add_node(writer, "Split", name[1], name[0], name[1]), "axis", 1);
        onnx_add_node(writer, "GlobalMaxPool", name[3], name[2], name[3]);
        add_output(writer, name[3], TSR_DTYPE_F32);
    }
    for (int i = 0; i < count; i++) {
        snprintf(name[0], sizeof *name, "p%d", i);
        snprintf(name[1], sizeof *name, "z%d", i);
        onnx_add_node(writer, "GlobalMaxPool", name[1], name[0], name[1]);
        add_output(writer, name[1], TSR_DTYPE_F32);
    }
    return load_written(writer);
}

/* Halves that are read in place take a sixteenth of the memory at most, together. */
static void test_halves(void **state) {
    (void)state;
    enum { COUNT = 48, HALF = 8 * 64 * 64 * 4, OTHERS = 6 * HALF };
    need_gpu();
    const tsr_session_desc desc = {.plan_only = true, .optimizer_passes = "-cse"};
    const tsr_report report = plan(make_halves(COUNT), &desc);
    assert_true(report.live_bytes_bound >= COUNT * HALF);
    assert_true(report.live_bytes_bound <= (COUNT * HALF + OTHERS) / 16 * 17);
}

enum { CHAIN = 1500, CHAIN_SECONDS = 10 };

/* A chain of concatenations, each of the one before it and a Relu: all operands are written into
 * the output of the last one, and planning does not take long. */
static void test_long_chain(void **state) {
    (void)state;
    need_gpu();
    onnx_writer *writer = onnx_writer_create(13);
    char last[16], part[16], next[16] = "c0";
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 4, 1, 32));
    onnx_add_node(writer, "Relu", next, "x", next);
    for (int i = 1; i <= CHAIN; i++) {
        memcpy(last, next, sizeof last);
        snprintf(part, sizeof part, "r%d", i);
        snprintf(next, sizeof next, "c%d", i);
        onnx_add_node(writer, "Relu", part, "x", part);
        add_concat(writer, last, part, next);
    }
    add_output(writer, next, TSR_DTYPE_F32);
    tsr_model *model = load_written(writer);
    clock_t start = clock();
    const tsr_report report =
        plan(model, &(tsr_session_desc){.plan_only = true, .optimizer_passes = "-cse"});
    assert_true(clock() - start < (clock_t)CHAIN_SECONDS * CLOCKS_PER_SEC);
    assert_int_equal(report.pass_count, CHAIN + 1);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),     cmocka_unit_test(test_results),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_halves),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
