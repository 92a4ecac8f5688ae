/* Attention and RotaryEmbedding, held against loops that follow ONNX's text. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random constants ---- */

static float *draw(onnx_writer *writer, random_source *r, const char *name, int rank,
                   const int64_t *dims) {
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    float *elements = malloc((size_t)count * sizeof *elements + 1);
    assert_non_null(elements);
    for (int64_t i = 0; i < count; i++)
        elements[i] = random_float(r, 0, 1);
    onnx_add_floats(writer, name, rank, dims, elements);
    return elements;
}

static void expect_output(const tsr_graph *graph, const char *name, const double *expected,
                          int64_t count) {
    const tsr_value *y = value_named(graph, name);
    assert_non_null(y->data);
    assert_int_equal(tsr_shape_count(&y->shape), count);
    for (int64_t i = 0; i < count; i++) {
        double got = (double)((const float *)y->data)[i];
        bool same = got == expected[i] || fabs(got - expected[i]) <= 2e-5 * (1 + fabs(expected[i]));
        if (!same)
            fail_msg("%s[%lld] is %g instead of %g", name, (long long)i, got, expected[i]);
    }
}

/* ---- Attention ---- */

enum { MOST = 8 };

typedef struct attention {
    int64_t batch, heads, groups, queries, now, past, size, value_size, keys;
    bool flat, causal, bool_mask;
    int mode, mask_width; /* 0: no mask */
    float scale, cap;     /* 0: none */
    bool has_lengths;
    int64_t lengths[MOST];
    float *q, *k, *v, *past_k, *past_v, *mask;
} attention;

/* An element of queries, keys or values of now, given with heads or flat. */
static double element(const attention *a, const float *x, int64_t heads, int64_t length,
                      int64_t size, int64_t n, int64_t h, int64_t t, int64_t i) {
    return (double)(a->flat ? x[((n * length + t) * heads + h) * size + i]
                            : x[((n * heads + h) * length + t) * size + i]);
}

static double key_or_value(const attention *a, const float *past, const float *now, int64_t size,
                           int64_t n, int64_t h, int64_t t, int64_t i) {
    return t < a->past ? (double)past[((n * a->groups + h) * a->past + t) * size + i]
                       : element(a, now, a->groups, a->now, size, n, h, t - a->past, i);
}

static double added(const attention *a, int64_t n, int64_t q, int64_t t) {
    double sum = 0;
    int64_t before = a->past ? a->past : a->has_lengths ? a->lengths[n] - a->queries : 0;
    if (a->mask_width && t >= a->mask_width)
        sum = -INFINITY;
    else if (a->mask_width && a->bool_mask)
        sum = a->mask[q * a->mask_width + t] > 0 ? 0 : -INFINITY;
    else if (a->mask_width)
        sum = (double)a->mask[q * a->mask_width + t];
    if (a->causal && t > q + before)
        sum = -INFINITY;
    return a->has_lengths && t >= a->lengths[n] ? -INFINITY : sum;
}

/* One query: its sums, and what output 3 shows of its scores. */
static void attend(const attention *a, int64_t n, int64_t h, int64_t q, double *out,
                   double *shown) {
    int64_t g = h / (a->heads / a->groups);
    double scale = a->scale != 0 ? (double)a->scale : 1 / sqrt((double)a->size), score[64],
           most = -INFINITY, sum = 0;
    for (int64_t t = 0; t < a->keys; t++) {
        double product = 0;
        for (int64_t i = 0; i < a->size; i++)
            product += element(a, a->q, a->heads, a->queries, a->size, n, h, q, i) *
                       key_or_value(a, a->past_k, a->k, a->size, n, g, t, i);
        product *= scale;
        product = a->cap > 0 ? (double)a->cap * tanh(product / (double)a->cap) : product;
        score[t] = product + added(a, n, q, t);
        shown[t] = a->mode < 2 ? product : score[t];
        most = fmax(most, score[t]);
    }
    for (int64_t t = 0; t < a->keys; t++)
        sum += exp(score[t] - most);
    for (int64_t i = 0; i < a->value_size; i++)
        out[i] = 0;
    for (int64_t t = 0; t < a->keys; t++) {
        double share = exp(score[t] - most) / sum;
        shown[t] = a->mode == 3 ? share : shown[t];
        for (int64_t i = 0; i < a->value_size; i++)
            out[i] += share * key_or_value(a, a->past_v, a->v, a->value_size, n, g, t, i);
    }
}

