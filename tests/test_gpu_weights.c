/* Packed weights: once for a model on a device, whatever the batch and the size of its images, and
 * no longer than a session needs them. */
#include "support/backends.h"
#include "support/main.h"
#include "support/sessions.h"

/* Two convolutions by different algorithms, one with BatchNormalization folded into its weights,
 * and a transposed one. */
#define NET                                                                                        \
    "Conv x[N,12,H,W] w{20,12,3,3} b{20} -> a pads=1,1,1,1; "                                      \
    "BatchNormalization a s{20} t{20} m{20} v{20} -> n; Relu n -> r; "                             \
    "Conv r u{20,1,3,3} -> d group=20 pads=1,1,1,1; "                                              \
    "ConvTranspose d k{20,6,4,4} -> y strides=2,2 pads=1,1,1,1"

typedef struct size {
    tsr_dim_binding dims[3];
    tsr_session_desc desc;
} size;

static void set_size(size *s, int64_t n, int64_t h, int64_t w) {
    s->dims[0] = (tsr_dim_binding){"N", n};
    s->dims[1] = (tsr_dim_binding){"H", h};
    s->dims[2] = (tsr_dim_binding){"W", w};
    s->desc = (tsr_session_desc){.poison = true, .dims = s->dims, .dim_count = 3};
}

typedef struct fixture {
    tsr_device *device, *cpu;
    tsr_model *model;
} fixture;

static fixture open_fixture(void) {
    need_gpu();
    return (fixture){make_device(&(tsr_device_desc){.backend = gpu_backend()}),
                     make_device(&(tsr_device_desc){.backend = "cpu"}), make_model(NET)};
}

static void close_fixture(fixture *f) {
    tsr_model_free(f->model);
    tsr_device_destroy(f->device);
    tsr_device_destroy(f->cpu);
}

static elements run(tsr_session *session, unsigned seed) {
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    return get_output(session, "y");
}

static void expect_right(const fixture *f, tsr_session *session, const tsr_session_desc *desc,
                         unsigned seed) {
    tsr_session *reference = make_session(f->cpu, f->model, desc);
    elements expected = run(reference, seed), actual = run(session, seed);
    expect_close(actual, expected, 1e-5);
    free(expected.values);
    free(actual.values);
    tsr_session_destroy(reference);
}

static tsr_report report_of(const tsr_session *session) {
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    return report;
}

/* A session of another size packs nothing, computes what it should, and outlives the one that
 * packed; when all are gone, so are the weights. */
static void test_shared(void **state) {
    (void)state;
    fixture f = open_fixture();
    size small, large;
    set_size(&small, 1, 9, 14);
    set_size(&large, 3, 20, 37);
    tsr_session *first = make_session(f.device, f.model, &small.desc);
    assert_true(report_of(first).packed_bytes > 0);
    tsr_session *second = make_session(f.device, f.model, &large.desc);
    assert_int_equal(report_of(second).packed_bytes, 0);
    expect_right(&f, first, &small.desc, 1);
    expect_right(&f, second, &large.desc, 2);
    tsr_session_destroy(first);
    expect_right(&f, second, &large.desc, 3);
    tsr_session_destroy(second);
    first = make_session(f.device, f.model, &small.desc);
    assert_true(report_of(first).packed_bytes > 0);
    expect_right(&f, first, &small.desc, 4);
    tsr_session_destroy(first);
    close_fixture(&f);
}

/* Another model, of the same sizes, has weights of its own. */
static void test_not_shared(void **state) {
    (void)state;
    fixture f = open_fixture();
    size small;
    set_size(&small, 1, 9, 14);
    tsr_session *first = make_session(f.device, f.model, &small.desc);
    tsr_model *other = f.model, *loaded = make_model(NET);
    tsr_session *second = make_session(f.device, loaded, &small.desc);
    assert_int_equal(report_of(second).packed_bytes, report_of(first).packed_bytes);
    f.model = loaded;
    expect_right(&f, second, &small.desc, 1);
    tsr_session_destroy(second);
    tsr_model_free(loaded);
    f.model = other;
    expect_right(&f, first, &small.desc, 2);
    tsr_session_destroy(first);
    close_fixture(&f);
}

