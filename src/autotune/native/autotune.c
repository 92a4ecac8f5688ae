#include "autotune/autotune.h"

#include "autotune/measure.h"
#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

/* Of what is left of making a session when layers are measured. */
#define MEASURING_SHARE 0.6

typedef struct tuner {
    const tsr_autotune_target *target;
    tsr_graph *graph;
    const tsr_runner_options *options;
    tsr_cache_key key; /* of the device and its kernels */
    bool any_size;     /* accept results for other sizes of images */
    double deadline;   /* on tsr_clock_ms() */
    tsr_autotune_result *result;
} tuner;

/* ---- kinds of layers ------------------------------------------------------------------------- */

/* Consumes the text. */
static tsr_status add_to_key(tsr_cache_key *key, tsr_text *text) {
    char *chars = tsr_text_take(text);
    if (!chars)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to choose algorithms");
    tsr_cache_key_add(key, chars);
    tsr_free(chars);
    return TSR_OK;
}

/* The key differs for another driver, version of the kernels or set of limits. */
static tsr_status device_key(tuner *t) {
    tsr_device_info info = {.backend = t->target->backend->name};
    tsr_text text = {0};
    t->target->backend->device_info(t->target->device, &info);
    tsr_text_add(&text, "algorithms %s %s %s | %s | %s | %d %d %d %llu | %d %d %d", TSR_VERSION,
                 t->target->backend->kernel_version, info.backend, info.name, info.version,
                 info.max_texture_size, info.max_draw_buffers, info.max_uniform_block_bytes,
                 (unsigned long long)info.max_buffer_bytes, (int)t->options->precision,
                 (int)t->options->weights, info.half_only);
    t->key = tsr_cache_key_start();
    return add_to_key(&t->key, &text);
}

/* any_size: without the batch and image size of computed values. */
static void add_value(tsr_text *text, const tsr_value *value, bool any_size) {
    tsr_text_add(text, " |");
    if (!value)
        return;
    bool constant = value->data;
    tsr_text_add(text, " %s", tsr_dtype_name(value->dtype));
    if (constant || !any_size)
        tsr_text_add(text, " %s%s", tsr_shape_text(&value->shape), constant ? " constant" : "");
    else if (value->shape.rank > 1)
        tsr_text_add(text, " [?,%lld] of rank %d", (long long)value->shape.dim[1],
                     value->shape.rank);
}

static void add_attr(tsr_text *text, const tsr_attr *a) {
    tsr_text_add(text, " %s=", a->name);
    switch (a->kind) {
    case TSR_ATTR_INT:
        tsr_text_add(text, "%lld", (long long)a->i);
        break;
    case TSR_ATTR_FLOAT:
        tsr_text_add(text, "%a", (double)a->f);
        break;
    case TSR_ATTR_STRING:
        tsr_text_add(text, "%s", a->s);
        break;
    case TSR_ATTR_INTS:
        for (int i = 0; i < a->count; i++)
            tsr_text_add(text, "%lld,", (long long)a->ints[i]);
        break;
    case TSR_ATTR_FLOATS:
        for (int i = 0; i < a->count; i++)
            tsr_text_add(text, "%a,", (double)a->floats[i]);
        break;
    case TSR_ATTR_GRAPH: /* passes have replaced such nodes */
    case TSR_ATTR_STRINGS:
        for (int i = 0; i < a->count; i++)
            tsr_text_add(text, "%s,", a->strings[i]);
        break;
    }
}

