/* Function operators that are made of others, held against loops that follow ONNX's text. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

#include "cpu/cpu.h"
#include "passes/passes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random constants ---- */

typedef struct operand {
    int rank;
    int64_t dim[8];
    float *elements;
} operand;

static int64_t count_of(const operand *o) {
    int64_t count = 1;
    for (int i = 0; i < o->rank; i++)
        count *= o->dim[i];
    return count;
}

static operand draw(onnx_writer *writer, random_source *r, const char *name, int rank,
                    const int64_t *dims) {
    operand o = {.rank = rank};
    memcpy(o.dim, dims, (size_t)rank * sizeof *dims);
    o.elements = malloc((size_t)count_of(&o) * sizeof(float) + 1);
    assert_non_null(o.elements);
    for (int64_t i = 0; i < count_of(&o); i++)
        o.elements[i] = random_float(r, 0, 1);
    onnx_add_floats(writer, name, rank, dims, o.elements);
    return o;
}

/* The named outputs of a graph of constants, which preparing it computes. */
static void expect_output(const tsr_graph *graph, const char *name, const double *expected,
                          int64_t count) {
    const tsr_value *y = value_named(graph, name);
    assert_non_null(y->data);
    assert_int_equal(tsr_shape_count(&y->shape), count);
    for (int64_t i = 0; i < count; i++) {
        float got = ((const float *)y->data)[i];
        if (!(fabs((double)got - expected[i]) <= 2e-5 * (1 + fabs(expected[i]))))
            fail_msg("%s[%lld] is %g instead of %g", name, (long long)i, (double)got, expected[i]);
    }
}

/* ---- LSTM, GRU, RNN ---- */

typedef enum cell_kind { LSTM, GRU, RNN } cell_kind;

typedef struct cell {
    cell_kind kind;
    int gates;
    int64_t steps, batch, size, hidden, directions;
    bool batch_first, reversed, couples, resets_after;
    float clip; /* 0: none */
    operand x, w, r, b, h, c, p;
    bool has_b, has_lengths, has_h, has_c, has_p;
    int64_t lengths[8];
} cell;

static double limited(const cell *k, double x) {
    return k->clip > 0 ? fmin(fmax(x, -(double)k->clip), (double)k->clip) : x;
}

static double sigmoid(const cell *k, double x) {
    return 1 / (1 + exp(-limited(k, x)));
}

static double hyperbolic(const cell *k, double x) {
    return tanh(limited(k, x));
}

static double at3(const operand *o, int64_t i, int64_t j, int64_t l) {
    return (double)o->elements[(i * o->dim[1] + j) * o->dim[2] + l];
}

/* x W^T + Wb of a gate's unit. */
static double from_input(const cell *k, int64_t d, int64_t t, int64_t n, int64_t unit) {
    double sum = k->has_b ? (double)k->b.elements[d * k->b.dim[1] + unit] : 0;
    for (int64_t i = 0; i < k->size; i++)
        sum +=
            at3(&k->w, d, unit, i) * (k->batch_first ? at3(&k->x, n, t, i) : at3(&k->x, t, n, i));
    return sum;
}

/* h R^T + Rb. */
static double from_state(const cell *k, int64_t d, const double *h, int64_t unit) {
    double sum =
        k->has_b ? (double)k->b.elements[d * k->b.dim[1] + k->gates * k->hidden + unit] : 0;
    for (int64_t i = 0; i < k->hidden; i++)
        sum += at3(&k->r, d, unit, i) * h[i];
    return sum;
}

static double peephole(const cell *k, int64_t d, int gate, int64_t u) {
    return k->has_p ? (double)k->p.elements[(d * 3 + gate) * k->hidden + u] : 0;
}

