/* Adam, Adagrad and Momentum of random tensors, held against loops that follow ONNX's text. */
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ADAM, ADAGRAD, MOMENTUM, KINDS };
enum { X, G, V, H, LISTS };
enum { MOST_TENSORS = 3, MOST_ELEMENTS = 64 };

typedef struct optimizer {
    int kind, tensors, lists; /* lists: of inputs; all but G are lists of outputs */
    int64_t updates;
    float rate;
    bool nesterov;
    double alpha, beta, epsilon, norm, norm_post, decay;
    int rank[MOST_TENSORS];
    int64_t dims[MOST_TENSORS][3], count[MOST_TENSORS];
    float elements[LISTS][MOST_TENSORS][MOST_ELEMENTS];
} optimizer;

/* ---- ONNX's text ----------------------------------------------------------------------------- */

/* after: the element and its states */
static void update(const optimizer *o, const double before[LISTS], double after[LISTS]) {
    double g = o->norm * before[X] + before[G], rate = (double)o->rate, t = (double)o->updates;
    if (o->kind == ADAM) {
        if (o->updates > 0)
            rate *= sqrt(1 - pow(o->beta, t)) / (1 - pow(o->alpha, t));
        after[V] = o->alpha * before[V] + (1 - o->alpha) * g;
        after[H] = o->beta * before[H] + (1 - o->beta) * g * g;
        after[X] = before[X] - rate * after[V] / (sqrt(after[H]) + o->epsilon);
        after[X] *= 1 - o->norm_post;
    } else if (o->kind == ADAGRAD) {
        after[V] = before[V] + g * g;
        after[X] = before[X] - rate / (1 + t * o->decay) * g / (sqrt(after[V]) + o->epsilon);
    } else {
        after[V] = o->alpha * before[V] + (o->updates > 0 ? o->beta : 1) * g;
        after[X] = before[X] - rate * (o->nesterov ? g + o->alpha * after[V] : after[V]);
    }
}

static void expect_updated(const optimizer *o, const tsr_graph *graph, int k) {
    for (int64_t i = 0; i < o->count[k]; i++) {
        double before[LISTS] = {0}, after[LISTS] = {0};
        for (int l = 0; l < o->lists; l++)
            before[l] = (double)o->elements[l][k][i];
        update(o, before, after);
        for (int l = 0; l < o->lists; l++) {
            char name[32];
            snprintf(name, sizeof name, "y%d_%d", l, k);
            if (l == G)
                continue;
            const tsr_value *y = value_named(graph, name);
            assert_non_null(y->data);
            assert_int_equal(tsr_shape_count(&y->shape), o->count[k]);
            double got = (double)((const float *)y->data)[i];
            if (!(fabs(got - after[l]) <= 1e-5 * (1 + fabs(after[l]))))
                fail_msg("%s[%d] is %.9g instead of %.9g", name, (int)i, got, after[l]);
        }
    }
}

/* ---- random nodes ---------------------------------------------------------------------------- */

static bool is_sum_of_squares(const optimizer *o, int list) {
    return list == H || (o->kind == ADAGRAD && list == V);
}

static void draw_tensor(optimizer *o, onnx_writer *writer, random_source *r, int list, int k) {
    char name[32];
    snprintf(name, sizeof name, "x%d_%d", list, k);
    for (int64_t i = 0; i < o->count[k]; i++)
        o->elements[list][k][i] =
            is_sum_of_squares(o, list) ? random_float(r, 0.6f, 0.5f) : random_float(r, 0, 2);
    onnx_add_floats(writer, name, o->rank[k], o->dims[k], o->elements[list][k]);
}

/* An attribute, or the default where it is absent, which `usual` < 0 forbids. */
static double draw_attr(onnx_writer *writer, Tsr__NodeProto *node, random_source *r,
                        const char *name, float usual) {
    if (usual >= 0 && random_one_in(r, 2))
        return (double)usual;
    float value = random_float(r, 0.5f, 0.49f);
    onnx_set_float(writer, node, name, value);
    return (double)value;
}

static void draw_attrs(optimizer *o, onnx_writer *writer, Tsr__NodeProto *node, random_source *r) {
    const bool momentum = o->kind == MOMENTUM;
    o->norm = draw_attr(writer, node, r, "norm_coefficient", momentum ? -1 : 0);
    if (o->kind != ADAGRAD) {
        o->alpha = draw_attr(writer, node, r, "alpha", momentum ? -1 : 0.9f);
        o->beta = draw_attr(writer, node, r, "beta", momentum ? -1 : 0.999f);
    }
    if (o->kind == ADAM)
        o->norm_post = draw_attr(writer, node, r, "norm_coefficient_post", 0);
    if (o->kind == ADAGRAD)
        o->decay = draw_attr(writer, node, r, "decay_factor", 0);
    if (momentum)
        onnx_set_string(writer, node, "mode", o->nesterov ? "nesterov" : "standard");
    else
        o->epsilon = draw_attr(writer, node, r, "epsilon", 1e-6f);
}

