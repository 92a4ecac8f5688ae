/* ConvInteger and MatMulInteger against loops over integers: exact on cpu whatever the sum, on a
 * GPU up to 2^24, in 16-bit storage too; larger sums are split or refused. */
#include "support/backends.h"
#include "support/case_text.h"
#include "support/graphs.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"
#include "support/sessions.h"

#include <math.h>
#include <string.h>

enum { AXES = 3, MOST = 1 << 16 };

/* How many zero points an input has. */
typedef enum zero_points { NO_ZERO, ONE_ZERO, ZERO_LIST } zero_points;

typedef struct integer_case {
    bool conv, is_signed[2];
    zero_points zeros[2];
    uint32_t seed;
    int large; /* not 0: elements of x are up to 255, of w up to this, and little smaller */
    int axes;  /* of the window; MatMul: of the batch */
    int n, c, m, group, in[AXES], kernel[AXES], stride[AXES], dilation[AXES], pad[2 * AXES];
    int batch[AXES], rows, inner, columns;
} integer_case;

/* ---- elements -------------------------------------------------------------------------------- */

/* Of "x", "w" and their zero points "a", "b". */
static float element(void *user, const char *name, size_t i) {
    const integer_case *k = user;
    const bool is_right = *name == 'w' || *name == 'b';
    if (k->large)
        return (float)((is_right ? k->large : 255) - (int)((uint32_t)i * 2654435761u >> 30));
    random_source r = random_from(k->seed * 4099u + (uint32_t)*name * 7919u + (uint32_t)i);
    random_int(&r, 0, 1);
    return (float)random_int(&r, k->is_signed[is_right] ? -128 : 0,
                             k->is_signed[is_right] ? 127 : 255);
}

/* Element i of an input, less its zero point, of which it has the index-th. */
static int64_t difference(const integer_case *k, int right, int64_t i, int64_t index) {
    int64_t value = (int64_t)element((void *)k, right ? "w" : "x", (size_t)i);
    if (k->zeros[right] == NO_ZERO)
        return value;
    return value - (int64_t)element((void *)k, right ? "b" : "a",
                                    k->zeros[right] == ONE_ZERO ? 0 : (size_t)index);
}

/* ---- the loops ------------------------------------------------------------------------------- */

static int out_size(const integer_case *k, int axis) {
    const int reach = (k->kernel[axis] - 1) * k->dilation[axis] + 1;
    return (k->in[axis] + k->pad[axis] + k->pad[axis + AXES] - reach) / k->stride[axis] + 1;
}

/* The sum for output channel m at pixel p. */
static int64_t conv_element(const integer_case *k, int n, int m, const int p[AXES]) {
    const int channels = k->c / k->group, first = m / (k->m / k->group) * channels;
    int64_t sum = 0;
    for (int c = 0; c < channels; c++)
        for (int z = 0; z < k->kernel[0]; z++)
            for (int y = 0; y < k->kernel[1]; y++)
                for (int x = 0; x < k->kernel[2]; x++) {
                    const int tap[] = {z, y, x};
                    int64_t at = n * k->c + first + c, weight = m * channels + c;
                    bool inside = true;
                    for (int i = 0; i < AXES; i++) {
                        int q = p[i] * k->stride[i] + tap[i] * k->dilation[i] - k->pad[i];
                        inside &= q >= 0 && q < k->in[i];
                        at = at * k->in[i] + q;
                        weight = weight * k->kernel[i] + tap[i];
                    }
                    if (inside)
                        sum += difference(k, 0, at, 0) * difference(k, 1, weight, m);
                }
    return sum;
}

static int64_t conv_sums(const integer_case *k, int64_t *sums) {
    int64_t count = 0;
    for (int n = 0; n < k->n; n++)
        for (int m = 0; m < k->m; m++)
            for (int z = 0; z < out_size(k, 0); z++)
                for (int y = 0; y < out_size(k, 1); y++)
                    for (int x = 0; x < out_size(k, 2); x++)
                        sums[count++] = conv_element(k, n, m, (int[]){z, y, x});
    return count;
}

