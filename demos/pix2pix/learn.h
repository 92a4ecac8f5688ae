/* Learning: the steps of a lesson on a device, in the window's context or on a worker thread. */
#ifndef PIX2PIX_LEARN_H
#define PIX2PIX_LEARN_H

#include <tessera_train.h>

enum { LESSON_STEPS = 20 };

/* An input of the model, and the picture that it shall make of it. */
typedef struct lesson {
    unsigned number; /* tells lessons apart */
    float *input, *target;
    size_t input_count, target_count;
} lesson;

typedef enum learner_state {
    LEARNING,
    LEARNED, /* the lesson is complete: model has what it taught */
    LEARNING_FAILED
} learner_state;

typedef struct learner {
    learner_state state;
    unsigned lesson;   /* its number */
    tsr_trainer *plan; /* of all weights: it tells their names */
    tsr_trainer *trainer;
    bool stepping;    /* a step has begun */
    int steps;        /* complete ones */
    float loss;       /* before the latest of them; below 0: none is complete */
    tsr_model *model; /* freed by learner_end(), unless it was taken */
    char error[768];
} learner;

/* Works on the lesson for about ms milliseconds; 0: a whole step. The first call, with another
 * lesson than before, begins it. input: the shape that the session has. */
void learner_work(learner *l, tsr_device *device, const tsr_model *model,
                  const tsr_input_shape *input, const lesson *lesson, double ms);
/* Before its device is destroyed. */
void learner_end(learner *l);

#endif
