/* Where a plan puts its tensors: nothing that is alive at the same time overlaps, no pass writes
 * the storage that it reads, and little more is taken than must be alive at once. */
#include "support/graphs.h"
#include "support/random.h"

#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Reads every input whole. */
static tsr_status lower_all(tsr_plan *plan, const tsr_node *node) {
    int sources[8];
    for (int i = 0; i < node->input_count; i++)
        sources[i] = tsr_plan_value(plan, node->inputs[i]);
    tsr_pass *pass = tsr_plan_pass(plan, "copy", tsr_plan_output(plan, node, 0));
    for (int i = 0; i < node->input_count; i++)
        tsr_pass_source(plan, pass, sources[i]);
    return plan->status;
}

/* By way of a sum that keeps 32 bits. */
static tsr_status lower_precise(tsr_plan *plan, const tsr_node *node) {
    const tsr_shape *shape = &tsr_node_in(plan->graph, node, 0)->shape;
    int sum = tsr_plan_tensor_new(plan, shape, true);
    tsr_plan_copy(plan, tsr_plan_value(plan, node->inputs[0]), sum);
    tsr_plan_copy(plan, sum, tsr_plan_output(plan, node, 0));
    return plan->status;
}

static tsr_lower_fn *const lowerings[TSR_OP_COUNT] = {[TSR_OP_Relu] = lower_all,
                                                      [TSR_OP_Neg] = lower_precise,
                                                      [TSR_OP_Concat] = lower_all,
                                                      [TSR_OP_MaxPool] = lower_all,
                                                      [TSR_OP_DepthToSpace] = lower_all};

typedef enum device { TEXTURES, BUFFERS } device;

static tsr_plan *plan_for(const tsr_graph *graph, device device, bool half, bool keep_all) {
    tsr_plan_options options = {.half = half, .keep_all = keep_all, .lower = lowerings};
    if (device == TEXTURES)
        options.limits = (tsr_layout_limits){.max_texture_size = 2048, .max_planes = 8};
    else
        options.limits = (tsr_layout_limits){.max_planes = 1, .max_buffer_bytes = 64 << 20};
    tsr_plan *plan;
    assert_int_equal(tsr_plan_create(graph, &options, &plan), TSR_OK);
    return plan;
}

/* ---- what must hold for every plan ---- */

/* Is the tensor needed while pass i runs? */
static bool alive_in(const tsr_plan *plan, int tensor, int i) {
    bool written = false, read_later = false;
    for (int j = 0; j < plan->pass_count; j++) {
        const tsr_pass *pass = &plan->passes[j];
        written = written || (j <= i && pass->output == tensor);
        read_later = read_later || (j == i && pass->output == tensor);
        for (int s = 0; s < pass->source_count; s++)
            read_later = read_later || (j >= i && pass->sources[s] == tensor);
    }
    const tsr_plan_tensor *t = &plan->tensors[tensor];
    bool input = t->keep && t->first_pass < 0;
    return (input || written) && (read_later || t->keep);
}

static bool overlap(const tsr_plan *plan, const tsr_layout *a, const tsr_layout *b) {
    int64_t a_unit = plan->limits.max_buffer_bytes && a->half ? 8 : 16,
            b_unit = plan->limits.max_buffer_bytes && b->half ? 8 : 16;
    return a->texture_x * a_unit < (b->texture_x + b->texture_w) * b_unit &&
           b->texture_x * b_unit < (a->texture_x + a->texture_w) * a_unit &&
           a->texture_y < b->texture_y + b->texture_h && b->texture_y < a->texture_y + a->texture_h;
}

static void check_apart(const tsr_plan *plan) {
    for (int a = 1; a < plan->tensor_count; a++)
        for (int b = a + 1; b < plan->tensor_count; b++) {
            const tsr_plan_tensor *s = &plan->tensors[a], *t = &plan->tensors[b];
            if (s->storage == TSR_NONE || s->storage != t->storage ||
                !overlap(plan, &s->layout, &t->layout))
                continue;
            for (int i = 0; i < plan->pass_count; i++)
                assert_false(alive_in(plan, a, i) && alive_in(plan, b, i));
        }
}

/* OpenGL ES and WebGPU refuse it, even of parts that lie apart. */
static void check_no_feedback(const tsr_plan *plan) {
    for (int i = 0; i < plan->pass_count; i++) {
        const tsr_pass *pass = &plan->passes[i];
        for (int j = 0; j < pass->source_count; j++)
            assert_int_not_equal(plan->tensors[pass->output].storage,
                                 plan->tensors[pass->sources[j]].storage);
    }
}

static void check_inside(const tsr_plan *plan) {
    for (int i = 1; i < plan->tensor_count; i++) {
        const tsr_layout *l = &plan->tensors[i].layout;
        if (plan->tensors[i].storage == TSR_NONE)
            continue;
        const tsr_storage *s = &plan->storages[plan->tensors[i].storage];
        assert_int_equal(s->planes, l->planes);
        if (l->buffer) {
            int64_t unit = l->half ? 8 : 16;
            assert_int_equal(l->texture_x * unit % 256, 0);
            assert_true((l->texture_x + l->texture_w) * unit <= (int64_t)s->texture_w * 16);
            continue;
        }
        assert_int_equal(s->half, l->half);
        assert_true(l->texture_x + l->texture_w <= s->texture_w);
        assert_true(l->texture_y + l->texture_h <= s->texture_h);
        assert_true(s->texture_w <= plan->limits.max_texture_size);
        assert_true(s->texture_h + TSR_ZERO_ROWS <= plan->limits.max_texture_size);
    }
}

