/* Algorithms chosen by measuring: once for each kind of layer, kept by the device and on disk,
 * never at the cost of a result. */
#define _POSIX_C_SOURCE 200809L

#include "algorithm/algorithm.h"
#include "api/device.h"
#include "support/backends.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/sessions.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two equal convolutions, with different post-ops; sums so long that some algorithms cut them. */
#define NET                                                                                        \
    "Conv x[1,32,9,14] w{32,32,3,3} b{32} -> a pads=1,1,1,1; Relu a -> r; "                        \
    "Conv r v{32,32,3,3} c{32} -> s pads=1,1,1,1; ConvTranspose s u{32,20,4,4} -> t strides=2,2 "  \
    "pads=1,1,1,1; MatMul t k{28,11} -> y"
enum { KINDS_OF_LAYERS = 3, LONG = 600000 };
/* Each is on disk twice: for its size, and for other sizes. */
enum { ENTRIES = 2 * KINDS_OF_LAYERS };

/* Small ones, which differ in attributes alone. */
#define TWO_LAYERS                                                                                 \
    "Conv x[1,4,9,9] w{4,4,3,3} -> a pads=1,1,1,1; "                                               \
    "Conv a v{4,4,3,3} -> y pads=2,2,2,2 dilations=2,2"

static const tsr_session_desc measured = {.tune_ms = LONG}, as_by_default = {0},
                              planned = {.tune_ms = LONG, .plan_only = true},
                              never = {.tune_ms = -1};

static tsr_device *open_device(const char *kernels) {
    return make_device(&(tsr_device_desc){.backend = gpu_backend(), .kernels = kernels});
}

/* What the session's nodes run, in one line. */
typedef struct outcome {
    int tuned;
    char kernels[512];
} outcome;

