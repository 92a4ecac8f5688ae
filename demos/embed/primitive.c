/* Layer by layer on the program's own tensors: residual blocks, each a 3x3 convolution and a 1x1
 * one whose post-ops add the block's input to the result and activate the sum. The tensors stay on
 * the device from the first block to the last.
 *
 *     primitive gles|webgpu|cpu [BLOCKS]
 *
 * Prints, for each primitive, what it executes, and the mean of the result. */
#include <stdio.h>
#include <stdlib.h>
#include <tessera_primitive.h>

enum { CHANNELS = 6, SIDE = 20, COUNT = CHANNELS * SIDE * SIDE };

static const tsr_shape image = {4, {1, CHANNELS, SIDE, SIDE}};

static void require(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "%s\n", tsr_last_error());
    exit(1);
}

/* Of -1 to 1, for want of a trained network. */
static void fill(float *elements, int count, float scale) {
    for (int i = 0; i < count; i++)
        elements[i] = scale * ((float)(i * 37 % 101) / 50 - 1);
}

/* A convolution with a square kernel that keeps the image's size. */
static tsr_primitive *make_conv(tsr_device *device, int kernel, const tsr_post_ops *posts) {
    float weights[CHANNELS * CHANNELS * 3 * 3];
    int64_t pad = kernel / 2;
    tsr_primitive *primitive;
    fill(weights, CHANNELS * CHANNELS * kernel * kernel, 0.1f);
    const tsr_primitive_desc desc = {
        .kind = TSR_PRIMITIVE_CONV,
        .source = image,
        .weights = {{4, {CHANNELS, CHANNELS, kernel, kernel}}, weights},
        .window = {.pads_begin = {pad, pad}, .pads_end = {pad, pad}},
        .posts = posts,
    };
    require(tsr_primitive_create(device, &desc, &primitive));
    return primitive;
}

static void print_chain(const char *name, const tsr_primitive *primitive) {
    const tsr_post_ops *posts = tsr_primitive_post_ops(primitive);
    tsr_post_op post;
    printf("%s:", name);
    for (int i = 0; tsr_post_ops_get(posts, i, &post) == TSR_OK; i++)
        printf(" %s", post.kind == TSR_POST_OP_SUM ? "sum" : post.op);
    printf("\n");
}

static void run(tsr_device *device, int blocks) {
    static float elements[COUNT];
    tsr_post_ops *inner, *outer;
    tsr_device_tensor *x, *hidden;
    require(tsr_post_ops_create(&inner));
    require(tsr_post_ops_append_eltwise(inner, "Relu", 0, 0));
    require(tsr_post_ops_create(&outer));
    require(tsr_post_ops_append_sum(outer, 1, 0));
    require(tsr_post_ops_append_eltwise(outer, "LeakyRelu", 0.2f, 0));
    tsr_primitive *first = make_conv(device, 3, inner), *second = make_conv(device, 1, outer);
    require(tsr_device_tensor_create(device, &image, TSR_DTYPE_F32, &x));
    require(tsr_device_tensor_create(device, &image, TSR_DTYPE_F32, &hidden));
    print_chain("first", first);
    print_chain("second", second);
    fill(elements, COUNT, 1);
    require(tsr_device_tensor_write(x, elements, COUNT));
    for (int i = 0; i < blocks; i++) { /* nothing is waited for */
        require(tsr_primitive_execute(first,
                                      &(tsr_primitive_args){.source = x, .destination = hidden}));
        require(tsr_primitive_execute(second,
                                      &(tsr_primitive_args){.source = hidden, .destination = x}));
    }
    require(tsr_device_tensor_read(x, elements, COUNT));
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += elements[i];
    printf("after %d blocks: mean %.6f\n", blocks, sum / COUNT);
    tsr_device_tensor_destroy(x);
    tsr_device_tensor_destroy(hidden);
    tsr_primitive_destroy(first);
    tsr_primitive_destroy(second);
    tsr_post_ops_destroy(inner);
    tsr_post_ops_destroy(outer);
}

int main(int argc, char **argv) {
    tsr_device *device;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: primitive gles|webgpu|cpu [BLOCKS]\n");
        return 2;
    }
    require(tsr_device_create(&(tsr_device_desc){.backend = argv[1]}, &device));
    run(device, argc == 3 ? atoi(argv[2]) : 4);
    tsr_device_destroy(device);
    return 0;
}
