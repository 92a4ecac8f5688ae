#include "support/backends.h"

#include "graph/graph.h"
#include "support/main.h"
#include "support/onnx_case.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEVICES = 24, MAX_TENSORS = 96, MAX_OPS = 512, MAX_NAMES = 16, MAX_TEXT = 256 };

/* ---- devices ---- */

static struct {
    const char *backend;
    backend_limits limits;
    tsr_device *device;
} devices[MAX_DEVICES];
static int device_count;
static const char *under_test;

static bool same_limits(const backend_limits *a, const backend_limits *b) {
    return a->max_texture_size == b->max_texture_size &&
           a->max_draw_buffers == b->max_draw_buffers &&
           a->max_uniform_block_bytes == b->max_uniform_block_bytes &&
           a->no_float_targets == b->no_float_targets &&
           !strcmp(a->kernels ? a->kernels : "", b->kernels ? b->kernels : "");
}

/* NULL with a message in tsr_last_error(). */
static tsr_device *device_of(const char *backend, backend_limits limits) {
    for (int i = 0; i < device_count; i++)
        if (strcmp(devices[i].backend, backend) == 0 && same_limits(&devices[i].limits, &limits))
            return devices[i].device;
    assert_true(device_count < MAX_DEVICES);
    tsr_device *device;
    if (tsr_device_create(
            &(tsr_device_desc){.backend = backend,
                               .gles.max_texture_size = limits.max_texture_size,
                               .gles.max_draw_buffers = limits.max_draw_buffers,
                               .gles.max_uniform_block_bytes = limits.max_uniform_block_bytes,
                               .gles.no_float_targets = limits.no_float_targets,
                               .kernels = limits.kernels},
            &device) != TSR_OK)
        return NULL;
    devices[device_count].backend = backend;
    devices[device_count].limits = limits;
    devices[device_count++].device = device;
    return device;
}

const char *gpu_backend(void) {
    if (!under_test)
        under_test = getenv("TSR_TEST_BACKEND");
    return under_test ? under_test : "gles";
}

tsr_device *gpu_device(backend_limits limits) {
    return device_of(gpu_backend(), limits);
}

bool gpu_is_half_only(void) {
    tsr_device_info info;
    assert_int_equal(tsr_device_get_info(gpu_device((backend_limits){0}), &info), TSR_OK);
    return info.half_only;
}

bool gpu_has_textures(void) {
    tsr_device_info info;
    assert_int_equal(tsr_device_get_info(gpu_device((backend_limits){0}), &info), TSR_OK);
    return info.max_texture_size > 0;
}

case_environments environments_or_buffers(const backend_case *textures, int count) {
    static const backend_case buffers[] = {
        {.limits.kernels = NULL},
        {.limits.kernels = "shared", .keep_tensors = true},
        {.precision = TSR_PRECISION_FP16},
    };
    return gpu_has_textures() ? (case_environments){count, textures}
                              : (case_environments){3, buffers};
}

bool runs_in(size_t i, int e, int count) {
    return !few_cases() || (size_t)e == i % (size_t)count;
}

void lacking(const char *what) {
    const char *required = getenv("TSR_REQUIRE_DRIVER");
    if (required && strcmp(required, "1") == 0)
        fail_msg("TSR_REQUIRE_DRIVER=1, but: %s: %s", gpu_backend(), what);
    print_message("%s: %s\n", gpu_backend(), what);
    skip();
}

void need_gpu(void) {
    if (!gpu_device((backend_limits){0}))
        lacking(tsr_last_error());
}

void need_backend(const char *name) {
    under_test = name;
    need_gpu();
}

int close_backends(void **state) {
    (void)state;
    while (device_count > 0)
        tsr_device_destroy(devices[--device_count].device);
    return 0;
}

/* ---- numbers ---- */

static int case_count, failed_count;

int next_case(void) {
    return case_count;
}

bool is_replay(void) {
    return getenv("TSR_CASE") != NULL;
}

void expect_no_failed_case(void) {
    int failed = failed_count;
    failed_count = case_count = 0;
    if (failed)
        fail_msg("%d cases failed; TSR_CASE=N runs case N of the test alone", failed);
}

