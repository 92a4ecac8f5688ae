#include "api/bind.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/dtype.h"
#include "api/names.h"

/* The value of a graph input, or an error that lists the inputs. what: the purpose, for the
 * message. */
static tsr_status find_input(const tsr_graph *graph, const char *what, const char *name,
                             int *value) {
    int i = name ? tsr_names_find(graph, graph->inputs, graph->input_count, name) : TSR_NONE;
    if (i != TSR_NONE) {
        *value = graph->inputs[i];
        return TSR_OK;
    }
    tsr_names names = tsr_names_of(graph, graph->inputs, graph->input_count);
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s '%s': there is no such input; the inputs are: %s", what,
                    name ? name : "(NULL)", names.text);
}

/* ---- symbolic dimensions --------------------------------------------------------------------- */

static tsr_status fail_dim(const tsr_graph *graph, const char *name) {
    tsr_names names = {.text = "none"};
    for (int i = 0; i < graph->input_count; i++) {
        const tsr_value *input = &graph->values[graph->inputs[i]];
        for (int d = 0; d < input->shape.rank; d++)
            if (input->dim_name[d])
                tsr_names_add(&names, input->dim_name[d]);
    }
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "no input has a dimension named '%s'; the named dimensions are: %s", name,
                    names.text);
}

static tsr_status bind_dim(tsr_graph *graph, const tsr_dim_binding *binding) {
    if (!binding->name || binding->size < 1)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "dimension '%s' cannot have the size %lld",
                        binding->name ? binding->name : "(NULL)", (long long)binding->size);
    bool found = false;
    for (int i = 0; i < graph->input_count; i++) {
        tsr_value *input = &graph->values[graph->inputs[i]];
        for (int d = 0; d < input->shape.rank; d++) {
            if (!input->dim_name[d] || strcmp(input->dim_name[d], binding->name) != 0)
                continue;
            found = true;
            if (input->shape.dim[d] < 0)
                input->shape.dim[d] = binding->size;
        }
    }
    return found ? TSR_OK : fail_dim(graph, binding->name);
}

/* ---- whole shapes ---------------------------------------------------------------------------- */

/* Gives an input a shape that agrees with what the model declares; override: only in its rank. */
static tsr_status set_shape(tsr_value *input, const tsr_shape *shape, bool override) {
    if (shape->rank < 0 || shape->rank > TSR_MAX_RANK)
        return tsr_fail(TSR_ERROR_SHAPE, "input '%s': a shape cannot have the rank %d", input->name,
                        shape->rank);
    if (tsr_shape_count(shape) < 0)
        return tsr_fail(TSR_ERROR_SHAPE, "input '%s': the shape %s is impossible", input->name,
                        tsr_shape_text(shape));
    bool fits = input->shape.rank < 0 || input->shape.rank == shape->rank;
    for (int d = 0; fits && d < input->shape.rank; d++)
        fits = override || input->shape.dim[d] < 0 || input->shape.dim[d] == shape->dim[d];
    if (!fits)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "input '%s' has the shape %s in the model, which %s does not fit",
                        input->name, tsr_shape_text(&input->shape), tsr_shape_text(shape));
    input->shape = *shape;
    return TSR_OK;
}

static tsr_status bind_shape(tsr_graph *graph, const tsr_input_shape *binding, bool override) {
    int value = TSR_NONE;
    TSR_TRY(find_input(graph, "shape of", binding->input, &value));
    return set_shape(&graph->values[value], &binding->shape, override);
}

/* ---- fixed inputs ---------------------------------------------------------------------------- */

/* The elements as a graph holds them. NULL when out of memory. */
static void *copy_elements(tsr_arena *arena, tsr_dtype dtype, const void *data, uint64_t count) {
    void *elements = tsr_arena_alloc(arena, count, tsr_stored_size(dtype));
    if (elements)
        tsr_dtype_load(dtype, data, (size_t)count, elements);
    return elements;
}

static void remove_input(tsr_graph *graph, int value) {
    int kept = 0;
    for (int i = 0; i < graph->input_count; i++)
        if (graph->inputs[i] != value)
            graph->inputs[kept++] = graph->inputs[i];
    graph->input_count = kept;
}

static tsr_status fix_input(tsr_graph *graph, const tsr_fixed_input *fixed) {
    int v = TSR_NONE;
    TSR_TRY(find_input(graph, "fixed input", fixed->input, &v));
    tsr_value *input = &graph->values[v];
    if (fixed->dtype != input->dtype)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                        "fixed input '%s' is of type %s in the model, not of %s", input->name,
                        tsr_dtype_name(input->dtype), tsr_dtype_name(fixed->dtype));
    TSR_TRY(set_shape(input, &fixed->shape, false));
    uint64_t count = (uint64_t)tsr_shape_count(&fixed->shape);
    if (!fixed->data && count > 0)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "fixed input '%s' has no data", input->name);
    input->data = copy_elements(graph->arena, fixed->dtype, fixed->data, count);
    if (!input->data)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for fixed input '%s' %s", input->name,
                        tsr_shape_text(&input->shape));
    remove_input(graph, v);
    return TSR_OK;
}

