/* Resize of images and of any axes, antialiased or not, in every mode, and GridSample, held against
 * cpu. */
#include "support/case_text.h"
#include "support/main.h"
#include "support/op_cases.h"
#include "support/random.h"

enum { MAX_RANK = 5 };

static const char *const transforms[] = {"half_pixel",         "half_pixel_symmetric",
                                         "pytorch_half_pixel", "align_corners",
                                         "asymmetric",         "tf_crop_and_resize"};

/* Axes of a tensor, of which one to three are resized. */
typedef struct resize {
    int rank, dims[MAX_RANK], count, axes[MAX_RANK];
} resize;

static resize draw_resize(random_source *r, int least_rank) {
    resize s = {.rank = random_int(r, least_rank, MAX_RANK)};
    for (int i = 0; i < s.rank; i++) {
        s.dims[i] = random_int(r, 1, s.rank > 3 ? 7 : 20);
        if (s.count < 3 && random_one_in(r, 2))
            s.axes[s.count++] = i;
    }
    if (s.count == 0)
        s.axes[s.count++] = s.rank - 1;
    return s;
}

static void add_roi(case_text *text, random_source *r, const resize *s, const char *transform) {
    if (*transform != 't') {
        text_add(text, " _");
        return;
    }
    text_add(text, " r<");
    for (int i = 0; i < 2 * s->count; i++)
        text_add(text, "%s%g", i ? "," : "",
                 (i >= s->count) + (random_one_in(r, 2) ? 0 : random_int(r, -3, 3) / 8.0));
    text_add(text, ">");
}

static void add_sizes(case_text *text, random_source *r, const resize *s) {
    static const double scales[] = {0.3, 0.5, 0.6, 0.9, 1, 1.5, 2};
    if (random_one_in(r, 2)) {
        text_add(text, " _ s(");
        for (int i = 0; i < s->count; i++)
            text_add(text, "%s%d", i ? "," : "", random_int(r, 1, 12));
        text_add(text, ") -> y");
        if (random_one_in(r, 3))
            text_add(text, " keep_aspect_ratio_policy=%s",
                     random_one_in(r, 2) ? "not_larger" : "not_smaller");
        return;
    }
    text_add(text, " f<");
    for (int i = 0; i < s->count; i++) {
        double scale = scales[random_int(r, 0, 6)];
        bool vanishes = (int)(s->dims[s->axes[i]] * scale) == 0;
        text_add(text, "%s%g", i ? "," : "", vanishes ? 1.0 : scale);
    }
    text_add(text, "> -> y");
}

static void check_resize(int i, const char *mode, bool antialias, int least_rank) {
    random_source r = random_from((uint32_t)i);
    const char *transform = transforms[i % 6];
    resize s = draw_resize(&r, least_rank);
    case_text text = {""};
    text_add(&text, "Resize x[%s]", text_list(s.dims, s.rank));
    add_roi(&text, &r, &s, transform);
    add_sizes(&text, &r, &s);
    text_add_ints(&text, "axes", s.axes, s.count);
    text_add(&text, " mode=%s antialias=%d coordinate_transformation_mode=%s", mode, antialias,
             transform);
    text_add(&text, " extrapolation_value=2.5");
    if (*mode == 'c')
        text_add(&text, " cubic_coeff_a=%g", random_one_in(&r, 2) ? -0.5 : -0.75);
    /* at -0.5 of an axis of one element every linear tap may be outside: 0 / 0 */
    if (*mode == 'c' && *transform != 't' && random_one_in(&r, 3))
        text_add(&text, " exclude_outside=1");
    check((op_case){.opset = 19, .big = true}, "%s", text.text);
}