static void step(const cell *k, int64_t d, int64_t t, int64_t n, double *h, double *c) {
    const int64_t H = k->hidden;
    double next[16], reset[16];
    for (int64_t u = 0; u < H; u++)
        reset[u] =
            k->kind == GRU
                ? sigmoid(k, from_input(k, d, t, n, H + u) + from_state(k, d, h, H + u)) * h[u]
                : 0;
    for (int64_t u = 0; u < H; u++) {
        double sum[4];
        for (int g = 0; g < k->gates; g++)
            sum[g] = from_input(k, d, t, n, g * H + u) + from_state(k, d, h, g * H + u);
        if (k->kind == RNN) {
            next[u] = hyperbolic(k, sum[0]);
        } else if (k->kind == GRU) {
            double z = sigmoid(k, sum[0]), r = sigmoid(k, sum[1]);
            double state = k->resets_after ? r * from_state(k, d, h, 2 * H + u)
                                           : from_state(k, d, reset, 2 * H + u);
            next[u] = (1 - z) * hyperbolic(k, from_input(k, d, t, n, 2 * H + u) + state) + z * h[u];
        } else {
            double i = sigmoid(k, sum[0] + peephole(k, d, 0, u) * c[u]);
            double f = k->couples ? 1 - i : sigmoid(k, sum[2] + peephole(k, d, 2, u) * c[u]);
            c[u] = f * c[u] + i * hyperbolic(k, sum[3]);
            next[u] = sigmoid(k, sum[1] + peephole(k, d, 1, u) * c[u]) * hyperbolic(k, c[u]);
        }
    }
    memcpy(h, next, (size_t)H * sizeof *h);
}

/* Where the state of a direction and a sequence is in a tensor of states. */
static int64_t state_at(const cell *k, int64_t d, int64_t n) {
    return (k->batch_first ? n * k->directions + d : d * k->batch + n) * k->hidden;
}

static void run_sequence(const cell *k, int64_t d, int64_t n, double *y, double *y_h, double *y_c) {
    double h[16] = {0}, c[16] = {0};
    const int64_t first = state_at(k, d, n), H = k->hidden;
    for (int64_t u = 0; u < H; u++) {
        h[u] = k->has_h ? (double)k->h.elements[first + u] : 0;
        c[u] = k->has_c ? (double)k->c.elements[first + u] : 0;
    }
    for (int64_t i = 0; i < k->steps; i++) {
        int64_t t = k->reversed || d == 1 ? k->steps - 1 - i : i;
        bool lives = !k->has_lengths || t < k->lengths[n];
        if (lives)
            step(k, d, t, n, h, c);
        int64_t at = k->batch_first ? ((n * k->steps + t) * k->directions + d) * H
                                    : ((t * k->directions + d) * k->batch + n) * H;
        for (int64_t u = 0; u < H; u++)
            y[at + u] = lives ? h[u] : 0;
    }
    memcpy(y_h + first, h, (size_t)H * sizeof *h);
    memcpy(y_c + first, c, (size_t)H * sizeof *c);
}

static cell draw_cell(onnx_writer *writer, random_source *r, cell_kind kind, char *inputs) {
    static const int gates[] = {4, 3, 1};
    cell k = {.kind = kind,
              .gates = gates[kind],
              .steps = random_int(r, 1, 5),
              .batch = random_int(r, 1, 4),
              .size = random_int(r, 1, 6),
              .hidden = random_int(r, 1, 9),
              .directions = random_int(r, 1, 2),
              .batch_first = random_one_in(r, 2),
              .reversed = random_one_in(r, 3),
              .couples = kind == LSTM && random_one_in(r, 3),
              .resets_after = kind == GRU && random_one_in(r, 2),
              .clip = random_one_in(r, 3) ? 0.4f : 0,
              .has_b = random_one_in(r, 2),
              .has_lengths = random_one_in(r, 2),
              .has_h = random_one_in(r, 2)};
    k.reversed = k.reversed && k.directions == 1;
    k.has_c = kind == LSTM && random_one_in(r, 2);
    k.has_p = kind == LSTM && random_one_in(r, 2);
    const int64_t D = k.directions, H = k.hidden, all = k.gates * H;
    const int64_t of_x[] = {k.batch_first ? k.batch : k.steps, k.batch_first ? k.steps : k.batch,
                            k.size},
                  of_h[] = {k.batch_first ? k.batch : D, k.batch_first ? D : k.batch, H};
    k.x = draw(writer, r, "x", 3, of_x);
    k.w = draw(writer, r, "w", 3, (int64_t[]){D, all, k.size});
    k.r = draw(writer, r, "r", 3, (int64_t[]){D, all, H});
    k.b = draw(writer, r, "b", 2, (int64_t[]){D, 2 * all});
    k.h = draw(writer, r, "h", 3, of_h);
    k.c = draw(writer, r, "c", 3, of_h);
    k.p = draw(writer, r, "p", 2, (int64_t[]){D, 3 * H});
    Tsr__TensorProto *lengths = onnx_add_initializer(writer, "l", TSR_DTYPE_I32, 1, &k.batch);
    for (int64_t n = 0; n < k.batch; n++) {
        k.lengths[n] = random_int(r, 0, (int)k.steps);
        ((int32_t *)lengths->raw_data.data)[n] = (int32_t)k.lengths[n];
    }
    sprintf(inputs, "x,w,r,%s,%s,%s", k.has_b ? "b" : "", k.has_lengths ? "l" : "",
            k.has_h ? "h" : "");
    if (kind == LSTM)
        sprintf(inputs + strlen(inputs), ",%s,%s", k.has_c ? "c" : "", k.has_p ? "p" : "");
    return k;
}

