/* Classifiers trained on a GPU backend: what share of held-out inputs they get right. */
#include "support/backends.h"
#include "support/classifiers.h"
#include "support/main.h"

static void test_signals(void **state) {
    (void)state;
    need_gpu();
    expect_learns(gpu_backend(), &signal_classifier);
}

static void test_digits(void **state) {
    (void)state;
    need_gpu();
    expect_learns(gpu_backend(), &digit_classifier);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests_name("train_classifiers", tests, NULL, close_backends);
}
