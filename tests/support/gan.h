/* A small model and a discriminator, and a step of both. */
#ifndef TESTS_SUPPORT_GAN_H
#define TESTS_SUPPORT_GAN_H

#include "support/training.h"

/* The model makes pictures [2, 2, 5, 4] of images [2, 1, 5, 4], the discriminator 2 logits of both.
 */
enum { GAN_BATCH = 2, GAN_HEIGHT = 5, GAN_WIDTH = 4, GAN_PLANE = GAN_HEIGHT * GAN_WIDTH };
enum {
    GAN_IMAGES = GAN_BATCH * GAN_PLANE,
    GAN_PICTURES = 2 * GAN_BATCH * GAN_PLANE,
    GAN_LOGITS = GAN_BATCH * 2
};

/* Images twice after each other: for targets and for outputs. */
typedef struct gan_sample {
    float images[2 * GAN_IMAGES], pictures[GAN_PICTURES];
} gan_sample;
gan_sample make_gan_sample(uint32_t seed);

/* Parts of nets; the generator's weights are called paint.*. */
int add_gan_generator(tsr_net *net, int image);
int add_gan_discriminator(tsr_net *net, int image, int picture);
extern const tsr_shape gan_image_shape; /* with an open batch */

tsr_model *make_gan_generator(void);
/* Of each weight a singular value stands out, so that few iterations find it. */
tsr_net *make_gan_discriminator_net(void);
enum { GAN_PARAMETERS = 4 };
extern const char *const gan_discriminator_weights[GAN_PARAMETERS];

tsr_net *make_gan_net(uint32_t seed);
/* Destroys the net. */
tsr_model *finish_gan_net(tsr_net *net);

/* picture: NULL runs a generator, else a discriminator. */
void run_gan_model(const tsr_model *model, const gan_sample *s, const float *picture, float *out);

/* Models after a step of the sample, the trainer's state as one, and the step's losses. */
typedef struct gan_outcome {
    tsr_model *model, *discriminator, *state;
    float losses[3]; /* L1, adversarial, the discriminator's */
} gan_outcome;
/* Of the generator, on the cpu backend. */
gan_outcome run_gan_step(const tsr_model *discriminator, const gan_sample *s,
                         tsr_trainer_desc desc);
void free_gan_outcome(const gan_outcome *o);

#endif