/* The right matrix is the same in all batches. */
static int64_t matmul_sums(const integer_case *k, int64_t *sums) {
    int64_t rows = k->rows, count = 0;
    for (int i = 0; i < k->axes; i++)
        rows *= k->batch[i];
    for (int64_t row = 0; row < rows; row++)
        for (int64_t j = 0; j < k->columns; j++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < k->inner; i++)
                sum += difference(k, 0, row * k->inner + i, row % k->rows) *
                       difference(k, 1, i * k->columns + j, j);
            sums[count++] = sum;
        }
    return count;
}

static int64_t expected_sums(const integer_case *k, int64_t *sums) {
    return k->conv ? conv_sums(k, sums) : matmul_sums(k, sums);
}

/* ---- the models ------------------------------------------------------------------------------ */

static void add_shape(case_text *t, const integer_case *k, bool right) {
    if (!k->conv) {
        for (int i = 0; i < k->axes && !right; i++)
            text_add(t, "%d,", k->batch[i]);
        text_add(t, "%d,%d", right ? k->inner : k->rows, right ? k->columns : k->inner);
        return;
    }
    text_add(t, "%d,%d", right ? k->m : k->n, right ? k->c / k->group : k->c);
    for (int i = AXES - k->axes; i < AXES; i++)
        text_add(t, ",%d", right ? k->kernel[i] : k->in[i]);
}

static int type_of(const integer_case *k, int right) {
    return k->is_signed[right] ? 3 : 2;
}

/* What makes "p" of x, "q" of w, "s" and "t" of their zero points. */
static void add_casts(case_text *t, const integer_case *k, bool constant) {
    const int lists[] = {k->rows, k->conv ? k->m : k->columns};
    if (constant) {
        text_add(t, "Cast x{");
        add_shape(t, k, false);
        text_add(t, "} -> p to=%d; ", type_of(k, 0));
    }
    text_add(t, "Cast w{");
    add_shape(t, k, true);
    text_add(t, "} -> q to=%d; ", type_of(k, 1));
    for (int i = 0; i < 2; i++)
        if (k->zeros[i] != NO_ZERO)
            text_add(t, "Cast %c{%d} -> %c to=%d; ", "ab"[i],
                     k -> zeros[i] == ONE_ZERO ? 1 : lists[i], "st"[i], type_of(k, i));
}

/* constant: all of it; else x is an input. after: nodes that read "y". */
static case_text text_of(const integer_case *k, bool constant, const char *after) {
    case_text t = {""};
    add_casts(&t, k, constant);
    text_add(&t, "%sInteger ", k->conv ? "Conv" : "MatMul");
    if (constant)
        text_add(&t, "p");
    else {
        text_add(&t, "x:%s[", k->is_signed[0] ? "int8" : "uint8");
        add_shape(&t, k, false);
        text_add(&t, "]");
    }
    text_add(&t, " q %s %s -> y", k->zeros[0] == NO_ZERO ? "_" : "s",
             k->zeros[1] == NO_ZERO ? "_" : "t");
    if (k->conv) {
        int pads[2 * AXES];
        for (int i = 0; i < 2 * k->axes; i++)
            pads[i] = k->pad[i % k->axes + AXES - k->axes + (i < k->axes ? 0 : AXES)];
        text_add(&t, " group=%d", k->group);
        text_add_ints(&t, "strides", k->stride + AXES - k->axes, k->axes);
        text_add_ints(&t, "dilations", k->dilation + AXES - k->axes, k->axes);
        text_add_ints(&t, "pads", pads, 2 * k->axes);
    }
    text_add(&t, "%s", after);
    return t;
}