static void print_failure(const backend_case *c, int number, const char *why) {
    failed_count++;
    print_error("TSR_TEST_BACKEND=%s TSR_CASE=%d opset %d, %s%s", gpu_backend(), number, c->opset,
                c->precision == TSR_PRECISION_FP16 ? "fp16" : "fp32",
                c->keep_tensors ? ", kept" : "");
    if (gpu_has_textures())
        print_error(", max_texture_size %d, max_draw_buffers %d, max_uniform_block_bytes %d%s",
                    c->limits.max_texture_size, c->limits.max_draw_buffers,
                    c->limits.max_uniform_block_bytes,
                    c->limits.no_float_targets ? ", no float targets" : "");
    print_error(", kernels %s: %s", c->limits.kernels ? c->limits.kernels : "of the device",
                c->text);
    if (c->outputs)
        print_error(" | outputs %s", c->outputs);
    if (c->extra_outputs)
        print_error(" | extra outputs %s", c->extra_outputs);
    print_error(" | %s\n", why);
}

/* ---- operators ---- */

static const char *covered[MAX_OPS];
static int covered_count;

bool was_covered(const char *op) {
    for (int i = 0; i < covered_count; i++)
        if (strcmp(covered[i], op) == 0)
            return true;
    return false;
}

static void note_operators(const onnx_writer *writer) {
    static char names[MAX_OPS][32];
    const Tsr__GraphProto *graph = onnx_writer_model((onnx_writer *)writer)->graph;
    for (size_t n = 0; n < graph->n_node; n++)
        if (!was_covered(graph->node[n]->op_type)) {
            assert_true(covered_count < MAX_OPS);
            snprintf(names[covered_count], sizeof *names, "%s", graph->node[n]->op_type);
            covered[covered_count] = names[covered_count];
            covered_count++;
        }
}

/* ---- models ---- */

/* Names of a list, in a copy of it. */
typedef struct name_list {
    char text[MAX_TEXT];
    const char *names[MAX_NAMES];
    int count;
} name_list;

static void split_names(const char *text, name_list *list) {
    list->count = 0;
    snprintf(list->text, sizeof list->text, "%s", text ? text : "");
    for (char *name = strtok(list->text, ","); name; name = strtok(NULL, ",")) {
        assert_true(list->count < MAX_NAMES);
        list->names[list->count++] = name;
    }
}

typedef struct weights {
    random_source random;
    float mean;
} weights;

static float next_weight(void *user, const char *name, size_t i) {
    (void)name;
    (void)i;
    weights *w = user;
    return random_float(&w->random, w->mean, 1);
}

static onnx_writer *write_model(const backend_case *c, int number) {
    weights w = {random_from((uint32_t)number), c->weights_mean};
    onnx_writer *writer = onnx_case_filled(c->opset, c->text, next_weight, &w);
    name_list outputs;
    split_names(c->outputs, &outputs);
    for (int i = 0; i < outputs.count; i++)
        onnx_add_output(writer, outputs.names[i], TSR_DTYPE_F32, -1, NULL);
    return writer;
}

/* NULL if it is refused. */
static tsr_model *load_model(const onnx_writer *writer) {
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    assert_non_null(bytes);
    tsr_model *model;
    tsr_status status =
        tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = "case"}, &model);
    free(bytes);
    return status == TSR_OK ? model : NULL;
}

/* ---- runs ---- */

static tsr_status create_session(const backend_case *c, tsr_device *device, const tsr_model *model,
                                 tsr_session **session) {
    name_list extra;
    split_names(c->extra_outputs, &extra);
    const tsr_session_desc desc = {.precision = c->precision,
                                   .poison = true,
                                   .tune_ms = -1,
                                   .keep_tensors = c->keep_tensors,
                                   .extra_outputs = extra.names,
                                   .extra_output_count = extra.count};
    return tsr_session_create(device, model, &desc, session);
}

static float next_element(const backend_case *c, random_source *random) {
    if (c->nans && random_one_in(random, c->nans))
        return NAN;
    if (c->infinities && random_one_in(random, c->infinities))
        return random_one_in(random, 2) ? INFINITY : -INFINITY;
    return random_float(random, c->mean, c->range);
}

