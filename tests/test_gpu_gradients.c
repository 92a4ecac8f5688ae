/* Operators of training on a GPU backend, held against cpu: gradients of convolutions' weights and
 * of max pools, with every kernel, stride, pad, dilation and group, of one to three spatial axes;
 * of LeakyRelu; updates. */
#include <string.h>

#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

enum { MOST_AXES = 3 };

typedef struct window {
    int rank, in[MOST_AXES], out[MOST_AXES], kernel[MOST_AXES], stride[MOST_AXES],
        dilation[MOST_AXES], pads[2 * MOST_AXES];
    bool ceil_mode;
} window;

static window draw_window(random_source *r, bool ceil_mode) {
    window w = {.rank = random_one_in(r, 4) ? 3 : random_int(r, 1, 2), .ceil_mode = ceil_mode};
    for (int i = 0; i < w.rank; i++) {
        int stride = w.stride[i] = random_int(r, 1, 4);
        w.kernel[i] = random_int(r, 1, w.rank == 3 ? 3 : 5);
        w.dilation[i] = random_one_in(r, 3) ? random_int(r, 2, 3) : 1;
        int extent = (w.kernel[i] - 1) * w.dilation[i] + 1;
        w.pads[i] = random_int(r, 0, extent - 1);
        w.pads[i + w.rank] = random_int(r, 0, extent - 1);
        int pads = w.pads[i] + w.pads[i + w.rank], least = extent > pads ? extent - pads : 1;
        w.in[i] = random_int(r, least, w.rank == 3 ? 8 : 23);
        int room = w.in[i] + pads - extent + (ceil_mode ? stride - 1 : 0);
        w.out[i] = room / stride + 1;
        if (ceil_mode && (w.out[i] - 1) * stride >= w.in[i] + w.pads[i])
            w.out[i]--;
    }
    return w;
}

static void add_window(case_text *text, const window *w) {
    text_add_ints(text, "kernel_shape", w->kernel, w->rank);
    text_add_ints(text, "strides", w->stride, w->rank);
    text_add_ints(text, "dilations", w->dilation, w->rank);
    text_add_ints(text, "pads", w->pads, 2 * w->rank);
}