static void free_cell(cell *k) {
    operand *const all[] = {&k->x, &k->w, &k->r, &k->b, &k->h, &k->c, &k->p};
    for (int i = 0; i < 7; i++)
        free(all[i]->elements);
}

static void check_cell(cell_kind kind, uint32_t seed) {
    static const char *const types[] = {"LSTM", "GRU", "RNN"};
    random_source r = random_from(seed);
    onnx_writer *writer = onnx_writer_create(14);
    char inputs[64];
    cell k = draw_cell(writer, &r, kind, inputs);
    Tsr__NodeProto *node =
        onnx_add_node(writer, types[kind], types[kind], inputs, kind == LSTM ? "y,yh,yc" : "y,yh");
    onnx_set_string(writer, node, "direction",
                    k.directions == 2 ? "bidirectional"
                    : k.reversed      ? "reverse"
                                      : "forward");
    onnx_set_int(writer, node, "hidden_size", k.hidden);
    onnx_set_int(writer, node, "layout", k.batch_first);
    if (k.clip > 0)
        onnx_set_float(writer, node, "clip", k.clip);
    if (kind == LSTM)
        onnx_set_int(writer, node, "input_forget", k.couples);
    if (kind == GRU)
        onnx_set_int(writer, node, "linear_before_reset", k.resets_after);
    add_output(writer, "y", TSR_DTYPE_F32);
    add_output(writer, "yh", TSR_DTYPE_F32);
    if (kind == LSTM)
        add_output(writer, "yc", TSR_DTYPE_F32);
    int64_t states = k.directions * k.batch * k.hidden;
    double *y = calloc((size_t)(states * (k.steps + 2)), sizeof *y), *y_h = y + states * k.steps;
    assert_non_null(y);
    for (int64_t d = 0; d < k.directions; d++)
        for (int64_t n = 0; n < k.batch; n++)
            run_sequence(&k, d, n, y, y_h, y_h + states);
    tsr_graph *graph = prepare_graph(writer);
    expect_output(graph, "y", y, states * k.steps);
    expect_output(graph, "yh", y_h, states);
    if (kind == LSTM)
        expect_output(graph, "yc", y_h + states, states);
    tsr_graph_destroy(graph);
    free(y);
    free_cell(&k);
}

static void recurrent(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 100; seed++)
        for (int kind = LSTM; kind <= RNN; kind++)
            check_cell((cell_kind)kind, seed);
}

static void refuse(const char *text, const char *words) {
    refuse_to_prepare(14, text, words);
}

static void bad_cells(void **state) {
    (void)state;
    refuse("LSTM x[2,3,4] w{1,8,4} r{1,8,3} -> y", "input 2 has the shape [1, 8, 3] instead of");
    refuse("LSTM x[2,3,4] w{1,8,5} r{1,8,2} -> y", "input 1 has the shape");
    refuse("LSTM x[2,3] w{1,8,5} r{1,8,2} -> y", "3 dimensions");
    refuse("LSTM x[2,3,4] w{2,8,4} r{2,8,2} -> y", "input 1 has the shape");
    refuse("LSTM x[2,3,4] w{1,8,4} r{1,8,2} -> y direction=sideways", "sideways");
    refuse("LSTM x[2,3,4] w{1,8,4} r{1,8,2} -> y activations=Tanh|", "1 activations instead of 3");
    refuse("RNN x[2,3,4] w{1,2,4} r{1,2,2} -> y activations=Twist|", "Twist");
    refuse("RNN x[200000,3,4] w{1,2,4} r{1,2,2} -> y", "200000 steps");
    refuse("RNN x[100000,3,4] w{1,2,4} r{1,2,2} -> y", "too many in all");
    refuse("GRU x[0,3,4] w{1,6,4} r{1,6,2} -> y", "0 steps");
}

/* ---- windows, random numbers ---- */

