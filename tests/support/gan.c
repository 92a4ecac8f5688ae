#include "support/gan.h"

#include <math.h>

static tsr_device *cpu(void) {
    return make_device(&(tsr_device_desc){.backend = "cpu"});
}

gan_sample make_gan_sample(uint32_t seed) {
    gan_sample s;
    random_source random = random_from(seed);
    for (int i = 0; i < GAN_IMAGES; i++)
        s.images[i] = s.images[GAN_IMAGES + i] = random_float(&random, 0, 1);
    for (int i = 0; i < GAN_PICTURES; i++)
        s.pictures[i] = random_float(&random, 0, 0.9f);
    return s;
}

/* ---- networks -------------------------------------------------------------------------------- */

int add_gan_generator(tsr_net *net, int image) {
    static const tsr_window_desc same = {
        .kernel = {3, 3}, .pads_begin = {1, 1}, .pads_end = {1, 1}};
    int x =
        tsr_net_conv(net, image, &(tsr_layer_desc){.outputs = 2, .window = same, .name = "paint"});
    return tsr_net_activation(net, x, "Tanh", NAN, NAN);
}

int add_gan_discriminator(tsr_net *net, int image, int picture) {
    int x = tsr_net_concat(net, 1, 2, (int[]){image, picture});
    x = tsr_net_conv(net, x,
                     &(tsr_layer_desc){.outputs = 4, .window = {.kernel = {4, 4}}, .name = "look"});
    x = tsr_net_flatten(net, tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN));
    return tsr_net_dense(net, x, 2);
}

tsr_net *make_gan_net(uint32_t seed) {
    tsr_net *net;
    EXPECT_OK(tsr_net_create(&(tsr_net_desc){.seed = seed}, &net));
    return net;
}

tsr_model *finish_gan_net(tsr_net *net) {
    tsr_model *model;
    EXPECT_OK(tsr_net_finish(net, &model));
    tsr_net_destroy(net);
    return model;
}

const tsr_shape gan_image_shape = {4, {-1, 1, GAN_HEIGHT, GAN_WIDTH}};
static const tsr_shape gan_picture_shape = {4, {-1, 2, GAN_HEIGHT, GAN_WIDTH}};
const char *const gan_discriminator_weights[] = {"look.weight", "look.bias", "dense1.weight",
                                                 "dense1.bias"};

tsr_model *make_gan_generator(void) {
    tsr_net *net = make_gan_net(1);
    tsr_net_output(net, "picture",
                   add_gan_generator(net, tsr_net_input(net, "image", &gan_image_shape)));
    return finish_gan_net(net);
}

tsr_net *make_gan_discriminator_net(void) {
    tsr_net *net = make_gan_net(2);
    int image = tsr_net_input(net, "image", &gan_image_shape),
        picture = tsr_net_input(net, "picture", &gan_picture_shape);
    tsr_net_output(net, "logits", add_gan_discriminator(net, image, picture));
    for (int i = 0; i < 4; i += 2) {
        tsr_tensor_info info;
        EXPECT_OK(tsr_net_parameter(net, i, &info));
        int64_t columns = tsr_shape_count(&info.shape) / info.shape.dim[0];
        for (int64_t c = 0; c < columns; c++)
            tsr_net_parameter_data(net, i)[c] *= 3;
    }
    return net;
}

static const tsr_dim_binding gan_batch = {"batch", GAN_BATCH};

void run_gan_model(const tsr_model *model, const gan_sample *s, const float *picture, float *out) {
    tsr_device *device = cpu();
    tsr_session *session =
        make_session(device, model, &(tsr_session_desc){.dims = &gan_batch, .dim_count = 1});
    EXPECT_OK(tsr_session_set_input(session, "image", s->images, GAN_IMAGES));
    if (picture)
        EXPECT_OK(tsr_session_set_input(session, "picture", picture, GAN_PICTURES));
    EXPECT_OK(tsr_session_run(session));
    EXPECT_OK(tsr_session_get_output(session, picture ? "logits" : "picture", out,
                                     picture ? GAN_LOGITS : GAN_PICTURES));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* ---- steps ----------------------------------------------------------------------------------- */

gan_outcome run_gan_step(const tsr_model *discriminator, const gan_sample *s,
                         tsr_trainer_desc desc) {
    static written state;
    gan_outcome o;
    float total;
    tsr_model *model = make_gan_generator();
    tsr_device *device = cpu();
    desc.discriminator = discriminator;
    desc.dims = &gan_batch;
    desc.dim_count = 1;
    tsr_trainer *trainer = make_trainer(device, model, &desc);
    assert_int_equal(tsr_trainer_loss_count(trainer), 3);
    EXPECT_OK(step_trainer(trainer, s->images, s->pictures, &total));
    EXPECT_OK(tsr_trainer_losses(trainer, o.losses, 3));
    EXPECT_OK(tsr_trainer_model(trainer, &o.model));
    EXPECT_OK(tsr_trainer_discriminator(trainer, &o.discriminator));
    state.size = 0;
    EXPECT_OK(tsr_trainer_save(trainer, append_written, &state));
    EXPECT_OK(tsr_model_load_memory(state.bytes, state.size, NULL, &o.state));
    float term = desc.loss_count ? desc.losses[0].weight : 1,
          weight = desc.adversarial_weight != 0 ? desc.adversarial_weight : 1;
    assert_true(fabsf(total - term * o.losses[0] - weight * o.losses[1]) <
                1e-5f * (1 + fabsf(total)));
    tsr_trainer_destroy(trainer);
    tsr_device_destroy(device);
    tsr_model_free(model);
    return o;
}

void free_gan_outcome(const gan_outcome *o) {
    tsr_model_free(o->model);
    tsr_model_free(o->discriminator);
    tsr_model_free(o->state);
}
