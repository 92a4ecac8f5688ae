/* The search. What rounds is, in this order, given 32 bits until the outputs are as near to those
 * of 32 bits as they should be:
 * - packed weights, which takes no memory of tensors;
 * - tensors, those first that lose most for their bytes: see half_noise.h. In most networks every
 *   tensor loses about as much while their sizes differ a hundredfold, so that most of the error
 *   costs little memory. More memory than MOST_BYTES of that of pure 16 bits is never used.
 * What is still off by more than MOST_ERROR stays in 32 bits altogether.
 * Errors are measured, not estimated: each step is a session that runs, on the same device. */
#include "api/calibrate.h"

#include "api/half_noise.h"
#include "base/allocator.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of each output's largest element. TARGET leaves room for other inputs than those at hand. */
#define TARGET 4e-3
#define PROMISED 1e-2
#define MOST_ERROR 0.1
#define MOST_BYTES(half) ((half) + (half) / 4)

enum { MOST_PLANS = 96, MOST_PARTS = 16 };

/* A graph input, or what a node writes. */
typedef struct candidate {
    int input, node; /* one of them TSR_NONE */
    double rank;     /* what it loses in 16 bits for each byte */
} candidate;

typedef struct calibration {
    const tsr_session *session;
    const tsr_input_copies *inputs;
    tsr_storage_choice *choice; /* as the next plan is made */
    float **expected;           /* by graph output; NULL: not compared */
    candidate *candidates;      /* all; then those within the memory, first ones first */
    int count, accepted;
    uint64_t most_bytes;
    int plans;
} calibration;

static tsr_status out_of_memory(void) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to calibrate");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

tsr_status tsr_input_copies_take(const tsr_session *session, tsr_input_copies *copies) {
    const tsr_graph *graph = session->graph;
    *copies = (tsr_input_copies){.count = graph->input_count};
    copies->elements = tsr_calloc((size_t)graph->input_count + 1, sizeof *copies->elements);
    if (!copies->elements)
        return out_of_memory();
    for (int i = 0; i < graph->input_count; i++) {
        size_t count = (size_t)tsr_shape_count(&graph->values[graph->inputs[i]].shape);
        if (count == 0)
            continue;
        float *elements = copies->elements[i] = tsr_malloc(count * sizeof *elements);
        if (!elements)
            return out_of_memory();
        const tsr_elements to = tsr_elements_of_floats(elements, count);
        TSR_TRY(session->device->backend->get_output(session->runner, graph->inputs[i], &to));
    }
    return TSR_OK;
}

tsr_status tsr_input_copies_give(const tsr_session *session, tsr_runner *runner,
                                 const tsr_input_copies *copies) {
    const tsr_graph *graph = session->graph;
    for (int i = 0; i < copies->count; i++) {
        size_t count = (size_t)tsr_shape_count(&graph->values[graph->inputs[i]].shape);
        const tsr_elements from = tsr_elements_of_floats(copies->elements[i], count);
        if (copies->elements[i])
            TSR_TRY(session->device->backend->set_input(runner, graph->inputs[i], &from));
    }
    return TSR_OK;
}

