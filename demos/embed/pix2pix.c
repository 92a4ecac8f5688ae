/* The networks of Pix2Pix (Isola et al. 2017) are built and saved: a U-Net, which makes a picture
 * of a picture, and a 70 x 70 PatchGAN, which judges patches of both. `tessera train` trains them.
 *
 *     pix2pix SIZE GENERATOR.onnx DISCRIMINATOR.onnx [CHANNELS]
 *
 * SIZE: of pictures, a power of 2 from 32 on. CHANNELS: of the outermost layers (16). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera_build.h>
#include <tessera_write.h>

enum { MOST_LEVELS = 8 };

static const tsr_initializer small = {TSR_INITIALIZER_NORMAL, 0.02f};
static const tsr_window_desc halving = {.kernel = {4, 4},
                                        .strides = {2, 2},
                                        .pads_begin = {1, 1},
                                        .pads_end = {1, 1}},
                             sliding = {.kernel = {4, 4}, .pads_begin = {1, 1}, .pads_end = {1, 1}};

static void require(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "%s\n", tsr_last_error());
    exit(1);
}

static int leaky(tsr_net *net, int x) {
    return tsr_net_activation(net, x, "LeakyRelu", 0.2f, NAN);
}

/* Channels of a level: they double three times. */
static int64_t width(int64_t channels, int level) {
    return channels << (level < 3 ? level : 3);
}

/* ---- the generator ---- */

static int down(tsr_net *net, int x, int64_t channels, bool plain) {
    const tsr_layer_desc desc = {
        .outputs = channels, .window = halving, .no_bias = !plain, .weights = small};
    x = tsr_net_conv(net, x, &desc);
    return plain ? x : tsr_net_batch_norm(net, x, NULL);
}

static int up(tsr_net *net, int x, int64_t channels, bool drops) {
    const tsr_layer_desc desc = {
        .outputs = channels, .window = halving, .no_bias = true, .weights = small};
    x = tsr_net_conv_transpose(net, tsr_net_relu(net, x), &desc);
    x = tsr_net_batch_norm(net, x, NULL);
    return drops ? tsr_net_dropout(net, x, 0.5f) : x;
}

/* Halved until a pixel is left, or MOST_LEVELS times, and doubled as often; what is doubled also
 * reads what was halved to its size. */
static void build_generator(tsr_net *net, int64_t size, int64_t channels) {
    int skips[MOST_LEVELS], levels = 0;
    while (levels < MOST_LEVELS && size >> levels > 1)
        levels++;
    int x = tsr_net_input(net, "sketch", &(tsr_shape){4, {-1, 3, size, size}});
    for (int i = 0; i < levels; i++)
        x = skips[i] =
            down(net, i ? leaky(net, x) : x, width(channels, i), i == 0 || i == levels - 1);
    for (int i = levels - 1; i > 0; i--) {
        x = up(net, x, width(channels, i - 1), levels - i <= 3 && i > 1);
        x = tsr_net_concat(net, 1, 2, (int[]){x, skips[i - 1]});
    }
    x = tsr_net_conv_transpose(
        net, tsr_net_relu(net, x),
        &(tsr_layer_desc){.outputs = 3, .window = halving, .weights = small});
    tsr_net_output(net, "picture", tsr_net_activation(net, x, "Tanh", NAN, NAN));
}

/* ---- the discriminator ---- */

/* Without normalization: --spectral-norm takes its place. */
static void build_discriminator(tsr_net *net, int64_t size, int64_t channels) {
    const tsr_shape shape = {4, {-1, 3, size, size}};
    int both[] = {tsr_net_input(net, "sketch", &shape), tsr_net_input(net, "picture", &shape)};
    int x = tsr_net_concat(net, 1, 2, both);
    for (int i = 0; i < 4; i++)
        x = leaky(net, tsr_net_conv(net, x,
                                    &(tsr_layer_desc){.outputs = width(channels, i),
                                                      .window = i < 3 ? halving : sliding}));
    x = tsr_net_conv(net, x, &(tsr_layer_desc){.outputs = 1, .window = sliding});
    tsr_net_output(net, "logits", x);
}

/* ---- files ---- */

static bool write_bytes(void *file, const char *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length;
}

static void save(const tsr_net *net, const char *path) {
    tsr_model *model;
    require(tsr_net_finish(net, &model));
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    require(tsr_model_write(model, &(tsr_write_desc){.keep_nodes = true}, write_bytes, file));
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
    tsr_model_free(model);
}

int main(int argc, char **argv) {
    int size = argc > 1 ? atoi(argv[1]) : 0, channels = argc > 4 ? atoi(argv[4]) : 16;
    if (argc < 4 || argc > 5 || size < 32 || size > 4096 || (size & (size - 1)) || channels < 1) {
        fprintf(stderr, "usage: pix2pix SIZE GENERATOR.onnx DISCRIMINATOR.onnx [CHANNELS]\n");
        return 2;
    }
    tsr_net *generator, *discriminator;
    require(tsr_net_create(&(tsr_net_desc){.seed = 1, .name = "generator"}, &generator));
    require(tsr_net_create(&(tsr_net_desc){.seed = 2, .name = "discriminator"}, &discriminator));
    build_generator(generator, size, channels);
    build_discriminator(discriminator, size, channels);
    save(generator, argv[2]);
    save(discriminator, argv[3]);
    tsr_net_destroy(generator);
    tsr_net_destroy(discriminator);
    return 0;
}