/* ---- what remains unknown -------------------------------------------------------------------- */

/* "[batch, 3, ?, 256]": with the model's names of unknown dimensions. */
static const char *open_shape_text(const tsr_value *value, char *text, size_t size) {
    if (value->shape.rank < 0) {
        snprintf(text, size, "unknown, even its rank");
        return text;
    }
    size_t length = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < value->shape.rank && length < size; d++) {
        const char *comma = d ? ", " : "";
        const char *name = value->dim_name[d] ? value->dim_name[d] : "?";
        int added = value->shape.dim[d] < 0
                        ? snprintf(text + length, size - length, "%s%s", comma, name)
                        : snprintf(text + length, size - length, "%s%lld", comma,
                                   (long long)value->shape.dim[d]);
        length += added > 0 ? (size_t)added : 0;
    }
    if (length < size)
        snprintf(text + length, size - length, "]");
    return text;
}

static tsr_status check_input(const tsr_value *input) {
    char text[400];
    if (input->shape.rank < 0 || tsr_shape_count(&input->shape) < 0)
        return tsr_fail(TSR_ERROR_SHAPE,
                        "the shape of input '%s' is %s: set it, or its named dimensions, in "
                        "tsr_session_desc.shapes or .dims",
                        input->name, open_shape_text(input, text, sizeof text));
    return TSR_OK;
}

/* ---- extra outputs --------------------------------------------------------------------------- */

/* Tensors of bodies are computed under other names, perhaps often. */
static bool is_computed(const tsr_graph *graph, int value) {
    return graph->values[value].data || graph->values[value].producer != TSR_NONE ||
           tsr_graph_is_input(graph, value);
}

static tsr_status add_outputs(tsr_graph *graph, const char *const *names, int count) {
    int *outputs = TSR_NEW(graph->arena, (size_t)graph->output_count + (size_t)count, int);
    if (!outputs)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for %d extra outputs", count);
    if (graph->output_count)
        memcpy(outputs, graph->outputs, (size_t)graph->output_count * sizeof *outputs);
    graph->outputs = outputs;
    for (int i = 0; i < count; i++) {
        int value = names[i] ? tsr_graph_find_value(graph, names[i]) : TSR_NONE;
        if (value == TSR_NONE)
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                            "extra output '%s': there is no such tensor; similar names: %s",
                            names[i] ? names[i] : "(NULL)",
                            tsr_names_close_to(graph, names[i] ? names[i] : "").text);
        if (!is_computed(graph, value))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "extra output '%s' is inside a node",
                            names[i]);
        if (!tsr_graph_is_output(graph, value))
            outputs[graph->output_count++] = value;
    }
    return TSR_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

tsr_status tsr_check_lists(const char *desc, const tsr_desc_list *lists, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (lists[i].count < 0 || (lists[i].count > 0 && !lists[i].array))
            return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "%s.%s has a count of %d%s", desc,
                            lists[i].name, lists[i].count, lists[i].array ? "" : " and is NULL");
    return TSR_OK;
}

static tsr_status check_desc(const tsr_session_desc *desc) {
    const tsr_desc_list lists[] = {
        {"dims", desc->dim_count, desc->dims},
        {"shapes", desc->shape_count, desc->shapes},
        {"fixed", desc->fixed_count, desc->fixed},
        {"extra_outputs", desc->extra_output_count, desc->extra_outputs}};
    TSR_TRY(tsr_check_lists("tsr_session_desc", lists, sizeof lists / sizeof *lists));
    if (desc->precision != TSR_PRECISION_FP32 && desc->precision != TSR_PRECISION_FP16 &&
        desc->precision != TSR_PRECISION_AUTO)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no precision %d",
                        (int)desc->precision);
    if (desc->weights < TSR_WEIGHTS_AUTO || desc->weights > TSR_WEIGHTS_INT4)
        return tsr_fail(TSR_ERROR_INVALID_ARGUMENT, "there is no type of weights %d",
                        (int)desc->weights);
    return TSR_OK;
}

tsr_status tsr_bind_sizes(tsr_graph *graph, const tsr_dim_binding *dims, int dim_count,
                          const tsr_input_shape *shapes, int shape_count, bool override) {
    for (int i = 0; i < dim_count; i++)
        TSR_TRY(bind_dim(graph, &dims[i]));
    for (int i = 0; i < shape_count; i++)
        TSR_TRY(bind_shape(graph, &shapes[i], override));
    return TSR_OK;
}

tsr_status tsr_bind(tsr_graph *graph, const tsr_session_desc *desc) {
    TSR_TRY(check_desc(desc));
    TSR_TRY(tsr_bind_sizes(graph, desc->dims, desc->dim_count, desc->shapes, desc->shape_count,
                           desc->override_shapes));
    for (int i = 0; i < desc->fixed_count; i++)
        TSR_TRY(fix_input(graph, &desc->fixed[i]));
    for (int i = 0; i < graph->input_count; i++)
        TSR_TRY(check_input(&graph->values[graph->inputs[i]]));
    return add_outputs(graph, desc->extra_outputs, desc->extra_output_count);
}
