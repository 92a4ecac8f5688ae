#include "autotune/measure.h"

#include "base/allocator.h"
#include "base/clock.h"
#include "base/error.h"
#include "algorithm/algorithm.h"

#include <math.h>
#include <stdlib.h>

/* Iterations below 0 warm up: drivers compile at the first run. */
enum { WARM_UP = 1, ITERATIONS = 5 };

/* Another candidate is chosen only if its time is at most this fraction of the default's, since
 * noise would make plans differ between processes. */
static const double clearly_faster = 0.95;
/* Candidates this many times slower than the fastest in the first iteration are dropped. */
static const double too_slow = 3;

typedef struct candidate {
    const char *algorithm;
    bool is_default;
    tsr_runner *runner; /* NULL: cannot compute the layer, or dropped */
    int count;          /* of times measured */
    double ms[ITERATIONS];
} candidate;

typedef struct measurement {
    const tsr_autotune_target *target;
    const tsr_runner_options *given;
    double deadline;
    tsr_graph *graph; /* of the one node */
    int count;
    candidate candidates[TSR_ALGORITHMS];
    int steps;          /* candidates created and runs made, so far */
    tsr_status status;  /* TSR_ERROR_CANCELLED once the caller has said so */
    bool created;       /* all of them */
    bool out_of_memory; /* for at least one */
} measurement;

static tsr_status fail_memory(const tsr_graph *graph) {
    return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "%s: no memory to measure kernels", graph->file);
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
    float *zeros = tsr_calloc(count + 1, sizeof *zeros);
    if (!zeros)
        return fail_memory(m->graph);
    const tsr_elements elements = tsr_elements_of_floats(zeros, count);
    tsr_status status = m->target->backend->set_input(runner, value, &elements);
    tsr_free(zeros);
    return status;
}

/* choice: of the one node. */
static tsr_status make_runner(const measurement *m, const tsr_node_choice *choice, bool plan_only,
                              tsr_runner **runner) {
    const tsr_runner_options options = {.precision = m->given->precision,
                                        .plan_only = plan_only,
                                        .time_passes = true,
                                        .any_bytes = true,
                                        .runs_in_flight = 1,
                                        .choices = choice};
    return m->target->backend->runner_create(m->target->device, m->graph, &options, runner);
}

static tsr_status create(const measurement *m, candidate *c) {
    TSR_TRY(make_runner(m, &(tsr_node_choice){.algorithm = c->algorithm, .only = true}, false,
                        &c->runner));
    for (int i = 0; i < m->graph->input_count; i++)
        TSR_TRY(set_zeros(m, c->runner, m->graph->inputs[i]));
    return TSR_OK;
}

static void destroy(const measurement *m, candidate *c) {
    if (c->runner)
        m->target->backend->runner_destroy(c->runner);
    c->runner = NULL;
}

