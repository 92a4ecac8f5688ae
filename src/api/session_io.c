/* Inputs and outputs of a session. */
#include "api/session.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "api/names.h"
#include "api/sized.h"

/* ---- inputs and outputs ---------------------------------------------------------------------- */

int tsr_session_input_count(const tsr_session *session) {
    return session ? session->graph->input_count : 0;
}

int tsr_session_output_count(const tsr_session *session) {
    return session ? session->graph->output_count : 0;
}

/* The index-th of these values; kind: for the message. */
static tsr_status describe(const tsr_session *session, const char *kind, const int *values,
                           int count, int index, tsr_tensor_info *info, size_t size) {
    if (!info || index < 0 || index >= count)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_%s: there is no %s %d of %d", kind,
                        kind, index, count);
    const tsr_tensor_info known = tsr_tensor_info_of(&session->graph->values[values[index]]);
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
    return describe(session, "output", session ? session->graph->outputs : NULL,
                    tsr_session_output_count(session), index, info, size);
}

static tsr_status check_count(const tsr_value *value, const void *data, size_t count) {
    size_t expected = (size_t)tsr_shape_count(&value->shape);
    if (count != expected)
        return tsr_fail(TSR_ERROR_SHAPE, "tensor '%s' %s has %zu elements, not %zu", value->name,
                        tsr_shape_text(&value->shape), expected, count);
    if (!data && count > 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tensor '%s': data is NULL", value->name);
    return TSR_OK;
}

/* Floats, which integers are set and computed with, hold them exactly up to here. */
enum { MOST = 1 << 24 };

/* Does an element of an input's type have this value? */
static bool is_exact(tsr_dtype dtype, float x) {
    static const struct {
        float low, high;
    } ranges[] = {[TSR_DTYPE_I64] = {-MOST, MOST},
                  [TSR_DTYPE_I32] = {-MOST, MOST},
                  [TSR_DTYPE_I8] = {INT8_MIN, INT8_MAX},
                  [TSR_DTYPE_U8] = {0, UINT8_MAX},
                  [TSR_DTYPE_BOOL] = {0, 1}};
    return tsr_dtype_is_float(dtype) ||
           (x >= ranges[dtype].low && x <= ranges[dtype].high && x == truncf(x));
}

static tsr_status check_elements(const tsr_value *value, const float *data, size_t count) {
    for (size_t i = 0; !tsr_dtype_is_float(value->dtype) && i < count; i++)
        if (!is_exact(value->dtype, data[i]))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "input '%s' is %s: its element %zu cannot be %g%s", value->name,
                            tsr_dtype_name(value->dtype), i, (double)data[i],
                            fabsf(data[i]) > MOST ? ", beyond 2^24" : "");
    return TSR_OK;
}

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

tsr_status tsr_session_set_input(tsr_session *session, const char *name, const float *data,
                                 size_t count) {
    int i;
    if (!session || !name)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_set_input: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(find_input(session, name, &i));
    const tsr_graph *graph = session->graph;
    int value = graph->inputs[i];
    TSR_TRY(tsr_fail_context(check_count(&graph->values[value], data, count), "%s", graph->file));
    TSR_TRY(
        tsr_fail_context(check_elements(&graph->values[value], data, count), "%s", graph->file));
    tsr_kept_output *same = find_kept(session, value);
    if (same && count > 0)
        memcpy(same->next, data, count * sizeof *data);
    session->stepping = false;
    TSR_TRY(session->device->backend->set_input(session->runner, value, data));
    session->input_set[i] = true;
    return TSR_OK;
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

/* ---- results --------------------------------------------------------------------------------- */

/* The output's value; TSR_NONE if no output has this name. */
static int find_output(const tsr_graph *graph, const char *name) {
    int i = tsr_names_find(graph, graph->outputs, graph->output_count, name);
    return i == TSR_NONE ? TSR_NONE : graph->outputs[i];
}

static tsr_status fail_name(const tsr_graph *graph, const char *name, const char *problem) {
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: '%s' %s; the outputs are: %s", graph->file,
                    name, problem, tsr_names_of(graph, graph->outputs, graph->output_count).text);
}

/* The tensor of this name, or an error that lists the outputs. */
static tsr_status find_readable(const tsr_session *session, const char *name, int *value) {
    const tsr_graph *graph = session->graph;
    *value = find_output(graph, name);
    if (*value != TSR_NONE)
        return TSR_OK;
    *value = tsr_graph_find_value(graph, name);
    if (*value == TSR_NONE)
        return fail_name(graph, name, "is not a tensor of the model");
    if (!session->device->backend->can_read(session->runner, *value))
        return fail_name(graph, name, "is neither an output nor a tensor that was kept");
    return TSR_OK;
}

static void copy_constant(const tsr_value *value, float *data, size_t count) {
    if (tsr_dtype_is_float(value->dtype)) {
        memcpy(data, value->data, count * sizeof *data);
        return;
    }
    for (size_t i = 0; i < count; i++)
        data[i] = (float)((const int64_t *)value->data)[i];
}

tsr_status tsr_session_get_output(tsr_session *session, const char *name, float *data,
                                  size_t count) {
    if (!session || !name)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_session_get_output: %s is NULL",
                        session ? "name" : "session");
    TSR_TRY(tsr_session_check_submitted(session));
    int index;
    TSR_TRY(find_readable(session, name, &index));
    const tsr_value *value = &session->graph->values[index];
    TSR_TRY(tsr_fail_context(check_count(value, data, count), "%s", session->graph->file));
    if (count == 0)
        return TSR_OK;
    const tsr_kept_output *same = find_kept(session, index);
    if (same)
        memcpy(data, tsr_session_kept_run(session, same), count * sizeof *data);
    else if (value->data)
        copy_constant(value, data, count);
    else
        return session->device->backend->get_output(session->runner, index, data);
    return TSR_OK;
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
    int index = find_output(session->graph, name);
    if (index == TSR_NONE)
        return fail_name(session->graph, name, "is not an output");
    if (session->graph->values[index].data || find_kept(session, index))
        return tsr_fail(TSR_ERROR_UNSUPPORTED,
                        "%s: output '%s' is a constant or an input: no pass writes it", file, name);
    tsr_texture known = {0};
    TSR_TRY(backend->output_texture(session->runner, index, &known));
    tsr_give_struct(&known, sizeof known, texture, size);
    return TSR_OK;
}