void tsr_input_copies_free(tsr_input_copies *copies) {
    for (int i = 0; copies->elements && i < copies->count; i++)
        tsr_free(copies->elements[i]);
    tsr_free(copies->elements);
    *copies = (tsr_input_copies){0};
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The session's options with one run in flight, made at once, without messages. */
static tsr_runner_options options_of(const calibration *c, tsr_precision precision) {
    tsr_runner_options o = c->session->options;
    o.precision = precision;
    o.precise = precision == TSR_PRECISION_FP16 ? c->choice->precise : NULL;
    o.precise_weights = precision == TSR_PRECISION_FP16 && c->choice->precise_weights;
    o.prepare_in_steps = o.time_passes = false;
    o.runs_in_flight = 1;
    o.again = true;
    o.progress = NULL;
    return o;
}

static tsr_status run(const calibration *c, tsr_runner *runner) {
    const tsr_backend *backend = c->session->device->backend;
    TSR_TRY(tsr_input_copies_give(c->session, runner, c->inputs));
    TSR_TRY(backend->submit(runner));
    return backend->wait ? backend->wait(runner) : TSR_OK;
}

/* To be freed; NULL when out of memory, or after a failure, which *status tells. */
static float *read(const calibration *c, tsr_runner *runner, int value, tsr_status *status) {
    size_t count = (size_t)tsr_shape_count(&c->session->graph->values[value].shape);
    float *elements = tsr_malloc(count * sizeof *elements + 1);
    *status = elements ? TSR_OK : out_of_memory();
    if (*status == TSR_OK && count) {
        const tsr_elements to = tsr_elements_of_floats(elements, count);
        *status = c->session->device->backend->get_output(runner, value, &to);
    }
    if (*status == TSR_OK)
        return elements;
    tsr_free(elements);
    return NULL;
}

/* The largest difference relative to the largest element. What is not finite in 32 bits is left
 * out; what is not in 16 bits alone is an infinite error. */
static double difference(const float *actual, const float *expected, size_t count) {
    double error = 0, largest = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(expected[i]))
            continue;
        if (!isfinite(actual[i]))
            return INFINITY;
        error = fmax(error, fabs((double)actual[i] - expected[i]));
        largest = fmax(largest, fabs((double)expected[i]));
    }
    return error > 0 ? error / largest : 0;
}

static tsr_status compare_outputs(const calibration *c, tsr_runner *runner, double *error) {
    const tsr_graph *graph = c->session->graph;
    *error = 0;
    for (int i = 0; i < graph->output_count; i++) {
        tsr_status status;
        if (!c->expected[i])
            continue;
        float *actual = read(c, runner, graph->outputs[i], &status);
        if (!actual)
            return status;
        size_t count = (size_t)tsr_shape_count(&graph->values[graph->outputs[i]].shape);
        *error = fmax(*error, difference(actual, c->expected[i], count));
        tsr_free(actual);
    }
    return TSR_OK;
}

/* A runner of the choice as it is now, and the bytes of its tensors. */
static tsr_status make_runner(const calibration *c, bool plan_only, tsr_runner **runner,
                              uint64_t *bytes) {
    const tsr_device *device = c->session->device;
    tsr_runner_options options = options_of(c, TSR_PRECISION_FP16);
    tsr_report report = {0};
    options.plan_only = plan_only;
    TSR_TRY(device->backend->runner_create(device->impl, c->session->graph, &options, runner));
    device->backend->report(*runner, &report);
    *bytes = report.tensor_bytes;
    return TSR_OK;
}

/* Its outputs' error, too. */
static tsr_status try_choice(const calibration *c, double *error, uint64_t *bytes) {
    tsr_runner *runner;
    TSR_TRY(make_runner(c, false, &runner, bytes));
    tsr_status status = run(c, runner);
    if (status == TSR_OK)
        status = compare_outputs(c, runner, error);
    c->session->device->backend->runner_destroy(runner);
    return status;
}

