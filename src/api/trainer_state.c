/* What steps have changed: by parameter, as a model, and as a file with which another trainer goes
 * on. */
#include "api/trainer.h"

#include <limits.h>
#include <string.h>

#include "api/model.h"
#include "api/session.h"
#include "base/allocator.h"
#include "base/error.h"
#include "base/memory.h"
#include "onnx/onnx.h"

/* ---- parameters ----------------------------------------------------------------------------- */

/* Of its tensor, which is read as a whole. */
static tsr_status get_part(const tsr_trainer *t, const tsr_training_state *state, float *elements,
                           size_t count) {
    const tsr_tensor_storage *tensor = tsr_trainer_tensor(t, state->tensor);
    size_t all_count = (size_t)tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
    if (all_count == count)
        return tsr_trainer_get(t, tensor, elements);
    float *all = tsr_calloc(all_count, sizeof *all);
    tsr_status status = all ? tsr_trainer_get(t, tensor, all)
                            : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the weights");
    if (status == TSR_OK)
        memcpy(elements, all + state->begin, count * sizeof *elements);
    tsr_free(all);
    return status;
}

tsr_status tsr_trainer_get_parameter(tsr_trainer *trainer, int index, float *elements,
                                     size_t count) {
    if (!elements || index < 0 || index >= tsr_trainer_parameter_count(trainer))
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "tsr_trainer_get_parameter: there is no parameter %d of %d, or nowhere to "
                        "write it",
                        index, tsr_trainer_parameter_count(trainer));
    TSR_TRY(tsr_trainer_check_ready(trainer));
    const tsr_training_state *state =
        &trainer->training.states[trainer->training.model.first + index];
    const tsr_value *value = &trainer->graph->values[state->before];
    size_t expected = (size_t)tsr_shape_count(&value->shape);
    if (count != expected)
        return tsr_fail(TSR_ERROR_SHAPE, "%s: parameter '%s' %s has %zu elements, not %zu",
                        trainer->graph->file, value->name, tsr_shape_text(&value->shape), expected,
                        count);
    tsr_status status = get_part(trainer, state, elements, count);
    return status == TSR_OK ? TSR_OK : tsr_session_name_file(status, trainer->graph);
}

/* ---- models --------------------------------------------------------------------------------- */

/* Reads states as they are now, each of their tensors once. */
typedef struct state_reader {
    const tsr_trainer *trainer;
    tsr_arena *arena;
    float **tensors; /* by tensor: its elements; NULL: it was not read yet */
} state_reader;

static tsr_status begin_reading(const tsr_trainer *t, tsr_arena *arena, state_reader *r) {
    *r = (state_reader){t, arena, TSR_NEW(arena, t->training.tensor_count, float *)};
    return r->tensors ? TSR_OK : tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the weights");
}

/* by: tensors further on, of averages. The elements are in the arena, each only once. */
static tsr_status read_state(const state_reader *r, int state, int by, float **elements) {
    const tsr_training_state *s = &r->trainer->training.states[state];
    const tsr_tensor_storage *tensor = tsr_trainer_tensor(r->trainer, s->tensor + by);
    float **all = &r->tensors[s->tensor + by];
    if (!*all) {
        int64_t count = tsr_shape_count(&tsr_tensor_storage_value(tensor)->shape);
        *all = TSR_NEW(r->arena, count, float);
        if (!*all)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the weights");
        TSR_TRY(tsr_trainer_get(r->trainer, tensor, *all));
    }
    *elements = *all + s->begin;
    return TSR_OK;
}

/* Replaces constants of a copy of a network's graph by what a group's states are now, or their
 * averages, whose tensors are `by` further on. */
static tsr_status take_states_of(const tsr_trainer *t, const tsr_training_group *group, int by,
                                 tsr_graph *copy) {
    state_reader reader;
    TSR_TRY(begin_reading(t, copy->arena, &reader));
    for (int i = group->first; i < group->first + group->count; i++) {
        const tsr_training_state *state = &t->training.states[i];
        if (state->constant == TSR_NONE)
            continue;
        float *elements = NULL;
        TSR_TRY(read_state(&reader, i, by, &elements));
        copy->values[state->constant].data = elements;
    }
    return TSR_OK;
}

