/* Small networks that tell classes apart, trained with data that is made as they go. */
#ifndef TESTS_SUPPORT_CLASSIFIERS_H
#define TESTS_SUPPORT_CLASSIFIERS_H

#include "support/training.h"

typedef struct classifier {
    tsr_model *(*make)(uint32_t seed); /* with an open batch */
    /* inputs: [count, elements]; targets: [count, classes], 1 for the class of each */
    void (*fill)(random_source *random, int count, float *inputs, float *targets);
    int elements, classes, steps;
    double share; /* of held-out inputs that it has to get right */
} classifier;

extern const classifier signal_classifier;
/* 28 x 28, Conv 3x3 8, MaxPool 2, Conv 3x3 16, MaxPool 2, dense 10. */
extern const classifier digit_classifier;

/* Trains on the backend, then runs the trained model there on inputs that it has not seen, and
 * tells how many are right. Skips where cases are few, and where there are no fonts for digits. */
void expect_learns(const char *backend, const classifier *c);

#endif