/* Both nodes read the same weights, the second one turned: it is another layout. */
static void test_tied(void **state) {
    (void)state;
    fixture f = open_fixture();
    tsr_model_free(f.model);
    f.model = make_model("Conv x[1,8,7,7] w{8,8,3,3} -> a pads=1,1,1,1; "
                         "ConvTranspose a w -> b pads=1,1,1,1; Conv b w -> y pads=1,1,1,1");
    const tsr_session_desc desc = {.poison = true};
    tsr_session *session = make_session(f.device, f.model, &desc);
    expect_right(&f, session, &desc, 1);
    tsr_report report = report_of(session);
    assert_true(report.packed_bytes < report.weight_bytes);
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* A table that several nodes read as it is. */
static void test_table(void **state) {
    (void)state;
    fixture f = open_fixture();
    tsr_model_free(f.model);
    f.model = make_model("Cast x[4] -> n to=7; Gather e{65,32} n -> a; Tanh a -> b; "
                         "Cast z[4] -> m to=7; Gather e m -> c; Add b c -> y");
    tsr_session *session = make_session(f.device, f.model, NULL);
    assert_true(report_of(session).weight_bytes < 2 * 65 * 32 * sizeof(float));
    tsr_session_destroy(session);
    close_fixture(&f);
}

/* ---- other weights --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t count;
} replaced[] = {{"w", 20 * 12 * 9}, {"u", 20 * 9}, {"k", 20 * 6 * 16}};
enum { REPLACED = sizeof replaced / sizeof *replaced };

static void set_weights(tsr_session *session, int which, unsigned seed) {
    float *values = malloc(replaced[which].count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < replaced[which].count; i++)
        values[i] = (float)((i * 7 + seed * 13) % 23) / 23 - 0.4f;
    EXPECT_OK(
        tsr_session_set_weights(session, replaced[which].name, values, replaced[which].count));
    free(values);
}

/* The session computes what one on the CPU with the same weights does. */
static void expect_replaced(const fixture *f, tsr_session *session, const tsr_session_desc *desc,
                            const unsigned seeds[REPLACED]) {
    tsr_session *reference = make_session(f->cpu, f->model, desc);
    for (int i = 0; i < REPLACED; i++)
        if (seeds[i])
            set_weights(reference, i, seeds[i]);
    elements expected = run(reference, 5), actual = run(session, 5);
    expect_close(actual, expected, 1e-5);
    free(expected.values);
    free(actual.values);
    tsr_session_destroy(reference);
}

/* Shared ones are replaced, then updated in place; other sessions keep the model's. */
static void test_replaced(void **state) {
    (void)state;
    fixture f = open_fixture();
    size small;
    set_size(&small, 2, 9, 14);
    tsr_session *first = make_session(f.device, f.model, &small.desc),
                *second = make_session(f.device, f.model, &small.desc);
    unsigned seeds[REPLACED] = {0};
    for (unsigned round = 0; round < 2; round++)
        for (int i = 0; i < REPLACED; i++) {
            seeds[i] = 1 + round * 10 + (unsigned)i;
            set_weights(first, i, seeds[i]);
            expect_replaced(&f, first, &small.desc, seeds);
            expect_right(&f, second, &small.desc, 6);
        }
    tsr_session *third = make_session(f.device, f.model, &small.desc);
    tsr_session_destroy(second);
    set_weights(third, 0, 77); /* the last one that shares it */
    expect_replaced(&f, third, &small.desc, (unsigned[REPLACED]){77});
    tsr_session *fourth = make_session(f.device, f.model, &small.desc);
    expect_right(&f, fourth, &small.desc, 7);
    expect_replaced(&f, first, &small.desc, seeds);
    tsr_session_destroy(first);
    tsr_session_destroy(third);
    tsr_session_destroy(fourth);
    close_fixture(&f);
}

/* What was folded, or is read otherwise, cannot be replaced. */
static void test_refused(void **state) {
    (void)state;
    fixture f = open_fixture();
    size small;
    set_size(&small, 1, 9, 14);
    tsr_session *session = make_session(f.device, f.model, &small.desc);
    const float values[20 * 12 * 9] = {0};
    expect_failure(tsr_session_set_weights(session, "b", values, 20), TSR_ERROR_UNSUPPORTED, "'b'");
    expect_failure(tsr_session_set_weights(session, "s", values, 20), TSR_ERROR_UNSUPPORTED, "'s'");
    expect_failure(tsr_session_set_weights(session, "w", values, 20), TSR_ERROR_SHAPE,
                   "2160 elements");
    expect_failure(tsr_session_set_weights(session, "q", values, 20), TSR_ERROR_INVALID_ARGUMENT,
                   "'q'");
    expect_failure(tsr_session_set_weights(session, "x", values, 20), TSR_ERROR_INVALID_ARGUMENT,
                   "'x'");
    expect_failure(tsr_session_set_weights(session, "w", NULL, 0), TSR_ERROR_INVALID_ARGUMENT,
                   "NULL");
    expect_right(&f, session, &small.desc, 1);
    tsr_session_destroy(session);
    close_fixture(&f);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared), cmocka_unit_test(test_not_shared),
        cmocka_unit_test(test_tied),   cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_table),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