static void test_antialiased(void **state) {
    (void)state;
    need_gpu();
    for (int i = 0; i < some_cases(150); i++)
        check_resize(i, i % 4 < 2 ? "linear" : "cubic", true, 1);
    static const op_case cases[] = {
        CASE(18, "Resize x[2,5,31,17] _ s<1,1,0.21,0.7> -> y mode=linear antialias=1", .big = true),
        CASE(18, "Resize x[2,5,31,17] _ s<1,1,0.21,0.7> -> y mode=cubic antialias=1", .big = true),
        CASE(18, "Resize x[2,5,31,17] _ s<1,1,2,0.3> -> r mode=cubic antialias=1; Relu r -> y",
             .big = true),
        CASE(18, "Resize x[1,3,40,9] _ _ s(1,3,1,9) -> y mode=cubic antialias=1 "
                 "exclude_outside=1"),
        CASE(18, "Resize x[2,3,200] _ s<1,1,0.013> -> y mode=linear antialias=1", .big = true),
        CASE(18, "Resize x[1,3,9,9] _ s<1,1,0.5,0.5> -> y mode=nearest antialias=1"),
        CASE(18, "Mul x[2,3,15] g<3e38> -> e; Resize e _ s<1,1,0.3> -> y mode=linear antialias=1",
             .range = 2, .no_half = true),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_any_axes(void **state) {
    (void)state;
    static const char *const modes[] = {"linear", "nearest", "cubic", "nearest nearest_mode=floor"};
    need_gpu();
    for (int i = 0; i < some_cases(120); i++)
        check_resize(i, modes[i % 4], false, 1);
    static const op_case cases[] = {
        CASE(13, "Resize x[1,3,5,5] _ s<1,2,1,1> -> y"),
        CASE(13, "Resize x[2,3,4,5,6] _ s<1,1,2,1.5,0.7> -> r mode=linear; Relu r -> y"),
        CASE(13, "Resize x[1,3,4,5,6] _ s<1,1,2,2,2> -> y mode=nearest"),
        CASE(13, "Resize x[2,3,2,2,3,4] _ s<1,1,2,1.5,1,2> -> y mode=linear"),
        CASE(13, "Resize x:int32[2,3,4,5] _ s<1,1,2,1.5> -> y mode=nearest", .range = 1000),
        CASE(13, "Resize x:uint8[2,3,4] _ s<1,2,2> -> y mode=nearest"),
    };
    RUN_CASES(cases);
    expect_no_failed_case();
}

static void test_resize(void **state) {
    (void)state;
    static const char *const transforms[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
        "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
    static const char *const modes[] = {"linear",
                                        "cubic",
                                        "cubic exclude_outside=1 cubic_coeff_a=-0.5",
                                        "nearest nearest_mode=round_prefer_floor",
                                        "nearest nearest_mode=round_prefer_ceil",
                                        "nearest nearest_mode=floor",
                                        "nearest nearest_mode=ceil"};
    static const char *const sizes[] = {"s<1,1,2,1.5>", "s<1,1,0.5,0.7>", "_ s(1,5,9,4)"};
    need_gpu();
    for (size_t t = 0; t < sizeof transforms / sizeof *transforms; t++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                check(t == 5 ? OPSET(11) : OPSET(19),
                      "Resize x[1,5,6,9] r<0,0,0.2,-0.1,1,1,0.8,1.2> %s -> y mode=%s "
                      "coordinate_transformation_mode=%s extrapolation_value=2.5",
                      sizes[s], modes[m], transforms[t]);
    static const op_case cases[] = {
        CASE(13, "Resize x[1,5,13,9] _ s<1,1,2,2> -> y mode=linear"),
        CASE(19, "Resize x[1,5,6,9] r<0,0,-0.3,0.1,1,1,1.2,0.9> s<1,1,2,1> -> y mode=linear "
                 "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=2.5"),
        CASE(13, "Resize x[1,5,13,29] _ s<1,1,2,2> -> y mode=cubic", .big = true),
        CASE(13, "Resize x[2,3,7,21] _ s<1,1,0.6,2.7> -> y mode=cubic", .big = true),
        CASE(13, "Resize x[1,3,9,40] _ s<1,1,1.5,0.5> -> y mode=cubic"),
        CASE(13, "Resize x[1,5,9,70] _ s<1,1,3,0.9> -> y mode=linear", .big = true),
        /* Infinities stay in their own columns, rows and lines. */
        CASE(13, "Mul x[2,3,15] g<3e38> -> e; Resize e _ s<1,1,2> -> y mode=linear", .range = 2,
             .no_half = true),
        CASE(13, "Mul x[1,3,9,8] g<3e38> -> e; Resize e _ s<1,1,2,1> -> y mode=linear", .range = 2,
             .no_half = true),
        CASE(13, "Mul x[1,3,9,8] g<3e38> -> e; Resize e _ s<1,1,1,2> -> y mode=linear", .range = 2,
             .no_half = true),
        CASE(13, "Resize x[2,4,1,1] _ s<1,1,7,5> -> y mode=linear"),
        CASE(13, "Resize x[2,4,9,31] _ _ s(2,4,1,1) -> y mode=linear"),
        CASE(13, "Resize x[2,5,9] _ s<1,1,2.3> -> y mode=linear"),
        CASE(13, "Resize x[2,5,9] _ s<1,1,3> -> y mode=nearest"),
        CASE(18, "Resize x[1,1,4,8] _ _ s(9,9) -> y mode=linear axes=2,3 "
                 "keep_aspect_ratio_policy=not_larger"),
        CASE(10, "Resize x[1,2,3,3] s<1,1,2,2> -> y mode=linear"),
        CASE(9, "Upsample x[1,2,3,3] s<1,1,2,2> -> y mode=nearest"),
        CASE(7, "Upsample x[1,2,3,3] -> y scales=1.0,1.0,2.0,3.0 mode=linear"),
    };
    RUN_CASES(cases);
}

/* ---- GridSample ---- */

/* Coordinates in the image, beside it and far beside it. 16 bits would move them. */
static void check_grid_sample(int turn, const char *mode, const char *padding, int align) {
    static const char *const tensors[] = {"x[2,5,7,9] g[2,5,6,2]", "x[1,3,1,1] g[1,4,3,2]",
                                          "x[3,6,1,13] g[3,2,11,2]", "x[2,1,17,2] g[2,13,1,2]",
                                          "x[1,7,5,31] g[1,3,29,2]"};
    case_text text = {""};
    text_add(&text, "GridSample %s -> y mode=%s padding_mode=%s align_corners=%d",
             tensors[turn % 5], mode, padding, align);
    const op_case c = CASE(20, text.text, .range = turn % 2 ? 6 : 1.5f, .no_half = true);
    run_op_cases(&c, 1);
}

static void test_grid_sample(void **state) {
    (void)state;
    static const char *const modes[] = {"linear", "nearest", "cubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    for (int i = 0; i < 36; i++)
        check_grid_sample(i, modes[i % 3], paddings[i / 3 % 3], i / 9 % 2);
    static const op_case cases[] = {
/* Exactly between two pixels. */
#define HALVES "Reshape f<0,0,-0.5,0.5,-1,1,-0.75,0.25,1,-1,2,-2> s(1,2,3,2) -> g; "
        CASE(22, HALVES "GridSample x[1,3,4,4] g -> y mode=nearest"),
        CASE(22, HALVES "GridSample x[1,3,4,4] g -> y mode=nearest padding_mode=reflection"),
        CASE(22, HALVES "GridSample x[1,5,5,3] g -> y mode=nearest align_corners=1"),
        CASE(22, HALVES "GridSample x[1,5,6,3] g -> y mode=cubic padding_mode=border"),
        CASE(16, HALVES "GridSample x[1,5,6,3] g -> y mode=bicubic"),
        CASE(16, HALVES "GridSample x{1,5,3,7} g -> r; Relu r -> y"),
        CASE(20, "GridSample x[1,5,40,70] g[1,65,3,2] -> y", .no_half = true, .big = true),
        CASE(20, "Tanh h[2,5,6,2] -> g; GridSample x[2,5,7,9] g -> s; Add s b{5,1,1} -> y",
             .no_half = true),
    };
    RUN_CASES(cases);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_antialiased),
        cmocka_unit_test(test_any_axes),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_grid_sample),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
