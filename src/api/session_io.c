/* Inputs and outputs of a session. */
#include "api/session.h"

#include <string.h>

#include "base/allocator.h"
#include "base/error.h"
#include "api/check_elements.h"
#include "api/names.h"
#include "api/sized.h"

/* ---- inputs and outputs ---------------------------------------------------------------------- */

int tsr_session_input_count(const tsr_session *session) {
    return session ? session->graph->input_count : 0;
}

const int *tsr_session_outputs(const tsr_session *session, int *count) {
    const tsr_graph *graph = session->graph;
    *count = session->late ? session->late->nodes.output_count : graph->output_count;
    return session->late ? session->late->nodes.outputs : graph->outputs;
}

int tsr_session_output_count(const tsr_session *session) {
    int count = 0;
    if (session)
        tsr_session_outputs(session, &count);
    return count;
}

static const tsr_value *value_of(const tsr_session *session, int value) {
    return tsr_late_has(session->late, value) ? tsr_late_value(session->late, value)
                                              : &session->graph->values[value];
}

/* The index-th of these values; kind: for the message. */
static tsr_status describe(const tsr_session *session, const char *kind, const int *values,
                           int count, int index, tsr_tensor_info *info, size_t size) {
    if (!info || index < 0 || index >= count)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_%s: there is no %s %d of %d", kind,
                        kind, index, count);
    const tsr_tensor_info known = tsr_tensor_info_of(value_of(session, values[index]));
    tsr_give_struct(&known, sizeof known, info, size);
    return TSR_OK;
}

tsr_status tsr_session_input_sized(const tsr_session *session, int index, tsr_tensor_info *info,
                                   size_t size) {
    return describe(session, "input", session ? session->graph->inputs : NULL,
                    tsr_session_input_count(session), index, info, size);
}

tsr_status tsr_session_output_sized(const tsr_session *session, int index, tsr_tensor_info *info,
                                    size_t size) {
    int count = 0;
    const int *outputs = session ? tsr_session_outputs(session, &count) : NULL;
    return describe(session, "output", outputs, count, index, info, size);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* NULL if the session does not keep it. */
static tsr_kept_output *find_kept(const tsr_session *session, int value) {
    for (int i = 0; i < session->kept_count; i++)
        if (session->kept_outputs[i].value == value)
            return &session->kept_outputs[i];
    return NULL;
}

/* The index of the graph input with this name, if the session can run. */
static tsr_status find_input(const tsr_session *session, const char *name, int *index) {
    const tsr_graph *graph = session->graph;
    TSR_TRY(tsr_session_check_can_run(session));
    *index = tsr_names_find(graph, graph->inputs, graph->input_count, name);
    if (*index == TSR_NONE)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: there is no input '%s'; the inputs are: %s", graph->file, name,
                        tsr_names_of(graph, graph->inputs, graph->input_count).text);
    return TSR_OK;
}

static tsr_status fail_no_textures(const tsr_session *session) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s: the backend '%s' has no textures",
                    session->graph->file, session->device->backend->name);
}

static tsr_status fail_no_buffers(const tsr_session *session) {
    return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s: the backend '%s' has no buffers",
                    session->graph->file, session->device->backend->name);
}

static tsr_status give_elements(tsr_session *session, int value, const tsr_elements *from) {
    tsr_kept_output *same = find_kept(session, value);
    session->stepping = false;
    TSR_TRY(session->device->backend->set_input(session->runner, value, from));
    if (same)
        tsr_elements_to_floats(from, &session->graph->values[value].shape, same->next);
    return TSR_OK;
}

/* Backends get integers as floats. */
static tsr_status give_integers(tsr_session *session, int value, const tsr_elements *from) {
    const tsr_value *v = &session->graph->values[value];
    size_t count = (size_t)tsr_shape_count(&v->shape);
    TSR_TRY(tsr_check_integers(session->graph, v, from));
    float *floats = tsr_malloc(count * sizeof *floats + 1);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for input '%s'",
                        session->graph->file, v->name);
    tsr_elements_to_floats(from, &v->shape, floats);
    const tsr_elements plain = tsr_elements_of_floats(floats, count);
    tsr_status status = give_elements(session, value, &plain);
    tsr_free(floats);
    return status;
}

