/* llvmpipe compiles a session's programs when it is prepared, not in a run: files of Mesa's cache
 * on disk tell what it compiles. */
#define _GNU_SOURCE /* sched_getaffinity, nftw */

#include "support/backends.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/sessions.h"

#include <ftw.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* Kernels with tables and without, of several sources, of textures of all kinds of sides; tensors
 * in two storages, several outputs of a node. */
static const char *const nets[] = {
    MIXED_NET,
    "Conv x[1,3,16,16] w{8,3,4,4} -> a strides=2,2 pads=1,1,1,1; Conv a v{8,8,4,4} -> b "
    "strides=2,2 pads=1,1,1,1; ConvTranspose b u{8,8,4,4} -> c strides=2,2 pads=1,1,1,1; "
    "Concat c a -> d axis=1; ConvTranspose d t{16,3,4,4} -> e strides=2,2 pads=1,1,1,1; Tanh e -> "
    "y",
    "Conv x[2,20,17,9] w{37,20,3,3} -> a; Conv a v{6,37,1,1} -> b; Softmax b -> c axis=1; "
    "MaxPool c -> d kernel_shape=3,2; Resize d _ s<1,1,0.4,5> -> e mode=linear; Add e e -> f; "
    "ReduceMean f -> y axes=3,",
    "Conv x[1,8,12,10] w{16,1,3,3} -> a group=8; Conv a v{24,16,1,1} -> b; Split b s(12,12) -> c d "
    "axis=1; Mul c d -> e; Transpose e -> f perm=0,2,3,1; MatMul f m{12,5} -> g; Relu g -> y"};

/* In 16 bits: one text reads tensors of 16 bits and a constant of 32. */
static const char half_net[] = "MatMul x[1,8,9,9] z[1,8,9,9] -> a; MatMul a c{1,8,9,9} -> b; "
                               "Resize b _ s<1,1,2,2> -> y";

/* ---- Mesa's cache ---------------------------------------------------------------------------- */

/* Of the temporary folder, which holds nothing else. */
static int file_count;

static int count_file(const char *path, const struct stat *s, int type, struct FTW *at) {
    (void)at;
    const size_t length = strlen(path);
    const bool unfinished = length > 4 && !strcmp(path + length - 4, ".tmp");
    file_count += type == FTW_F && s->st_size > 0 && !unfinished;
    return 0;
}

static int count_files(void) {
    file_count = 0;
    nftw(cache_folder, count_file, 8, FTW_PHYS);
    return file_count;
}

/* Mesa writes on a thread of its own: until nothing has come for a while. */
static int settled_files(void) {
    int count = -1, next = count_files();
    while (next != count) {
        count = next;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        next = count_files();
    }
    return count;
}

/* Mesa reads the variables when the first device is made. Programs of Tessera's cache are not
 * compiled by threads. */
static int set_up(void **state) {
    set_up_cache_folder(state);
    setenv("TSR_CACHE", "off", 1);
    unsetenv("MESA_SHADER_DUMP_PATH");
    unsetenv("MESA_SHADER_CACHE_DISABLE");
    return setenv("MESA_SHADER_CACHE_DIR", cache_folder, 1);
}

static int tear_down(void **state) {
    return tear_down_cache_folder(state) || close_backends(state);
}

/* Skips the test elsewhere. */
static tsr_device *need_llvmpipe(void) {
    need_backend("gles");
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "gles"});
    tsr_device_info info;
    tsr_device_get_info(device, &info);
    cpu_set_t set;
    const bool threads = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
    if (strstr(info.name, "llvmpipe") && threads)
        return device;
    tsr_device_destroy(device);
    print_message("no llvmpipe with two processors\n");
    skip();
    return NULL;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void run(tsr_session *session, const tsr_model *model, unsigned seed, double tolerance) {
    set_inputs(session, seed);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", seed, tolerance);
}

/* `later`: how many programs the run may compile. */
static void check_net(const char *net, const tsr_session_desc *desc, int later) {
    tsr_device *device = need_llvmpipe();
    tsr_model *model = make_model(net);
    tsr_session *session = make_session(device, model, desc);
    const double tolerance =
        desc->precision == TSR_PRECISION_FP16 ? HALF_CHAIN_TOLERANCE : SUM_TOLERANCE;
    tsr_status status;
    while ((status = tsr_session_prepare(session, 5)) == TSR_NOT_READY)
        ;
    EXPECT_OK(status);
    const int prepared = settled_files();
    assert_true(prepared > 0);
    run(session, model, 1, tolerance);
    const int added = settled_files() - prepared;
    if (added < 0 || added > later)
        fail_msg("%s: the run compiled %d programs", net, added);
    run(session, model, 2, tolerance);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

static void test_whole(void **state) {
    (void)state;
    const tsr_session_desc desc = {.tune_ms = -1, .poison = true};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        check_net(nets[i], &desc, 0);
}

static void test_half(void **state) {
    (void)state;
    const tsr_session_desc desc = {.tune_ms = -1, .precision = TSR_PRECISION_FP16, .poison = true};
    check_net(half_net, &desc, 0);
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        check_net(nets[i], &desc, 0);
}

/* In steps the threads compile all passes; what converts x and y is left to the run. */
static void test_in_steps(void **state) {
    (void)state;
    const tsr_session_desc desc = {.tune_ms = -1, .prepare_in_steps = true, .poison = true};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        check_net(nets[i], &desc, 2);
}

static bool refuse(void *user, const char *what, double fraction) {
    int *left = user;
    (void)what, (void)fraction;
    return (*left)-- > 0;
}

/* Cancelled after every number of reports, while threads compile. */
static void test_cancelled(void **state) {
    (void)state;
    tsr_device *device = need_llvmpipe();
    tsr_model *model = make_model(nets[1]);
    tsr_session *session = NULL;
    for (int reports = 0; !session; reports++) {
        int left = reports;
        const tsr_session_desc desc = {.tune_ms = -1, .progress = {refuse, &left}};
        tsr_status status = tsr_session_create(device, model, &desc, &session);
        if (status != TSR_OK)
            expect_failure(status, TSR_ERROR_CANCELLED, "net.onnx: cancelled while ");
    }
    run(session, model, 1, SUM_TOLERANCE);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

/* Destroyed after every number of steps, while threads compile. */
static void test_destroyed(void **state) {
    (void)state;
    tsr_device *device = need_llvmpipe();
    tsr_model *model = make_model(nets[2]);
    tsr_status status = TSR_NOT_READY;
    for (int n = 1; status == TSR_NOT_READY; n += 1 + n / 4) {
        const tsr_session_desc desc = {.tune_ms = -1, .prepare_in_steps = true};
        tsr_session *session = make_session(device, model, &desc);
        for (int i = 0; i < n && (status = tsr_session_prepare(session, 0)) == TSR_NOT_READY; i++)
            ;
        tsr_session_destroy(session);
    }
    EXPECT_OK(status);
    tsr_model_free(model);
    tsr_device_destroy(device);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),     cmocka_unit_test(test_half),
        cmocka_unit_test(test_in_steps),  cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_destroyed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