static integer_case draw_case(uint32_t seed) {
    random_source r = random_from(seed);
    integer_case k = {.seed = seed, .conv = random_one_in(&r, 2), .group = 1};
    for (int i = 0; i < 2; i++) {
        k.is_signed[i] = random_one_in(&r, 2);
        k.zeros[i] = (zero_points)random_int(&r, NO_ZERO, k.conv && i == 0 ? ONE_ZERO : ZERO_LIST);
    }
    k.axes = random_int(&r, k.conv, AXES);
    k.n = random_int(&r, 1, 2);
    k.group = random_int(&r, 1, 2);
    k.c = k.group * random_int(&r, 1, 6);
    k.m = k.group * random_int(&r, 1, 5);
    for (int i = 0; i < AXES; i++) {
        const bool used = i >= AXES - k.axes;
        k.kernel[i] = used ? random_int(&r, 1, 3) : 1;
        k.dilation[i] = used ? random_int(&r, 1, 2) : 1;
        k.stride[i] = used ? random_int(&r, 1, 2) : 1;
        k.in[i] = used ? random_int(&r, 5, 7) : 1;
        k.pad[i] = used ? random_int(&r, 0, 1) : 0;
        k.pad[i + AXES] = used ? random_int(&r, 0, 1) : 0;
        k.batch[i] = random_int(&r, 1, 2);
    }
    k.rows = random_int(&r, 1, 5);
    k.inner = random_int(&r, 1, 40);
    k.columns = random_int(&r, 1, 9);
    return k;
}

/* Sums beyond 2^24. */
static integer_case large_product(void) {
    return (integer_case){.large = 255, .rows = 3, .inner = 303, .columns = 6};
}

static integer_case large_conv(int group) {
    return (integer_case){.conv = true,
                          .large = 255,
                          .axes = 2,
                          .n = 1,
                          .c = 40 * group,
                          .m = 2 * group,
                          .group = group,
                          .in = {1, 4, 5},
                          .kernel = {1, 3, 3},
                          .stride = {1, 1, 1},
                          .dilation = {1, 1, 1},
                          .pad = {0, 1, 1, 0, 1, 1}};
}

/* ---- cpu ------------------------------------------------------------------------------------- */

static void expect_exact(const integer_case *k) {
    static int64_t sums[MOST];
    const case_text t = text_of(k, true, "");
    tsr_graph *graph = prepare_graph(onnx_case_filled(10, t.text, element, (void *)k));
    const tsr_value *y = value_named(graph, "y");
    const int64_t count = expected_sums(k, sums);
    assert_int_equal(y->dtype, TSR_DTYPE_I32);
    assert_non_null(y->data);
    assert_int_equal(tsr_shape_count(&y->shape), count);
    for (int64_t i = 0; i < count; i++)
        if (((const int64_t *)y->data)[i] != sums[i])
            fail_msg("%s: element %lld is %lld instead of %lld", t.text, (long long)i,
                     (long long)((const int64_t *)y->data)[i], (long long)sums[i]);
    tsr_graph_destroy(graph);
}

static void test_constants(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < (uint32_t)some_cases(200); seed++) {
        const integer_case k = draw_case(seed);
        expect_exact(&k);
    }
    const integer_case large[] = {large_product(), large_conv(1), large_conv(2)};
    for (int i = 0; i < 3; i++)
        expect_exact(&large[i]);
}

/* ---- a GPU ----------------------------------------------------------------------------------- */

static void set_integers(tsr_session *session, const integer_case *k) {
    static float x[MOST];
    tsr_tensor_info info;
    EXPECT_OK(tsr_session_input(session, 0, &info));
    const int64_t count = tsr_shape_count(&info.shape);
    for (int64_t i = 0; i < count; i++)
        x[i] = element((void *)k, "x", (size_t)i);
    EXPECT_OK(tsr_session_set_input(session, info.name, x, (size_t)count));
}

static tsr_model *model_of(const integer_case *k, const char *after) {
    const case_text t = text_of(k, false, after);
    return load_written(onnx_case_filled(13, t.text, element, (void *)k));
}

