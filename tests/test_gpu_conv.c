/* Conv and ConvTranspose of random shapes, each on a GPU backend and on cpu. */
#include "support/conv_text.h"
#include "support/main.h"

enum { CASES = 250 };

static void run_random(bool transposed) {
    need_gpu();
    const conv_environments here = conv_environments_here();
    int refused = 0;
    const int count = some_cases(CASES);
    for (int i = 0; i < count; i++) {
        random_source r = random_from((uint32_t)i);
        const conv_environment *e = &here.list[i % here.count];
        refused += !run_convolution(draw_convolution(&r, transposed, false, e).text, e);
    }
    expect_no_failed_case();
    if (!is_replay() && refused > (count + 49) / 50)
        fail_msg("%d cases did not fit the textures", refused);
}

static void test_conv(void **state) {
    (void)state;
    run_random(false);
}

static void test_conv_transpose(void **state) {
    (void)state;
    run_random(true);
}

/* Strides, dilations and pads up to the largest integer, on axes of few pixels. */
static void test_far_apart(void **state) {
    (void)state;
    static const char *const texts[] = {
        "Conv x[1,5,4,9] w{7,5,3,3} -> y strides=2147483647,1",
        "Conv x[1,5,9,4] w{7,5,3,3} -> y strides=1,2147483647",
        "Conv x[1,5,4,9] w{7,5,3,2} -> y dilations=1073741820,1 pads=1073741820,0,1073741820,0",
        "Conv x[1,5,9,4] w{7,5,2,3} -> y dilations=1,1073741820 pads=0,1073741820,0,1073741820",
        "Conv x[1,20,4,9] w{20,20,3,3} -> y strides=1073741800,1073741800 "
        "pads=1073741800,1073741800,1073741800,1073741800",
        "Conv x[1,5,4,9] w{5,1,3,3} -> y group=5 strides=2147483600,1 pads=2147483600,0,0,0",
        "Conv x[1,5,9,4] w{5,1,3,3} -> y group=5 strides=1,2147483600 pads=0,0,0,2147483600",
        "ConvTranspose x[1,5,1,9] w{5,7,3,3} -> y strides=2147483647,1",
        "ConvTranspose x[1,5,9,1] w{5,7,3,3} -> y strides=1,2147483647",
        "ConvTranspose x[1,6,1,1] w{6,2,3,3} -> y group=2 strides=2147483647,2147483646",
        "ConvTranspose x[1,20,1,1] w{20,64,3,3} -> y strides=1073741824,1073741824",
        "ConvTranspose x[1,5,1,9] w{5,7,3,3} -> y strides=2147483643,3 dilations=2,2",
        "ConvTranspose x[1,5,9,1] w{5,7,3,3} -> y strides=3,2147483647 dilations=2,2",
        "ConvTranspose x[1,5,9,2] w{5,7,3,3} -> y strides=1,2147483640 pads=0,2147483600,0,0",
        "ConvTranspose x[1,5,2,9] w{5,7,3,3} -> y strides=2147483640,1 pads=0,0,2147483600,0",
        "ConvTranspose x[1,5,4,9] w{5,7,3,2} -> y dilations=1073741820,1 "
        "pads=1073741810,0,1073741810,0",
        "ConvTranspose x[1,5,9,4] w{5,7,2,3} -> y dilations=1,1073741820 "
        "pads=0,1073741810,0,1073741810",
        "ConvTranspose x[1,5,2,9] w{5,7,2,3} -> y dilations=1073741811,1 strides=1073741821,1 "
        "pads=1073741800,0,1073741800,0",
    };
    need_gpu();
    const conv_environments here = conv_environments_here();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int e = 0; e < here.count; e++)
            if (runs_in(i, e, here.count))
                run_case(&(backend_case){.text = texts[i],
                                         .limits = here.list[e].limits,
                                         .precision = here.list[e].precision});
    expect_no_failed_case();
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