static void test_weights(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(24); i++) {
        random_source r = random_from((uint32_t)i);
        const window w = draw_window(&r, false);
        int group = random_one_in(&r, 2) ? random_int(&r, 1, 9) : 1, batch = random_int(&r, 1, 3);
        int wide = group == 1 ? 18 : random_one_in(&r, 3) ? 1 : 9;
        int inputs = random_int(&r, 1, wide), outputs = random_int(&r, 1, wide);
        if (random_one_in(&r, 3)) /* whole texels */
            inputs *= 4, outputs *= 4;
        case_text text = {""};
        text_add(&text, "ConvWeightGrad x[%d,%d,%s] g[%d,%d,%s] -> %s group=%d", batch,
                 group * inputs, text_list(w.in, w.rank), batch, group * outputs,
                 text_list(w.out, w.rank), i % 2 ? "w" : "y", group);
        add_window(&text, &w);
        check((op_case){.opset = 13, .big = true}, "%s%s", text.text, i % 2 ? "; Relu w -> y" : "");
    }
    static const op_case cases[] = {
        CASE(13, "ConvWeightGrad x[1,1,1,1] g[1,1,1,1] -> y kernel_shape=1,1"),
        CASE(13, "ConvWeightGrad x[2,5,1,1] g[2,9,1,1] -> y kernel_shape=3,3 pads=1,1,1,1"),
        CASE(13, "ConvWeightGrad x[1,3,20,20] g[1,13,10,10] -> y kernel_shape=4,4 strides=2,2 "
                 "pads=1,1,1,1"),
        /* two taps of a fragment */
        CASE(13, "ConvWeightGrad x[2,8,7,19] g[2,8,7,9] -> y kernel_shape=1,4 strides=1,2 "
                 "pads=0,1,0,1 group=2"),
        CASE(13, "ConvWeightGrad x[1,5,9,33] g[1,6,8,32] -> y kernel_shape=2,2"),
        CASE(13, "ConvWeightGrad x[1,8,4,600] g[1,3,4,600] -> y kernel_shape=1,3 pads=0,1,0,1",
             .big = true), /* a row in parts */
        CASE(13, "ConvWeightGrad x[1,2,70000] g[1,2,70000] -> y kernel_shape=1,", .big = true,
             .no_half = true, .range = 0.1f), /* more than a loop's iterations */
        /* Of tensors with other layouts, each as the input and as the gradient. */
        CASE(13,
             "ConvTranspose x[1,6,8,8] u{6,8,2,2} -> a strides=2,2; "
             "ConvWeightGrad a g[1,5,16,16] -> y kernel_shape=3,3 pads=1,1,1,1",
             .big = true),
        CASE(13,
             "ConvTranspose x[1,6,8,8] u{6,8,3,3} -> a strides=3,3; "
             "ConvWeightGrad z[1,5,24,24] a -> y kernel_shape=3,3 pads=1,1,1,1",
             .big = true),
        /* Its planes are those of several trips. */
        CASE(13,
             "ConvTranspose z[1,3,5,19] u{3,8,2,2} -> a strides=2,2; "
             "ConvWeightGrad x[1,5,20,76] a -> y kernel_shape=4,4 strides=2,2 pads=1,1,1,1",
             .big = true),
        CASE(13,
             "ConvTranspose z[2,3,3,19] u{3,6,2,2} -> a strides=2,2; "
             "ConvWeightGrad x[2,5,6,38] a -> y kernel_shape=3,3 pads=1,1,1,1",
             .big = true),
        CASE(13,
             "ConvTranspose z[1,3,4,17] u{3,8,1,4} -> a strides=1,4; "
             "ConvWeightGrad x[1,4,4,136] a -> y kernel_shape=1,4 strides=1,2 pads=0,1,0,1",
             .big = true),
        CASE(13,
             "Relu x[1,4,9,9] -> a; Relu z[1,8,9,9] -> b; Concat a b -> c axis=1; "
             "ConvWeightGrad c g[1,12,9,9] -> d kernel_shape=3,3 pads=1,1,1,1; "
             "ConvWeightGrad h[1,3,9,9] c -> e kernel_shape=3,3 pads=1,1,1,1; "
             "ConvWeightGrad x g -> f kernel_shape=3,3 pads=1,1,1,1; Relu d -> y; Relu e -> y1; "
             "Relu f -> y2",
             .big = true),
        CASE(13,
             "Conv x[1,3,12,12] w{5,3,3,3} -> c pads=1,1,1,1; Relu c -> r; "
             "ConvWeightGrad x r -> y kernel_shape=3,3 pads=1,1,1,1",
             .big = true),
        /* Padding has no products, of infinite factors either. */
        CASE(13, "ConvWeightGrad x[1,5,9,9] g[1,6,9,9] -> y kernel_shape=3,3 pads=1,1,1,1",
             .infinities = 2, .no_half = true),
        CASE(13, "ConvWeightGrad x[1,5,9,9] g[1,6,9,9] -> y kernel_shape=3,3 pads=1,1,1,1",
             .nans = 2, .no_half = true),
        /* gradients of four pixels or less */
        CASE(13, "ConvWeightGrad x[2,12,2,3] g[2,24,1,2] -> y kernel_shape=3,2 strides=2,1 "
                 "pads=0,0,1,0 group=3"),
        CASE(13, "ConvWeightGrad x[1,5,4,4] g[1,7,2,2] -> y kernel_shape=3,3 dilations=2,2 "
                 "pads=1,1,1,1"),
        CASE(13,
             "ConvWeightGrad x[4,9,2,2] g[4,6,1,1] -> y kernel_shape=4,4 strides=2,2 "
             "pads=1,1,1,1",
             .infinities = 3, .no_half = true),
        CASE(22, "ConvWeightGrad x[1,4,2,3,2] g[1,6,2,1,1] -> y kernel_shape=1,3,2"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i], "%s", cases[i].text);
    expect_no_failed_case();
}

