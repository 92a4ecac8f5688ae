/* Runs an image-to-image model (style transfer, super-resolution, ...) on pictures or video, from
 * the standard input to the standard output, without a display. Uses only tessera.h and the
 * library.
 *
 *     filter MODEL [OPTIONS] <in.ppm >out.ppm              PPM pictures (P6), any number of them
 *     ffmpeg -i in.mp4 -f rawvideo -pix_fmt rgb24 - |
 *         filter MODEL --size 640x360 | ffplay ...         raw frames of that size, 3 bytes per
 * pixel
 *
 *     --backend gles|webgpu|cpu    backend (gles)
 *     --range LO:HI                the model's values of black and white (0:1)
 *
 * Two runs are in flight: while the device executes one, the previous output is read and written,
 * and the next frame is read. The session is made for the size of the first frame, and made again
 * when the size changes. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

typedef struct frame {
    int width, height;
    unsigned char *rgb;
    size_t capacity; /* bytes of rgb */
} frame;

typedef struct filter {
    const char *path, *backend;
    int raw_width, raw_height; /* 0: PPM */
    float low, high;
    tsr_device *device;
    tsr_model *model;
    tsr_session *session;
    bool pending; /* a run was submitted and its output not written yet */
    int width, height;
    tsr_tensor_info input, output;
    frame written;
    float *elements;   /* of the larger of input and output */
    const char *wrong; /* with the input; NULL: none yet */
} filter;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "filter: %s: %s\n", what, why);
    return 1;
}

