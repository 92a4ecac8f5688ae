/* What the page's JavaScript (module.mjs, open.mjs, network.mjs) calls: flat functions over
 * tessera.h. Pointers and sizes are numbers there; strings end with a NUL and belong to the object
 * that gave them. A function that fails returns NULL or a status that is not 0: tsr_web_error() and
 * tsr_web_status_name() say why. */
#include "web/custom.h"

#include "api/model.h"
#include "base/allocator.h"
#include "base/web/map.h"
#include "kernel/kernel.h"

#include <limits.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("tessera"), import_name(#name)))

/* Receives a line of the log. */
IMPORT(log) void tsr_web_on_log(int level, const char *message);

/* Receives the progress of making a session: 0 to 1. */
IMPORT(progress) void tsr_web_on_progress(double fraction);

static bool on_progress(void *user, const char *what, double fraction) {
    (void)user, (void)what;
    tsr_web_on_progress(fraction);
    return true;
}

static void on_log(void *user, tsr_log_level level, const char *message) {
    (void)user;
    tsr_web_on_log((int)level, message);
}

/* Sends the log to the page, or (0) stops that. */
void EXPORT(tsr_web_log)(int on) {
    tsr_set_log(on ? on_log : NULL, NULL);
}

/* The kernels' texts, compressed, as a section of the module, which the page inflates. */
__asm__(".section .custom_section.kernels,\"\",@\n.incbin \"kernels.zlib\"");

void EXPORT(tsr_web_kernels)(const char *texts) {
    tsr_kernel_texts = texts;
}

static tsr_status latest;

/* Every call that may fail ends so. */
static tsr_status end(tsr_status status) {
    if (status != TSR_OK && status != TSR_NOT_READY)
        latest = status;
    return status;
}

/* The message and the status of the latest call that failed. */
const char *EXPORT(tsr_web_error)(void) {
    return tsr_last_error();
}

const char *EXPORT(tsr_web_status_name)(void) {
    return tsr_status_name(latest);
}

/* ---- devices --------------------------------------------------------------------------------- */

/* A device of a backend: "cpu", "gles" or "webgpu". */
tsr_device *EXPORT(tsr_web_device)(const char *backend) {
    tsr_device *device = NULL;
    end(tsr_device_create(&(tsr_device_desc){.backend = backend}, &device));
    return device;
}

/* The GPU's name. */
const char *EXPORT(tsr_web_device_name)(const tsr_device *device) {
    tsr_device_info info = {0};
    end(tsr_device_get_info(device, &info));
    return info.name;
}

