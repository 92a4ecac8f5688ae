/* One layer by itself, with each kind of kernels in turns. */
#include "tune.h"

#include "base/clock.h"
#include "base/error.h"
#include "algorithm/algorithm.h"

#include <math.h>
#include <stdlib.h>

/* Rounds below 0 warm up: drivers compile at the first run. */
enum { WARM_UP = 1, ROUNDS = 5 };

/* What others than the device's own kernels may take of their time to be chosen: by noise alone
 * plans would differ from process to process. */
static const double clearly_faster = 0.95;
/* Others that take so many times as long as the fastest in the first round need not run on. */
static const double hopeless = 3;

typedef struct entrant {
    const tsr_gpu_kernels *kernels;
    tsr_runner *runner; /* NULL: cannot compute the layer */
    double ms[ROUNDS];
} entrant;

typedef struct race {
    const tsr_device *device;
    const tsr_kernel_offer *offer;
    double deadline;
    tsr_graph *graph; /* of the one node */
    int count;
    entrant *entrants;
    bool starved; /* see tsr_race_result */
} race;

static tsr_status out_of_memory(const tsr_graph *graph) {
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

static tsr_status set_zeros(const race *r, tsr_runner *runner, int value) {
    size_t count = (size_t)tsr_shape_count(&r->graph->values[value].shape);
    float *zeros = calloc(count + 1, sizeof *zeros);
    if (!zeros)
        return out_of_memory(r->graph);
    tsr_status status = r->device->backend->set_input(runner, value, zeros);
    free(zeros);
    return status;
}

static tsr_status enter(const race *r, const tsr_runner_options *given, entrant *e) {
    const tsr_runner_options options = {.precision = given->precision,
                                        .time_passes = true,
                                        .any_bytes = true,
                                        .runs_in_flight = 1,
                                        .kernels = &e->kernels};
    TSR_TRY(r->device->backend->runner_create(r->device->own, r->graph, &options, &e->runner));
    for (int i = 0; i < r->graph->input_count; i++)
        TSR_TRY(set_zeros(r, e->runner, r->graph->inputs[i]));
    return TSR_OK;
}

static void leave(const race *r, entrant *e) {
    if (e->runner)
        r->device->backend->runner_destroy(e->runner);
    e->runner = NULL;
}

/* For this reason; TSR_OK: it is no reason. */
static void leave_if_failed(race *r, entrant *e, tsr_status status) {
    r->starved |= status == TSR_OUT_OF_MEMORY;
    if (status != TSR_OK)
        leave(r, e);
}

/* By the device's clock if it has one. */
static tsr_status time_run(const race *r, const entrant *e, double *ms) {
    const tsr_backend *backend = r->device->backend;
    double start = tsr_clock_ms();
    TSR_TRY(backend->submit(e->runner));
    TSR_TRY(backend->wait(e->runner));
    double waited = tsr_clock_ms() - start;
    tsr_node_report report = {.ms = -1};
    backend->node_report(e->runner, 0, &report);
    *ms = report.ms >= 0 ? report.ms : waited;
    return TSR_OK;
}

/* ---- the winner ------------------------------------------------------------------------------ */

static int compare_times(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What else the machine does only adds to a time; still not the least one, in which a clock may
 * have erred. */
static double typical_ms(entrant *e) {
    qsort(e->ms, ROUNDS, sizeof *e->ms, compare_times);
    return e->ms[1];
}

static const tsr_gpu_kernels *find_winner(const race *r) {
    const tsr_gpu_kernels *winner = NULL;
    double least = 0;
    for (int i = 0; i < r->count; i++) {
        entrant *e = &r->entrants[i];
        if (!e->runner)
            continue;
        double ms = typical_ms(e);
        tsr_log(TSR_LOG_DEBUG, "%s kernels: %.3f ms", e->kernels->name, ms);
        bool own = e->kernels == r->offer->own;
        ms *= own ? clearly_faster : 1;
        if (!winner || ms < least || (own && ms == least)) {
            winner = e->kernels;
            least = ms;
        }
    }
    return winner;
}

static void drop_hopeless(const race *r) {
    double least = HUGE_VAL;
    for (int i = 0; i < r->count; i++)
        if (r->entrants[i].runner)
            least = fmin(least, r->entrants[i].ms[0]);
    for (int i = 0; i < r->count; i++)
        if (r->entrants[i].kernels != r->offer->own && r->entrants[i].ms[0] > hopeless * least)
            leave(r, &r->entrants[i]);
}

/* False: the time is over. */
static bool run_all(race *r, const tsr_runner_options *options) {
    for (int i = 0; i < r->count; i++) {
        if (tsr_clock_ms() > r->deadline)
            return false;
        leave_if_failed(r, &r->entrants[i], enter(r, options, &r->entrants[i]));
    }
    for (int round = -WARM_UP; round < ROUNDS; round++) {
        for (int i = 0; i < r->count; i++) {
            entrant *e = &r->entrants[i];
            double ms = 0;
            if (tsr_clock_ms() > r->deadline)
                return false;
            if (e->runner)
                leave_if_failed(r, e, time_run(r, e, &ms));
            e->ms[round < 0 ? 0 : round] = ms;
        }
        if (round == 0)
            drop_hopeless(r);
    }
    return true;
}

tsr_status tsr_race(const tsr_device *device, const tsr_graph *graph, int node,
                    const tsr_runner_options *options, const tsr_kernel_offer *offer,
                    double deadline, tsr_race_result *result) {
    race r = {.device = device, .offer = offer, .deadline = deadline};
    *result = (tsr_race_result){0};
    while (offer->kinds[r.count])
        r.count++;
    r.entrants = calloc((size_t)r.count + 1, sizeof *r.entrants);
    r.graph = r.entrants ? isolate(graph, node) : NULL;
    if (!r.graph) {
        free(r.entrants);
        return out_of_memory(graph);
    }
    for (int i = 0; i < r.count; i++)
        r.entrants[i].kernels = offer->kinds[i];
    if (run_all(&r, options))
        *result = (tsr_race_result){find_winner(&r), r.starved};
    for (int i = 0; i < r.count; i++)
        leave(&r, &r.entrants[i]);
    tsr_graph_destroy(r.graph);
    free(r.entrants);
    return TSR_OK;
}