/* Of all values of the type, those at its edges often; of large types up to 2^24. */
static float next_integer(tsr_dtype dtype, random_source *random) {
    enum { MOST = 1 << 24 };
    int64_t all_high = tsr_dtype_high(dtype), all_low = tsr_dtype_low(dtype);
    int high = all_high > MOST ? MOST : (int)all_high, low = all_low < -MOST ? -MOST : (int)all_low;
    if (random_one_in(random, 4))
        return (float)(random_one_in(random, 2) ? low : high);
    return (float)random_int(random, low, high);
}

static tsr_status set_inputs(const backend_case *c, int number, tsr_session *session) {
    random_source random = random_from((uint32_t)number + 1000000);
    tsr_status status = TSR_OK;
    for (int i = 0; i < tsr_session_input_count(session) && status == TSR_OK; i++) {
        tsr_tensor_info info;
        assert_int_equal(tsr_session_input(session, i, &info), TSR_OK);
        size_t count = (size_t)tsr_shape_count(&info.shape);
        float *elements = malloc((count + 1) * sizeof *elements);
        assert_non_null(elements);
        for (size_t k = 0; k < count; k++)
            elements[k] = tsr_dtype_is_float(info.dtype) ? next_element(c, &random)
                                                         : next_integer(info.dtype, &random);
        status = tsr_session_set_input(session, info.name, elements, count);
        free(elements);
    }
    return status;
}

/* A session that has run; NULL with a message in tsr_last_error(). */
static tsr_session *run_on(const backend_case *c, int number, tsr_device *device,
                           const tsr_model *model, tsr_status *status) {
    tsr_session *session;
    *status = create_session(c, device, model, &session);
    if (*status != TSR_OK)
        return NULL;
    *status = set_inputs(c, number, session);
    if (*status == TSR_OK)
        *status = tsr_session_run(session);
    if (*status == TSR_OK)
        return session;
    tsr_session_destroy(session);
    return NULL;
}

/* ---- comparing ---- */

/* Index of the first element that is off, -1 if there is none. */
static int64_t find_difference(const float *got, const float *expected, int64_t count,
                               double tolerance, double *largest) {
    *largest = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(expected[i]))
            *largest = fmax(*largest, fabs((double)expected[i]));
    for (int64_t i = 0; i < count; i++) {
        bool same = got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i])) ||
                    fabs((double)got[i] - expected[i]) <= tolerance * (*largest + CANCELLED);
        if (!same)
            return i;
    }
    return -1;
}

/* Reads one tensor of both sessions. False: why tells the difference. */
static bool compare_tensor(const backend_case *c, tsr_session *cpu, tsr_session *gpu,
                           const char *name, tsr_dtype dtype, int64_t count, char *why) {
    float *expected = malloc(((size_t)count + 1) * sizeof *expected);
    float *got = malloc(((size_t)count + 1) * sizeof *got);
    assert_non_null(expected);
    assert_non_null(got);
    bool same = false;
    if (tsr_session_get_output(cpu, name, expected, (size_t)count) != TSR_OK ||
        tsr_session_get_output(gpu, name, got, (size_t)count) != TSR_OK) {
        snprintf(why, MAX_TEXT, "%s: %s", name, tsr_last_error());
    } else {
        double largest;
        int64_t i = find_difference(got, expected, count,
                                    tsr_dtype_is_float(dtype) ? c->tolerance : 0, &largest);
        same = i < 0;
        if (!same)
            snprintf(why, MAX_TEXT, "'%s'[%lld of %lld] is %.9g instead of %.9g, largest %.9g",
                     name, (long long)i, (long long)count, got[i], expected[i], largest);
    }
    free(expected);
    free(got);
    return same;
}