static tsr_status set_input(tsr_session *session, const char *name, tsr_elements *from) {
    int i;
    if (!session || !name)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "setting an input: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(find_input(session, name, &i));
    const tsr_graph *graph = session->graph;
    int value = graph->inputs[i];
    TSR_TRY(tsr_check_elements(graph, &graph->values[value], from));
    TSR_TRY(tsr_dtype_is_float(graph->values[value].dtype) ? give_elements(session, value, from)
                                                           : give_integers(session, value, from));
    session->input_set[i] = true;
    return TSR_OK;
}

tsr_status tsr_session_set_input(tsr_session *session, const char *name, const float *data,
                                 size_t count) {
    tsr_elements from = tsr_elements_of_floats(data, count);
    return set_input(session, name, &from);
}

tsr_status tsr_session_set_input_array_sized(tsr_session *session, const char *name,
                                             const tsr_array *array, size_t size) {
    tsr_elements from = {.is_pixels = false};
    if (!array)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_set_input_array: array is NULL");
    TSR_TRY(tsr_take_struct("tsr_array", array, size, &from.array, sizeof from.array));
    return set_input(session, name, &from);
}

tsr_status tsr_session_set_input_pixels_sized(tsr_session *session, const char *name,
                                              const tsr_pixels *pixels, size_t size) {
    tsr_elements from = {.is_pixels = true};
    if (!pixels)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_set_input_pixels: pixels is NULL");
    TSR_TRY(tsr_take_struct("tsr_pixels", pixels, size, &from.pixels, sizeof from.pixels));
    return set_input(session, name, &from);
}

tsr_status tsr_session_set_input_texture_sized(tsr_session *session, const char *name,
                                               const tsr_texture *texture, size_t size,
                                               float factor, float summand) {
    int i;
    tsr_texture known;
    if (!session || !name || !texture)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_set_input_texture: an argument is NULL");
    TSR_TRY(tsr_take_struct("tsr_texture", texture, size, &known, sizeof known));
    const tsr_backend *backend = session->device->backend;
    const tsr_graph *graph = session->graph;
    if (!backend->set_input_texture)
        return fail_no_textures(session);
    TSR_TRY(find_input(session, name, &i));
    int value = graph->inputs[i];
    if (!tsr_dtype_is_float(graph->values[value].dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s: input '%s' is %s: textures hold floats",
                        graph->file, name, tsr_dtype_name(graph->values[value].dtype));
    if (find_kept(session, value))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: input '%s' is also an output: it cannot be set from a texture",
                        graph->file, name);
    session->stepping = false;
    TSR_TRY(tsr_fail_context(
        backend->set_input_texture(session->runner, value, &known, factor, summand),
        "%s: input '%s'", graph->file, name));
    session->input_set[i] = true;
    return TSR_OK;
}

tsr_status tsr_session_set_input_buffer_sized(tsr_session *session, const char *name,
                                              const tsr_buffer *buffer, size_t size) {
    int i;
    tsr_buffer known;
    if (!session || !name || !buffer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_set_input_buffer: an argument is NULL");
    TSR_TRY(tsr_take_struct("tsr_buffer", buffer, size, &known, sizeof known));
    const tsr_backend *backend = session->device->backend;
    const tsr_graph *graph = session->graph;
    if (!backend->set_input_buffer)
        return fail_no_buffers(session);
    TSR_TRY(find_input(session, name, &i));
    const tsr_value *value = &graph->values[graph->inputs[i]];
    if (!tsr_dtype_is_float(value->dtype))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: input '%s' is %s, whose elements are checked: set an array",
                        graph->file, name, tsr_dtype_name(value->dtype));
    if (find_kept(session, graph->inputs[i]))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: input '%s' is also an output: it cannot be set from a buffer",
                        graph->file, name);
    TSR_TRY(tsr_check_buffer(graph, value, false, &known));
    session->stepping = false;
    if (known.count > 0)
        TSR_TRY(
            tsr_fail_context(backend->set_input_buffer(session->runner, graph->inputs[i], &known),
                             "%s: input '%s'", graph->file, name));
    session->input_set[i] = true;
    return TSR_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The output's value; TSR_NONE if no output has this name. */
static int find_output(const tsr_session *session, const char *name) {
    int count;
    const int *outputs = tsr_session_outputs(session, &count);
    int i = tsr_names_find(session->graph, outputs, count, name);
    return i == TSR_NONE ? TSR_NONE : outputs[i];
}

