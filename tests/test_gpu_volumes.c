/* Convolutions, pools and GridSample with three spatial axes on a GPU backend, held against cpu:
 * every kernel, stride, pad, dilation and group. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

enum { AXES = 3 };

typedef struct window {
    int in[AXES], kernel[AXES], stride[AXES], dilation[AXES], pads[2 * AXES];
    const char *auto_pad; /* NULL: pads */
} window;

/* Pads of pools are smaller than the window. */
static window draw_window(random_source *r) {
    static const char *const auto_pads[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    window w = {.auto_pad = random_one_in(r, 4) ? auto_pads[random_int(r, 0, 2)] : NULL};
    for (int i = 0; i < AXES; i++) {
        w.kernel[i] = random_int(r, 1, 3);
        w.stride[i] = random_int(r, 1, 3);
        w.dilation[i] = random_one_in(r, 3) ? random_int(r, 2, 3) : 1;
        int extent = (w.kernel[i] - 1) * w.dilation[i] + 1;
        w.in[i] = random_int(r, extent, 8);
        w.pads[i] = random_int(r, 0, extent - 1);
        w.pads[i + AXES] = random_int(r, 0, extent - 1);
    }
    return w;
}

static void add_window(case_text *text, const window *w) {
    text_add_ints(text, "strides", w->stride, AXES);
    text_add_ints(text, "dilations", w->dilation, AXES);
    if (w->auto_pad)
        text_add(text, " auto_pad=%s", w->auto_pad);
    else
        text_add_ints(text, "pads", w->pads, 2 * AXES);
}

static void test_convolutions(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(60); i++) {
        random_source r = random_from((uint32_t)i);
        window w = draw_window(&r);
        int group = random_one_in(&r, 2) ? random_int(&r, 1, 5) : 1,
            inputs = random_int(&r, 1, group > 1 ? 3 : 9), outputs = random_int(&r, 1, 5);
        case_text text = {""};
        text_add(&text, "Conv x[%d,%d,%s] w{%d,%d,%s}%s -> %s group=%d", random_int(&r, 1, 2),
                 group * inputs, text_list(w.in, AXES), group * outputs, inputs,
                 text_list(w.kernel, AXES), "", i % 2 ? "c" : "y", group);
        add_window(&text, &w);
        check((op_case){.opset = 22, .big = true}, "%s%s", text.text, i % 2 ? "; Relu c -> y" : "");
    }
    static const op_case cases[] = {
        CASE(22, "Conv x[1,3,4,5,6] w{5,3,3,3,3} b{5} -> c pads=1,1,1,1,1,1; Relu c -> y"),
        CASE(22, "Conv x[2,6,4,5,6] w{6,1,3,3,3} b{6} -> y group=6"),
        CASE(22, "Conv x[2,5,4,5,6] w{7,5,1,1,1} b{7} -> y"),
        CASE(22,
             "Conv x[1,4,3,9,9] w{8,4,1,3,3} b{8} -> c pads=0,1,1,0,1,1; Add c z[8,1,1,1] -> y"),
        CASE(22, "Conv x[1,1,1,1,1] w{1,1,1,1,1} -> y"),
        CASE(22,
             "Conv x[1,8,6,6,6] w{8,8,3,3,3} -> a pads=1,1,1,1,1,1; "
             "BatchNormalization a s{8} b{8} m{8} v<1,2,1,2,1,2,1,2> -> n; Relu n -> r; "
             "MaxPool r -> p kernel_shape=2,2,2 strides=2,2,2; Conv p u{4,8,3,3,3} -> y",
             .big = true),
    };
    RUN_CASES(cases);
}