/* Numbers that 16 bits hold, many of them equal. */
static void check_integers(const char *shape, const char *gradient, const case_text *attributes) {
    check((op_case){.opset = 13, .big = true},
          "Cast x:int8[%s] -> f to=1; MaxPoolGrad f g[%s] -> y%s", shape, gradient,
          attributes->text);
}

static void test_max_pools(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(16); i++) {
        random_source r = random_from((uint32_t)i);
        const window w = draw_window(&r, i % 2);
        int batch = random_int(&r, 1, 2), channels = random_int(&r, 1, 9);
        case_text attributes = {""}, shape = {""}, gradient = {""};
        text_add(&shape, "%d,%d,%s", batch, channels, text_list(w.in, w.rank));
        text_add(&gradient, "%d,%d,%s", batch, channels, text_list(w.out, w.rank));
        text_add(&attributes, " ceil_mode=%d", w.ceil_mode);
        add_window(&attributes, &w);
        check_integers(shape.text, gradient.text, &attributes);
        check((op_case){.opset = 13, .big = true, .no_half = true, .nans = i % 3},
              "MaxPoolGrad x[%s] g[%s] -> y%s", shape.text, gradient.text, attributes.text);
    }
    static const op_case cases[] = {
        CASE(13,
             "Relu x[2,5,8,8] -> r; MaxPoolGrad r g[2,5,4,4] -> p kernel_shape=2,2 strides=2,2; "
             "Mul p r -> y",
             .no_half = true),
        CASE(13, "MaxPoolGrad x[1,1,1,1] g[1,1,1,1] -> y kernel_shape=1,1"),
        CASE(13, "MaxPoolGrad x[1,1,1,4] g[1,1,1,4] -> y kernel_shape=2,2 dilations=40,4 "
                 "pads=20,2,20,2"), /* holes larger than the image */
        CASE(13,
             "MaxPoolGrad x[1,2,4,1] g[1,2,2,1] -> y kernel_shape=4001,1 strides=3999,1 "
             "pads=4000,0,3996,0",
             .no_half = true),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i], "%s", cases[i].text);
    expect_no_failed_case();
}

/* By itself, as a post-op of either input's node, between others, as the input of a fused one. */
static void test_leaky_relu_grad(void **state) {
    static const op_case cases[] = {
        CASE(13, "LeakyReluGrad g[1,1,1,1] x[1,1,1,1] -> y"),
        CASE(13, "LeakyReluGrad g[2,7,5,9] x[2,7,5,9] -> y alpha=0.0"),
        CASE(13, "LeakyReluGrad g[3,2,5,3,9] x[3,2,5,3,9] -> y alpha=-0.5"),
        CASE(13, "LeakyReluGrad g[2,3,4,2,3,5,2] x[2,3,4,2,3,5,2] -> y alpha=2.0"),
        CASE(13, "Conv x[2,3,9,7] w{6,3,3,3} -> c; LeakyReluGrad c g[2,6,7,5] -> y alpha=0.25"),
        CASE(13, "Conv x[2,3,9,7] w{6,3,3,3} -> c; LeakyReluGrad g[2,6,7,5] c -> y alpha=0.25"),
        CASE(13, "ConvTranspose x[1,5,4,3] w{5,6,4,4} -> c strides=2,2 pads=1,1,1,1; "
                 "Add c z[1,6,8,6] -> s; LeakyReluGrad s g[1,6,8,6] -> l; "
                 "LeakyRelu l -> r alpha=0.5; LeakyReluGrad r g -> y alpha=0.0"),
        CASE(13, "MaxPoolGrad x[1,3,8,8] g[1,3,4,4] -> p kernel_shape=2,2 strides=2,2; "
                 "LeakyReluGrad p x -> y alpha=0.0"),
        CASE(13, "LeakyReluGrad g[5,6] x[5,6] -> a; Add a z[6] -> y"),
        CASE(13, "Cos g[5,6] -> c; Sin x[5,6] -> s; LeakyReluGrad c s -> a; Mul a s -> y"),
        CASE(13, "LeakyReluGrad x[4,5] x -> y"),
    };
    (void)state;
    need_gpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i], "%s", cases[i].text);
    expect_no_failed_case();
}