static void expect_result(const char *text, const double *expected, int64_t count) {
    onnx_writer *writer = onnx_case(22, text);
    tsr_graph *graph = prepare_graph(writer);
    expect_output(graph, "y", expected, count);
    tsr_graph_destroy(graph);
}

static void windows(void **state) {
    (void)state;
    expect_result("Reshape f<3,-4,0,1> s(1,1,4) -> x; LpPool x -> y kernel_shape=2, strides=2,",
                  (double[]){5, 1}, 2);
    expect_result("Reshape f<3,-4,0,1> s(1,1,4) -> x; LpPool x -> y kernel_shape=2, pads=1,0 p=1",
                  (double[]){3, 7, 4, 1}, 4);
    expect_result("Reshape f<1,6,2,7,3,8> s(1,3,2) -> x; Col2Im x i(2,3) k(1,3) -> y",
                  (double[]){1, 2, 3, 6, 7, 8}, 6);
    expect_result("Expand f<1> s(1,4,4) -> x; Col2Im x i(3,3) k(2,2) -> y",
                  (double[]){1, 2, 1, 2, 4, 2, 1, 2, 1}, 9);
    expect_result("Reshape f<1,0,0,0,1,0> s(1,2,3) -> t; AffineGrid t z(1,1,2,2) -> y",
                  (double[]){-0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5}, 8);
    expect_result(
        "Reshape f<2,0,1,0,1,0> s(1,2,3) -> t; AffineGrid t z(1,1,1,3) -> y align_corners=1",
        (double[]){-1, -1, 1, -1, 3, -1}, 6);
    expect_result("Reshape f<3,-4,0,1,2> s(1,1,5) -> x; LpPool x -> y kernel_shape=2, strides=2, "
                  "p=1 ceil_mode=1",
                  (double[]){7, 1, 2}, 3);
    expect_result("Reshape f<3,-4,0,1,2> s(1,1,5) -> x; LpPool x -> y kernel_shape=3, strides=2, "
                  "p=1 auto_pad=SAME_UPPER",
                  (double[]){7, 5, 3}, 3);
}

static void bad_windows(void **state) {
    (void)state;
    refuse("LpPool x[1,1,4] -> y kernel_shape=2, p=0", "\"p\" is 0");
    refuse("Col2Im x[1,4,5] i(3,3) k(2,2) -> y", "4 blocks of 4 elements");
    refuse("Col2Im x[1,4,4] i(3,3) k(2) -> y", "differ in length");
    refuse("AffineGrid t[2,2,3] s(1,1,2,2) -> y", "matrices [2, 2, 3]");
    refuse("Col2Im x[1,4,4] i(3,1) k(2,2) -> y", "0 blocks along axis 1");
    refuse("MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] s(3,3) -> y kernel_shape=2,2",
           "output_shape of 2 axes");
}

static void bad_quantization(void **state) {
    (void)state;
    refuse("QuantizeLinear x[2,3] s<-1> -> y",
           "element 0 of the scales is not positive and finite");
    refuse("QuantizeLinear x[2,3] s<0.5,0> -> y axis=0",
           "element 1 of the scales is not positive and finite");
    refuse("QuantizeLinear x[2,3] s<0.5,1> -> y axis=1", "[2]");
    refuse("QuantizeLinear x[2,3] s<0.5> z:int32[1] -> y", "quantized elements of type int32");
    refuse("QuantizeLinear x[2,3] s<0.5> z:int8[2] -> y", "zero points [2] for scales [");
    refuse("DequantizeLinear x[2,3] s<0.5> -> y", "quantized elements of type float32");
    refuse("DequantizeLinear x:int8[2,3] s<0.5> z:uint8[1] -> y", "zero points of type uint8");
    refuse("DequantizeLinear x:int8[4,3] s<1,2,3> -> y axis=0 block_size=2", "blocks of 2");
    refuse("DequantizeLinear x:int8[4,3] s<1> -> y block_size=-1", "block_size is -1");
    refuse("QLinearMatMul x:uint8[2,3] a<1,2,3> z:uint8[3] w:uint8[3,4] b<1> u:uint8[1] c<1> "
           "v:uint8[1] -> y",
           "scales [3]");
}