static outcome run_text(tsr_device *device, const char *text, const tsr_session_desc *desc) {
    tsr_model *model = make_model(text);
    tsr_session *session = make_session(device, model, desc);
    if (!desc->plan_only) {
        set_inputs(session, 1);
        EXPECT_OK(tsr_session_run(session));
        expect_output(session, model, "y", 1,
                      desc->precision == TSR_PRECISION_FP16 ? HALF_TOLERANCE : SUM_TOLERANCE);
    }
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    outcome o = {.tuned = report.tuned_layers};
    for (int i = 0; i < report.node_count; i++) {
        tsr_node_report node;
        EXPECT_OK(tsr_session_node_report(session, i, &node));
        size_t used = strlen(o.kernels);
        snprintf(o.kernels + used, sizeof o.kernels - used, "%s %d; ", node.kernel, node.passes);
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
    return o;
}

static outcome run_net(tsr_device *device, const tsr_session_desc *desc) {
    return run_text(device, NET, desc);
}

static outcome run_anew(const tsr_session_desc *desc) {
    tsr_device *device = open_device(NULL);
    outcome o = run_net(device, desc);
    tsr_device_destroy(device);
    return o;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Compiled programs lie there too, and are larger. */
static bool is_choice(const char *path) {
    size_t size;
    free(read_bytes(path, &size));
    return size < 512;
}

static void count_choice(const char *path, void *count) {
    *(int *)count += is_choice(path);
}

static void remove_choice(const char *path, void *user) {
    (void)user;
    if (is_choice(path))
        assert_int_equal(unlink(path), 0);
}

typedef struct names {
    int count, next, entries;
    const char *list[16];
} names;

/* The candidates of the net's first layer. */
static names algorithms_here(void) {
    names n = {0};
    tsr_device *device = open_device(NULL);
    tsr_model *model = make_model(NET);
    tsr_session *session = make_session(device, model, &planned);
    tsr_node_report node;
    EXPECT_OK(tsr_session_node_report(session, 0, &node));
    assert_in_range(node.candidates, 2, 16);
    for (; n.count < node.candidates; n.count++) {
        tsr_candidate_report candidate;
        EXPECT_OK(tsr_session_candidate_report(session, 0, n.count, &candidate));
        n.list[n.count] = candidate.algorithm;
    }
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return n;
}

/* Each choice becomes the next of the names; "cut off" is none, but what happens to it. */
static void choose_next(const char *path, void *user) {
    names *n = user;
    if (!is_choice(path))
        return;
    const char *name = n->list[n->next++ % n->count];
    char text[64];
    replace_entry(path, text, (size_t)snprintf(text, sizeof text, "%s 1", name));
    if (strcmp(name, "cut off") == 0)
        assert_int_equal(truncate(path, 35), 0);
    n->entries++;
}

static void rewrite_choices(names n) {
    each_entry(cache_folder, choose_next, &n);
    assert_int_equal(n.entries, ENTRIES);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_measured_once(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = open_device(NULL);
    assert_int_equal(run_net(device, &planned).tuned, 0);
    const outcome first = run_net(device, &measured);
    assert_int_equal(first.tuned, KINDS_OF_LAYERS);
    const outcome later[] = {run_net(device, &measured), run_net(device, &planned),
                             run_anew(&as_by_default), run_anew(&planned)};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(later[i].tuned, 0);
        assert_string_equal(later[i].kernels, first.kernels);
    }
    tsr_device_destroy(device);
}

/* Layers that differ in attributes alone, in what they are stored in or in their device's limits.
 */
static void test_kinds(void **state) {
    (void)state;
    need_gpu();
    const tsr_session_desc half = {.tune_ms = LONG, .precision = TSR_PRECISION_FP16};
    tsr_device *device = open_device(NULL);
    assert_int_equal(run_text(device, TWO_LAYERS, &measured).tuned, 2);
    assert_int_equal(run_text(device, TWO_LAYERS, &half).tuned, 2);
    assert_int_equal(run_text(device, TWO_LAYERS, &measured).tuned, 0);
    tsr_device_destroy(device);
    device = make_device(&(tsr_device_desc){.backend = gpu_backend(),
                                            .gles.max_uniform_block_bytes = 2048,
                                            .webgpu.max_buffer_bytes = 1 << 24});
    assert_int_equal(run_text(device, TWO_LAYERS, &measured).tuned, 2);
    tsr_device_destroy(device);
}

/* By default, a layer measured with another batch or image size is not measured again. */
static void test_other_sizes(void **state) {
    (void)state;
    need_gpu();
#define LAYER(shape) "Conv x[" shape "] w{8,8,3,3} -> y pads=1,1,1,1"
    tsr_device *device = open_device(NULL);
    assert_int_equal(run_text(device, LAYER("1,8,12,12"), &measured).tuned, 1);
    assert_int_equal(run_text(device, LAYER("2,8,20,17"), &as_by_default).tuned, 0);
    assert_int_equal(run_text(device, LAYER("2,8,20,17"), &measured).tuned, 1);
    tsr_device_destroy(device);
    device = open_device(NULL);
    assert_int_equal(run_text(device, LAYER("1,8,30,30"), &as_by_default).tuned, 0);
    assert_int_equal(run_text(device, LAYER("1,8,30,30"), &measured).tuned, 1);
    tsr_device_destroy(device);
#undef LAYER
}

/* A choice for one size that cannot be lowered for another: llvmpipe would stop its loops. */
static void test_unfit_choice(void **state) {
    (void)state;
    need_gpu();
#define SUMS(size) "Conv x[1,2048," size "] w{4,2048,3,3} -> y pads=1,1,1,1"
    names any = {.count = 1, .list = {"conv_any"}};
    tsr_device *device = open_device(NULL);
    run_text(device, SUMS("2,2"), &measured);
    tsr_device_destroy(device);
    each_entry(cache_folder, choose_next, &any);
    assert_true(any.entries > 0);
    device = open_device(NULL);
    assert_int_equal(run_text(device, SUMS("9,32"), &as_by_default).tuned, 0);
    tsr_device_destroy(device);
#undef SUMS
}

/* What tessera info --kernels prints. */
static void test_reports(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = open_device(NULL);
    tsr_model *model = make_model(NET);
    tsr_session *session = make_session(device, model, &measured);
    tsr_node_report node;
    tsr_candidate_report candidate;
    EXPECT_OK(tsr_session_node_report(session, 0, &node));
    int chosen = 0, timed = 0;
    double best = 0, least = 0;
    for (int i = 0; i < node.candidates; i++) {
        EXPECT_OK(tsr_session_candidate_report(session, 0, i, &candidate));
        assert_true(candidate.estimate >= 1 && candidate.live_texels > 0);
        chosen += candidate.chosen;
        timed += candidate.ms > 0;
        best = candidate.chosen ? candidate.ms : best;
        least = candidate.ms > 0 && (least == 0 || candidate.ms < least) ? candidate.ms : least;
    }
    assert_int_equal(chosen, 1);
    assert_true(timed >= 2);
    assert_true(best * 0.94 <= least); /* the default wins unless another is clearly faster */
    assert_int_equal(tsr_session_candidate_report(session, 0, node.candidates, &candidate),
                     TSR_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tsr_session_candidate_report(session, 0, -1, &candidate),
                     TSR_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tsr_session_candidate_report(session, 0, 0, NULL), TSR_ERROR_INVALID_ARGUMENT);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void test_without_a_folder(void **state) {
    (void)state;
    need_gpu();
    setenv("TSR_CACHE", "off", 1);
    tsr_device *device = open_device(NULL);
    assert_int_equal(run_net(device, &measured).tuned, KINDS_OF_LAYERS);
    assert_int_equal(run_net(device, &measured).tuned, 0);
    tsr_device_destroy(device);
    assert_int_equal(each_entry(cache_folder, NULL, NULL), 0);
}

static void test_not_asked_for(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = open_device(NULL);
    assert_int_equal(run_net(device, &never).tuned, 0);
    assert_int_equal(run_net(device, &as_by_default).tuned, 0);
    tsr_device_destroy(device);
    device = open_device("shared");
    assert_int_equal(run_net(device, &measured).tuned, 0);
    tsr_device_destroy(device);
    device = make_device(&(tsr_device_desc){.backend = "cpu"});
    assert_int_equal(run_net(device, &measured).tuned, 0);
    tsr_device_destroy(device);
}

static void test_little_time(void **state) {
    (void)state;
    need_gpu();
    assert_in_range(run_anew(&(tsr_session_desc){.tune_ms = 1}).tuned, 0, KINDS_OF_LAYERS);
}

/* Each algorithm for all layers that it applies to, then in turns: what is on disk is what runs,
 * unless it is not to be looked at or makes no sense. */
static void test_every_choice(void **state) {
    (void)state;
    need_gpu();
    const tsr_session_desc own = {.tune_ms = -1, .plan_only = true};
    const outcome static_choice = run_anew(&own);
    run_anew(&measured);
    const names kinds = algorithms_here();
    int others = 0;
    for (int i = 0; i < kinds.count; i++) {
        rewrite_choices((names){.count = 1, .list = {kinds.list[i]}});
        const outcome o = run_anew(&as_by_default);
        assert_int_equal(o.tuned, 0);
        others += strcmp(o.kernels, static_choice.kernels) != 0;
        assert_string_equal(run_anew(&own).kernels, static_choice.kernels);
    }
    assert_true(others > 0);
    rewrite_choices(kinds);
    assert_int_equal(run_anew(&as_by_default).tuned, 0);
    rewrite_choices((names){.count = 2, .list = {"unheard-of", "cut off"}});
    assert_int_equal(run_anew(&measured).tuned, KINDS_OF_LAYERS);
    assert_int_equal(run_anew(&measured).tuned, 0);
}

/* No algorithm computes it: none is the best, and no reason to fail. */
static void test_no_candidate(void **state) {
    (void)state;
    need_gpu();
    tsr_device *device = open_device(NULL);
    tsr_model *model =
        make_model("Pad x[1,2,5,5] p(0,1,0,0,0,0,0,0) k[] -> y"); /* a value that is not constant */
    const tsr_session_desc desc = {.tune_ms = LONG, .allow_cpu_fallback = true};
    tsr_session *session = make_session(device, model, &desc);
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, SUM_TOLERANCE);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    assert_int_equal(report.tuned_layers, 0);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* What fails, and how, on the device of choices_after(). */
static struct {
    const tsr_backend *backend; /* that the device really has */
    tsr_status status;
    const char *algorithm; /* no runner is made for it alone; NULL: for all */
    int submits;           /* that work before one fails; -1: all do */
} failing;

static tsr_status failing_create(tsr_backend_device *device, const tsr_graph *graph,
                                 const tsr_runner_options *options, tsr_runner **runner) {
    if (failing.algorithm && graph->node_count == 1 && options->choices &&
        strcmp(options->choices[0].algorithm, failing.algorithm) == 0)
        return tsr_fail(failing.status, "no runner is to be made");
    return failing.backend->runner_create(device, graph, options, runner);
}

static tsr_status failing_submit(tsr_runner *runner) {
    if (failing.submits >= 0 && failing.submits-- == 0)
        return tsr_fail(failing.status, "no run is to be submitted");
    return failing.backend->submit(runner);
}

/* How many choices for two layers are on disk once an algorithm has failed so. */
static int choices_after(tsr_status status, const char *algorithm, int submits) {
    tsr_device *device = open_device(NULL);
    failing.backend = device->backend;
    failing.status = status;
    failing.algorithm = algorithm;
    failing.submits = submits;
    tsr_backend backend = *device->backend;
    backend.runner_create = failing_create;
    backend.submit = failing_submit;
    device->backend = &backend;
    assert_int_equal(run_text(device, TWO_LAYERS, &measured).tuned, 2);
    assert_int_equal(run_text(device, TWO_LAYERS, &measured).tuned, 0);
    device->backend = failing.backend;
    tsr_device_destroy(device);
    int count = 0;
    each_entry(cache_folder, count_choice, &count);
    each_entry(cache_folder, remove_choice, NULL);
    return count;
}

/* A want of memory may pass: what was chosen meanwhile is not kept. */
static void test_failures(void **state) {
    (void)state;
    need_gpu();
    const names kinds = algorithms_here();
    assert_int_equal(choices_after(TSR_ERROR_OUT_OF_MEMORY, kinds.list[0], -1), 0);
    assert_int_equal(choices_after(TSR_ERROR_UNSUPPORTED, kinds.list[0], -1), 4);
    assert_int_equal(choices_after(TSR_ERROR_OUT_OF_MEMORY, NULL, 1), 2);
    assert_int_equal(choices_after(TSR_ERROR_DEVICE, NULL, 1), 4);
}

int run_program(void) {
    /* Mesa's own cache would land in folders that are gone before its threads are done. */
    setenv("MESA_SHADER_CACHE_DIR", TSR_BUILD_DIR, 0);
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, set_up_cache_folder, tear_down_cache_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_measured_once), TEST(test_kinds),        TEST(test_without_a_folder),
        TEST(test_other_sizes),   TEST(test_unfit_choice), TEST(test_reports),
        TEST(test_not_asked_for), TEST(test_little_time),  TEST(test_every_choice),
        TEST(test_no_candidate),  TEST(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
