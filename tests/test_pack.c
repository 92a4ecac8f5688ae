/* Where a plan puts its tensors: nothing that is alive at the same time overlaps, no pass writes
 * the storage that it reads, and little more is taken than must be alive at once. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/plans.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- graphs ---- */

static void add_pool_by(onnx_writer *writer, const char *from, const char *to, int64_t rows) {
    Tsr__NodeProto *node = onnx_add_node(writer, "MaxPool", to, from, to);
    onnx_set_ints(writer, node, "kernel_shape", 2, INTS(rows, 2));
    onnx_set_ints(writer, node, "strides", 2, INTS(rows, 2));
}

static void add_pool(onnx_writer *writer, const char *from, const char *to) {
    add_pool_by(writer, from, to, 2);
}

static void add_up(onnx_writer *writer, const char *from, const char *to) {
    onnx_set_int(writer, onnx_add_node(writer, "DepthToSpace", to, from, to), "blocksize", 2);
}

static void add_concat(onnx_writer *writer, const char *a, const char *b, const char *to) {
    char both[64];
    snprintf(both, sizeof both, "%s,%s", a, b);
    onnx_set_int(writer, onnx_add_node(writer, "Concat", to, both, to), "axis", 1);
}

static const char *name_of(char name[16], char letter, int i) {
    snprintf(name, 16, "%c%d", letter, i);
    return name;
}

enum { DEPTH = 5 };

/* x -> d0 -> d1 ..., back through u.. and joined with the d.. on the way. */
static tsr_graph *make_u_net(void) {
    onnx_writer *writer = onnx_writer_create(22);
    char a[16], b[16], c[16], d[16];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 1024, 32, 32));
    onnx_add_node(writer, "Relu", "d0", "x", "d0");
    for (int i = 0; i < DEPTH; i++)
        add_pool(writer, name_of(a, 'd', i), name_of(b, 'd', i + 1));
    add_concat(writer, name_of(a, 'd', DEPTH), a, name_of(b, 'j', DEPTH));
    for (int i = DEPTH; i > 0; i--) {
        add_up(writer, name_of(a, 'j', i), name_of(b, 'u', i - 1));
        add_concat(writer, b, name_of(c, 'd', i - 1), name_of(d, 'j', i - 1));
    }
    onnx_add_node(writer, "Relu", "y", "j0", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    return prepare_graph(writer);
}

/* Two parts of one tensor. */
static tsr_graph *make_joined(void) {
    onnx_writer *writer = onnx_writer_create(22);
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 128, 16, 16));
    onnx_add_node(writer, "Relu", "a", "x", "a");
    onnx_add_node(writer, "Relu", "b", "a", "b");
    add_concat(writer, "a", "b", "j");
    onnx_add_node(writer, "Relu", "y", "j", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    return prepare_graph(writer);
}

static tsr_graph *make_chain(int length) {
    onnx_writer *writer = onnx_writer_create(22);
    char a[16], b[16];
    onnx_add_input(writer, "r0", TSR_DTYPE_F32, SHAPE(1, 16, 30, 30));
    for (int i = 0; i < length; i++)
        onnx_add_node(writer, "Relu", name_of(b, 'r', i + 1), name_of(a, 'r', i), b);
    add_output(writer, name_of(a, 'r', length), TSR_DTYPE_F32);
    return prepare_graph(writer);
}

/* The value joined with itself, and another tensor as large as that. */
static void add_twice(onnx_writer *writer, const char *from, const char *half, const char *to) {
    add_concat(writer, from, from, half);
    onnx_add_node(writer, "Relu", to, half, to);
}

/* x -> large tensors -> blocks at a quarter of their size, each with two long sums, whose end is
 * added to what they began with -> large tensors. */
