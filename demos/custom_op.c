/* A custom operator from end to end: Swirl rotates a picture around its centre, pixels near the
 * centre by the largest angle. Uses only tessera.h and the library.
 *
 *     make_models swirl --size 48 -o swirl.onnx    writes a model of one node, "demo:Swirl"
 *     custom_op swirl.onnx gles                    or webgpu, or cpu
 *
 * 1. A function computes the operator on the CPU: swirl() below. Its output has the input's shape;
 *    operators with another output shape also have a shape function.
 * 2. A shader body computes one element in GLSL, another one in WGSL; each is needed only if its
 *    backend is used. Bodies read inputs with IN0(image, channel, row, column), which hides how
 *    tensors are stored in textures or buffers.
 * 3. A tsr_custom_op has the functions, the bodies and the attributes with their defaults, and is
 *    passed to tsr_model_load() along with the file. From then on nodes are like any other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

static float pixel(const float *plane, int height, int width, int y, int x) {
    return y >= 0 && y < height && x >= 0 && x < width ? plane[y * width + x] : 0;
}

static float swirled(const float *plane, int height, int width, float angle, float radius, int y,
                     int x) {
    float middle_y = 0.5f * (float)(height - 1), middle_x = 0.5f * (float)(width - 1);
    float dy = (float)y - middle_y, dx = (float)x - middle_x;
    float turn = angle * fmaxf(0, 1 - sqrtf(dx * dx + dy * dy) / (radius * 0.5f * (float)height));
    float from_y = middle_y + dy * cosf(turn) + dx * sinf(turn);
    float from_x = middle_x + dx * cosf(turn) - dy * sinf(turn);
    int y0 = (int)floorf(from_y), x0 = (int)floorf(from_x);
    float fy = from_y - (float)y0, fx = from_x - (float)x0;
    float above = (1 - fx) * pixel(plane, height, width, y0, x0) +
                  fx * pixel(plane, height, width, y0, x0 + 1);
    float below = (1 - fx) * pixel(plane, height, width, y0 + 1, x0) +
                  fx * pixel(plane, height, width, y0 + 1, x0 + 1);
    return (1 - fy) * above + fy * below;
}

static tsr_status swirl(tsr_custom_call *call) {
    const tsr_shape *shape = &call->output_shape;
    if (shape->rank != 4)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "a tensor of %d axes is not a picture", shape->rank);
    float angle = tsr_attr_float(call->node, "angle", 0),
          radius = tsr_attr_float(call->node, "radius", 0);
    int height = (int)shape->dim[2], width = (int)shape->dim[3];
    for (int64_t plane = 0; plane < shape->dim[0] * shape->dim[1]; plane++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int64_t first = plane * height * width;
                call->output[first + y * width + x] =
                    swirled(call->input[0] + first, height, width, angle, radius, y, x);
            }
    return TSR_OK;
}

static const char swirl_glsl[] =
    "vec2 middle = 0.5 * vec2(OUT_W - 1, OUT_H - 1);\n"
    "vec2 d = vec2(x, y) - middle;\n"
    "float turn = ATTR_angle * max(0.0, 1.0 - length(d) / (ATTR_radius * 0.5 * float(OUT_H)));\n"
    "vec2 from = middle + d * cos(turn) + vec2(-d.y, d.x) * sin(turn);\n"
    "ivec2 p = ivec2(floor(from));\n"
    "vec2 f = from - vec2(p);\n"
    "return mix(mix(IN0(n, c, p.y, p.x), IN0(n, c, p.y, p.x + 1), f.x),\n"
    "           mix(IN0(n, c, p.y + 1, p.x), IN0(n, c, p.y + 1, p.x + 1), f.x), f.y);\n";

static const char swirl_wgsl[] =
    "let middle = 0.5 * vec2f(vec2i(OUT_W - 1, OUT_H - 1));\n"
    "let d = vec2f(vec2i(x, y)) - middle;\n"
    "let turn = ATTR_angle * max(0.0, 1.0 - length(d) / (ATTR_radius * 0.5 * f32(OUT_H)));\n"
    "let from_ = middle + d * cos(turn) + vec2f(-d.y, d.x) * sin(turn);\n"
    "let p = vec2i(floor(from_));\n"
    "let f = from_ - vec2f(p);\n"
    "return mix(mix(IN0(n, c, p.y, p.x), IN0(n, c, p.y, p.x + 1), f.x),\n"
    "           mix(IN0(n, c, p.y + 1, p.x), IN0(n, c, p.y + 1, p.x + 1), f.x), f.y);\n";

static const tsr_custom_attr swirl_attrs[] = {{"angle", 3}, {"radius", 1}};

static const tsr_custom_op swirl_op = {.name = "Swirl",
                                       .domain = "demo",
                                       .compute = swirl,
                                       .glsl = swirl_glsl,
                                       .wgsl = swirl_wgsl,
                                       .attrs = swirl_attrs,
                                       .attr_count = 2};

static void check(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "custom_op: %s\n", tsr_last_error());
    exit(1);
}

/* From x to y; both have count elements. */
static void run(const tsr_model *model, const char *backend, const float *x, float *y,
                size_t count) {
    tsr_device *device;
    tsr_session *session;
    check(tsr_device_create(&(tsr_device_desc){.backend = backend}, &device));
    check(tsr_session_create(device, model, NULL, &session));
    check(tsr_session_set_input(session, "x", x, count));
    check(tsr_session_run(session));
    check(tsr_session_get_output(session, "y", y, count));
    tsr_session_destroy(session);
    tsr_device_destroy(device);
}

/* Characters are twice as high as wide. */
static void print_picture(const float *picture, int64_t height, int64_t width) {
    static const char shades[] = " .:-=+*#%@";
    for (int64_t y = 0; y < height; y += 2) {
        for (int64_t x = 0; x < width; x++)
            putchar(shades[(int)(picture[y * width + x] * 9.999f)]);
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    tsr_model *model;
    tsr_tensor_info info;
    if (argc != 3) {
        fputs("usage: custom_op MODEL BACKEND\n", stderr);
        return 2;
    }
    check(tsr_model_load(argv[1], &(tsr_model_desc){.custom_ops = &swirl_op, .custom_op_count = 1},
                         &model));
    check(tsr_model_input(model, 0, &info));
    int64_t width = info.shape.dim[3], count = tsr_shape_count(&info.shape);
    float *pictures = malloc((size_t)count * 3 * sizeof *pictures);
    float *x = pictures, *y = x + count, *expected = y + count, difference = 0;
    if (!pictures)
        return 1;
    for (int64_t i = 0; i < count; i++) /* a chessboard */
        x[i] = (float)((i % width / 12 + i / width / 12) % 2);
    run(model, argv[2], x, y, (size_t)count);
    run(model, "cpu", x, expected, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        difference = fmaxf(difference, fabsf(y[i] - expected[i]));
    print_picture(y, info.shape.dim[2], width);
    printf("On %s; the largest difference from cpu is %.1e.\n", argv[2], (double)difference);
    free(pictures);
    tsr_model_free(model);
    return 0;
}
