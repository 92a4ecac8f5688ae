/* What it costs to load and plan a model grows as the model does: graphs of forms that break such a
 * rule, at three sizes. */
#define _POSIX_C_SOURCE 200809L
#include "support/backends.h"
#include "support/counted_memory.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/sessions.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZES = 3, STEP = 4 };

typedef struct cost {
    double ms; /* of the processor */
    double bytes;
} cost;

/* Loads the model and plans it, without any memory of the device. */
static cost cost_of(const uint8_t *bytes, size_t size, const char *what) {
    tsr_model *model;
    tsr_session *session;
    clock_t start = clock();
    take_most_bytes();
    EXPECT_OK(tsr_model_load_memory(bytes, size, NULL, &model));
    const tsr_session_desc desc = {.plan_only = true};
    if (tsr_session_create(gpu_device((backend_limits){0}), model, &desc, &session) != TSR_OK)
        print_message("%s: %s\n", what, tsr_last_error()); /* a limit is fine, if told in time */
    cost c = {.ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC};
    tsr_session_destroy(session);
    tsr_model_free(model);
    c.bytes = (double)take_most_bytes();
    return c;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static const char *name_of(onnx_writer *w, char kind, int i) {
    char text[16];
    snprintf(text, sizeof text, "%c%d", kind, i);
    return onnx_copy(w, text);
}

static onnx_writer *begin(const char *output, int rank, const int64_t *dims) {
    onnx_writer *w = onnx_writer_create(18);
    onnx_add_input(w, "x", TSR_DTYPE_F32, 4, (int64_t[]){1, 4, 2, 2});
    onnx_add_output(w, output, TSR_DTYPE_F32, rank, dims);
    return w;
}

/* op after op, each called "same", with these inputs after the first. */
static onnx_writer *chain(int count, const char *op, const char *others) {
    onnx_writer *w = begin("y", 4, (int64_t[]){1, 4, 2, 2});
    const char *last = "x";
    for (int i = 0; i < count; i++) {
        char inputs[64];
        const char *output = i + 1 < count ? name_of(w, 'v', i) : "y";
        snprintf(inputs, sizeof inputs, "%s%s", last, others);
        onnx_add_node(w, op, "same", inputs, output);
        last = output;
    }
    return w;
}

static onnx_writer *identities(int count) {
    return chain(count, "Identity", "");
}

static onnx_writer *softmaxes(int count) {
    return chain(count / 8, "Softmax", "");
}

static onnx_writer *convolutions(int count) {
    onnx_writer *w = chain(count / 8, "Conv", ",w");
    onnx_add_floats(w, "w", 4, (int64_t[]){4, 4, 1, 1}, NULL);
    return w;
}

static onnx_writer *batch_norms(int count) {
    onnx_writer *w = chain(count / 4, "BatchNormalization", ",s,s,s,s");
    onnx_add_floats(w, "s", 1, (int64_t[]){4}, (float[]){1, 1, 1, 1});
    return w;
}

/* Two shapes in turns: each Reshape is joined with the one before it. */
static onnx_writer *reshapes(int count) {
    onnx_writer *w = begin("y", 4, (int64_t[]){1, 4, 2, 2});
    onnx_add_ints(w, "s0", 1, (int64_t[]){2}, (int64_t[]){4, 4});
    onnx_add_ints(w, "s1", 1, (int64_t[]){4}, (int64_t[]){1, 4, 2, 2});
    const char *last = "x";
    for (int i = 0; i < 2 * count; i++) {
        char inputs[64];
        const char *output = i + 1 < 2 * count ? name_of(w, 'v', i) : "y";
        snprintf(inputs, sizeof inputs, "%s,s%d", last, i % 2);
        onnx_add_node(w, "Reshape", "same", inputs, output);
        last = output;
    }
    return w;
}

/* A Concat of many operands, which op makes of the input; all are alive at once. */
static onnx_writer *concat_of(int count, const char *op) {
    onnx_writer *w = begin("y", 4, (int64_t[]){count, 4, 2, 2});
    char *inputs = onnx_alloc(w, (size_t)count + 1, 8), *at = inputs;
    for (int i = 0; i < count; i++) {
        onnx_add_node(w, op, "node", "x", name_of(w, 'v', i));
        at += sprintf(at, "%sv%d", i ? "," : "", i);
    }
    onnx_set_int(w, onnx_add_node(w, "Concat", "node", inputs, "y"), "axis", 0);
    return w;
}

static onnx_writer *concat_of_relus(int count) {
    return concat_of(count / 4, "Relu");
}

static onnx_writer *concat_of_identities(int count) {
    return concat_of(count, "Identity");
}

/* Sums of the same input and constants that differ late: hashes of their beginnings are the same.
 */
static onnx_writer *similar_sums(int count) {
    enum { CHANNELS = 128 };
    count /= 8;
    onnx_writer *w = onnx_writer_create(18);
    onnx_add_input(w, "x", TSR_DTYPE_F32, 1, (int64_t[]){CHANNELS});
    onnx_add_output(w, "y", TSR_DTYPE_F32, 1, (int64_t[]){count * (int64_t)CHANNELS});
    char *inputs = onnx_alloc(w, (size_t)count + 1, 8), *at = inputs;
    for (int i = 0; i < count; i++) {
        char both[64];
        const char *constant = name_of(w, 'c', i);
        float *elements = onnx_add_floats(w, constant, 1, (int64_t[]){CHANNELS}, NULL);
        memset(elements, 0, CHANNELS * sizeof *elements);
        elements[CHANNELS - 1] = (float)i;
        snprintf(both, sizeof both, "x,%s", constant);
        onnx_add_node(w, "Add", "node", both, name_of(w, 'v', i));
        at += sprintf(at, "%sv%d", i ? "," : "", i);
    }
    onnx_set_int(w, onnx_add_node(w, "Concat", "node", inputs, "y"), "axis", 0);
    return w;
}

/* Each is joined with the one before. */
static onnx_writer *transposes(int count) {
    count /= 4;
    onnx_writer *w = begin("y", 4, (int64_t[]){-1, -1, -1, -1});
    const char *last = "x";
    for (int i = 0; i < count; i++) {
        const char *output = i + 1 < count ? name_of(w, 'v', i) : "y";
        onnx_set_ints(w, onnx_add_node(w, "Transpose", "node", last, output), "perm", 4,
                      (int64_t[]){1, 2, 3, 0});
        last = output;
    }
    return w;
}

/* The first results are read last. */
static onnx_writer *long_lives(int count) {
    count /= 8;
    onnx_writer *w = begin("y", 4, (int64_t[]){1, 4, 2, 2});
    const char *last = "x";
    for (int i = 0; i < count; i++) {
        const char *output = name_of(w, 'v', i);
        onnx_add_node(w, "Softmax", "node", last, output);
        last = output;
    }
    for (int i = 0; i < count; i++) {
        char inputs[64];
        const char *output = i + 1 < count ? name_of(w, 'w', i) : "y";
        snprintf(inputs, sizeof inputs, "%s,v%d", last, i);
        onnx_add_node(w, "Add", "node", inputs, output);
        last = output;
    }
    return w;
}

/* ---- names that collide ---------------------------------------------------------------------- */

/* FNV-1a of 32 bits: an unkeyed hash, for which many texts of the same hash are found at once. */
static uint32_t fnv(uint32_t state, const char *text) {
    while (*text)
        state = (state ^ (unsigned char)*text++) * 16777619u;
    return state;
}

enum { LETTERS = 4 };

static void spell(uint32_t i, char word[LETTERS + 1]) {
    for (int k = 0; k < LETTERS; k++, i /= 64)
        word[k] = (char)('0' + i % 64); /* '0' to 'o' */
    word[LETTERS] = 0;
}

/* Two words after which the hash is the same; returns that. */
static uint32_t find_pair(uint32_t state, char pair[2][LETTERS + 1]) {
    enum { SLOTS = 1 << 20 };
    uint32_t *slots = calloc(SLOTS, sizeof *slots); /* a word's number and 1; 0: free */
    assert_non_null(slots);
    for (uint32_t i = 0;; i++) {
        spell(i, pair[0]);
        uint32_t hash = fnv(state, pair[0]), *slot = &slots[hash % SLOTS];
        spell(*slot - 1, pair[1]);
        if (*slot && fnv(state, pair[1]) == hash) {
            free(slots);
            return hash;
        }
        *slot = i + 1;
    }
}

/* Every name has the same hash: a word of each pair. */
static onnx_writer *colliding_names(int count) {
    enum { MAX_PAIRS = 20 };
    char pairs[MAX_PAIRS][2][LETTERS + 1];
    uint32_t state = 2166136261u;
    int pair_count = 0;
    for (; 1 << pair_count < count; pair_count++)
        state = find_pair(state, pairs[pair_count]);
    onnx_writer *w = begin("y", 4, (int64_t[]){1, 4, 2, 2});
    onnx_add_node(w, "Relu", "node", "x", "y");
    for (int i = 0; i < count; i++) {
        char name[MAX_PAIRS * LETTERS + 1] = "";
        for (int k = 0; k < pair_count; k++)
            strcat(name, pairs[k][i >> k & 1]);
        assert_int_equal(fnv(2166136261u, name), state);
        onnx_add_floats(w, name, 1, (int64_t[]){1}, NULL);
    }
    return w;
}

/* ---- growth ---------------------------------------------------------------------------------- */

typedef onnx_writer *make_fn(int count);

/* Into c, unless that was measured before and is less. */
static void measure(onnx_writer *writer, const char *what, bool again, cost *c) {
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    assert_non_null(bytes);
    onnx_writer_destroy(writer);
    cost now = cost_of(bytes, size, what);
    free(bytes);
    if (!again || now.ms < c->ms)
        *c = now;
}

/* In proportion each size costs 4 times as much as the one before it, 8 times where it leaves the
 * processor's caches; as its square, 16 times. Small times are mostly the machine's, and the least
 * of several times is least disturbed. */
static void expect_growth(const char *what, make_fn *make) {
    enum { FIRST = 4000, MOST = 3 * STEP, ROUNDS = 5 };
    const double least_ms = 4, least_bytes = 1 << 20;
    cost costs[SIZES];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0, count = FIRST; i < SIZES; i++, count *= STEP)
            measure(make(count), what, round > 0, &costs[i]);
        if (costs[SIZES - 1].ms < MOST * (costs[SIZES - 2].ms + least_ms))
            break;
    }
    const cost *a = &costs[SIZES - 2], *b = &costs[SIZES - 1];
    print_message("%s: %.0f, %.0f, %.0f ms, %.1f to %.1f MB\n", what, costs[0].ms, a->ms, b->ms,
                  costs[0].bytes / 1e6, b->bytes / 1e6);
    assert_true(b->ms < MOST * (a->ms + least_ms));
    assert_true(b->bytes < MOST * (a->bytes + least_bytes));
}