static tsr_status plan_choice(calibration *c, uint64_t *bytes) {
    tsr_runner *runner;
    c->plans++;
    TSR_TRY(make_runner(c, true, &runner, bytes));
    c->session->device->backend->runner_destroy(runner);
    return TSR_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void mark_value(const calibration *c, int value, bool precise) {
    if (value != TSR_NONE)
        c->choice->precise[value] = precise;
}

static void mark(const calibration *c, int first, int end, bool precise) {
    const tsr_graph *graph = c->session->graph;
    for (int i = first; i < end; i++) {
        const candidate *k = &c->candidates[i];
        if (k->node == TSR_NONE)
            mark_value(c, k->input, precise);
        for (int o = 0; k->node != TSR_NONE && o < graph->nodes[k->node].output_count; o++)
            mark_value(c, graph->nodes[k->node].outputs[o], precise);
    }
}

/* Adds to a candidate's noise and bytes what this value has. A value that no pass leaves readable
 * counts as one of little noise. */
static tsr_status add_value(const calibration *c, tsr_runner *all, int value, double *noise,
                            double *bytes) {
    const tsr_value *v = value == TSR_NONE ? NULL : &c->session->graph->values[value];
    tsr_status status;
    if (!v || !tsr_dtype_is_float(v->dtype) || v->data)
        return TSR_OK;
    *bytes += (double)tsr_shape_count(&v->shape);
    if (!c->session->device->backend->can_read(all, value))
        return TSR_OK;
    float *elements = read(c, all, value, &status);
    if (!elements)
        return status;
    *noise = fmax(*noise, tsr_half_noise(elements, &v->shape));
    tsr_free(elements);
    return TSR_OK;
}

static tsr_status rank(const calibration *c, tsr_runner *all, candidate *k) {
    const double few_bytes = 64, little_noise = 1e-9;
    const tsr_graph *graph = c->session->graph;
    double noise = little_noise, bytes = few_bytes;
    if (k->node == TSR_NONE)
        TSR_TRY(add_value(c, all, k->input, &noise, &bytes));
    for (int o = 0; k->node != TSR_NONE && o < graph->nodes[k->node].output_count; o++)
        TSR_TRY(add_value(c, all, graph->nodes[k->node].outputs[o], &noise, &bytes));
    k->rank = bytes > few_bytes ? noise / bytes : -1;
    return TSR_OK;
}

static int first_to_last(const void *a, const void *b) {
    const candidate *s = a, *t = b;
    if (s->rank != t->rank)
        return s->rank > t->rank ? -1 : 1;
    return s->node != t->node ? s->node - t->node : s->input - t->input;
}

static tsr_status list_candidates(calibration *c, tsr_runner *all) {
    const tsr_graph *graph = c->session->graph;
    size_t most = (size_t)graph->input_count + (size_t)graph->node_count;
    c->candidates = tsr_calloc(most + 1, sizeof *c->candidates);
    if (!c->candidates)
        return out_of_memory();
    for (int i = 0; i < graph->input_count; i++)
        c->candidates[c->count++] = (candidate){graph->inputs[i], TSR_NONE, 0};
    for (int i = 0; i < graph->node_count; i++)
        c->candidates[c->count++] = (candidate){TSR_NONE, i, 0};
    for (int i = 0; i < c->count; i++)
        TSR_TRY(rank(c, all, &c->candidates[i]));
    qsort(c->candidates, (size_t)c->count, sizeof *c->candidates, first_to_last);
    while (c->count && c->candidates[c->count - 1].rank < 0) /* no floats */
        c->count--;
    return TSR_OK;
}

static tsr_status read_expected(calibration *c, tsr_runner *all) {
    const tsr_graph *graph = c->session->graph;
    c->expected = tsr_calloc((size_t)graph->output_count + 1, sizeof *c->expected);
    if (!c->expected)
        return out_of_memory();
    for (int i = 0; i < graph->output_count; i++) {
        const tsr_value *v = &graph->values[graph->outputs[i]];
        tsr_status status = TSR_OK;
        if (!v->data && tsr_dtype_is_float(v->dtype) &&
            !(c->expected[i] = read(c, all, graph->outputs[i], &status)))
            return status;
    }
    return TSR_OK;
}

/* A run in 32 bits that keeps every tensor. */
static tsr_status run_precisely(calibration *c) {
    const tsr_backend *backend = c->session->device->backend;
    tsr_runner_options options = options_of(c, TSR_PRECISION_FP32);
    tsr_runner *all;
    options.keep_tensors = true;
    TSR_TRY(backend->runner_create(c->session->device->impl, c->session->graph, &options, &all));
    tsr_status status = run(c, all);
    if (status == TSR_OK)
        status = read_expected(c, all);
    if (status == TSR_OK)
        status = list_candidates(c, all);
    backend->runner_destroy(all);
    return status;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Accepts of these candidates what fits in the memory, halving what does not: earlier ones have
 * precedence. */
static tsr_status accept(calibration *c, int first, int end) {
    uint64_t bytes = 0;
    if (first == end || c->plans == MOST_PLANS)
        return TSR_OK;
    mark(c, first, end, true);
    TSR_TRY(plan_choice(c, &bytes));
    if (bytes <= c->most_bytes) {
        memmove(c->candidates + c->accepted, c->candidates + first,
                (size_t)(end - first) * sizeof *c->candidates);
        c->accepted += end - first;
        return TSR_OK;
    }
    mark(c, first, end, false);
    if (end - first == 1)
        return TSR_OK;
    TSR_TRY(accept(c, first, first + (end - first) / 2));
    return accept(c, first + (end - first) / 2, end);
}

/* The fewest of the accepted candidates, within a sixteenth of them, that meet the target. */
static tsr_status drop_needless(calibration *c) {
    int fails = 0, suffices = c->accepted;
    while (suffices - fails > 1 + c->accepted / MOST_PARTS) {
        int middle = fails + (suffices - fails) / 2;
        double error = 0;
        uint64_t bytes = 0;
        mark(c, 0, c->accepted, false);
        mark(c, 0, middle, true);
        TSR_TRY(try_choice(c, &error, &bytes));
        if (error <= TARGET && bytes <= c->most_bytes) {
            suffices = middle;
            c->choice->error = error;
        } else
            fails = middle;
    }
    mark(c, 0, c->accepted, false);
    mark(c, 0, suffices, true);
    return TSR_OK;
}

/* 32 bits for all weights, if that helps. */
static tsr_status try_weights(const calibration *c) {
    const double helps = 0.8;
    double error = 0;
    uint64_t bytes = 0;
    c->choice->precise_weights = true;
    TSR_TRY(try_choice(c, &error, &bytes));
    if (error < helps * c->choice->error)
        c->choice->error = error;
    else
        c->choice->precise_weights = false;
    return TSR_OK;
}

static tsr_status try_tensors(calibration *c) {
    double error = 0;
    uint64_t bytes = 0;
    TSR_TRY(accept(c, 0, c->count));
    TSR_TRY(try_choice(c, &error, &bytes));
    if (!(error < c->choice->error)) { /* all for nothing */
        mark(c, 0, c->accepted, false);
        return TSR_OK;
    }
    c->choice->error = error;
    if (error > TARGET && !c->choice->precise_weights)
        TSR_TRY(try_weights(c));
    return c->choice->error <= TARGET ? drop_needless(c) : TSR_OK;
}

/* As in 32 bits, in whatever memory that takes: in 16 bits the results would be of no use. */
static tsr_status keep_all(calibration *c) {
    uint64_t bytes;
    double error = c->choice->error;
    for (int v = 0; v < c->session->graph->value_count; v++)
        c->choice->precise[v] = true;
    c->choice->precise_weights = true;
    tsr_log(TSR_LOG_WARN,
            "%s: stays in 32 bits: with a quarter more memory than 16 bits need, outputs would be "
            "off by %d thousandths of their largest element",
            c->session->graph->file, (int)fmin(1e6, error * 1e3 + 0.5));
    return try_choice(c, &c->choice->error, &bytes);
}

static tsr_status search(calibration *c) {
    uint64_t bytes = 0;
    TSR_TRY(run_precisely(c));
    TSR_TRY(try_choice(c, &c->choice->error, &bytes));
    c->most_bytes = MOST_BYTES(bytes);
    if (c->choice->error > TARGET)
        TSR_TRY(try_weights(c));
    if (c->choice->error > TARGET)
        TSR_TRY(try_tensors(c));
    return c->choice->error <= MOST_ERROR ? TSR_OK : keep_all(c);
}

tsr_status tsr_choose_storage(const tsr_session *session, const tsr_input_copies *inputs,
                              tsr_storage_choice *choice) {
    calibration c = {.session = session, .inputs = inputs, .choice = choice};
    tsr_status status = search(&c);
    for (int i = 0; c.expected && i < session->graph->output_count; i++)
        tsr_free(c.expected[i]);
    tsr_free(c.expected);
    tsr_free(c.candidates);
    if (status == TSR_OK && choice->error > PROMISED)
        tsr_log(TSR_LOG_WARN,
                "%s: in 16 bits, with as many tensors in 32 bits as a quarter more memory holds, "
                "outputs are off by %d thousandths of their largest element",
                session->graph->file, (int)fmin(1e6, choice->error * 1e3 + 0.5));
    return status;
}
