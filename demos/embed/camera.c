/* Pictures as cameras and windows have them, through a model: 8-bit BGRA rows with a gap after each
 * go in, 8-bit RGB rows come out. Tessera scales, reorders and normalizes them, on the GPU where
 * there is one; no float is touched here.
 *
 *     camera MODEL gles|webgpu|cpu [--times] >out.ppm
 *
 * The model has one input of 3 channels, [1, 3, height, width], with values of -1 to 1, and such an
 * output. Four frames of a pattern that moves are written as PPM pictures of the output's size;
 * --times prints how long each took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>
#include <time.h>

enum { WIDTH = 64, HEIGHT = 48, STRIDE = WIDTH * 4 + 32, FRAMES = 4 };

static void check(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "camera: %s\n", tsr_last_error());
    exit(1);
}

/* What a driver would fill. */
static void capture(unsigned char *frame, int number) {
    memset(frame, 0xEE, (size_t)STRIDE * HEIGHT); /* the gaps are never read */
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            unsigned char *pixel = frame + y * STRIDE + x * 4;
            pixel[0] = (unsigned char)(x + y);                /* blue */
            pixel[1] = (unsigned char)(y * 255 / HEIGHT);     /* green */
            pixel[2] = (unsigned char)((x + 8 * number) * 3); /* red */
            pixel[3] = 0;                                     /* no channel of the model */
        }
}

static double now_ms(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The picture's size: the last two axes. */
static tsr_pixels output_picture(const tsr_tensor_info *output) {
    int rank = output->shape.rank;
    if (rank < 2) {
        fprintf(stderr, "camera: the output '%s' is no picture\n", output->name);
        exit(1);
    }
    tsr_pixels picture = {.format = TSR_PIXELS_RGB8,
                          .width = (int)output->shape.dim[rank - 1],
                          .height = (int)output->shape.dim[rank - 2],
                          .mean = {127.5f, 127.5f, 127.5f},
                          .scale = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f}};
    picture.bytes = (size_t)picture.width * (size_t)picture.height * 3;
    picture.data = malloc(picture.bytes + 1);
    if (!picture.data)
        exit(1);
    return picture;
}

int main(int argc, char **argv) {
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
    tsr_tensor_info input, output;
    static unsigned char frame[STRIDE * HEIGHT];
    bool times = argc == 4 && strcmp(argv[3], "--times") == 0;
    if (argc != 3 && !times) {
        fputs("usage: camera MODEL gles|webgpu|cpu [--times] >out.ppm\n", stderr);
        return 2;
    }
    check(tsr_device_create(&(tsr_device_desc){.backend = argv[2]}, &device));
    check(tsr_model_load(argv[1], NULL, &model));
    check(tsr_session_create(device, model, NULL, &session));
    check(tsr_session_input(session, 0, &input));
    check(tsr_session_output(session, 0, &output));

    /* (value - mean) * scale: 0 to 255 become -1 to 1. A frame of another size is scaled. */
    const tsr_pixels camera = {.data = frame,
                               .bytes = sizeof frame,
                               .width = WIDTH,
                               .height = HEIGHT,
                               .stride = STRIDE,
                               .format = TSR_PIXELS_BGRA8,
                               .mean = {127.5f, 127.5f, 127.5f},
                               .scale = {1 / 127.5f, 1 / 127.5f, 1 / 127.5f}};
    const tsr_pixels picture = output_picture(&output);
    bool written = true;
    for (int i = 0; i < FRAMES; i++) {
        capture(frame, i);
        double start = now_ms();
        check(tsr_session_set_input_pixels(session, input.name, &camera)); /* copies the frame */
        check(tsr_session_run(session));
        check(tsr_session_get_output_pixels(session, output.name, &picture));
        if (times)
            fprintf(stderr, "frame %d: %.2f ms\n", i, now_ms() - start);
        written = printf("P6\n%d %d\n255\n", picture.width, picture.height) > 0 &&
                  fwrite(picture.data, 1, picture.bytes, stdout) == picture.bytes && written;
    }
    free(picture.data);
    tsr_session_destroy(session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    if (!written || fflush(stdout)) {
        fputs("camera: the output cannot be written\n", stderr);
        return 1;
    }
    return 0;
}