static tsr_graph *make_residual(int blocks) {
    onnx_writer *writer = onnx_writer_create(22);
    char from[16], to[16], a[16], b[16], c[16], both[64];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, 16, 64, 64));
    add_twice(writer, "x", "l0", "l1");
    add_pool(writer, "l1", "l2");
    add_twice(writer, "l2", "l3", "l4");
    add_pool_by(writer, "l4", "p0", 1);
    for (int i = 0; i < blocks; i++) {
        name_of(from, 'p', i), name_of(to, 'p', i + 1);
        onnx_add_node(writer, "Sigmoid", name_of(a, 'a', i), from, a);
        onnx_add_node(writer, "Relu", name_of(b, 'b', i), a, b);
        onnx_add_node(writer, "Sigmoid", name_of(c, 'c', i), b, c);
        snprintf(both, sizeof both, "%s,%s", c, from);
        onnx_add_node(writer, "Add", to, both, to);
    }
    add_twice(writer, to, "l5", "l6");
    add_twice(writer, "l6", "l7", "l8");
    add_pool(writer, "l8", "y");
    add_output(writer, "y", TSR_DTYPE_F32);
    return prepare_graph(writer);
}

enum { RANDOM_NODES = 24 };

/* Each node reads values chosen at random; the last value and two others are outputs. */
static tsr_graph *make_random(uint32_t seed) {
    static const int sizes[] = {40, 40};
    random_source random = random_from(seed);
    onnx_writer *writer = onnx_writer_create(22);
    int level[RANDOM_NODES + 1] = {0}, channels[RANDOM_NODES + 1];
    channels[0] =
        random_one_in(&random, 2) ? random_int(&random, 1, 9) : 4 << random_int(&random, 0, 2);
    char a[16], b[16], c[16];
    onnx_add_input(writer, "v0", TSR_DTYPE_F32, SHAPE(1, channels[0], sizes[0], sizes[1]));
    for (int i = 1; i <= RANDOM_NODES; i++) {
        int from = random_int(&random, i > 6 ? i - 6 : 0, i - 1),
            other = random_int(&random, 0, i - 1);
        name_of(a, 'v', from), name_of(b, 'v', other), name_of(c, 'v', i);
        level[i] = level[from];
        channels[i] = channels[from];
        if (level[from] == level[other] && channels[from] + channels[other] < 64) {
            add_concat(writer, a, b, c);
            channels[i] += channels[other];
        } else if (level[from] < 2 && random_one_in(&random, 3)) {
            add_pool(writer, a, c);
            level[i]++;
        } else
            onnx_add_node(writer, random_one_in(&random, 3) ? "Neg" : "Relu", c, a, c);
        if (i == RANDOM_NODES || random_one_in(&random, 12))
            add_output(writer, c, TSR_DTYPE_F32);
    }
    return prepare_graph(writer);
}

/* ---- tests ---- */

/* At most 1.15 times what must be alive at once, on textures and in buffers, in 32 and 16 bits. */
static void check_tight(tsr_graph *graph) {
    static const plan_device devices[] = {TEXTURES, BUFFERS, SOFTWARE};
    for (int kind = 0; kind < 6; kind++) {
        tsr_plan *plan = plan_for(graph, devices[kind / 2], kind & 1, false);
        check_plan(plan);
        assert_true(plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115);
        tsr_plan_destroy(plan);
    }
    tsr_graph_destroy(graph);
}

static void test_chains_are_tight(void **state) {
    (void)state;
    for (int length = 3; length < 9; length++)
        check_tight(make_chain(length));
}

static void test_skips_are_tight(void **state) {
    (void)state;
    check_tight(make_u_net());
}

/* Passes that write enough for several threads of llvmpipe to one of the squares that they share a
 * pass by. */
static int count_serial_passes(const tsr_plan *plan) {
    enum { SIDE = 64, ENOUGH = 4096 };
    int count = 0;
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_layout *l = tsr_plan_layout(plan, plan->passes[i].output);
        int right = l->texture_x + l->texture_w - 1, bottom = l->texture_y + l->texture_h - 1;
        count += l->texture_w * l->texture_h * l->planes >= ENOUGH &&
                 l->texture_x / SIDE == right / SIDE && l->texture_y / SIDE == bottom / SIDE;
    }
    return count;
}