static void bad_integers(void **state) {
    (void)state;
    refuse("MatMulInteger x[2,3] w:uint8[3,4] -> y",
           "node 'MatMulInteger0' (MatMulInteger): input 0 is of type float32, not int8 or uint8");
    refuse("MatMulInteger x:uint8[2,3] w:uint16[3,4] -> y", "input 1 is of type uint16");
    refuse("MatMulInteger x:uint8[2,3] w:int8[3,4] a:int8[1] -> y",
           "zero points of type int8 for uint8");
    refuse("MatMulInteger x:uint8[2,3] w:int8[3,4] a:uint8[3] -> y",
           "zero points [3] for input 0 of shape [2, 3]");
    refuse("MatMulInteger x:uint8[2,3] w:int8[3,4] _ b:int8[2,2] -> y",
           "zero points [2, 2] for input 1 of shape [3, 4]");
    refuse("MatMulInteger x:uint8[3] w:int8[3,4] a:uint8[3] -> y", "zero points [3] for input 0");
    refuse("MatMulInteger x:uint8[2,3] w:int8[4,4] -> y", "3 columns do not match 4 rows");
    refuse("MatMulInteger x:uint8[] w:int8[4,4] -> y", "(MatMul");
    refuse("ConvInteger x:uint8[1,2,5,5] w:int8[3,2,1,1] a:uint8[2] -> y",
           "zero points [2] for input 0");
    refuse("ConvInteger x:uint8[1,2,5,5] w:int8[3,2,1,1] _ b:int8[2] -> y",
           "zero points [2] for input 1 of shape [3, 2, 1, 1]");
    refuse("ConvInteger x:uint8[1,2,5,5] w:int8[3,2,1,1] _ b:int8[3,2] -> y",
           "zero points [3, 2] for input 1");
    refuse("ConvInteger x:uint8[1,2,5,5] w:int8[3,2,1,1] _ b:uint8[3] -> y",
           "zero points of type uint8 for int8");
    refuse("ConvInteger x:bool[1,2,5,5] w:int8[3,2,1,1] -> y", "input 0 is of type bool");
    refuse("ConvInteger x:uint8[1,2,5,5] w:int8[3] -> y", "(ConvInteger)");
    refuse("ConvInteger x:uint8[1,3,5,5] w:int8[3,2,1,1] -> y", "do not fit 3 channels");
}

/* NumPy's of seeds 0 and 42. */
static void random_numbers(void **state) {
    (void)state;
    expect_result(
        "RandomNormal -> y shape=2,3 seed=0.0",
        (double[]){1.76405235, 0.40015721, 0.97873798, 2.2408932, 1.86755799, -0.97727788}, 6);
    expect_result("RandomUniform -> y shape=3, seed=0.0",
                  (double[]){0.5488135, 0.71518937, 0.60276338}, 3);
    expect_result("RandomUniform -> y shape=2, seed=42.0 low=1.0 high=3.0",
                  (double[]){1.74908024, 2.90142861}, 2);
    refuse("RandomNormal -> y shape=100000,100000", "10000000000 elements of constants");
    refuse("RandomNormal -> y shape=-1,2", "[?, 2]");
    refuse("RandomUniform -> y shape=2,3 dtype=7", "int64");
    refuse("Range a(0) b(1000000000) c(1) -> y", "1000000000 elements of constants");
}

/* ---- Einsum ---- */

enum { LABELS = 6, TERMS = 3 };

typedef struct contraction {
    int terms;
    char labels[TERMS][8], output[8], text[64];
    int64_t size[LABELS];
    operand x[TERMS];
} contraction;

static contraction draw_contraction(onnx_writer *writer, random_source *r, char *inputs) {
    contraction e = {.terms = random_int(r, 1, TERMS)};
    bool used[LABELS] = {false};
    for (int i = 0; i < LABELS; i++)
        e.size[i] = random_int(r, 1, 4);
    for (int k = 0; k < e.terms; k++) {
        int64_t dims[4];
        int rank = random_int(r, 0, 4);
        for (int i = 0; i < rank; i++) {
            int label = random_int(r, 0, LABELS - 1);
            used[label] = true;
            e.labels[k][i] = (char)('a' + label);
            dims[i] = e.size[label];
        }
        char name[16];
        snprintf(name, sizeof name, "x%d", k);
        e.x[k] = draw(writer, r, name, rank, dims);
        sprintf(inputs + strlen(inputs), "%s%s", k ? "," : "", name);
        sprintf(e.text + strlen(e.text), "%s%s", k ? "," : "", e.labels[k]);
    }
    for (int i = LABELS - 1; i >= 0; i--)
        if (used[i] && random_one_in(r, 2))
            e.output[strlen(e.output)] = (char)('a' + i);
    sprintf(e.text + strlen(e.text), "->%s", e.output);
    return e;
}