static void test_transposed(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(100); i++) {
        random_source r = random_from((uint32_t)i);
        window w = draw_window(&r);
        int group = random_one_in(&r, 2) ? random_int(&r, 1, 5) : 1,
            inputs = random_int(&r, 1, group > 1 ? 3 : 9), outputs = random_int(&r, 1, 5);
        for (int k = 0; k < AXES; k++) /* smaller than the input */
            w.in[k] = random_int(&r, 3, 6), w.pads[k] /= 3, w.pads[k + AXES] /= 3;
        case_text text = {""};
        text_add(&text, "ConvTranspose x[%d,%d,%s]", random_int(&r, 1, 2), group * inputs,
                 text_list(w.in, AXES));
        text_add(&text, " w{%d,%d,%s}%s -> %s group=%d", group * inputs, outputs,
                 text_list(w.kernel, AXES), "", i % 2 ? "c" : "y", group);
        add_window(&text, &w);
        check((op_case){.opset = 22, .big = true}, "%s%s", text.text, i % 2 ? "; Relu c -> y" : "");
    }
    static const op_case cases[] = {
        CASE(22,
             "ConvTranspose x[1,3,4,5,6] w{3,5,3,3,3} b{5} -> c strides=2,2,2 "
             "output_padding=1,0,1; Relu c -> y",
             .big = true),
        CASE(22, "ConvTranspose x[2,6,4,5,3] w{6,1,2,3,3} b{6} -> y group=6", .big = true),
        CASE(22,
             "ConvTranspose x[1,3,2,3,4] w{3,2,2,2,2} b{2} -> c strides=2,2,2; "
             "BatchNormalization c s{2} b2{2} m{2} v<1,2> -> y",
             .big = true),
        CASE(22, "ConvTranspose x[1,1,1,1,1] w{1,1,1,1,1} -> y"),
        CASE(22,
             "ConvTranspose x[1,2,3,3,3] w{2,3,3,3,3} -> y strides=3,2,1 "
             "output_shape=8,7,5",
             .big = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_samples(void **state) {
    (void)state;
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    need_gpu();
    for (int i = 0; i < some_cases(110); i++) {
        random_source r = random_from((uint32_t)i);
        int axes = i % 5 ? 3 : 1, images = random_int(&r, 1, 3), in[AXES], points[AXES];
        for (int k = 0; k < axes; k++)
            in[k] = random_int(&r, 1, 7), points[k] = random_int(&r, 1, 5);
        case_text text = {""};
        text_add(&text, "GridSample x[%d,%d,%s]", images, random_int(&r, 1, 9),
                 text_list(in, axes));
        text_add(&text, " g[%d,%s,%d] -> y mode=%s padding_mode=%s align_corners=%d", images,
                 text_list(points, axes), axes, modes[i % 3], paddings[i / 3 % 3], i / 9 % 2);
        check((op_case){.opset = 20,
                        .range = i % 2 ? 4 : 1.5f,
                        .no_half = true,
                        .big = true,
                        .nans = i % 4 ? 0 : 9},
              "%s", text.text);
    }
    static const op_case cases[] = {
        CASE(20, "GridSample x[2,5,3,4,6] g[2,2,5,3,3] -> s; Add s b{5,1,1,1} -> y", .range = 1.5f,
             .no_half = true, .big = true),
        CASE(20, "GridSample x{1,3,3,4,6} g[1,2,5,3,3] -> y mode=cubic", .no_half = true,
             .big = true),
        CASE(20, "GridSample x[2,3,9] g[2,5,1] -> s; Relu s -> y", .range = 1.5f, .no_half = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_pools(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(80); i++) {
        random_source r = random_from((uint32_t)i);
        window w = draw_window(&r);
        bool maximum = i % 2, indices = i % 4 == 3;
        case_text text = {""};
        text_add(&text, "%s x[%d,%d,%s] -> y%s ceil_mode=%d", maximum ? "MaxPool" : "AveragePool",
                 random_int(&r, 1, 2), random_int(&r, 1, 9), text_list(w.in, AXES),
                 indices ? " i" : "", random_int(&r, 0, 1));
        text_add(&text, " %s=%d", maximum ? "storage_order" : "count_include_pad",
                 random_int(&r, 0, 1));
        text_add_ints(&text, "kernel_shape", w.kernel, AXES);
        add_window(&text, &w);
        /* Indices: elements that differ may be equal in 16 bits. */
        check((op_case){.opset = 22, .big = true, .no_half = indices, .nans = i % 3 ? 0 : 20}, "%s",
              text.text);
    }
    static const op_case cases[] = {
        CASE(22, "Add x[1,2,4,3,3] k<-3e38 -> a; Add a k -> b; MaxPool b -> y i kernel_shape=2,2,2",
             .no_half = true), /* of infinities alone */
        CASE(22, "GlobalAveragePool x[2,5,3,4,5] -> y"),
        CASE(22, "GlobalAveragePool x[1,3,20,30,11] -> y", .big = true),
        CASE(22, "AveragePool x[2,5,3,4,5] -> y kernel_shape=3,4,5"),
        CASE(22, "AveragePool x[2,5,3,4,5] -> y kernel_shape=2,4,5"),
        CASE(22, "MaxPool x[1,5,4,4,4] -> p kernel_shape=2,2,2; Relu p -> y"),
    };
    RUN_CASES(cases);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_transposed),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_pools),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