static tsr_status fail_name(const tsr_session *session, const char *name, const char *problem) {
    int count;
    const int *outputs = tsr_session_outputs(session, &count);
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: '%s' %s; the outputs are: %s",
                    session->graph->file, name, problem,
                    tsr_names_of(session->graph, outputs, count).text);
}

/* An output that a pass writes, which can be drawn, and be had as a texture or a buffer. */
static tsr_status find_written(const tsr_session *session, const char *name, int *value) {
    *value = find_output(session, name);
    if (*value == TSR_NONE)
        return fail_name(session, name, "is not an output");
    if (tsr_late_has(session->late, *value))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: output '%s' is computed on the CPU, after the run",
                        session->graph->file, name);
    if (session->graph->values[*value].data || find_kept(session, *value))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: output '%s' is a constant or an input: no pass writes it",
                        session->graph->file, name);
    return TSR_OK;
}

/* The tensor of this name, or an error that lists the outputs. */
static tsr_status find_readable(const tsr_session *session, const char *name, int *value) {
    const tsr_graph *graph = session->graph;
    *value = find_output(session, name);
    if (*value != TSR_NONE)
        return TSR_OK;
    *value = tsr_graph_find_value(graph, name);
    if (*value == TSR_NONE)
        return fail_name(session, name, "is not a tensor of the model");
    if (!session->device->backend->can_read(session->runner, *value))
        return fail_name(session, name, "is neither an output nor a tensor that was kept");
    return TSR_OK;
}

/* A constant's floats may be unaligned. */
static tsr_status copy_constant(const tsr_value *value, const tsr_elements *to) {
    if (!tsr_dtype_is_float(value->dtype))
        return tsr_fail_context(
            tsr_elements_from_integers(value->dtype, value->data, &value->shape, to), "tensor '%s'",
            value->name);
    size_t count = (size_t)tsr_shape_count(&value->shape);
    float *floats = tsr_malloc(count * sizeof *floats);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to read '%s'", value->name);
    memcpy(floats, value->data, count * sizeof *floats);
    tsr_elements_from_floats(floats, &value->shape, to);
    tsr_free(floats);
    return TSR_OK;
}

/* Of the graph that runs. */
static tsr_status get_value(tsr_session *session, int index, const tsr_elements *to) {
    const tsr_value *value = &session->graph->values[index];
    const tsr_kept_output *same = find_kept(session, index);
    if (!same && !value->data)
        return session->device->backend->get_output(session->runner, index, to);
    if (!same)
        return copy_constant(value, to);
    tsr_elements_from_floats(tsr_session_kept_run(session, same), &value->shape, to);
    return TSR_OK;
}

static tsr_status read_value(void *session, int index, float *floats, size_t count) {
    const tsr_elements to = tsr_elements_of_floats(floats, count);
    return get_value(session, index, &to);
}

tsr_status tsr_session_compute_late(tsr_session *session) {
    return tsr_session_name_file(tsr_late_compute(session->late, read_value, session),
                                 session->graph);
}

static tsr_status get_output(tsr_session *session, const char *name, tsr_elements *to) {
    if (!session || !name)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "reading an output: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(tsr_session_check_submitted(session));
    int index;
    TSR_TRY(find_readable(session, name, &index));
    bool is_late = tsr_late_has(session->late, index);
    if (is_late)
        TSR_TRY(tsr_session_compute_late(session));
    const tsr_value *value = value_of(session, index);
    TSR_TRY(tsr_check_elements(session->graph, value, to));
    if (tsr_shape_count(&value->shape) == 0)
        return TSR_OK;
    return is_late ? copy_constant(value, to) : get_value(session, index, to);
}

tsr_status tsr_session_get_output(tsr_session *session, const char *name, float *data,
                                  size_t count) {
    tsr_elements to = tsr_elements_of_floats(data, count);
    return get_output(session, name, &to);
}

tsr_status tsr_session_get_output_array_sized(tsr_session *session, const char *name,
                                              const tsr_array *array, size_t size) {
    tsr_elements to = {.is_pixels = false};
    if (!array)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_get_output_array: array is NULL");
    TSR_TRY(tsr_take_struct("tsr_array", array, size, &to.array, sizeof to.array));
    return get_output(session, name, &to);
}