/* Parts of joined tensors, too. */
static void test_threads_share_passes(void **state) {
    (void)state;
    tsr_graph *graph = make_joined();
    tsr_plan *plan = plan_for(graph, SOFTWARE, false, false);
    check_plan(plan);
    assert_int_equal(count_serial_passes(plan), 0);
    assert_true(plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115);
    tsr_plan_destroy(plan);
    tsr_graph_destroy(graph);
}

/* Where a block's tensors lie decides what the next block's take: each has to foresee it. */
static void test_blocks_are_tight(void **state) {
    (void)state;
    for (int blocks = 1; blocks < 12; blocks++) {
        tsr_graph *graph = make_residual(blocks);
        tsr_plan *plan = plan_for(graph, BUFFERS, true, false);
        check_plan(plan);
        assert_true(plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115);
        tsr_plan_destroy(plan);
        tsr_graph_destroy(graph);
    }
}

/* A few of them cannot be tight: what a pass reads and writes is stored apart. */
static void test_random_graphs(void **state) {
    (void)state;
    enum { GRAPHS = 60, TIGHT = 41 };
    int tight = 0;
    for (uint32_t seed = 0; seed < GRAPHS; seed++) {
        tsr_graph *graph = make_random(seed);
        tsr_plan *plan = plan_for(graph, seed & 1 ? BUFFERS : TEXTURES, seed & 2, false),
                 *software = plan_for(graph, SOFTWARE, seed & 1, false);
        check_plan(plan);
        check_plan(software);
        tight += plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115;
        tsr_plan_destroy(plan);
        tsr_plan_destroy(software);
        tsr_graph_destroy(graph);
    }
    assert_true(tight >= TIGHT);
}

/* Tensors in two storages share them with others. */
static void test_two_storages(void **state) {
    (void)state;
    int in_two = 0, sharing = 0;
    for (uint32_t seed = 0; seed < 60; seed++) {
        tsr_graph *graph = make_random(seed);
        tsr_plan *plan = plan_for(graph, TEXTURES4, seed & 1, false);
        check_plan(plan);
        for (int i = 1; i < plan->tensor_count; i++)
            for (int j = 1; plan->tensors[i].in_two && j < plan->tensor_count; j++)
                sharing += !plan->tensors[j].in_two &&
                           plan->tensors[j].storage == plan->tensors[i].storage_high;
        for (int i = 1; i < plan->tensor_count; i++)
            in_two += plan->tensors[i].in_two;
        tsr_plan_destroy(plan);
        tsr_graph_destroy(graph);
    }
    assert_true(in_two > 40);
    assert_true(sharing > in_two);
}

/* What is readable after a run shares nothing. */
static void test_kept_tensors(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 4; seed++) {
        tsr_graph *graph = make_random(seed);
        tsr_plan *plan = plan_for(graph, seed & 1 ? BUFFERS : TEXTURES, false, true);
        check_plan(plan);
        int parts = 0;
        for (int i = 1; i < plan->tensor_count; i++) {
            assert_true(plan->tensors[i].keep || plan->tensors[i].root != i);
            parts += plan->tensors[i].root != i;
        }
        assert_int_equal(plan->storage_count, plan->tensor_count - 1 - parts);
        tsr_plan_destroy(plan);
        tsr_graph_destroy(graph);
    }
}

static int count_clears(const tsr_plan *plan) {
    int clears = 0;
    for (int i = 0; i < plan->pass_count; i++)
        clears += tsr_plan_clears(plan, i);
    return clears;
}

/* Of tensors of one size, all but those where the input is. Of a tensor that is small for its
 * texture, none. What a pass goes on writing stays. */
