#include "autotune/autotune.h"

#include "autotune/measure.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "algorithm/algorithm.h"

#include <stdlib.h>
#include <string.h>

enum { GPU_BUDGET_MS = 1000 };

typedef struct tuner {
    const tsr_autotune_target *target;
    tsr_graph *graph;
    const tsr_runner_options *options;
    tsr_kernel_offer offer;
    tsr_cache_key key; /* of the device and its kernels */
    double deadline;   /* on tsr_clock_ms() */
    tsr_autotune_result *result;
} tuner;

/* ---- kinds of layers ------------------------------------------------------------------------- */

/* Consumes the text. */
static tsr_status add_key(tsr_text *text, tsr_cache_key start, tsr_cache_key *key) {
    char *chars = tsr_text_take(text);
    if (!chars)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to choose kernels");
    *key = tsr_cache_key_add(start, chars);
    free(chars);
    return TSR_OK;
}

/* Another driver, version of the kernels or set of limits is another device. */
static tsr_status device_key(tuner *t) {
    tsr_device_info info = {.backend = t->target->backend->name};
    tsr_text text = {0};
    t->target->backend->device_info(t->target->device, &info);
    tsr_text_add(&text, "kernels %s %s %s | %s | %s | %d %d %d %llu |", TSR_VERSION,
                 t->offer.version, info.backend, info.name, info.version, info.max_texture_size,
                 info.max_draw_buffers, info.max_uniform_block_bytes,
                 (unsigned long long)info.max_buffer_bytes);
    tsr_text_add(&text, " %d | %s of", (int)t->options->precision, t->offer.default_kernels->name);
    for (int i = 0; t->offer.candidates[i]; i++)
        tsr_text_add(&text, " %s", t->offer.candidates[i]->name);
    return add_key(&text, tsr_cache_key_start(), &t->key);
}

static void add_value(tsr_text *text, const tsr_value *value) {
    if (value)
        tsr_text_add(text, " | %s %s%s", tsr_dtype_name(value->dtype),
                     tsr_shape_text(&value->shape), value->data ? " constant" : "");
    else
        tsr_text_add(text, " |");
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
    }
}

static tsr_status layer_key(const tuner *t, const tsr_node *node, tsr_cache_key *key) {
    tsr_text text = {0};
    tsr_text_add(&text, "%s", tsr_node_op_name(node));
    for (int i = 0; i < node->attr_count; i++)
        add_attr(&text, &node->attrs[i]);
    for (int i = 0; i < node->input_count; i++)
        add_value(&text, tsr_node_in(t->graph, node, i));
    add_value(&text, tsr_node_out(t->graph, node, 0));
    return add_key(&text, t->key, key);
}

/* ---- tuned layers ---------------------------------------------------------------------------- */

/* When out of memory the layer is not added: it is measured again. */
static void remember(tsr_tuned_layers *tuned, const tsr_cache_key *key,
                     const tsr_gpu_kernels *kernels) {
    if (tuned->count == tuned->capacity) {
        int capacity = tuned->capacity ? 2 * tuned->capacity : 32;
        tsr_tuned_layer *grown = realloc(tuned->layers, (size_t)capacity * sizeof *grown);
        if (!grown)
            return;
        tuned->layers = grown;
        tuned->capacity = capacity;
    }
    tuned->layers[tuned->count++] = (tsr_tuned_layer){*key, kernels};
}

static const tsr_gpu_kernels *find_remembered(const tsr_tuned_layers *tuned,
                                              const tsr_cache_key *key) {
    for (int i = 0; i < tuned->count; i++)
        if (tuned->layers[i].key.name == key->name && tuned->layers[i].key.check == key->check)
            return tuned->layers[i].kernels;
    return NULL;
}

void tsr_tuned_layers_free(tsr_tuned_layers *tuned) {
    free(tuned->layers);
    *tuned = (tsr_tuned_layers){0};
}

/* An entry on disk holds a name. One that no kernels have counts as absent. */
static const tsr_gpu_kernels *load(const tuner *t, const tsr_cache_key *key) {
    const tsr_gpu_kernels *found = NULL;
    size_t size = 0;
    char *name = tsr_cache_load(key, &size);
    for (int i = 0; name && !found && t->offer.candidates[i]; i++) {
        const tsr_gpu_kernels *kernels = t->offer.candidates[i];
        if (strlen(kernels->name) == size && memcmp(kernels->name, name, size) == 0)
            found = kernels;
    }
    free(name);
    return found;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static tsr_status measure(tuner *t, int node, const tsr_cache_key *key,
                          const tsr_gpu_kernels **kernels) {
    tsr_measurement measured;
    const tsr_node *layer = &t->graph->nodes[node];
    tsr_log(TSR_LOG_INFO, "tuning layer %d of %d: '%s' (%s)", node + 1, t->graph->node_count,
            layer->name, tsr_node_op_name(layer));
    TSR_TRY(tsr_measure_layer(t->target, t->graph, node, t->options, &t->offer, t->deadline,
                              &measured));
    *kernels = measured.best;
    if (!measured.best)
        return TSR_OK;
    t->result->measured++;
    remember(t->target->tuned, key, measured.best);
    if (!measured.out_of_memory)
        tsr_cache_store(key, measured.best->name, strlen(measured.best->name));
    return TSR_OK;
}

static tsr_status choose(tuner *t, int node, const tsr_gpu_kernels **kernels) {
    tsr_cache_key key;
    TSR_TRY(layer_key(t, &t->graph->nodes[node], &key));
    *kernels = find_remembered(t->target->tuned, &key);
    if (*kernels)
        return TSR_OK;
    *kernels = load(t, &key);
    if (*kernels) {
        remember(t->target->tuned, &key, *kernels);
        return TSR_OK;
    }
    return tsr_clock_ms() < t->deadline ? measure(t, node, &key, kernels) : TSR_OK;
}

static double budget(const tuner *t, int budget_ms) {
    tsr_device_info info = {.is_cpu = false};
    t->target->backend->device_info(t->target->device, &info);
    if (t->options->plan_only)
        return 0;
    return budget_ms || info.is_cpu ? budget_ms : GPU_BUDGET_MS;
}

static tsr_status choose_all(tuner *t) {
    const tsr_graph *graph = t->graph;
    t->result->kernels = TSR_NEW(graph->arena, graph->node_count, const tsr_gpu_kernels *);
    if (!t->result->kernels)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to choose kernels");
    TSR_TRY(device_key(t));
    for (int i = 0; i < graph->node_count; i++)
        if (tsr_node_macs(graph, &graph->nodes[i]) > 0)
            TSR_TRY(choose(t, i, &t->result->kernels[i]));
    return TSR_OK;
}

tsr_status tsr_autotune(const tsr_autotune_target *target, tsr_graph *graph,
                        const tsr_runner_options *options, int budget_ms,
                        tsr_autotune_result *result) {
    *result = (tsr_autotune_result){0};
    if (budget_ms < 0 || !target->backend->offer_kernels)
        return TSR_OK;
    double start = tsr_clock_ms();
    tuner t = {.target = target, .graph = graph, .options = options, .result = result};
    target->backend->offer_kernels(target->device, &t.offer);
    t.deadline = start + budget(&t, budget_ms);
    TSR_TRY(choose_all(&t));
    result->ms = tsr_clock_ms() - start;
    return TSR_OK;
}