/* Records whether memory was the reason. */
static void destroy_if_failed(measurement *m, candidate *c, tsr_status status) {
    m->out_of_memory |= status == TSR_ERROR_OUT_OF_MEMORY;
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

/* ---- candidates ------------------------------------------------------------------------------ */

/* Those of the node alone; none if no algorithm computes it. */
static void list_candidates(measurement *m) {
    const tsr_backend *backend = m->target->backend;
    tsr_runner *runner;
    if (make_runner(m, NULL, true, &runner) != TSR_OK)
        return;
    const tsr_candidates all = backend->candidates(runner, 0);
    double least = HUGE_VAL;
    for (int i = 0; i < all.count; i++)
        least = fmin(least, all.list[i].cost);
    for (int i = 0; i < all.count; i++)
        if (all.list[i].chosen || all.list[i].cost <= TSR_MAX_COST_RATIO * least)
            m->candidates[m->count++] =
                (candidate){.algorithm = all.list[i].algorithm, .is_default = all.list[i].chosen};
    backend->runner_destroy(runner);
}

static void drop_slow(measurement *m) {
    double least = HUGE_VAL;
    for (int i = 0; i < m->count; i++)
        if (m->candidates[i].runner)
            least = fmin(least, m->candidates[i].ms[0]);
    for (int i = 0; i < m->count; i++)
        if (!m->candidates[i].is_default && m->candidates[i].ms[0] > too_slow * least)
            destroy(m, &m->candidates[i]);
}

/* Before each step: has the deadline passed, or does the caller cancel? */
static bool has_to_stop(measurement *m) {
    int total = m->count * (1 + WARM_UP + ITERATIONS);
    m->status = tsr_progress_report(m->given->progress, "measuring", m->steps++, total);
    return m->status != TSR_OK || tsr_clock_ms() > m->deadline;
}

/* False if it had to stop. */
static bool run_all(measurement *m) {
    for (int i = 0; i < m->count; i++) {
        if (has_to_stop(m))
            return false;
        destroy_if_failed(m, &m->candidates[i], create(m, &m->candidates[i]));
    }
    m->created = true;
    for (int k = -WARM_UP; k < ITERATIONS; k++) {
        for (int i = 0; i < m->count; i++) {
            candidate *c = &m->candidates[i];
            double ms = 0;
            if (has_to_stop(m))
                return false;
            if (c->runner)
                destroy_if_failed(m, c, time_run(m, c, &ms));
            if (c->runner && k >= 0)
                c->ms[c->count++] = ms;
        }
        if (k == 0)
            drop_slow(m);
    }
    return true;
}

/* ---- the best one ---------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The second lowest time: other processes only increase times, and the lowest may be an error of
 * the clock. */
static double typical_ms(candidate *c) {
    qsort(c->ms, (size_t)c->count, sizeof *c->ms, compare_times);
    return c->ms[c->count > 1];
}

/* All candidates that ran, including dropped ones, which cannot be the best. */
static void list_timings(measurement *m, tsr_timings *timings) {
    double least = 0;
    for (int i = 0; i < m->count; i++) {
        candidate *c = &m->candidates[i];
        if (!c->count)
            continue;
        double ms = typical_ms(c), compared = ms * (c->is_default ? clearly_faster : 1);
        tsr_log(TSR_LOG_DEBUG, "%s: %.3f ms", c->algorithm, ms);
        if (c->runner && (timings->best == TSR_NONE || compared < least ||
                          (c->is_default && compared == least))) {
            timings->best = timings->count;
            least = compared;
        }
        timings->list[timings->count++] = (tsr_timing){c->algorithm, ms};
    }
}

static bool each_ran(const measurement *m) {
    bool all = m->created;
    for (int i = 0; i < m->count; i++)
        all = all && (m->candidates[i].count || !m->candidates[i].runner);
    return all;
}

static void measure(measurement *m, tsr_timings *timings, bool *complete) {
    list_candidates(m);
    if (m->count == 1) {
        *timings = (tsr_timings){.count = 1, .list = {{m->candidates[0].algorithm, -1}}};
        return;
    }
    bool in_time = run_all(m);
    if (in_time || each_ran(m))
        list_timings(m, timings);
    *complete = in_time && !m->out_of_memory && timings->best != TSR_NONE;
    for (int i = 0; i < m->count; i++)
        destroy(m, &m->candidates[i]);
}

tsr_status tsr_measure_layer(const tsr_autotune_target *target, const tsr_graph *graph, int node,
                             const tsr_runner_options *options, double deadline,
                             tsr_timings *timings, bool *complete) {
    measurement m = {
        .target = target, .given = options, .deadline = deadline, .graph = isolate(graph, node)};
    *timings = (tsr_timings){.best = TSR_NONE};
    *complete = false;
    if (!m.graph)
        return fail_memory(graph);
    measure(&m, timings, complete);
    tsr_graph_destroy(m.graph);
    return m.status;
}