/* Averages, if there are any. */
static tsr_status take_weights(const tsr_trainer *t, tsr_graph *copy) {
    int average = t->training.average;
    return take_states_of(t, &t->training.model, average == TSR_NONE ? 0 : average, copy);
}

static tsr_status divide_by_norm(const tsr_trainer *t, const tsr_spectral_norm *norm,
                                 tsr_graph *copy) {
    float *weights = (float *)copy->values[t->training.states[norm->parameter].constant].data;
    float *vector = TSR_NEW(copy->arena, norm->rows, float);
    double *left = TSR_NEW(copy->arena, norm->rows, double),
           *right = TSR_NEW(copy->arena, norm->columns, double);
    if (!vector || !left || !right)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for the weights");
    TSR_TRY(get_part(t, &t->training.states[norm->left], vector, (size_t)norm->rows));
    for (int64_t i = 0; i < norm->rows; i++)
        left[i] = vector[i];
    double sigma = tsr_spectral_iterate(weights, norm->rows, norm->columns, left, right);
    for (int64_t i = 0; i < norm->rows * norm->columns; i++)
        weights[i] = (float)(weights[i] / sigma);
    return TSR_OK;
}

static tsr_status take_discriminator(const tsr_trainer *t, tsr_graph *copy) {
    TSR_TRY(take_states_of(t, &t->training.discriminator, 0, copy));
    for (int i = 0; i < t->training.spectral_count; i++)
        TSR_TRY(divide_by_norm(t, &t->training.spectral[i], copy));
    return TSR_OK;
}

typedef tsr_status take_fn(const tsr_trainer *t, tsr_graph *copy);

static tsr_status give_model(const tsr_trainer *t, const tsr_model *of, take_fn *take,
                             tsr_model **model) {
    const tsr_graph *graph = of->graph;
    TSR_TRY(tsr_trainer_check_ready(t));
    tsr_graph *copy = tsr_graph_clone(graph);
    if (!copy)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory for a model", graph->file);
    tsr_status status = tsr_training_widen(copy);
    if (status == TSR_OK)
        status = take(t, copy);
    if (status == TSR_OK)
        status = tsr_model_copy_of(copy, model);
    tsr_graph_destroy(copy);
    return status == TSR_OK ? TSR_OK : tsr_session_name_file(status, graph);
}

tsr_status tsr_trainer_model(tsr_trainer *trainer, tsr_model **model) {
    if (!trainer || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_model: %s is NULL",
                        trainer ? "model" : "trainer");
    *model = NULL;
    return give_model(trainer, trainer->model, take_weights, model);
}

tsr_status tsr_trainer_discriminator(tsr_trainer *trainer, tsr_model **model) {
    if (!trainer || !model)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_discriminator: %s is NULL",
                        trainer ? "model" : "trainer");
    *model = NULL;
    if (!trainer->discriminator)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the trainer has no discriminator",
                        trainer->graph->file);
    return give_model(trainer, trainer->discriminator, take_discriminator, model);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The file is an ONNX model of constants, each the input of an Identity: states by their names in
 * the graph, and the number of steps. */
static const char steps_name[] = "tessera.training.steps";

static tsr_status add_constant(tsr_node_list *list, const char *name, tsr_dtype dtype,
                               const tsr_shape *shape, const void *data) {
    tsr_graph *graph = list->graph;
    int value = tsr_graph_add_constant(graph, name, dtype, shape, data), output;
    if (value == TSR_NONE)
        return tsr_out_of_memory(graph);
    TSR_TRY(tsr_append_new(list, name, TSR_OP_Identity, 1, &value, 0, NULL, &output));
    graph->values[output].dtype = dtype;
    graph->values[output].shape = *shape;
    graph->outputs[graph->output_count++] = output;
    return TSR_OK;
}

static tsr_status add_state(const state_reader *reader, int i, tsr_node_list *list) {
    const tsr_trainer *t = reader->trainer;
    const tsr_value *value = &t->graph->values[t->training.states[i].before];
    float *elements = NULL;
    TSR_TRY(read_state(reader, i, 0, &elements));
    return add_constant(list, value->name, TSR_DTYPE_F32, &value->shape, elements);
}