static void check(tsr_status status) {
    if (status != TSR_OK)
        exit(fail("the model cannot run", tsr_last_error()));
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void make_room(frame *f, int width, int height) {
    enum { LARGEST = 16384 };
    if (width < 1 || height < 1 || width > LARGEST || height > LARGEST)
        exit(fail("a frame", "its size is not 1 x 1 to 16384 x 16384"));
    size_t bytes = (size_t)width * (size_t)height * 3;
    if (bytes > f->capacity) {
        free(f->rgb);
        f->rgb = malloc(bytes);
        f->capacity = bytes;
    }
    if (!f->rgb)
        exit(fail("a frame", "not enough memory"));
    f->width = width;
    f->height = height;
}

/* A number of a PPM header, after white space and comments; -1: none. */
static int read_number(void) {
    int value = 0, digits = 0, c = getchar();
    for (; isspace(c) || c == '#'; c = getchar())
        for (bool comment = c == '#'; comment && c != '\n' && c != EOF;)
            c = getchar();
    for (; isdigit(c) && digits < 5; digits++, c = getchar())
        value = value * 10 + c - '0';
    ungetc(c, stdin);
    return digits ? value : -1;
}

/* Earlier frames are still written. */
static bool refuse(filter *f, const char *why) {
    f->wrong = why;
    return false;
}

/* False at the end of the input, and on failure. */
static bool read_frame(filter *f, frame *to) {
    int first = getchar(), width = f->raw_width, height = f->raw_height;
    if (first == EOF)
        return false;
    if (width) {
        ungetc(first, stdin);
    } else {
        if (first != 'P' || getchar() != '6')
            return refuse(f, "no PPM picture (P6); raw frames need --size");
        width = read_number();
        height = read_number();
        if (read_number() != 255 || getchar() == EOF)
            return refuse(f, "a PPM picture has 8 bits a channel");
    }
    make_room(to, width, height);
    size_t bytes = (size_t)width * (size_t)height * 3;
    return fread(to->rgb, 1, bytes, stdin) == bytes ||
           refuse(f, "it ends in the middle of a frame");
}

static void write_frame(const filter *f, const frame *from) {
    size_t bytes = (size_t)from->width * (size_t)from->height * 3;
    if (!f->raw_width)
        printf("P6\n%d %d\n255\n", from->width, from->height);
    if (fwrite(from->rgb, 1, bytes, stdout) != bytes || fflush(stdout))
        exit(fail("the output", "it cannot be written"));
}

/* ---- the model ------------------------------------------------------------------------------- */

static void read_output(filter *f, int age) {
    const int64_t *dim = f->output.shape.dim;
    size_t count = (size_t)tsr_shape_count(&f->output.shape), plane = count / 3;
    check(tsr_session_select_run(f->session, age));
    check(tsr_session_get_output(f->session, f->output.name, f->elements, count));
    make_room(&f->written, (int)dim[3], (int)dim[2]);
    for (size_t i = 0; i < count; i++) {
        float share = (f->elements[i % 3 * plane + i / 3] - f->low) / (f->high - f->low);
        f->written.rgb[i] = !(share > 0) ? 0
                            : share >= 1 ? 255
                                         : (unsigned char)(share * 255 + 0.5f);
    }
    write_frame(f, &f->written);
}

static bool is_picture(const tsr_shape *shape) {
    return shape->rank == 4 && shape->dim[0] == 1 && shape->dim[1] == 3;
}

static void open_session(filter *f, int width, int height) {
    if (f->pending)
        read_output(f, 0);
    f->pending = false;
    tsr_session_destroy(f->session);
    check(tsr_model_input(f->model, 0, &f->input));
    const tsr_input_shape shape = {f->input.name, {4, {1, 3, height, width}}};
    check(tsr_session_create(
        f->device, f->model,
        &(tsr_session_desc){.shapes = &shape, .shape_count = 1, .runs_in_flight = 2}, &f->session));
    check(tsr_session_input(f->session, 0, &f->input));
    check(tsr_session_output(f->session, 0, &f->output));
    if (!is_picture(&f->input.shape) || !is_picture(&f->output.shape))
        exit(fail(f->path, "not an image-to-image model, [1, 3, height, width]"));
    size_t in = (size_t)tsr_shape_count(&f->input.shape);
    size_t out = (size_t)tsr_shape_count(&f->output.shape);
    free(f->elements);
    f->elements = malloc((in > out ? in : out) * sizeof *f->elements);
    if (!f->elements)
        exit(fail("a frame", "not enough memory"));
    f->width = width;
    f->height = height;
}

static void submit(filter *f, const frame *from) {
    size_t count = (size_t)from->width * (size_t)from->height * 3, plane = count / 3;
    for (size_t i = 0; i < count; i++)
        f->elements[i % 3 * plane + i / 3] =
            f->low + (float)from->rgb[i] / 255 * (f->high - f->low);
    check(tsr_session_set_input(f->session, f->input.name, f->elements, count));
    check(tsr_session_submit(f->session));
}

static void run(filter *f) {
    frame read = {0};
    while (read_frame(f, &read)) {
        if (read.width != f->width || read.height != f->height)
            open_session(f, read.width, read.height);
        submit(f, &read);
        if (f->pending)
            read_output(f, 1);
        f->pending = true;
    }
    if (f->pending)
        read_output(f, 0);
    free(read.rgb);
    if (f->wrong)
        exit(fail("the input", f->wrong));
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool parse(int argc, char **argv, filter *f) {
    if (argc < 2 || argc % 2)
        return false;
    f->path = argv[1];
    for (int i = 2; i < argc; i += 2) {
        const char *name = argv[i], *text = argv[i + 1];
        bool good = false;
        if (!strcmp(name, "--backend"))
            good = (f->backend = text) != NULL;
        else if (!strcmp(name, "--size"))
            good = sscanf(text, "%dx%d", &f->raw_width, &f->raw_height) == 2 && f->raw_width > 0;
        else if (!strcmp(name, "--range"))
            good = sscanf(text, "%f:%f", &f->low, &f->high) == 2 && f->low < f->high;
        if (!good)
            return false;
    }
    return true;
}

static int tell_usage(FILE *file, int code) {
    fputs("usage: filter MODEL [--size WIDTHxHEIGHT] [--backend gles|webgpu|cpu] [--range LO:HI] "
          "<in >out\n"
          "Runs an image-to-image model on PPM pictures (P6), or on raw RGB frames of --size.\n"
          "--range: the model's values of black and white (0:1).\n",
          file);
    return code;
}

int main(int argc, char **argv) {
    filter f = {.backend = "gles", .low = 0, .high = 1};
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return tell_usage(stdout, 0);
    if (!parse(argc, argv, &f))
        return tell_usage(stderr, 2);
    check(tsr_model_load(f.path, NULL, &f.model));
    if (tsr_model_input_count(f.model) != 1)
        return fail(f.path, "an image-to-image model has one input");
    check(tsr_device_create(&(tsr_device_desc){.backend = f.backend}, &f.device));
    run(&f);
    tsr_session_destroy(f.session);
    tsr_device_destroy(f.device);
    tsr_model_free(f.model);
    free(f.elements);
    free(f.written.rgb);
    return 0;
}