static int64_t index_of(const contraction *e, const char *labels, const int64_t *at) {
    int64_t index = 0;
    for (; *labels; labels++)
        index = index * e->size[*labels - 'a'] + at[*labels - 'a'];
    return index;
}

static bool is_used(const contraction *e, int label) {
    for (int k = 0; k < e->terms; k++)
        if (strchr(e->labels[k], 'a' + label))
            return true;
    return false;
}

/* Over all values of all labels. */
static int64_t contract(const contraction *e, double *out) {
    int64_t at[LABELS] = {0}, count = 1;
    for (const char *label = e->output; *label; label++)
        count *= e->size[*label - 'a'];
    for (bool more = true; more;) {
        double product = 1;
        for (int k = 0; k < e->terms; k++)
            product *= (double)e->x[k].elements[index_of(e, e->labels[k], at)];
        out[index_of(e, e->output, at)] += product;
        more = false;
        for (int i = 0; i < LABELS && !more; i++) {
            more = is_used(e, i) && ++at[i] < e->size[i];
            at[i] = more ? at[i] : 0;
        }
    }
    return count;
}

static void einsum(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 300; seed++) {
        random_source r = random_from(seed);
        onnx_writer *writer = onnx_writer_create(13);
        char inputs[64] = "";
        contraction e = draw_contraction(writer, &r, inputs);
        onnx_set_string(writer, onnx_add_node(writer, "Einsum", "sum", inputs, "y"), "equation",
                        e.text);
        add_output(writer, "y", TSR_DTYPE_F32);
        double out[4096] = {0};
        int64_t count = contract(&e, out);
        tsr_graph *graph = prepare_graph(writer);
        expect_output(graph, "y", out, count);
        tsr_graph_destroy(graph);
        for (int k = 0; k < e.terms; k++)
            free(e.x[k].elements);
    }
}

/* What is broadcast, and equations without an arrow: against equations that say all. */
static void einsum_forms(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"Einsum x{3,4} z{4,5} -> y equation=ij,jk",
         "Einsum x{3,4} z{4,5} -> y equation=ij,jk->ik"},
        {"Einsum x{3,4} z{4,5} -> y equation=cb,ba",
         "Einsum x{3,4} z{4,5} -> y equation=cb,ba->ac"},
        {"Einsum x{2,3,4} z{1,4,5} -> y equation=...ij,...jk",
         "Einsum x{2,3,4} z{4,5} -> y equation=nij,jk->nik"},
        {"Einsum x{3,3} -> y equation=ii", "Einsum x{3,3} -> y equation=ii->"},
        {"Einsum x{2,3,4} -> y equation=...a", "Einsum x{2,3,4} -> y equation=bca->bca"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        tsr_graph *graphs[2];
        for (int k = 0; k < 2; k++)
            graphs[k] = prepare_graph(onnx_case(13, pairs[i][k]));
        expect_same_results(graphs[0], graphs[1], 1e-6);
        tsr_graph_destroy(graphs[0]);
        tsr_graph_destroy(graphs[1]);
    }
    refuse("Einsum x[2,3] -> y equation=ijk->i", "3 labels for a tensor of shape [2, 3]");
    refuse("Einsum x[2,3] -> y equation=ii->i", "axis 1 of [2, 3] is not 2 long");
    refuse("Einsum x[2,3] -> y equation=ij->k", "is in no term");
    refuse("Einsum x[2,3] -> y equation=ij->ii", "twice");
    refuse("Einsum x[2,3] -> y equation=ij,jk->ik", "more terms than inputs");
    refuse("Einsum x[2,3] z[3] -> y equation=ij->ij", "fewer terms");
    refuse("Einsum x[2,3] -> y equation=i_->i", "no letter");
    refuse("Einsum x[2,3] -> y equation=i.j->i", "ellipsis");
    refuse("Einsum x:int64[2,3] -> y equation=ij->i", "float");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recurrent),    cmocka_unit_test(bad_quantization),
        cmocka_unit_test(bad_integers), cmocka_unit_test(bad_cells),
        cmocka_unit_test(windows),      cmocka_unit_test(random_numbers),
        cmocka_unit_test(einsum),       cmocka_unit_test(einsum_forms),
        cmocka_unit_test(bad_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