static tsr_status fill_state_graph(const tsr_trainer *t, tsr_graph *graph) {
    tsr_node_list list = {.graph = graph};
    state_reader reader;
    TSR_TRY(begin_reading(t, graph->arena, &reader));
    graph->outputs = TSR_NEW(graph->arena, t->training.state_count + 1, int);
    if (!graph->outputs)
        return tsr_out_of_memory(graph);
    TSR_TRY(add_constant(&list, steps_name, TSR_DTYPE_I64, &(tsr_shape){0}, &t->steps));
    for (int i = 0; i < t->training.state_count; i++)
        TSR_TRY(add_state(&reader, i, &list));
    tsr_use_node_list(&list, 0);
    return TSR_OK;
}

tsr_status tsr_trainer_save(tsr_trainer *trainer, tsr_write_fn write, void *user) {
    if (!trainer || !write)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_save: %s is NULL",
                        trainer ? "write" : "trainer");
    TSR_TRY(tsr_trainer_check_ready(trainer));
    tsr_graph *graph = tsr_graph_create("training state");
    if (!graph)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for a training state");
    tsr_status status = fill_state_graph(trainer, graph);
    if (status == TSR_OK)
        status = tsr_onnx_write(graph, TSR_OPSET_WRITTEN_MIN, write, user);
    tsr_graph_destroy(graph);
    return status;
}

static tsr_status find_constant(const tsr_graph *graph, const char *name, tsr_dtype dtype,
                                const tsr_shape *shape, const void **data) {
    int found = tsr_graph_find_value(graph, name);
    const tsr_value *value = found == TSR_NONE ? NULL : &graph->values[found];
    if (!value || !value->data)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: it has no '%s'", graph->file, name);
    if (value->dtype != dtype || !tsr_shape_equal(&value->shape, shape))
        return tsr_fail(TSR_ERROR_SHAPE, "%s: '%s' is %s of shape %s, the trainer's is %s of %s",
                        graph->file, name, tsr_dtype_name(value->dtype),
                        tsr_shape_text(&value->shape), tsr_dtype_name(dtype),
                        tsr_shape_text(shape));
    *data = value->data;
    return TSR_OK;
}

/* All is checked before anything is set. */
static tsr_status take_states(tsr_trainer *t, tsr_graph *graph) {
    const int64_t most_steps = (int64_t)1 << 52;
    if (graph->output_count != t->training.state_count + 1)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: it has %d tensors, the trainer %d",
                        graph->file, graph->output_count - 1, t->training.state_count);
    const void *steps, *elements;
    const float **data = TSR_NEW(graph->arena, t->training.state_count, const float *);
    if (!data)
        return tsr_out_of_memory(graph);
    TSR_TRY(find_constant(graph, steps_name, TSR_DTYPE_I64, &(tsr_shape){0}, &steps));
    int64_t count = *(const int64_t *)steps;
    if (count < 0 || count > most_steps)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s: it has %lld steps", graph->file,
                        (long long)count);
    for (int i = 0; i < t->training.state_count; i++) {
        const tsr_value *value = &t->graph->values[t->training.states[i].before];
        TSR_TRY(find_constant(graph, value->name, TSR_DTYPE_F32, &value->shape, &elements));
        data[i] = elements;
    }
    tsr_trainer_cancel_step(t);
    for (int i = 0; i < t->training.tensor_count; i++)
        TSR_TRY(tsr_trainer_set_states(t, i, i, data));
    t->steps = count;
    return TSR_OK;
}

tsr_status tsr_trainer_load(tsr_trainer *trainer, const void *bytes, size_t count) {
    tsr_graph *graph = NULL;
    tsr_maps maps = {0};
    if (!trainer || !bytes || count == 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "tsr_trainer_load: %s",
                        trainer ? "there are no bytes" : "trainer is NULL");
    TSR_TRY(tsr_trainer_check_ready(trainer));
    const tsr_model_desc desc = {
        .name = "training state", .max_bytes = tsr_memory_bytes(), .max_work = 1};
    TSR_TRY(tsr_onnx_read(bytes, count, &desc, &maps, NULL, &graph));
    tsr_status status = take_states(trainer, graph);
    tsr_graph_destroy(graph);
    tsr_maps_close(&maps);
    return status;
}