static tsr_status make_key(const tuner *t, const tsr_node *node, bool any_size,
                           tsr_cache_key *key) {
    tsr_text text = {0};
    tsr_text_add(&text, "%s", tsr_node_op_name(node));
    if (node->before)
        tsr_text_add(&text, " of %s", tsr_op_get_info(node->before->op)->name);
    for (int i = 0; i < node->attr_count; i++)
        add_attr(&text, &node->attrs[i]);
    const unsigned parameters = tsr_op_get_info(node->op)->parameters; /* are of no image's size */
    for (int i = 0; i < node->input_count; i++)
        add_value(&text, tsr_node_in(t->graph, node, i),
                  any_size && !(i < 32 && parameters >> i & 1));
    add_value(&text, tsr_node_out(t->graph, node, 0), any_size);
    *key = t->key;
    return add_to_key(key, &text);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* What there was too little time for is noted in memory, so that other layers come first next
 * time; a single candidate needs no measuring. */
static tsr_status measure(tuner *t, int node, const tsr_layer_key *key, int *tuned) {
    tsr_timings timings;
    bool complete = false;
    const tsr_node *layer = &t->graph->nodes[node];
    tsr_log(TSR_LOG_INFO, "tuning layer %d of %d: '%s' (%s)", node + 1, t->graph->node_count,
            layer->name, tsr_node_op_name(layer));
    tsr_progress_meter part = tsr_progress_part(t->options->progress, node, t->graph->node_count);
    tsr_runner_options options = *t->options;
    options.progress = &part;
    TSR_TRY(
        tsr_measure_layer(t->target, t->graph, node, &options, t->deadline, &timings, &complete));
    t->result->measured += timings.best != TSR_NONE && timings.count > 1;
    *tuned = tsr_tuned_layers_add(t->target->tuned, key, &timings, complete && timings.count > 1);
    return TSR_OK;
}

/* Is the layer, as far as it is known, to be measured? */
static bool is_to_measure(const tuner *t, int tuned) {
    bool tried = tuned != TSR_NONE && t->target->tuned->layers[tuned].timings.best == TSR_NONE;
    return tuned == TSR_NONE || (tried && !t->any_size);
}

static tsr_status choose(tuner *t, int node) {
    tsr_layer_key key;
    int *tuned = &t->result->tuned[node];
    TSR_TRY(make_key(t, &t->graph->nodes[node], false, &key.exact));
    TSR_TRY(make_key(t, &t->graph->nodes[node], true, &key.any_size));
    *tuned = tsr_tuned_layers_find(t->target->tuned, &key, t->any_size);
    if (is_to_measure(t, *tuned) && tsr_clock_ms() < t->deadline)
        TSR_TRY(measure(t, node, &key, tuned));
    if (*tuned == TSR_NONE)
        return TSR_OK;
    const tsr_tuned_layer *layer = &t->target->tuned->layers[*tuned];
    if (layer->timings.best != TSR_NONE)
        t->result->choices[node] =
            (tsr_node_choice){.algorithm = layer->timings.list[layer->timings.best].algorithm,
                              .other_size = !tsr_cache_key_equal(&layer->key.exact, &key.exact)};
    return TSR_OK;
}

static tsr_status choose_all(tuner *t) {
    const tsr_graph *graph = t->graph;
    t->result->choices = TSR_NEW(graph->arena, graph->node_count, tsr_node_choice);
    t->result->tuned = TSR_NEW(graph->arena, graph->node_count, int);
    if (!t->result->choices || !t->result->tuned)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to choose algorithms");
    TSR_TRY(device_key(t));
    for (int i = 0; i < graph->node_count; i++) {
        t->result->tuned[i] = TSR_NONE;
        if (tsr_node_macs(graph, &graph->nodes[i]) > 0)
            TSR_TRY(choose(t, i));
    }
    return TSR_OK;
}

tsr_status tsr_autotune(const tsr_autotune_target *target, tsr_graph *graph,
                        const tsr_runner_options *options, int budget_ms,
                        tsr_autotune_result *result) {
    *result = (tsr_autotune_result){0};
    if (budget_ms < 0 || !target->backend->candidates)
        return TSR_OK;
    double start = tsr_clock_ms();
    tuner t = {.target = target,
               .graph = graph,
               .options = options,
               .any_size = budget_ms == 0,
               .result = result};
    t.deadline = start + (options->plan_only ? 0 : budget_ms);
    if (budget_ms > 0)
        tsr_progress_stage(options->progress, MEASURING_SHARE);
    TSR_TRY(choose_all(&t));
    result->ms = tsr_clock_ms() - start;
    return TSR_OK;
}