static attention draw_attention(onnx_writer *writer, random_source *r, char *inputs) {
    attention a = {.batch = random_int(r, 1, 3),
                   .groups = random_int(r, 1, 3),
                   .queries = random_int(r, 1, 5),
                   .now = random_int(r, 1, 6),
                   .size = random_int(r, 1, 6),
                   .value_size = random_int(r, 1, 6),
                   .flat = random_one_in(r, 2),
                   .causal = random_one_in(r, 3),
                   .bool_mask = random_one_in(r, 2),
                   .mode = random_int(r, 0, 3),
                   .scale = random_one_in(r, 2) ? 0.4f : 0,
                   .cap = random_one_in(r, 3) ? 0.5f : 0};
    a.heads = a.groups * random_int(r, 1, 3);
    a.past = random_one_in(r, 3) ? random_int(r, 1, 4) : 0;
    a.keys = a.past + a.now;
    a.has_lengths = !a.past && a.now >= a.queries && random_one_in(r, 3);
    const int64_t N = a.batch, H = a.heads, G = a.groups;
    a.q = a.flat ? draw(writer, r, "q", 3, (int64_t[]){N, a.queries, H * a.size})
                 : draw(writer, r, "q", 4, (int64_t[]){N, H, a.queries, a.size});
    a.k = a.flat ? draw(writer, r, "k", 3, (int64_t[]){N, a.now, G * a.size})
                 : draw(writer, r, "k", 4, (int64_t[]){N, G, a.now, a.size});
    a.v = a.flat ? draw(writer, r, "v", 3, (int64_t[]){N, a.now, G * a.value_size})
                 : draw(writer, r, "v", 4, (int64_t[]){N, G, a.now, a.value_size});
    a.past_k = draw(writer, r, "pk", 4, (int64_t[]){N, G, a.past, a.size});
    a.past_v = draw(writer, r, "pv", 4, (int64_t[]){N, G, a.past, a.value_size});
    a.mask_width = random_one_in(r, 2) ? random_int(r, 1, (int)a.keys) : 0;
    if (a.has_lengths || a.causal) /* a query without any key is NaN */
        a.mask_width = a.bool_mask ? 0 : a.mask_width ? (int)a.keys : 0;
    a.mask = draw(writer, r, "float_mask", 2, (int64_t[]){a.queries, a.mask_width});
    for (int64_t q = 0; a.mask_width && q < a.queries; q++)
        a.mask[q * a.mask_width] = fabsf(a.mask[q * a.mask_width]);
    tsr_dtype dtype = a.bool_mask ? TSR_DTYPE_BOOL : TSR_DTYPE_F32;
    Tsr__TensorProto *mask =
        onnx_add_initializer(writer, "m", dtype, 2, (int64_t[]){a.queries, a.mask_width});
    for (int64_t i = 0; i < a.queries * a.mask_width; i++)
        if (a.bool_mask)
            mask->raw_data.data[i] = a.mask[i] > 0;
        else
            memcpy(mask->raw_data.data + i * 4, &a.mask[i], 4);
    for (int64_t n = 0; n < N; n++)
        a.lengths[n] = a.has_lengths ? random_int(r, (int)a.queries, (int)a.now) : 0;
    onnx_add_ints(writer, "l", 1, &a.batch, a.lengths);
    sprintf(inputs, "q,k,v,%s,%s,%s", a.mask_width ? "m" : "", a.past ? "pk,pv" : ",",
            a.has_lengths ? "l" : "");
    return a;
}

