/* Classifiers trained on a GPU backend: what share of held-out inputs they get right. */
#include "support/backends.h"
#include "support/classifiers.h"
#include "support/digits.h"
#include "support/main.h"

enum { HELD_OUT = 640 };

static void check_share(const classifier *c, double share) {
    need_gpu();
    if (few_cases())
        skip();
    int right = train_and_count_right(gpu_backend(), c, HELD_OUT);
    print_message("%d of %d are right\n", right, HELD_OUT);
    if (right < share * HELD_OUT)
        fail_msg("%d of %d are right", right, HELD_OUT);
}

static void test_signals(void **state) {
    (void)state;
    check_share(&signal_classifier, 0.98);
}

static void test_digits(void **state) {
    (void)state;
    if (!open_digits())
        skip();
    check_share(&digit_classifier, 0.97);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_digits),
    };
    return cmocka_run_group_tests_name("train_classifiers", tests, NULL, NULL);
}
