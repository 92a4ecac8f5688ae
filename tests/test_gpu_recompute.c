/* Training with recomputation on a GPU backend: less memory, the same losses. */
#include "support/backends.h"
#include "support/main.h"
#include "support/training.h"

#include <math.h>

enum { STEPS = 3 };

static uint64_t train(bool recompute, float losses[STEPS]) {
    static float images[DEEP_IMAGES], classes[DEEP_CLASSES];
    tsr_model *model = make_deep_network(1);
    tsr_trainer *trainer;
    tsr_report report;
    random_source random = random_from(7);
    EXPECT_OK(tsr_trainer_create(gpu_device((backend_limits){0}), model,
                                 &(tsr_trainer_desc){.seed = 2, .recompute = recompute}, &trainer));
    EXPECT_OK(tsr_trainer_report(trainer, &report));
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < DEEP_IMAGES; k++)
            images[k] = random_float(&random, 0, 1);
        for (int k = 0; k < DEEP_CLASSES; k++)
            classes[k] = random_float(&random, 0, 1);
        EXPECT_OK(step_trainer(trainer, images, classes, &losses[i]));
    }
    tsr_trainer_destroy(trainer);
    tsr_model_free(model);
    return report.tensor_bytes;
}

static void test_deep_network(void **state) {
    (void)state;
    float plain[STEPS], again[STEPS];
    need_gpu();
    uint64_t bytes = train(false, plain), fewer = train(true, again);
    for (int i = 0; i < STEPS; i++)
        if (!(fabsf(plain[i] - again[i]) <= 1e-4f))
            fail_msg("step %d: loss %.9g instead of %.9g", i, again[i], plain[i]);
    if (fewer > bytes * 2 / 3)
        fail_msg("%llu bytes instead of %llu", (unsigned long long)fewer,
                 (unsigned long long)bytes);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep_network),
    };
    return cmocka_run_group_tests(tests, NULL, close_backends);
}
