/* Where a step's numbers are not finite: its graph is computed again, node by node, on the CPU. */
#include "api/trainer.h"

#include <math.h>
#include <stdio.h>

#include "base/allocator.h"
#include "cpu/cpu.h"
#include "passes/edit.h"

typedef struct diagnosis {
    const tsr_trainer *trainer;
    const tsr_graph *graph; /* as it was made: its nodes have their names */
    void **elements;        /* by value, also constants' */
    int *last_use;
} diagnosis;

static bool allocate(const diagnosis *d, int value) {
    size_t bytes = tsr_cpu_bytes(&d->graph->values[value]);
    d->elements[value] = bytes == SIZE_MAX ? NULL : tsr_malloc(bytes + 1);
    return d->elements[value];
}

static void release(const diagnosis *d, int value) {
    if (d->graph->values[value].data)
        return;
    tsr_free(d->elements[value]);
    d->elements[value] = NULL;
}

static void release_ended(const diagnosis *d, const int *values, int count, int node) {
    for (int i = 0; i < count; i++)
        if (values[i] != TSR_NONE && d->last_use[values[i]] == node)
            release(d, values[i]);
}

/* The first element that is no finite number; NULL: all are. */
static const float *find_bad(const diagnosis *d, int value) {
    const tsr_value *v = &d->graph->values[value];
    const float *elements = d->elements[value];
    int64_t count = tsr_dtype_is_float(v->dtype) ? tsr_shape_count(&v->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(elements[i]))
            return &elements[i];
    return NULL;
}

static const char *kind_of(float bad) {
    return isnan(bad) ? "NaN" : "infinity";
}

/* Of an input's element: the state that it belongs to, or the input. */
static const char *name_of(const diagnosis *d, int value, int64_t element) {
    const tsr_training *t = &d->trainer->training;
    for (int i = 0; i < t->state_count; i++) {
        const tsr_training_state *state = &t->states[i];
        const tsr_value *part = &d->graph->values[state->before];
        if (t->tensors[state->tensor].before == value && element >= state->begin &&
            element - state->begin < tsr_shape_count(&part->shape))
            return part->name;
    }
    return d->graph->values[value].name;
}

/* What the step read. False: it cannot be read, or something was found. */
static bool read_inputs(const diagnosis *d, char *text, size_t size) {
    for (int i = 0; i < d->graph->input_count; i++) {
        int value = d->graph->inputs[i];
        if (!allocate(d, value) ||
            tsr_trainer_get(d->trainer, &d->trainer->inputs[i], d->elements[value]) != TSR_OK)
            return false;
        const float *bad = find_bad(d, value);
        if (bad) {
            snprintf(text, size, ": input '%s' holds %s",
                     name_of(d, value, bad - (const float *)d->elements[value]), kind_of(*bad));
            return false;
        }
    }
    return true;
}

/* The same. */
static bool compute(const diagnosis *d, int n, char *text, size_t size) {
    const tsr_node *node = &d->graph->nodes[n];
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] != TSR_NONE && !allocate(d, node->outputs[i]))
            return false;
    if (tsr_cpu_eval(d->graph, node, d->elements) != TSR_OK)
        return false;
    for (int i = 0; i < node->output_count; i++) {
        const float *bad = node->outputs[i] == TSR_NONE ? NULL : find_bad(d, node->outputs[i]);
        if (!bad)
            continue;
        snprintf(text, size, ": node '%s' (%s of '%s') is the first that computes %s", node->name,
                 tsr_node_op_name(node), tsr_node_in(d->graph, node, 0)->name, kind_of(*bad));
        return false;
    }
    release_ended(d, node->inputs, node->input_count, n);
    release_ended(d, node->outputs, node->output_count, n);
    return true;
}

static void search(const diagnosis *d, char *text, size_t size) {
    for (int v = 0; v < d->graph->value_count; v++) {
        d->elements[v] = (void *)d->graph->values[v].data; /* only read */
        d->last_use[v] = TSR_NONE;
    }
    tsr_graph_last_uses(d->graph, d->last_use);
    bool goes_on = read_inputs(d, text, size);
    for (int n = 0; n < d->graph->node_count && goes_on; n++)
        goes_on = compute(d, n, text, size);
    for (int v = 0; v < d->graph->value_count; v++)
        release(d, v);
}

void tsr_trainer_diagnose(const tsr_trainer *t, char *text, size_t size) {
    size_t values = (size_t)t->plain->value_count + 1;
    const diagnosis d = {.trainer = t,
                         .graph = t->plain,
                         .elements = tsr_calloc(values, sizeof(void *)),
                         .last_use = tsr_calloc(values, sizeof(int))};
    *text = '\0';
    if (d.elements && d.last_use && tsr_copy_constants(t->plain) == TSR_OK)
        search(&d, text, size);
    tsr_free(d.elements);
    tsr_free(d.last_use);
}