static void test_graphs(void **state) {
    (void)state;
    need_gpu();
    expect_growth("identities", identities);
    expect_growth("softmaxes", softmaxes);
    expect_growth("convolutions", convolutions);
    expect_growth("batch norms of one name", batch_norms);
    expect_growth("reshapes of one name", reshapes);
    expect_growth("a concat of results", concat_of_relus);
    expect_growth("a concat of one tensor", concat_of_identities);
    expect_growth("long lives", long_lives);
    expect_growth("colliding names", colliding_names);
}

static void test_optimizer(void **state) {
    (void)state;
    need_gpu();
    expect_growth("similar sums", similar_sums);
    expect_growth("transposes", transposes);
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Small constants that two Resizes make large and a Conv of size x size meets: it stays a node. */
static onnx_writer *large_fold(int size) {
    onnx_writer *w = onnx_writer_create(18);
    onnx_add_input(w, "x", TSR_DTYPE_F32, 4, (int64_t[]){1, 1, 1, 1});
    onnx_add_output(w, "y", TSR_DTYPE_F32, 4, (int64_t[]){-1, -1, -1, -1});
    onnx_add_floats(w, "c", 4, (int64_t[]){1, 1, 1, 1}, (float[]){1});
    onnx_add_ints(w, "image", 1, (int64_t[]){4}, (int64_t[]){1, 4, 900, 900});
    onnx_add_ints(w, "kernel", 1, (int64_t[]){4}, (int64_t[]){4, 4, size, size});
    onnx_add_node(w, "Resize", "node", "c,,,image", "large");
    onnx_add_node(w, "Resize", "node", "c,,,kernel", "weights");
    onnx_add_node(w, "Conv", "node", "large,weights", "z");
    onnx_add_node(w, "Add", "node", "x,z", "y");
    return w;
}

static void test_folding(void **state) {
    (void)state;
    static const int sizes[SIZES] = {31, 127, 511};
    cost costs[SIZES];
    need_gpu();
    for (int i = 0; i < SIZES; i++)
        measure(large_fold(sizes[i]), "a large Conv of constants", false, &costs[i]);
    print_message("a large Conv of constants: %.0f, %.0f, %.0f ms\n", costs[0].ms, costs[1].ms,
                  costs[2].ms);
    assert_true(costs[2].ms < 8 * (costs[0].ms + 20));
    assert_true(costs[2].bytes < 150e6);
}

/* The limit counts: the same Conv is computed where there is no limit to speak of, and stays a node
 * where there is. */
static void test_max_work(void **state) {
    (void)state;
    static const uint64_t limits[] = {1000, 1 << 20};
    need_gpu();
    for (int i = 0; i < 2; i++) {
        onnx_writer *writer = onnx_writer_create(13);
        onnx_add_input(writer, "x", TSR_DTYPE_F32, 4, (int64_t[]){1, 1, 1, 1});
        onnx_add_output(writer, "y", TSR_DTYPE_F32, 4, (int64_t[]){1, 4, 5, 5});
        onnx_add_floats(writer, "c", 4, (int64_t[]){1, 4, 9, 9}, NULL);
        onnx_add_floats(writer, "w", 4, (int64_t[]){4, 4, 5, 5}, NULL);
        onnx_add_node(writer, "Conv", "node", "c,w", "z");
        onnx_add_node(writer, "Add", "node", "x,z", "y");
        size_t size;
        uint8_t *bytes = onnx_write_memory(writer, &size);
        onnx_writer_destroy(writer);
        tsr_model *model;
        EXPECT_OK(
            tsr_model_load_memory(bytes, size, &(tsr_model_desc){.max_work = limits[i]}, &model));
        tsr_session *session = make_session(gpu_device((backend_limits){0}), model, NULL);
        tsr_report report;
        EXPECT_OK(tsr_session_report(session, &report));
        assert_int_equal(report.macs, i == 0 ? 4 * 4 * 5 * 5 * 5 * 5 : 0);
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", 1, SUM_TOLERANCE);
        tsr_session_destroy(session);
        tsr_model_free(model);
        free(bytes);
    }
}

/* ---- external data --------------------------------------------------------------------------- */

enum { TENSOR_BYTES = 256 << 10 };

static void set_entry(onnx_writer *w, Tsr__TensorProto *tensor, const char *key,
                      const char *value) {
    Tsr__StringStringEntryProto *entry = onnx_alloc(w, 1, sizeof *entry);
    tsr__string_string_entry_proto__init(entry);
    entry->key = onnx_copy(w, key);
    entry->value = onnx_copy(w, value);
    onnx_append(w, &tensor->external_data, &tensor->n_external_data, entry);
}

/* Many tensors that are all the same bytes of one file. */
static void write_model(const char *path, int count, const char *offset) {
    onnx_writer *w = begin("y", 4, (int64_t[]){1, 4, 2, 2});
    onnx_add_node(w, "Relu", "node", "x", "y");
    for (int i = 0; i < count; i++) {
        Tsr__TensorProto *tensor = onnx_add_initializer(w, name_of(w, 'c', i), TSR_DTYPE_F32, 2,
                                                        (int64_t[]){256, TENSOR_BYTES / 1024});
        tensor->has_raw_data = false;
        tensor->raw_data.len = 0;
        tensor->has_data_location = true;
        tensor->data_location = TSR__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
        set_entry(w, tensor, "location", "weights.bin");
        set_entry(w, tensor, "offset", offset);
    }
    assert_true(onnx_write_file(w, path));
    onnx_writer_destroy(w);
}

static void test_external_data(void **state) {
    (void)state;
    char path[FOLDER_PATH], weights[FOLDER_PATH];
    snprintf(path, sizeof path, "%.400s/model.onnx", cache_folder);
    snprintf(weights, sizeof weights, "%.400s/weights.bin", cache_folder);
    unsigned char *bytes = calloc(1, TENSOR_BYTES + 4);
    write_bytes(weights, bytes, TENSOR_BYTES + 4);
    free(bytes);
    double most[SIZES];
    tsr_model *model;
    for (int i = 0, count = 25; i < SIZES; i++, count *= STEP) {
        write_model(path, count, "4");
        take_most_bytes();
        EXPECT_OK(tsr_model_load(path, NULL, &model));
        tsr_model_free(model);
        most[i] = (double)take_most_bytes();
    }
    print_message("external data: %.2f to %.2f MB\n", most[0] / 1e6, most[2] / 1e6);
    assert_true(most[2] - most[0] < 2 * TENSOR_BYTES); /* of 400 tensors */

    /* Where they have to be copied, that many are refused. */
    write_model(path, 400, "1");
    expect_failure(tsr_model_load(path, NULL, &model), TSR_ERROR_INVALID_MODEL, "again and again");
    write_model(path, 25, "1");
    EXPECT_OK(tsr_model_load(path, NULL, &model));
    tsr_model_free(model);
    /* Holes are no data. */
    assert_int_equal(truncate(weights, (off_t)1 << 30), 0);
    expect_failure(tsr_model_load(path, NULL, &model), TSR_ERROR_INVALID_MODEL, "are stored");
    unlink(weights);
    unlink(path);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_optimizer),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_max_work),
        cmocka_unit_test_setup_teardown(test_external_data, set_up_cache_folder,
                                        tear_down_cache_folder),
    };
    count_memory();
    /* What was freed stays with the process: the system clears pages of large models once, not in
     * each round, which would look like growth of ours. */
    mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most that glibc takes */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