/* Destroys a device; its sessions may still exist. */
void EXPORT(tsr_web_device_free)(tsr_device *device) {
    tsr_device_destroy(device);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* The model in an ONNX file of `size` bytes, which the call takes over; its name is for messages.
 * tsr_web_widen() completes it. */
tsr_model *EXPORT(tsr_web_model)(void *bytes, size_t size, const char *name) {
    tsr_model *model = NULL;
    tsr_model_desc desc = {0};
    desc.custom_ops = tsr_web_operators(&desc.custom_op_count);
    tsr_map_give(bytes, size);
    end(tsr_model_read(name, &desc, sizeof desc, sizeof *desc.custom_ops, &model));
    tsr_map_give(NULL, 0);
    return model;
}

/* Widens its weights of 16 bits for about `ms` milliseconds; 1: there are more. */
tsr_status EXPORT(tsr_web_widen)(tsr_model *model, double ms) {
    return tsr_graph_widen(model->graph, ms) ? TSR_OK : TSR_NOT_READY;
}

/* Frees a model; its sessions may still exist. */
void EXPORT(tsr_web_model_free)(tsr_model *model) {
    tsr_model_free(model);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Strings one after the other, each with its NUL. */
static const char *next_string(const char **strings) {
    const char *string = *strings;
    *strings += strlen(string) + 1;
    return string;
}

/* The description of a session, with room for what it names. */
typedef struct web_desc {
    tsr_dim_binding *dims;
    tsr_input_shape *shapes;
    const char **extra;
} web_desc;

static void read_desc(const web_desc *to, const char *names, const int *numbers,
                      const int counts[3]) {
    for (int i = 0; i < counts[0]; i++)
        to->dims[i] = (tsr_dim_binding){next_string(&names), *numbers++};
    for (int i = 0; i < counts[1]; i++) {
        tsr_input_shape *s = &to->shapes[i];
        *s = (tsr_input_shape){.input = next_string(&names), .shape.rank = *numbers++};
        for (int axis = 0; axis < s->shape.rank; axis++)
            s->shape.dim[axis] = *numbers++;
    }
    for (int i = 0; i < counts[2]; i++)
        to->extra[i] = next_string(&names);
}

enum { HALF = 1, TEXTURE_OUTPUTS = 2 };

/* A session that tsr_web_prepare() prepares. names: counts[0] symbolic dimensions, counts[1] inputs
 * whose shapes are given, counts[2] inner tensors that become outputs. numbers: the size of each of
 * the dimensions, then the rank (at most 8) and the dimensions of each of the shapes. weights: a
 * tsr_weight_type. */
tsr_session *EXPORT(tsr_web_session)(tsr_device *device, const tsr_model *model, int flags,
                                     int weights, const char *names, const int *numbers,
                                     const int counts[3]) {
    tsr_session *session = NULL;
    web_desc room = {tsr_calloc((size_t)counts[0] + 1, sizeof *room.dims),
                     tsr_calloc((size_t)counts[1] + 1, sizeof *room.shapes),
                     tsr_calloc((size_t)counts[2] + 1, sizeof *room.extra)};
    if (room.dims && room.shapes && room.extra) {
        read_desc(&room, names, numbers, counts);
        const tsr_session_desc desc = {.precision =
                                           flags & HALF ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32,
                                       .weights = (tsr_weight_type)weights,
                                       .texture_outputs = (flags & TEXTURE_OUTPUTS) != 0,
                                       .prepare_in_steps = true,
                                       .progress = {on_progress, NULL},
                                       .dims = room.dims,
                                       .dim_count = counts[0],
                                       .shapes = room.shapes,
                                       .shape_count = counts[1],
                                       .extra_outputs = room.extra,
                                       .extra_output_count = counts[2]};
        end(tsr_session_create(device, model, &desc, &session));
    } else {
        end(tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a session"));
    }
    tsr_free(room.dims);
    tsr_free(room.shapes);
    tsr_free(room.extra);
    return session;
}

/* For about `ms` milliseconds; TSR_NOT_READY: again later. */
tsr_status EXPORT(tsr_web_prepare)(tsr_session *session, double ms) {
    return end(tsr_session_prepare(session, ms));
}

/* Destroys a session. */
void EXPORT(tsr_web_session_free)(tsr_session *session) {
    tsr_session_destroy(session);
}

/* Number of inputs. */
int EXPORT(tsr_web_input_count)(const tsr_session *session) {
    return tsr_session_input_count(session);
}

/* Number of outputs. */
int EXPORT(tsr_web_output_count)(const tsr_session *session) {
    return tsr_session_output_count(session);
}

static tsr_tensor_info info_of(const tsr_session *session, int output, int i) {
    tsr_tensor_info info = {.name = NULL};
    if (output)
        tsr_session_output(session, i, &info);
    else
        tsr_session_input(session, i, &info);
    return info;
}

/* Name of input i or, if `output` is not 0, of output i; NULL past the last, as in what follows. */
const char *EXPORT(tsr_web_name)(const tsr_session *session, int output, int i) {
    return info_of(session, output, i).name;
}

/* Type of its elements: "float32". */
const char *EXPORT(tsr_web_dtype)(const tsr_session *session, int output, int i) {
    const tsr_tensor_info info = info_of(session, output, i);
    return info.name ? tsr_dtype_name(info.dtype) : NULL;
}

/* Number of its dimensions. */
int EXPORT(tsr_web_rank)(const tsr_session *session, int output, int i) {
    return info_of(session, output, i).shape.rank;
}

/* Dimension `axis` of it; a session's tensor has less than 2^31 elements. */
int EXPORT(tsr_web_dim)(const tsr_session *session, int output, int i, int axis) {
    const tsr_shape shape = info_of(session, output, i).shape;
    return axis >= 0 && axis < shape.rank && shape.dim[axis] <= INT_MAX ? (int)shape.dim[axis] : -1;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Sets an input: `count` floats, copied; integers as floats, too. */
tsr_status EXPORT(tsr_web_set_input)(tsr_session *session, const char *name, const float *data,
                                     size_t count) {
    return end(tsr_session_set_input(session, name, data, count));
}

/* Sets an image of an input from RGBA bytes. normalization: mean[4], scale[4]. */
tsr_status EXPORT(tsr_web_set_pixels)(tsr_session *session, const char *name, void *data, int width,
                                      int height, int image, int channels_last, int bgr,
                                      const float normalization[8]) {
    tsr_pixels pixels = {.data = data,
                         .bytes = (size_t)width * (size_t)height * 4,
                         .width = width,
                         .height = height,
                         .format = TSR_PIXELS_RGBA8,
                         .channels_last = channels_last != 0,
                         .bgr = bgr != 0,
                         .image = image};
    memcpy(pixels.mean, normalization, sizeof pixels.mean);
    memcpy(pixels.scale, normalization + 4, sizeof pixels.scale);
    return end(tsr_session_set_input_pixels(session, name, &pixels));
}

/* Sets an input from a texture. numbers: see tsr_texture. */
tsr_status EXPORT(tsr_web_set_texture)(tsr_session *session, const char *name, unsigned texture,
                                       const int numbers[6], float factor, float summand) {
    const tsr_texture from = {.id = texture,
                              .width = numbers[0],
                              .height = numbers[1],
                              .columns = numbers[2],
                              .tiles = numbers[3],
                              .texture_width = numbers[4],
                              .texture_height = numbers[5]};
    return end(tsr_session_set_input_texture(session, name, &from, factor, summand));
}

/* numbers: the texture, then as above. */
tsr_status EXPORT(tsr_web_output_texture)(tsr_session *session, const char *name, int numbers[7]) {
    tsr_texture t;
    tsr_status status = end(tsr_session_output_texture(session, name, &t));
    if (status == TSR_OK) {
        const int all[7] = {(int)t.id, t.width,         t.height,        t.columns,
                            t.tiles,   t.texture_width, t.texture_height};
        memcpy(numbers, all, sizeof all);
    }
    return status;
}

static tsr_buffer buffer_of(void *buffer, const double numbers[5]) {
    return (tsr_buffer){.buffer = buffer,
                        .offset = (uint64_t)numbers[0],
                        .bytes = (uint64_t)numbers[1],
                        .count = (size_t)numbers[2],
                        .dtype = (tsr_dtype)numbers[3],
                        .channels_last = numbers[4] != 0};
}

/* Sets an input from a buffer. buffer: of tsr_web_page_buffer(). numbers: see tsr_buffer. */
tsr_status EXPORT(tsr_web_set_buffer)(tsr_session *session, const char *name, void *buffer,
                                      const double numbers[5]) {
    const tsr_buffer from = buffer_of(buffer, numbers);
    return end(tsr_session_set_input_buffer(session, name, &from));
}

/* Writes an output to one. */
tsr_status EXPORT(tsr_web_get_buffer)(tsr_session *session, const char *name, void *buffer,
                                      const double numbers[5]) {
    const tsr_buffer to = buffer_of(buffer, numbers);
    return end(tsr_session_get_output_buffer(session, name, &to));
}

/* Starts a run; reads: its outputs will be read. */
tsr_status EXPORT(tsr_web_submit)(tsr_session *session, int reads) {
    tsr_session_transfer_outputs(session, reads != 0);
    return end(tsr_session_submit(session));
}

/* TSR_NOT_READY while it is in progress. */
tsr_status EXPORT(tsr_web_poll)(tsr_session *session) {
    return end(tsr_session_poll(session));
}

/* Copies an output of the latest run: `count` floats. */
tsr_status EXPORT(tsr_web_get_output)(tsr_session *session, const char *name, float *data,
                                      size_t count) {
    return end(tsr_session_get_output(session, name, data, count));
}

/* Draws an image of an output into all of the GL context's canvas, or of a texture, the page's
 * object of this number; bgra: so are its bytes. */
tsr_status EXPORT(tsr_web_draw)(tsr_session *session, const char *name, int width, int height,
                                int image, int channels_last, int bgr, const float normalization[8],
                                void *texture, int bgra) {
    tsr_draw_target target = {.width = width,
                              .height = height,
                              .flip = !texture,
                              .channels_last = channels_last != 0,
                              .bgr = bgr != 0,
                              .image = image,
                              .wgpu_texture = texture,
                              .format = bgra ? TSR_PIXELS_BGRA8 : TSR_PIXELS_RGBA8};
    memcpy(target.mean, normalization, sizeof target.mean);
    memcpy(target.scale, normalization + 4, sizeof target.scale);
    return end(tsr_session_draw_output(session, name, &target));
}

/* ---- reports --------------------------------------------------------------------------------- */

/* numbers: 16-bit storage?, passes, programs, multiply-adds, bytes of tensors, of weights,
 * milliseconds of compiling, nodes. */
tsr_status EXPORT(tsr_web_report)(const tsr_session *session, double numbers[8]) {
    tsr_report r;
    tsr_status status = end(tsr_session_report(session, &r));
    if (status == TSR_OK) {
        const double all[8] = {r.precision == TSR_PRECISION_FP16,
                               r.pass_count,
                               r.program_count,
                               (double)r.macs,
                               (double)r.tensor_bytes,
                               (double)r.weight_bytes,
                               r.compile_ms,
                               r.node_count};
        memcpy(numbers, all, sizeof all);
    }
    return status;
}

/* texts: name, operator, output, backend, kernel. numbers: multiply-adds, passes, rank, dimensions.
 */
tsr_status EXPORT(tsr_web_node_report)(const tsr_session *session, int node, const char *texts[5],
                                       double numbers[3 + TSR_MAX_RANK]) {
    tsr_node_report r;
    tsr_status status = end(tsr_session_node_report(session, node, &r));
    if (status == TSR_OK) {
        const char *const all[5] = {r.name, r.op, r.output, r.backend, r.kernel};
        memcpy(texts, all, sizeof all);
        numbers[0] = (double)r.macs;
        numbers[1] = r.passes;
        numbers[2] = r.shape.rank;
        for (int i = 0; i < r.shape.rank; i++)
            numbers[3 + i] = (double)r.shape.dim[i];
    }
    return status;
}