static void check_bytes(const tsr_plan *plan) {
    uint64_t bytes = 0, bound = 0;
    for (int i = 0; i < plan->storage_count; i++) {
        const tsr_storage *s = &plan->storages[i];
        int rows = s->texture_h + (plan->limits.max_buffer_bytes ? 0 : TSR_ZERO_ROWS);
        bytes += (uint64_t)s->texture_w * (uint64_t)rows * (uint64_t)s->planes * (s->half ? 8 : 16);
    }
    for (int i = 0; i < plan->pass_count; i++) {
        uint64_t live = 0;
        for (int t = 1; t < plan->tensor_count; t++) {
            const tsr_layout *l = &plan->tensors[t].layout;
            if (alive_in(plan, t, i))
                live += (uint64_t)(l->n * l->tiles) * (uint64_t)(l->h * l->tile_w * l->planes) *
                        (l->half ? 8 : 16);
        }
        bound = live > bound ? live : bound;
    }
    assert_int_equal(plan->tensor_bytes, bytes);
    assert_int_equal(plan->live_bytes_bound, bound);
    assert_true(bytes >= bound);
}

static void check_plan(const tsr_plan *plan) {
    check_apart(plan);
    check_no_feedback(plan);
    check_inside(plan);
    check_bytes(plan);
}

/* ---- graphs ---- */

static void add_pool(onnx_writer *writer, const char *from, const char *to) {
    Tsr__NodeProto *node = onnx_add_node(writer, "MaxPool", to, from, to);
    onnx_set_ints(writer, node, "kernel_shape", 2, INTS(2, 2));
    onnx_set_ints(writer, node, "strides", 2, INTS(2, 2));
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
    onnx_add_input(writer, "x", TSR_F32, SHAPE(1, 1024, 32, 32));
    onnx_add_node(writer, "Relu", "d0", "x", "d0");
    for (int i = 0; i < DEPTH; i++)
        add_pool(writer, name_of(a, 'd', i), name_of(b, 'd', i + 1));
    add_concat(writer, name_of(a, 'd', DEPTH), a, name_of(b, 'j', DEPTH));
    for (int i = DEPTH; i > 0; i--) {
        add_up(writer, name_of(a, 'j', i), name_of(b, 'u', i - 1));
        add_concat(writer, b, name_of(c, 'd', i - 1), name_of(d, 'j', i - 1));
    }
    onnx_add_node(writer, "Relu", "y", "j0", "y");
    add_output(writer, "y", TSR_F32);
    return prepare_graph(writer);
}

static tsr_graph *make_chain(int length) {
    onnx_writer *writer = onnx_writer_create(22);
    char a[16], b[16];
    onnx_add_input(writer, "r0", TSR_F32, SHAPE(1, 16, 30, 30));
    for (int i = 0; i < length; i++)
        onnx_add_node(writer, "Relu", name_of(b, 'r', i + 1), name_of(a, 'r', i), b);
    add_output(writer, name_of(a, 'r', length), TSR_F32);
    return prepare_graph(writer);
}

enum { RANDOM_NODES = 24 };

/* Each node reads values chosen at random; the last value and two others are outputs. */
static tsr_graph *make_random(uint32_t seed) {
    static const int sizes[] = {40, 40};
    random_source random = random_from(seed);
    onnx_writer *writer = onnx_writer_create(22);
    int level[RANDOM_NODES + 1] = {0}, channels[RANDOM_NODES + 1] = {random_int(&random, 1, 9)};
    char a[16], b[16], c[16];
    onnx_add_input(writer, "v0", TSR_F32, SHAPE(1, channels[0], sizes[0], sizes[1]));
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
            add_output(writer, c, TSR_F32);
    }
    return prepare_graph(writer);
}

/* ---- tests ---- */

/* At most 1.15 times what must be alive at once, on textures and in buffers, in 32 and 16 bits. */
static void check_tight(tsr_graph *graph) {
    for (int kind = 0; kind < 4; kind++) {
        tsr_plan *plan = plan_for(graph, kind & 1 ? BUFFERS : TEXTURES, kind & 2, false);
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

static void test_random_graphs(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 60; seed++) {
        tsr_graph *graph = make_random(seed);
        tsr_plan *plan = plan_for(graph, seed & 1 ? BUFFERS : TEXTURES, seed & 2, false);
        check_plan(plan);
        tsr_plan_destroy(plan);
        tsr_graph_destroy(graph);
    }
}

/* What is readable after a run shares nothing. */
static void test_kept_tensors(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 4; seed++) {
        tsr_graph *graph = make_random(seed);
        tsr_plan *plan = plan_for(graph, seed & 1 ? BUFFERS : TEXTURES, false, true);
        check_plan(plan);
        for (int i = 1; i < plan->tensor_count; i++)
            assert_true(plan->tensors[i].keep);
        assert_int_equal(plan->storage_count, plan->tensor_count - 1);
        tsr_plan_destroy(plan);
        tsr_graph_destroy(graph);
    }
}

/* One value and `count` others made of it, all of them outputs. */
static tsr_graph *make_fan(int count, int64_t channels, int64_t height, int64_t width) {
    onnx_writer *writer = onnx_writer_create(22);
    char name[16];
    onnx_add_input(writer, "x", TSR_F32, SHAPE(1, channels, height, width));
    for (int i = 0; i < count; i++) {
        onnx_add_node(writer, "Relu", name_of(name, 'r', i), "x", name);
        add_output(writer, name, TSR_F32);
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
                                      .lower = lowerings};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_are_tight), cmocka_unit_test(test_skips_are_tight),
        cmocka_unit_test(test_random_graphs),    cmocka_unit_test(test_kept_tensors),
        cmocka_unit_test(test_many_alive),       cmocka_unit_test(test_large_textures),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