/* Of shapes in every layout, with outputs that are joined, converted or computed with. */
static void test_updates(void **state) {
    (void)state;
    need_gpu();
    static const char *const readers[] = {" -> y m n",
                                          " -> a m n; Relu a -> y",
                                          " -> a b n; Concat b a -> y axis=0",
                                          " -> a m b; Cast b -> y to=3; Cast a -> z to=3",
                                          " -> a b c; Add a b -> d; Mul d c -> y",
                                          " -> a b n; Relu b -> y"};
    for (int i = 0; i < some_cases(32); i++) {
        random_source r = random_from((uint32_t)i);
        int shape[5], rank = random_int(&r, 1, 5);
        for (int axis = 0; axis < rank; axis++)
            shape[axis] = random_int(&r, 1, rank > 3 ? 4 : 9);
        const char *list = text_list(shape, rank);
        case_text text = {""};
        text_add(&text, "AdamUpdate x[%s] g[%s] v[%s] h{%s} f%s%s", list, list, list, list,
                 i % 3 ? "<0.5,0.125,1.5,0.75>" : "<0,0.125,1,1>",
                 readers[i % (int)(sizeof readers / sizeof *readers)]);
        if (i % 2 && !strchr(text.text, ';'))
            text_add(&text, " alpha=0.5 beta=0.75 epsilon=0.25 norm_coefficient=0.5");
        check((op_case){.opset = 13, .weights_mean = 3, .nans = i % 3 ? 0 : 1, .no_half = true},
              "%s", text.text);
    }
    static const op_case cases[] = {
        CASE(13, "AdamUpdate x[40,3,5,5] g[40,3,5,5] v[40,3,5,5] h{40,3,5,5} f[4] -> y m n",
             .weights_mean = 3, .mean = 2, .big = true, .no_half = true),
        /* Each output is the next one's input. */
        CASE(13,
             "AdamUpdate x[5,6,4,4] g[5,6,4,4] v[5,6,4,4] h{5,6,4,4} f<1,0.5,1,1> -> a b c; "
             "AdamUpdate a g b c f -> y m n",
             .weights_mean = 3, .no_half = true),
        /* A smaller and a larger texture one after the other. */
        CASE(13,
             "AdamUpdate x[2,3,4,4] g[2,3,4,4] v[2,3,4,4] h{2,3,4,4} f<1,0.5,1,1> -> a! b! c!; "
             "AdamUpdate o[70] p[70] q[70] h1{70} f -> d! e! i!; "
             "AdamUpdate r[9,8,4,4] s[9,8,4,4] t[9,8,4,4] h2{9,8,4,4} f -> y m n",
             .weights_mean = 3, .no_half = true),
        CASE(13,
             "AdamUpdate x[8,4,3,3] g[8,4,3,3] v[8,4,3,3] h{8,4,3,3} f<1,0.5,1,1> -> a b c; "
             "Split a -> p q axis=0; Relu p -> y; Relu q -> z; Relu b -> m; Relu c -> n",
             .weights_mean = 3, .no_half = true),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(cases[i], "%s", cases[i].text);
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_max_pools),
        cmocka_unit_test(test_leaky_relu_grad),
        cmocka_unit_test(test_updates),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
