#include "autotune/measure.h"

#include "base/clock.h"
#include "base/error.h"
#include "algorithm/algorithm.h"

#include <math.h>
#include <stdlib.h>

/* Iterations below 0 warm up: drivers compile at the first run. */
enum { WARM_UP = 1, ITERATIONS = 5 };

/* Relative to the time of the default kernels, what another candidate may need at most to be
 * chosen: otherwise noise would make plans differ from process to process. */
static const double clearly_faster = 0.95;
/* Candidates this many times slower than the fastest in the first iteration are dropped. */
static const double too_slow = 3;

typedef struct candidate {
    const tsr_gpu_kernels *kernels;
    tsr_runner *runner; /* NULL: cannot compute the layer, or dropped */
    double ms[ITERATIONS];
} candidate;

typedef struct measurement {
    const tsr_autotune_target *target;
    const tsr_kernel_offer *offer;
    double deadline;
    tsr_graph *graph; /* of the one node */
    int count;
    candidate *candidates;
    bool out_of_memory; /* see tsr_measurement */
} measurement;

static tsr_status fail_memory(const tsr_graph *graph) {
    return tsr_fail(TSR_OUT_OF_MEMORY, "%s: no memory to measure kernels", graph->file);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_input(tsr_graph *one, int value) {
    if (value == TSR_NONE || one->values[value].data)
        return;
    for (int i = 0; i < one->input_count; i++)
        if (one->inputs[i] == value)
            return;
    one->values[value].producer = TSR_NONE;
    one->inputs[one->input_count++] = value;
}

/* The node alone, without post-ops: a copy that borrows the weights. NULL when out of memory. */
static tsr_graph *isolate(const tsr_graph *graph, int index) {
    tsr_graph *one = tsr_graph_clone(graph);
    if (!one)
        return NULL;
    tsr_node *node = one->nodes;
    *node = one->nodes[index];
    node->post_count = 0;
    one->node_count = one->output_count = 1;
    one->input_count = 0;
    one->inputs = TSR_NEW(one->arena, node->input_count, int);
    one->outputs = node->outputs;
    if (!one->inputs) {
        tsr_graph_destroy(one);
        return NULL;
    }
    for (int i = 0; i < node->input_count; i++)
        add_input(one, node->inputs[i]);
    one->values[node->outputs[0]].producer = 0;
    return one;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static tsr_status set_zeros(const measurement *m, tsr_runner *runner, int value) {
    size_t count = (size_t)tsr_shape_count(&m->graph->values[value].shape);
    float *zeros = calloc(count + 1, sizeof *zeros);
    if (!zeros)
        return fail_memory(m->graph);
    tsr_status status = m->target->backend->set_input(runner, value, zeros);
    free(zeros);
    return status;
}

static tsr_status create(const measurement *m, const tsr_runner_options *given, candidate *c) {
    const tsr_runner_options options = {.precision = given->precision,
                                        .time_passes = true,
                                        .any_bytes = true,
                                        .runs_in_flight = 1,
                                        .kernels = &c->kernels};
    TSR_TRY(m->target->backend->runner_create(m->target->device, m->graph, &options, &c->runner));
    for (int i = 0; i < m->graph->input_count; i++)
        TSR_TRY(set_zeros(m, c->runner, m->graph->inputs[i]));
    return TSR_OK;
}

static void destroy(const measurement *m, candidate *c) {
    if (c->runner)
        m->target->backend->runner_destroy(c->runner);
    c->runner = NULL;
}

/* Notes whether memory was the reason. */
static void destroy_if_failed(measurement *m, candidate *c, tsr_status status) {
    m->out_of_memory |= status == TSR_OUT_OF_MEMORY;
    if (status != TSR_OK)
        destroy(m, c);
}

/* By the device's timer if it has one. */
static tsr_status time_run(const measurement *m, const candidate *c, double *ms) {
    const tsr_backend *backend = m->target->backend;
    double start = tsr_clock_ms();
    TSR_TRY(backend->submit(c->runner));
    TSR_TRY(backend->wait(c->runner));
    double waited = tsr_clock_ms() - start;
    tsr_node_report report = {.ms = -1};
    backend->node_report(c->runner, 0, &report);
    *ms = report.ms >= 0 ? report.ms : waited;
    return TSR_OK;
}

/* ---- the best candidate ---------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Other work of the machine only adds to a time, so a low one is typical. The second lowest: the
 * lowest may be an error of the clock. */
static double typical_ms(candidate *c) {
    qsort(c->ms, ITERATIONS, sizeof *c->ms, compare_times);
    return c->ms[1];
}

static const tsr_gpu_kernels *find_best(const measurement *m) {
    const tsr_gpu_kernels *best = NULL;
    double least = 0;
    for (int i = 0; i < m->count; i++) {
        candidate *c = &m->candidates[i];
        if (!c->runner)
            continue;
        double ms = typical_ms(c);
        tsr_log(TSR_LOG_DEBUG, "%s kernels: %.3f ms", c->kernels->name, ms);
        bool is_default = c->kernels == m->offer->default_kernels;
        ms *= is_default ? clearly_faster : 1;
        if (!best || ms < least || (is_default && ms == least)) {
            best = c->kernels;
            least = ms;
        }
    }
    return best;
}

static void drop_slow(const measurement *m) {
    double least = HUGE_VAL;
    for (int i = 0; i < m->count; i++)
        if (m->candidates[i].runner)
            least = fmin(least, m->candidates[i].ms[0]);
    for (int i = 0; i < m->count; i++)
        if (m->candidates[i].kernels != m->offer->default_kernels &&
            m->candidates[i].ms[0] > too_slow * least)
            destroy(m, &m->candidates[i]);
}

/* False: time ran out. */
static bool run_all(measurement *m, const tsr_runner_options *options) {
    for (int i = 0; i < m->count; i++) {
        if (tsr_clock_ms() > m->deadline)
            return false;
        destroy_if_failed(m, &m->candidates[i], create(m, options, &m->candidates[i]));
    }
    for (int k = -WARM_UP; k < ITERATIONS; k++) {
        for (int i = 0; i < m->count; i++) {
            candidate *c = &m->candidates[i];
            double ms = 0;
            if (tsr_clock_ms() > m->deadline)
                return false;
            if (c->runner)
                destroy_if_failed(m, c, time_run(m, c, &ms));
            c->ms[k < 0 ? 0 : k] = ms;
        }
        if (k == 0)
            drop_slow(m);
    }
    return true;
}

tsr_status tsr_measure_layer(const tsr_autotune_target *target, const tsr_graph *graph, int node,
                             const tsr_runner_options *options, const tsr_kernel_offer *offer,
                             double deadline, tsr_measurement *result) {
    measurement m = {.target = target, .offer = offer, .deadline = deadline};
    *result = (tsr_measurement){0};
    while (offer->candidates[m.count])
        m.count++;
    m.candidates = calloc((size_t)m.count + 1, sizeof *m.candidates);
    m.graph = m.candidates ? isolate(graph, node) : NULL;
    if (!m.graph) {
        free(m.candidates);
        return fail_memory(graph);
    }
    for (int i = 0; i < m.count; i++)
        m.candidates[i].kernels = offer->candidates[i];
    if (run_all(&m, options))
        *result = (tsr_measurement){find_best(&m), m.out_of_memory};
    for (int i = 0; i < m.count; i++)
        destroy(&m, &m.candidates[i]);
    tsr_graph_destroy(m.graph);
    free(m.candidates);
    return TSR_OK;
}