static void test_clears(void **state) {
    (void)state;
    tsr_graph *chain = make_chain(6);
    tsr_plan *plan = plan_for(chain, TEXTURES, false, false);
    const tsr_plan_tensor *input = &plan->tensors[plan->value_tensor[chain->inputs[0]]];
    for (int i = 0; i < plan->pass_count; i++)
        assert_int_equal(tsr_plan_clears(plan, i),
                         plan->tensors[plan->passes[i].output].storage != input->storage);
    assert_true(count_clears(plan) >= 3);
    plan->storages[plan->tensors[plan->passes[0].output].storage].texture_h *= 2;
    assert_int_equal(tsr_plan_clears(plan, 0), false);
    tsr_plan_destroy(plan);
    plan = plan_for(chain, TEXTURES, false, true);
    assert_int_equal(count_clears(plan), plan->pass_count);
    plan->tensors[plan->passes[1].output].first_pass = 0;
    assert_int_equal(count_clears(plan), plan->pass_count - 1);
    tsr_plan_destroy(plan);
    tsr_graph_destroy(chain);
}

/* One value and `count` others made of it, all of them outputs. */
static tsr_graph *make_fan(int count, int64_t channels, int64_t height, int64_t width) {
    onnx_writer *writer = onnx_writer_create(22);
    char name[16];
    onnx_add_input(writer, "x", TSR_DTYPE_F32, SHAPE(1, channels, height, width));
    for (int i = 0; i < count; i++) {
        onnx_add_node(writer, "Relu", name_of(name, 'r', i), "x", name);
        add_output(writer, name, TSR_DTYPE_F32);
    }
    return prepare_graph(writer);
}

enum { MANY_SECONDS = 10 };

/* Planning ends soon, however many tensors are alive at once. */
static void test_many_alive(void **state) {
    (void)state;
    tsr_graph *graph = make_fan(2000, 4, 16, 16);
    for (int kind = 0; kind < 2; kind++) {
        clock_t start = clock();
        tsr_plan *plan = plan_for(graph, kind ? BUFFERS : TEXTURES, false, false);
        assert_true(clock() - start < (clock_t)MANY_SECONDS * CLOCKS_PER_SEC);
        check_inside(plan);
        check_no_feedback(plan);
        assert_true(plan->tensor_bytes * 100 <= plan->live_bytes_bound * 115);
        tsr_plan_destroy(plan);
    }
    tsr_graph_destroy(graph);
}

/* Sharing makes no texture that a driver might not have. */
static void test_large_textures(void **state) {
    (void)state;
    tsr_graph *graph = make_fan(7, 16, 4096, 2048); /* 512 MiB each */
    const tsr_plan_options options = {.limits = {.max_texture_size = 16384, .max_planes = 8},
                                      .lower = plan_lowerings};
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &options, &plan), TSR_OK);
    check_plan(plan);
    for (int i = 0; i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        int64_t texels = (int64_t)s->texture_w * (s->texture_h + TSR_ZERO_ROWS) * s->planes;
        assert_true(texels * 16 <= (int64_t)1 << 30);
    }
    tsr_plan_destroy(plan);
    tsr_graph_destroy(graph);
}

/* A graph whose outputs are all constants has nothing to place. */
static void test_nothing_to_place(void **state) {
    (void)state;
    onnx_writer *writer = onnx_writer_create(22);
    onnx_set_float(writer, onnx_add_node(writer, "Constant", "c", "", "y"), "value_float", 2);
    add_output(writer, "y", TSR_DTYPE_F32);
    tsr_graph *graph = prepare_graph(writer);
    for (int kind = 0; kind < 2; kind++) {
        tsr_plan *plan = plan_for(graph, kind ? BUFFERS : TEXTURES, false, false);
        assert_int_equal(plan->storage_count, 0);
        assert_int_equal(plan->tensor_bytes, 0);
        tsr_plan_destroy(plan);
    }
    tsr_graph_destroy(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_are_tight),
        cmocka_unit_test(test_skips_are_tight),
        cmocka_unit_test(test_threads_share_passes),
        cmocka_unit_test(test_blocks_are_tight),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_two_storages),
        cmocka_unit_test(test_clears),
        cmocka_unit_test(test_kept_tensors),
        cmocka_unit_test(test_many_alive),
        cmocka_unit_test(test_large_textures),
        cmocka_unit_test(test_nothing_to_place),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
