/* How much memory loading takes: of a process of its own that makes a session, less what the same
 * takes for a small model, which is the driver's. */
#define _DEFAULT_SOURCE /* setenv, wait4 */

#include "support/backends.h"
#include "support/main.h"
#include "support/memory.h"
#include "support/sessions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SKIPS = 77 };

/* Weights of about 100 MB, and of less than 1. */
#define LARGE TSR_BUILD_DIR "/loading-large.onnx"
#define SMALL TSR_BUILD_DIR "/loading-small.onnx"

static void make(const char *path, int channels) {
    char command[1024];
    snprintf(command, sizeof command,
             TSR_BUILD_DIR "/make_models pix2pix --ngf %d --norm batch -o %s", channels, path);
    assert_int_equal(system(command), 0);
}

/* The program once more is the child where these say what it loads. */
#define CHILD_BACKEND "TEST_LOADING_BACKEND"
#define CHILD_PATH "TEST_LOADING_PATH"

static int prepare(const char *backend, const char *path) {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
    if (tsr_device_create(&(tsr_device_desc){.backend = backend}, &device) != TSR_OK)
        return CHILD_SKIPS;
    return tsr_model_load(path, NULL, &model) == TSR_OK &&
                   tsr_session_create(device, model, NULL, &session) == TSR_OK
               ? 0
               : 1;
}

/* Bytes that were resident at most; skips the test where there is no device. */
static double peak_bytes(const char *backend, const char *path) {
    pid_t child = fork();
    if (child == 0) {
        setenv(CHILD_BACKEND, backend, 1);
        setenv(CHILD_PATH, path, 1);
        execl("/proc/self/exe", "child", (char *)NULL);
        _exit(127);
    }
    int status = -1;
    struct rusage use;
    assert_int_equal(wait4(child, &status, 0, &use), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPS)
        skip();
    assert_int_equal(status, 0);
    return (double)use.ru_maxrss * 1024;
}

static double file_bytes(const char *path) {
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (double)info.st_size;
}

/* What drivers keep beside differs by some MiB from run to run. */
enum { TRIES = 3 };

static void expect_bound(const char *backend) {
    if (allocator_keeps_all())
        skip();
    make(LARGE, 44);
    make(SMALL, 4);
    double file = file_bytes(LARGE) - file_bytes(SMALL), ratio = INFINITY;
    for (int i = 0; i < TRIES && !(ratio > 0 && ratio <= 1.3); i++) {
        ratio = (peak_bytes(backend, LARGE) - peak_bytes(backend, SMALL)) / file;
        print_message("%s: %.2f x the file\n", backend, ratio);
    }
    assert_true(ratio > 0 && ratio <= 1.3);
    unlink(LARGE);
    unlink(SMALL);
}

static void test_cpu(void **state) {
    (void)state;
    expect_bound("cpu");
}

/* On a driver in software textures count too. */
static void test_gles(void **state) {
    (void)state;
    need_backend("gles");
    expect_bound("gles");
}

int run_program(void) {
    if (getenv(CHILD_PATH))
        return prepare(getenv(CHILD_BACKEND), getenv(CHILD_PATH));
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_gles)};
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
