/* Small networks and data to train them with. */
#ifndef TESTS_SUPPORT_TRAINING_H
#define TESTS_SUPPORT_TRAINING_H

#include "support/random.h"
#include "support/sessions.h"

#include "tessera_build.h"
#include "tessera_train.h"

tsr_trainer *make_trainer(tsr_device *device, const tsr_model *model, const tsr_trainer_desc *desc);
/* Of make_model()'s text, on the cpu backend: the trainer is refused so. */
void expect_no_trainer(const char *text, const tsr_trainer_desc *desc, tsr_status status,
                       const char *words);
/* A step of a trainer that has one input and one target: as many elements as they have. */
tsr_status step_trainer(tsr_trainer *trainer, const float *input, const float *target, float *loss);

/* A constant of the model, by its name; shape: NULL is fine. */
const float *model_weights(const tsr_model *model, const char *name, tsr_shape *shape);

enum { SIGNAL_LENGTH = 64, SIGNAL_CLASSES = 5 };

/* Conv1D 1 -> 8 k5, ReLU, MaxPool 2, Conv1D 8 -> 16 k3, ReLU, MaxPool 2, Flatten, Dense 32, ReLU,
 * Dense classes, Softmax; the batch is open. */
tsr_model *make_signal_classifier(uint32_t seed);
/* Noisy signals of five classes, and 1 for the class of each: a sine, a square wave, a saw tooth, a
 * burst, a step; phase, height and place are random. */
void make_signals(random_source *random, int count, float *signals, float *classes);

/* Encoder and decoder with every kind of layer that image-to-image networks have, of images
 * [2, 3, 16, 12]. */
tsr_model *make_small_unet(uint32_t seed, float dropout);
enum { UNET_IMAGE = 2 * 3 * 16 * 12 };

/* For it: logits [batch, 1, 3, 2] of "image" and a picture. With norm, batch normalization and
 * Dropout, too. */
tsr_model *make_patch_discriminator(uint32_t seed, bool norm);

/* 16 convolutions with BatchNormalization and Relu, a Dropout; of images [2, 3, 16, 16]. */
tsr_model *make_deep_network(uint32_t seed);
enum { DEEP_IMAGES = 2 * 3 * 16 * 16, DEEP_CLASSES = 2 * 4 };

#endif
