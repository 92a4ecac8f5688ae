/* Programs on disk: a second device takes them from there, and whatever is wrong with them costs
 * time only. */
#define _POSIX_C_SOURCE 200809L

#include "support/backends.h"
#include "support/folder.h"
#include "support/main.h"
#include "support/sessions.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a model on a new device and checks its result. */
static tsr_report run_anew(void) {
    tsr_device *device = make_device(&(tsr_device_desc){.backend = "gles"});
    tsr_model *model = make_model(MIXED_NET);
    tsr_session *session = make_session(device, model, &(tsr_session_desc){.tune_ms = -1});
    set_inputs(session, 1);
    EXPECT_OK(tsr_session_run(session));
    expect_output(session, model, "y", 1, SUM_TOLERANCE);
    tsr_report report;
    EXPECT_OK(tsr_session_report(session, &report));
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return report;
}

/* Fills the folder; skips the test where the driver gives no programs away. */
static int fill_folder(void) {
    need_backend("gles");
    tsr_report report = run_anew();
    assert_int_equal(report.cached_programs, 0);
    if (each_entry(cache_folder, NULL, NULL) == 0) {
        print_message("the driver has no program binaries\n");
        skip();
    }
    assert_int_equal(each_entry(cache_folder, NULL, NULL), report.program_count);
    return report.program_count;
}

static void test_second_device(void **state) {
    (void)state;
    int programs = fill_folder();
    assert_int_equal(run_anew().cached_programs, programs);
    assert_int_equal(each_entry(cache_folder, NULL, NULL), programs);
}

static void test_off(void **state) {
    (void)state;
    fill_folder();
    setenv("TSR_CACHE", "off", 1);
    assert_int_equal(run_anew().cached_programs, 0);
}

static void cut_in_half(const char *path, void *user) {
    (void)user;
    assert_int_equal(truncate(path, 40), 0);
}

/* As a driver of the same name but of another mind would find it: a sound entry that it does not
 * take. What is stored begins with the format, after a header of 32 bytes. */
static void fill_with_nonsense(const char *path, void *user) {
    (void)user;
    size_t size;
    unsigned char *bytes = read_bytes(path, &size);
    memset(bytes + 36, 0x5a, size - 36);
    replace_entry(path, bytes + 32, size - 32);
    free(bytes);
}

static void expect_replaced(folder_fn *spoil) {
    int programs = fill_folder();
    each_entry(cache_folder, spoil, NULL);
    assert_int_equal(run_anew().cached_programs, 0);
    assert_int_equal(run_anew().cached_programs, programs);
}

static void test_damaged(void **state) {
    (void)state;
    expect_replaced(cut_in_half);
}

static void test_refused_by_driver(void **state) {
    (void)state;
    expect_replaced(fill_with_nonsense);
}

static int run_where_possible(void) {
    tsr_device *device;
    if (tsr_device_create(NULL, &device) == TSR_OK) {
        tsr_device_destroy(device);
        run_anew();
    }
    return 0;
}

/* The first test: a driver's threads do not survive a fork. */
static void test_two_processes(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            _exit(run_where_possible());
    for (int i = 0; i < 2; i++) {
        int status = -1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    need_backend("gles");
    tsr_report report = run_anew();
    assert_int_equal(report.cached_programs, each_entry(cache_folder, NULL, NULL));
}

int run_program(void) {
    /* Mesa's own cache would land in folders that are gone before its threads are done. */
    setenv("MESA_SHADER_CACHE_DIR", TSR_BUILD_DIR, 0);
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, set_up_cache_folder, tear_down_cache_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_two_processes), TEST(test_second_device),     TEST(test_off),
        TEST(test_damaged),       TEST(test_refused_by_driver),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