static void draw_shapes(optimizer *o, random_source *r) {
    for (int k = 0; k < o->tensors; k++) {
        o->rank[k] = random_int(r, 0, 3);
        o->count[k] = 1;
        for (int d = 0; d < o->rank[k]; d++)
            o->count[k] *= o->dims[k][d] = random_int(r, 1, 4);
    }
}

static void random_updates(void **state) {
    (void)state;
    static const char *const names[KINDS] = {"Adam", "Adagrad", "Momentum"};
    static const int64_t updates[] = {0, 1, 2, 7, 1000, 10000000};
    for (uint32_t seed = 0; seed < 300; seed++) {
        random_source r = random_from(seed);
        onnx_writer *writer = onnx_writer_create(13);
        optimizer o = {.kind = random_int(&r, 0, KINDS - 1),
                       .tensors = random_int(&r, 1, MOST_TENSORS),
                       .updates = updates[random_int(&r, 0, 5)],
                       .rate = random_float(&r, 0.1f, 0.05f),
                       .nesterov = random_one_in(&r, 2)};
        char inputs[256] = "r,t", outputs[256] = "";
        int rank = random_int(&r, 0, 1);
        onnx_add_floats(writer, "r", rank, INTS(1), &o.rate);
        onnx_add_ints(writer, "t", 1 - rank, INTS(1), &o.updates);
        o.lists = o.kind == ADAM ? 4 : 3;
        draw_shapes(&o, &r);
        for (int l = 0; l < o.lists; l++)
            for (int k = 0; k < o.tensors; k++) {
                draw_tensor(&o, writer, &r, l, k);
                sprintf(inputs + strlen(inputs), ",x%d_%d", l, k);
                if (l != G)
                    sprintf(outputs + strlen(outputs), "%sy%d_%d", *outputs ? "," : "", l, k);
            }
        Tsr__NodeProto *node = onnx_add_node(writer, names[o.kind], "update", inputs, outputs);
        draw_attrs(&o, writer, node, &r);
        for (char *name = strtok(outputs, ","); name; name = strtok(NULL, ","))
            add_output(writer, name, TSR_DTYPE_F32);
        tsr_graph *graph = prepare_graph(writer);
        for (int k = 0; k < o.tensors; k++)
            expect_updated(&o, graph, k);
        tsr_graph_destroy(graph);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refuse(const char *text, const char *words) {
    refuse_to_prepare(14, text, words);
}

static void bad_updates(void **state) {
    (void)state;
    refuse("Adagrad r[2] t:int64[] x[3] g[3] h[3] -> y", "'r' of shape [2] has to be a scalar");
    refuse("Adagrad r:int64[] t:int64[] x[3] g[3] h[3] -> y", "(Adagrad)");
    refuse("Adagrad r[] t:int64[2] x[3] g[3] h[3] -> y", "'t' of shape [2] has to be a scalar");
    refuse("Adagrad r[] t:int32[] x[3] g[3] h[3] -> y", "a number of updates of type int32");
    refuse("Adagrad r[] t:int64[] x[3] g[3] h[3] x -> y", "4 tensors and 1 outputs for 3 lists");
    refuse("Adagrad r[] t:int64[] x[3] g[3] h[3] -> y z a", "3 tensors and 3 outputs for 3 lists");
    refuse("Adagrad r[] t:int64[] x[3] g[3] h[1,3] -> y",
           "input 4 ('h') is float32 of shape [1, 3], its tensor ('x') float32 of shape [3]");
    refuse("Adagrad r[] t:int64[] x[3] z[2] g[3] g h[3] k[2] -> y", "input 5 ('g') is float32");
    refuse("Momentum r[] t:int64[] x[3] g:float16[3] v[3] -> y alpha=0.5 beta=0.5 mode=standard "
           "norm_coefficient=0.0",
           "input 3 ('g') is float16 of shape [3]");
    refuse("Momentum r[] t:int64[] x:int32[3] g:int32[3] v:int32[3] -> y alpha=0.5 beta=0.5 "
           "mode=standard norm_coefficient=0.0",
           "input 2 ('x') is int32");
    refuse("Momentum r[] t:int64[] x[3] g[3] v[3] -> y alpha=0.5 beta=0.5 mode=heavy "
           "norm_coefficient=0.0",
           "heavy");
    refuse("Adam r[] t:int64[] x[3] g[3] v[3] h[3] -> y alpha=1.5", "between 0 and 1");
    refuse("Adam r[] t:int64[] x[3] g[3] v[3] h[3] -> y beta=-0.5", "between 0 and 1");
    refuse("AdamUpdate x[3] g[3] v[3] h[3] f[4] -> y m n alpha=1.5", "between 0 and 1");
    refuse("AdamUpdate x[3] g[3] v[3] h[3] f[4] -> y m n beta=-0.5", "between 0 and 1");
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_updates),
        cmocka_unit_test(bad_updates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