/* The output of a model of text_of() times `factor`: `error` relative to each sum. */
static void expect_sums(tsr_session *session, const integer_case *k, const char *name,
                        double factor, double error) {
    static int64_t sums[MOST];
    const int64_t count = expected_sums(k, sums);
    set_integers(session, k);
    EXPECT_OK(tsr_session_run(session));
    elements got = get_output(session, name);
    assert_int_equal(got.count, count);
    for (int64_t i = 0; i < count; i++) {
        const double expected = (double)sums[i] * factor;
        if (!(fabs((double)got.values[i] - expected) <= error * fabs(expected)))
            fail_msg("%s, seed %u: element %lld is %.9g instead of %.9g", name, k->seed,
                     (long long)i, (double)got.values[i], expected);
    }
    free(got.values);
}

static void run_sums(const integer_case *k, backend_limits limits, const tsr_session_desc *desc,
                     const char *after, const char *name, double factor, double error) {
    tsr_model *model = model_of(k, after);
    tsr_session *session = make_session(gpu_device(limits), model, desc);
    expect_sums(session, k, name, factor, error);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* No bit is lost, whatever the storage; where passes write 16 bits only the CPU runs it. */
static void test_exact(void **state) {
    (void)state;
    need_gpu();
    static const tsr_precision precisions[] = {TSR_PRECISION_FP32, TSR_PRECISION_FP16};
    for (uint32_t seed = 0; seed < (uint32_t)some_cases(24); seed++) {
        const integer_case k = draw_case(seed);
        const tsr_session_desc desc = {.precision = precisions[seed % 2],
                                       .poison = true,
                                       .allow_cpu_fallback = gpu_is_half_only()};
        run_sums(&k, (backend_limits){.max_texture_size = 0}, &desc, "", "y", 1, 0);
    }
}

/* By every set of kernels. */
static void test_kernels(void **state) {
    (void)state;
    need_gpu();
    static const char *const kernels[] = {"plain", "direct", "shared", "blocks", "small"};
    integer_case k = large_conv(1);
    k.c = 28;
    k.m = 8;
    k.in[1] = 12;
    k.in[2] = 11;
    for (int i = 0; i < 5; i++)
        for (int half = 0; half < 2; half++) {
            const tsr_session_desc desc = {.precision =
                                               half ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32,
                                           .allow_cpu_fallback = gpu_is_half_only()};
            run_sums(&k, (backend_limits){.kernels = kernels[i]}, &desc, "", "y", 1, 0);
        }
}

/* Of floats Winograd's algorithm would be the fastest, whose transforms round. */
static void test_transforms(void **state) {
    (void)state;
    need_gpu();
    if (!gpu_has_textures())
        skip();
    integer_case k = large_conv(1);
    k.large = 27;
    k.n = 2;
    k.c = k.m = 260;
    k.in[1] = 7;
    k.in[2] = 8;
    const tsr_session_desc desc = {.allow_cpu_fallback = gpu_is_half_only()};
    run_sums(&k, (backend_limits){.kernels = "blocks"}, &desc, "", "y", 1, 0);
}

/* Beyond 2^24 as floats: each of two parts is exact, so that only the last sum is rounded. */
static void test_split(void **state) {
    (void)state;
    need_gpu();
    const integer_case cases[] = {large_product(), large_conv(1), large_conv(2)};
    const tsr_session_desc full = {.precision = TSR_PRECISION_FP32},
                           half = {.precision = TSR_PRECISION_FP16};
    if (gpu_is_half_only())
        skip();
    for (int i = 0; i < 3; i++) {
        run_sums(&cases[i], (backend_limits){.max_texture_size = 0}, &full, "; Cast y -> f to=1",
                 "f", 1, 0x1p-23);
        run_sums(&cases[i], (backend_limits){.max_texture_size = 0}, &half, "; Cast y -> f to=1",
                 "f", 1, 0x1p-23);
        run_sums(&cases[i], (backend_limits){.max_texture_size = 0}, &half,
                 "; Cast y -> f to=1; Mul f k<0.00001 -> z", "z", 1e-5f, 0x1p-10);
    }
}

/* Of two inputs, the bound is that of the length. */
static void test_split_computed(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        skip();
    tsr_model *model = make_model("MatMulInteger x:uint8[2,3,517] w:uint8[517,5] -> y; "
                                  "Cast y -> f to=1");
    tsr_session *session =
        make_session(gpu_device((backend_limits){.max_texture_size = 0}), model, NULL);
    static float x[2 * 3 * 517], w[517 * 5];
    for (int i = 0; i < 2 * 3 * 517; i++)
        x[i] = (float)(255 - i % 2);
    for (int i = 0; i < 517 * 5; i++)
        w[i] = (float)(255 - i % 7);
    EXPECT_OK(tsr_session_set_input(session, "x", x, sizeof x / sizeof *x));
    EXPECT_OK(tsr_session_set_input(session, "w", w, sizeof w / sizeof *w));
    EXPECT_OK(tsr_session_run(session));
    elements got = get_output(session, "f");
    assert_int_equal(got.count, 30);
    for (int row = 0; row < 6; row++)
        for (int j = 0; j < 5; j++) {
            int64_t sum = 0;
            for (int k = 0; k < 517; k++)
                sum += (int64_t)x[row * 517 + k] * (int64_t)w[k * 5 + j];
            assert_true(sum > 1 << 24);
            assert_true(fabs((double)got.values[row * 5 + j] - (double)sum) <=
                        0x1p-23 * (double)sum);
        }
    free(got.values);
    tsr_session_destroy(session);
    tsr_model_free(model);
}

/* 255 times the largest sum of a column of the right matrix. */
static int64_t bound_of(const integer_case *k) {
    int64_t largest = 0;
    for (int j = 0; j < k->columns; j++) {
        int64_t sum = 0;
        for (int i = 0; i < k->inner; i++)
            sum += difference(k, 1, i * k->columns + j, j);
        largest = sum > largest ? sum : largest;
    }
    return 255 * largest;
}

/* Beyond 2^24 as integers: on the CPU, or not at all. */
static void test_refused(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        skip();
    static const char *const afters[] = {"!", "!; Cast y -> f to=1", "; Cast y -> f to=7"};
    const integer_case k = large_product();
    case_text why = {""};
    text_add(
        &why,
        "node 'MatMulInteger1' (MatMul): as MatMulInteger its sums may reach %lld, a GPU holds "
        "integers exactly up to 16777216",
        (long long)bound_of(&k));
    tsr_device *device = gpu_device((backend_limits){.max_texture_size = 0});
    for (int i = 0; i < 3; i++) {
        tsr_model *model = model_of(&k, afters[i]);
        tsr_session *session = NULL;
        expect_failure(tsr_session_create(device, model, NULL, &session), TSR_ERROR_UNSUPPORTED,
                       why.text);
        const tsr_session_desc desc = {.allow_cpu_fallback = true};
        session = make_session(device, model, &desc);
        assert_true(nodes_on(session, "cpu") > 0);
        expect_sums(session, &k, i == 0 ? "y" : "f", 1, 0x1p-24);
        tsr_session_destroy(session);
        tsr_model_free(model);
    }
}

/* One channel alone passes 2^24: it cannot be split. */
static void test_unsplittable(void **state) {
    (void)state;
    need_gpu();
    if (gpu_is_half_only())
        skip();
    integer_case k = large_conv(1);
    k.c = 1;
    k.in[1] = k.in[2] = k.kernel[1] = k.kernel[2] = 17;
    tsr_model *model = model_of(&k, "; Cast y -> f to=1");
    tsr_session *session = NULL;
    expect_failure(tsr_session_create(gpu_device((backend_limits){.max_texture_size = 0}), model,
                                      NULL, &session),
                   TSR_ERROR_UNSUPPORTED, "as ConvInteger its sums may reach");
    tsr_model_free(model);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_kernels),   cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_split),     cmocka_unit_test(test_split_computed),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_unsplittable),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
