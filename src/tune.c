#include "tune.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "algorithm/algorithm.h"

#include <stdlib.h>
#include <string.h>

enum { GPU_BUDGET_MS = 1000 };

typedef struct tuner {
    tsr_device *device;
    tsr_graph *graph;
    const tsr_runner_options *options;
    tsr_kernel_offer offer;
    tsr_cache_key key; /* of the device and what it offers */
    double deadline;   /* on tsr_clock_ms() */
    tsr_tuning *tuning;
} tuner;

/* ---- kinds of layers ------------------------------------------------------------------------- */

/* Takes the text. */
static tsr_status add_key(tsr_text *text, tsr_cache_key start, tsr_cache_key *key) {
    char *chars = tsr_text_take(text);
    if (!chars)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to choose kernels");
    *key = tsr_cache_key_add(start, chars);
    free(chars);
    return TSR_OK;
}

/* Two drivers, two versions of kernels or two sets of limits are two devices. */
static tsr_status device_key(tuner *t) {
    tsr_device_info info = {.backend = t->device->backend->name};
    tsr_text text = {0};
    t->device->backend->device_info(t->device->own, &info);
    tsr_text_add(&text, "kernels %s %s %s | %s | %s | %d %d %d %llu |", TSR_VERSION,
                 t->offer.version, info.backend, info.name, info.version, info.max_texture_size,
                 info.max_draw_buffers, info.max_uniform_block_bytes,
                 (unsigned long long)info.max_buffer_bytes);
    tsr_text_add(&text, " %d | %s of", (int)t->options->precision, t->offer.own->name);
    for (int i = 0; t->offer.kinds[i]; i++)
        tsr_text_add(&text, " %s", t->offer.kinds[i]->name);
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

/* ---- what is known --------------------------------------------------------------------------- */

/* Where there is no memory for it, it is measured again. */
static void remember(tsr_device *d, const tsr_cache_key *key, const tsr_gpu_kernels *kernels) {
    if (d->tuned_count == d->tuned_capacity) {
        int capacity = d->tuned_capacity ? 2 * d->tuned_capacity : 32;
        tsr_tuned_layer *grown = realloc(d->tuned, (size_t)capacity * sizeof *grown);
        if (!grown)
            return;
        d->tuned = grown;
        d->tuned_capacity = capacity;
    }
    d->tuned[d->tuned_count++] = (tsr_tuned_layer){*key, kernels};
}

static const tsr_gpu_kernels *find_remembered(const tsr_device *d, const tsr_cache_key *key) {
    for (int i = 0; i < d->tuned_count; i++)
        if (d->tuned[i].key.name == key->name && d->tuned[i].key.check == key->check)
            return d->tuned[i].kernels;
    return NULL;
}

/* An entry holds a name. One that no kernels have, whoever wrote it, counts as absent. */
static const tsr_gpu_kernels *load(const tuner *t, const tsr_cache_key *key) {
    const tsr_gpu_kernels *found = NULL;
    size_t size = 0;
    char *name = tsr_cache_load(key, &size);
    for (int i = 0; name && !found && t->offer.kinds[i]; i++) {
        const tsr_gpu_kernels *kernels = t->offer.kinds[i];
        if (strlen(kernels->name) == size && memcmp(kernels->name, name, size) == 0)
            found = kernels;
    }
    free(name);
    return found;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static tsr_status measure(tuner *t, int node, const tsr_cache_key *key,
                          const tsr_gpu_kernels **kernels) {
    tsr_race_result result;
    const tsr_node *layer = &t->graph->nodes[node];
    tsr_log(TSR_LOG_INFO, "tuning layer %d of %d: '%s' (%s)", node + 1, t->graph->node_count,
            layer->name, tsr_node_op_name(layer));
    TSR_TRY(tsr_race(t->device, t->graph, node, t->options, &t->offer, t->deadline, &result));
    *kernels = result.winner;
    if (!result.winner)
        return TSR_OK;
    t->tuning->measured++;
    remember(t->device, key, result.winner);
    if (!result.starved)
        tsr_cache_store(key, result.winner->name, strlen(result.winner->name));
    return TSR_OK;
}

static tsr_status choose(tuner *t, int node, const tsr_gpu_kernels **kernels) {
    tsr_cache_key key;
    TSR_TRY(layer_key(t, &t->graph->nodes[node], &key));
    *kernels = find_remembered(t->device, &key);
    if (*kernels)
        return TSR_OK;
    *kernels = load(t, &key);
    if (*kernels) {
        remember(t->device, &key, *kernels);
        return TSR_OK;
    }
    return tsr_clock_ms() < t->deadline ? measure(t, node, &key, kernels) : TSR_OK;
}

static double budget(const tuner *t, int budget_ms) {
    tsr_device_info info = {.is_cpu = false};
    t->device->backend->device_info(t->device->own, &info);
    if (t->options->plan_only)
        return 0;
    return budget_ms || info.is_cpu ? budget_ms : GPU_BUDGET_MS;
}

static tsr_status choose_all(tuner *t) {
    const tsr_graph *graph = t->graph;
    t->tuning->kernels = TSR_NEW(graph->arena, graph->node_count, const tsr_gpu_kernels *);
    if (!t->tuning->kernels)
        return tsr_fail(TSR_OUT_OF_MEMORY, "no memory to choose kernels");
    TSR_TRY(device_key(t));
    for (int i = 0; i < graph->node_count; i++)
        if (tsr_node_macs(graph, &graph->nodes[i]) > 0)
            TSR_TRY(choose(t, i, &t->tuning->kernels[i]));
    return TSR_OK;
}

tsr_status tsr_tune(tsr_device *device, tsr_graph *graph, const tsr_runner_options *options,
                    int budget_ms, tsr_tuning *tuning) {
    *tuning = (tsr_tuning){0};
    if (budget_ms < 0 || device->kernels != TSR_KERNELS_AUTO || !device->backend->offer_kernels)
        return TSR_OK;
    double start = tsr_clock_ms();
    tuner t = {.device = device, .graph = graph, .options = options, .tuning = tuning};
    device->backend->offer_kernels(device->own, &t.offer);
    t.deadline = start + budget(&t, budget_ms);
    TSR_TRY(choose_all(&t));
    tuning->ms = tsr_clock_ms() - start;
    return TSR_OK;
}