static bool compare_outputs(const backend_case *c, tsr_session *cpu, tsr_session *gpu, char *why) {
    int count = tsr_session_output_count(gpu);
    assert_int_equal(count, tsr_session_output_count(cpu));
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info, other;
        assert_int_equal(tsr_session_output(cpu, i, &info), TSR_OK);
        assert_int_equal(tsr_session_output(gpu, i, &other), TSR_OK);
        assert_string_equal(info.name, other.name);
        if (!tsr_shape_equal(&info.shape, &other.shape)) {
            snprintf(why, MAX_TEXT, "the shapes of '%s' differ", info.name);
            return false;
        }
        if (!compare_tensor(c, cpu, gpu, info.name, info.dtype, tsr_shape_count(&info.shape), why))
            return false;
    }
    return true;
}

/* What a node of the optimised graph writes is a tensor of the model too, unless its name has a
 * suffix. */
static bool compare_kept(const backend_case *c, tsr_session *cpu, tsr_session *gpu, char *why) {
    tsr_report report;
    assert_int_equal(tsr_session_report(gpu, &report), TSR_OK);
    for (int n = 0; n < report.node_count; n++) {
        tsr_node_report node;
        assert_int_equal(tsr_session_node_report(gpu, n, &node), TSR_OK);
        bool is_of_model = !strchr(node.output, '.');
        if (node.passes > 0 && is_of_model &&
            !compare_tensor(c, cpu, gpu, node.output, node.dtype, tsr_shape_count(&node.shape),
                            why))
            return false;
    }
    return true;
}

static void compare_sessions(const backend_case *c, int number, tsr_session *cpu,
                             tsr_session *gpu) {
    char why[MAX_TEXT];
    if (!compare_outputs(c, cpu, gpu, why) || (c->keep_tensors && !compare_kept(c, cpu, gpu, why)))
        print_failure(c, number, why);
}

/* ---- cases ---- */

static double least_tolerance(const backend_case *c) {
    bool half = c->precision == TSR_PRECISION_FP16,
         small = c->limits.kernels && !strcmp(c->limits.kernels, "small");
    if (small && (half || gpu_is_half_only()))
        return HALF_PRODUCTS_TOLERANCE;
    return half ? HALF_TOLERANCE : gpu_is_half_only() ? HALF_CHAIN_TOLERANCE : SUM_TOLERANCE;
}

static backend_case with_defaults(const backend_case *given) {
    backend_case c = *given;
    c.opset = c.opset ? c.opset : 13;
    c.range = c.range ? c.range : 1;
    double least = least_tolerance(&c);
    c.tolerance = c.tolerance > least ? c.tolerance : least;
    return c;
}

static bool is_wanted(int number) {
    const char *only = getenv("TSR_CASE");
    return !only || atoi(only) == number;
}

/* May the GPU have failed so? */
static bool is_allowed(const backend_case *c, tsr_status status) {
    if (status == TSR_ERROR_UNSUPPORTED && gpu_is_half_only() &&
        strstr(tsr_last_error(), "16-bit floats only"))
        return true;
    return status == c->refusal && (!c->reason || strstr(tsr_last_error(), c->reason));
}

/* True if both backends ran. */
static bool run_model(const backend_case *c, int number, const tsr_model *model) {
    tsr_device *cpu_device = device_of("cpu", (backend_limits){0});
    tsr_device *device = gpu_device(c->limits);
    assert_non_null(cpu_device);
    assert_non_null(device);
    tsr_status cpu_status, gpu_status = TSR_OK;
    tsr_session *cpu = run_on(c, number, cpu_device, model, &cpu_status);
    tsr_session *gpu = cpu ? run_on(c, number, device, model, &gpu_status) : NULL;
    if (gpu)
        compare_sessions(c, number, cpu, gpu);
    else if (!cpu || !is_allowed(c, gpu_status))
        print_failure(c, number, tsr_last_error());
    tsr_session_destroy(cpu);
    tsr_session_destroy(gpu);
    return gpu != NULL;
}

bool run_case(const backend_case *given) {
    const backend_case c = with_defaults(given);
    int number = case_count++;
    if (!is_wanted(number))
        return false;
    onnx_writer *writer = write_model(&c, number);
    tsr_model *model = load_model(writer);
    bool ran = false;
    if (model)
        ran = run_model(&c, number, model);
    else
        print_failure(&c, number, tsr_last_error());
    if (ran)
        note_operators(writer);
    onnx_writer_destroy(writer);
    tsr_model_free(model);
    return ran;
}
