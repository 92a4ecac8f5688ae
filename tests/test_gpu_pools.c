/* Pools, and strides that fit no small number, held against cpu. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

#include <string.h>

static case_text draw_pool(random_source *r, bool maximum) {
    case_text text = {""};
    static const char *const auto_pads[] = {"SAME_UPPER", "SAME_LOWER", "VALID"};
    int rank = random_int(r, 1, 2), in[2], kernel[2], stride[2], dilation[2], pads[4];
    const char *auto_pad = random_one_in(r, 4) ? auto_pads[random_int(r, 0, 2)] : NULL;
    for (int i = 0; i < rank; i++) {
        kernel[i] = random_int(r, 1, 5);
        stride[i] = random_int(r, 1, 4);
        dilation[i] = random_one_in(r, 3) ? random_int(r, 2, 3) : 1;
        int extent = (kernel[i] - 1) * dilation[i] + 1;
        in[i] = random_int(r, extent, 14);
        pads[i] = random_int(r, 0, extent - 1);
        pads[i + rank] = random_int(r, 0, extent - 1);
    }
    text_add(&text, "%s x[%d,%d,%s] -> y%s ceil_mode=%d", maximum ? "MaxPool" : "AveragePool",
             random_int(r, 1, 2), random_int(r, 1, 9), text_list(in, rank),
             maximum && random_one_in(r, 2) ? " i" : "", random_int(r, 0, 1));
    text_add(&text, " %s=%d", maximum ? "storage_order" : "count_include_pad", random_int(r, 0, 1));
    text_add_ints(&text, "kernel_shape", kernel, rank);
    text_add_ints(&text, "strides", stride, rank);
    text_add_ints(&text, "dilations", dilation, rank);
    if (auto_pad)
        text_add(&text, " auto_pad=%s", auto_pad);
    else
        text_add_ints(&text, "pads", pads, 2 * rank);
    return text;
}

static void test_pools(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(160); i++) {
        random_source r = random_from((uint32_t)i);
        const case_text text = draw_pool(&r, i % 2);
        /* Indices: elements that differ may be equal in 16 bits. */
        check((op_case){.opset = 19, .no_half = strstr(text.text, "-> y i ")}, "%s", text.text);
    }
    static const op_case cases[] = {
        CASE(13, "MaxPool x[2,5,17,11] -> y kernel_shape=2,2 strides=2,2", .mean = -3),
        CASE(13, "AveragePool x[2,5,17,11] -> y kernel_shape=3,3 pads=1,1,1,1", .mean = -3),
        CASE(13, "MaxPool x[1,3,9,9] -> p i kernel_shape=3,3; Relu p -> y"),
        CASE(13, "MaxPool x[1,5,40,70] -> y kernel_shape=3,3 strides=2,2 pads=1,1,1,1", .mean = -3,
             .big = true),
        CASE(13, "AveragePool x[1,5,11,29] -> y kernel_shape=5,8 pads=2,3,2,4"),
        CASE(13, "AveragePool x[1,5,11,29] -> y kernel_shape=5,9 pads=2,3,2,4"),
        CASE(13, "MaxPool x[1,1,1,4] -> y kernel_shape=2,2 dilations=40,4 pads=20,2,20,2",
             .no_half = true), /* holes larger than the image: of no element the lowest float */
        CASE(13, "MaxPool x[1,5,4,4] -> y kernel_shape=999999999,999999999 "
                 "strides=999999000,999999000 pads=999999998,999999998,999999998,999999998"),
        CASE(13,
             "AveragePool x[1,5,4,4] -> y kernel_shape=50000,50000 strides=49990,49990 "
             "pads=49999,49999,49999,49999 count_include_pad=1",
             .no_half = true),
        CASE(13, "GlobalAveragePool x[2,5,1,1] -> y"),
        CASE(13, "GlobalAveragePool x[2,5,3,4] -> y"),
        CASE(13, "GlobalAveragePool x[2,6,17,11] -> g; Sigmoid g -> y"),
        CASE(13, "AveragePool x[2,5,7,9] -> y kernel_shape=7,9"),
        CASE(13, "AveragePool x[1,3,300,300] -> y kernel_shape=300,300", .big = true),
        CASE(13, "GlobalAveragePool x[1,5,300,2] -> y", .big = true),
        CASE(13, "GlobalAveragePool x[3,5,67] -> y"),
        CASE(22, "GlobalMaxPool x[2,5,17,11] -> y", .mean = -3),
    };
    RUN_CASES(cases);
}

/* What a kernel computes with strides and pads has to fit its 32 bits. */
static void test_long_strides(void **state) {
    (void)state;
    need_gpu();
    static const op_case cases[] = {
        CASE(13, "ConvTranspose x[1,2,3] w{2,1,3} -> y strides=50000, dilations=3, pads=49990,1",
             .big = true),
        CASE(13, "ConvTranspose x[1,1,3,2] w{1,1,3,3} -> y strides=1000000000,1 "
                 "pads=1000000000,0,1000000000,0"),
        CASE(13, "ConvTranspose x[1,1,2,2] w{1,1,3,3} -> y strides=1000000000,700000000 "
                 "output_shape=3,4"),
        CASE(13, "Conv x[1,2,3,4] w{5,2,3,3} -> y dilations=999999999,1 auto_pad=SAME_UPPER"),
        CASE(13, "Conv x[1,2,3,4] w{5,2,1,1} -> y strides=999999999,9999999 "
                 "pads=999999999,9999999,999999999,9999999"),
    };
    RUN_CASES(cases);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_long_strides),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