tsr_status tsr_session_get_output_pixels_sized(tsr_session *session, const char *name,
                                               const tsr_pixels *pixels, size_t size) {
    tsr_elements to = {.is_pixels = true};
    if (!pixels)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_get_output_pixels: pixels is NULL");
    TSR_TRY(tsr_take_struct("tsr_pixels", pixels, size, &to.pixels, sizeof to.pixels));
    return get_output(session, name, &to);
}

static tsr_status draw_output(tsr_session *session, int index, const tsr_draw_target *target) {
    static unsigned char no_bytes; /* the checks of pixels in memory apply, but for the memory */
    const tsr_value *value = &session->graph->values[index];
    tsr_elements to = {.is_pixels = true,
                       .pixels = {.data = &no_bytes,
                                  .bytes = SIZE_MAX,
                                  .width = target->width,
                                  .height = target->height,
                                  .format = target->format,
                                  .filter = target->filter,
                                  .channels_last = target->channels_last,
                                  .bgr = target->bgr,
                                  .image = target->image}};
    memcpy(to.pixels.mean, target->mean, sizeof target->mean);
    memcpy(to.pixels.scale, target->scale, sizeof target->scale);
    if (target->format != TSR_PIXELS_RGBA8 && target->format != TSR_PIXELS_BGRA8)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: output '%s' is drawn as RGBA8 or BGRA8, not in format %d",
                        session->graph->file, value->name, (int)target->format);
    if (target->x < 0 || target->y < 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: output '%s' cannot be drawn at (%d, %d)",
                        session->graph->file, value->name, target->x, target->y);
    TSR_TRY(tsr_check_elements(session->graph, value, &to));
    return tsr_fail_context(
        session->device->backend->draw_output(session->runner, index, &to.pixels, target),
        "%s: output '%s'", session->graph->file, value->name);
}

tsr_status tsr_session_draw_output_sized(tsr_session *session, const char *name,
                                         const tsr_draw_target *target, size_t size) {
    tsr_draw_target known;
    int index;
    if (!session || !name || !target)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_draw_output: an argument is NULL");
    TSR_TRY(tsr_take_struct("tsr_draw_target", target, size, &known, sizeof known));
    const tsr_backend *backend = session->device->backend;
    if (!backend->draw_output)
        return fail_no_textures(session);
    if (known.wgpu_texture && !backend->set_input_buffer)
        return tsr_fail(TSR_ERROR_UNSUPPORTED, "%s: the backend '%s' has no WebGPU textures",
                        session->graph->file, backend->name);
    TSR_TRY(tsr_session_check_submitted(session));
    TSR_TRY(find_written(session, name, &index));
    return draw_output(session, index, &known);
}

tsr_status tsr_session_output_texture_sized(tsr_session *session, const char *name,
                                            tsr_texture *texture, size_t size) {
    if (!session || !name || !texture)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_output_texture: an argument is NULL");
    const tsr_backend *backend = session->device->backend;
    const char *file = session->graph->file;
    if (!backend->output_texture)
        return fail_no_textures(session);
    if (!session->texture_outputs || session->plan_only)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: the session was not made with tsr_session_desc.texture_outputs", file);
    int index;
    TSR_TRY(find_written(session, name, &index));
    tsr_texture known = {0};
    TSR_TRY(tsr_session_check_can_run(session));
    TSR_TRY(backend->output_texture(session->runner, index, &known));
    tsr_give_struct(&known, sizeof known, texture, size);
    return TSR_OK;
}

tsr_status tsr_session_get_output_buffer_sized(tsr_session *session, const char *name,
                                               const tsr_buffer *buffer, size_t size) {
    tsr_buffer known;
    if (!session || !name || !buffer)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_session_get_output_buffer: an argument is NULL");
    TSR_TRY(tsr_take_struct("tsr_buffer", buffer, size, &known, sizeof known));
    const tsr_backend *backend = session->device->backend;
    const tsr_graph *graph = session->graph;
    if (!backend->get_output_buffer)
        return fail_no_buffers(session);
    TSR_TRY(tsr_session_check_submitted(session));
    int index;
    TSR_TRY(find_written(session, name, &index));
    TSR_TRY(tsr_check_buffer(graph, &graph->values[index], true, &known));
    if (known.count == 0)
        return TSR_OK;
    return tsr_fail_context(backend->get_output_buffer(session->runner, index, &known),
                            "%s: output '%s'", graph->file, name);
}