static void check_attention(uint32_t seed) {
    random_source r = random_from(seed);
    onnx_writer *writer = onnx_writer_create(24);
    char inputs[64];
    attention a = draw_attention(writer, &r, inputs);
    Tsr__NodeProto *node = onnx_add_node(writer, "Attention", "attention", inputs, "y,k1,v1,qk");
    onnx_set_int(writer, node, "is_causal", a.causal);
    onnx_set_int(writer, node, "qk_matmul_output_mode", a.mode);
    onnx_set_float(writer, node, "softcap", a.cap);
    if (a.scale != 0)
        onnx_set_float(writer, node, "scale", a.scale);
    if (a.flat) {
        onnx_set_int(writer, node, "q_num_heads", a.heads);
        onnx_set_int(writer, node, "kv_num_heads", a.groups);
    }
    static const char *const outputs[] = {"y", "k1", "v1", "qk"};
    for (int i = 0; i < 4; i++)
        add_output(writer, outputs[i], TSR_DTYPE_F32);
    int64_t rows = a.batch * a.heads * a.queries;
    double *y = calloc(
        (size_t)(rows * (a.value_size + a.keys) + a.batch * a.groups * a.keys * a.size), sizeof *y);
    double *shown = y + rows * a.value_size, *keys = shown + rows * a.keys;
    assert_non_null(y);
    for (int64_t n = 0, row = 0; n < a.batch; n++)
        for (int64_t h = 0; h < a.heads; h++)
            for (int64_t q = 0; q < a.queries; q++, row++) {
                double out[MOST];
                attend(&a, n, h, q, out, shown + row * a.keys);
                int64_t at = a.flat ? (n * a.queries + q) * a.heads + h : row;
                memcpy(y + at * a.value_size, out, (size_t)a.value_size * sizeof *y);
            }
    int64_t count = 0;
    for (int64_t n = 0; n < a.batch; n++)
        for (int64_t g = 0; g < a.groups; g++)
            for (int64_t t = 0; t < a.keys; t++)
                for (int64_t i = 0; i < a.size; i++)
                    keys[count++] = key_or_value(&a, a.past_k, a.k, a.size, n, g, t, i);
    tsr_graph *graph = prepare_graph(writer);
    expect_output(graph, "y", y, rows * a.value_size);
    expect_output(graph, "qk", shown, rows * a.keys);
    expect_output(graph, "k1", keys, count);
    tsr_graph_destroy(graph);
    float *const drawn[] = {a.q, a.k, a.v, a.past_k, a.past_v, a.mask};
    for (int i = 0; i < 6; i++)
        free(drawn[i]);
    free(y);
}

static void attentions(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++)
        check_attention(seed);
}

/* ---- RotaryEmbedding ---- */

static void check_rotary(uint32_t seed) {
    random_source r = random_from(seed);
    onnx_writer *writer = onnx_writer_create(23);
    bool flat = random_one_in(&r, 2), interleaved = random_one_in(&r, 2),
         by_position = random_one_in(&r, 2);
    int64_t N = random_int(&r, 1, 3), H = random_int(&r, 1, 3), T = random_int(&r, 1, 5),
            half = random_int(&r, 1, 3),
            size = 2 * half + (random_one_in(&r, 2) ? random_int(&r, 1, 3) : 0),
            rows = by_position ? 7 : T;
    float *x = flat ? draw(writer, &r, "x", 3, (int64_t[]){N, T, H * size})
                    : draw(writer, &r, "x", 4, (int64_t[]){N, H, T, size});
    const int64_t of_cache[] = {by_position ? rows : N, by_position ? half : T, half};
    float *cosine = draw(writer, &r, "c", by_position ? 2 : 3, of_cache),
          *sine = draw(writer, &r, "s", by_position ? 2 : 3, of_cache);
    int64_t at[16];
    for (int64_t i = 0; i < N * T; i++)
        at[i] = by_position ? random_int(&r, 0, 6) : i;
    onnx_add_ints(writer, "p", 2, (int64_t[]){N, T}, at);
    Tsr__NodeProto *node =
        onnx_add_node(writer, "RotaryEmbedding", "rotary", by_position ? "x,c,s,p" : "x,c,s", "y");
    onnx_set_int(writer, node, "interleaved", interleaved);
    onnx_set_int(writer, node, "rotary_embedding_dim", size > 2 * half ? 2 * half : 0);
    onnx_set_int(writer, node, "num_heads", flat ? H : 0);
    add_output(writer, "y", TSR_DTYPE_F32);
    double y[512];
    for (int64_t n = 0; n < N; n++)
        for (int64_t h = 0; h < H; h++)
            for (int64_t t = 0; t < T; t++) {
                int64_t first = (flat ? (n * T + t) * H + h : (n * H + h) * T + t) * size;
                for (int64_t i = 0; i < size; i++)
                    y[first + i] = (double)x[first + i];
                for (int64_t i = 0; i < half; i++) {
                    int64_t a = first + (interleaved ? 2 * i : i),
                            b = first + (interleaved ? 2 * i + 1 : half + i);
                    double c = (double)cosine[at[n * T + t] * half + i],
                           s = (double)sine[at[n * T + t] * half + i];
                    y[a] = c * (double)x[a] - s * (double)x[b];
                    y[b] = s * (double)x[a] + c * (double)x[b];
                }
            }
    tsr_graph *graph = prepare_graph(writer);
    expect_output(graph, "y", y, N * H * T * size);
    tsr_graph_destroy(graph);
    free(x);
    free(cosine);
    free(sine);
}

static void rotary(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++)
        check_rotary(seed);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attentions),
        cmocka_unit_test(rotary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
