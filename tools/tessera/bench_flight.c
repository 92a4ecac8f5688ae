/* Several runs at a time: while the device executes one, the host sets the inputs of the next and
 * reads the results of the one before. */
#include "bench.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 }; /* what the library allows */

/* Run r has the inputs number r % count. */
typedef struct flight {
    bench *b;
    tsr_session *session;
    int count; /* of runs at a time */
    int submitted, taken;
    double began[MOST]; /* of each run in flight */
    float **inputs;  /* number k of each input begins at its element k: the first, rotated by k */
    float **results; /* [count][outputs]: of runs alone */
} flight;

/* ---- runs ------------------------------------------------------------------------------------ */

static tsr_status set_inputs(const flight *f, int number) {
    const job *j = f->b->j;
    for (int i = 0; i < j->input_count; i++)
        if (!j->inputs[i].fixed)
            TRY_LIBRARY(tsr_session_set_input(f->session, j->inputs[i].info.name,
                                              f->inputs[i] + number, j->inputs[i].tensor.count));
    return TSR_OK;
}

static tsr_status submit(flight *f) {
    int number = f->submitted % f->count;
    f->began[number] = now_ms();
    TRY(set_inputs(f, number));
    TRY_LIBRARY(tsr_session_submit(f->session));
    f->submitted++;
    return TSR_OK;
}

/* The results of the oldest run; returns its milliseconds. */
static tsr_status take(flight *f, double *ms) {
    TRY_LIBRARY(tsr_session_select_run(f->session, f->submitted - f->taken - 1));
    for (int i = 0; i < f->b->output_count; i++)
        TRY(bench_read_output(f->b, f->session, i));
    *ms = now_ms() - f->began[f->taken++ % f->count];
    return TSR_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

static tsr_status rotate_input(const job_input *input, int count, float **made) {
    const tensor *t = &input->tensor;
    *made = malloc((t->count + (size_t)count) * sizeof **made);
    if (!*made)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "input '%s': not enough memory", input->info.name);
    for (size_t i = 0; i < t->count + (size_t)count; i++)
        (*made)[i] = t->count ? t->values[i % t->count] : 0;
    return TSR_OK;
}

/* Keeps the results of a run with each of the inputs. */
static tsr_status run_alone(flight *f) {
    bench *b = f->b;
    for (int number = 0; number < f->count; number++) {
        TRY(set_inputs(f, number));
        TRY_LIBRARY(tsr_session_run(f->session));
        for (int i = 0; i < b->output_count; i++) {
            TRY(bench_read_output(b, f->session, i));
            f->results[number * b->output_count + i] = b->outputs[i];
            b->outputs[i] = NULL;
        }
    }
    return TSR_OK;
}

static tsr_status compare_outputs(const flight *f, int number) {
    const bench *b = f->b;
    for (int i = 0; i < b->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_session_output(f->session, i, &info));
        size_t bytes = (size_t)tsr_shape_count(&info.shape) * sizeof(float);
        if (memcmp(b->outputs[i], f->results[number * b->output_count + i], bytes) != 0)
            return fail(TSR_ERROR_DEVICE,
                        "output '%s' of %d runs in flight differs from that of a run alone",
                        info.name, f->count);
    }
    return TSR_OK;
}

/* Of the first runs in flight, before any is timed. */
static tsr_status check_results(flight *f) {
    double unused;
    progress("comparing %d runs in flight with runs alone", f->count);
    TRY(run_alone(f));
    while (f->submitted < f->count)
        TRY(submit(f));
    while (f->taken < f->submitted) {
        TRY(take(f, &unused));
        TRY(compare_outputs(f, (f->taken - 1) % f->count));
    }
    f->submitted = f->taken = 0;
    return TSR_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static tsr_status take_sample(flight *f, samples *latency) {
    double ms = 0;
    bench_progress(f->b->o, f->taken, "run in flight");
    TRY(take(f, &ms));
    return samples_add(latency, ms);
}

static tsr_status time_runs(flight *f, samples *latency) {
    double began = now_ms();
    while (bench_goes_on(f->b->o, f->submitted, began)) {
        if (f->submitted - f->taken == f->count)
            TRY(take_sample(f, latency));
        TRY(submit(f));
    }
    while (f->taken < f->submitted)
        TRY(take_sample(f, latency));
    f->b->flight.seconds = (now_ms() - began) * 1e-3;
    f->b->flight.runs = f->taken;
    return TSR_OK;
}

static tsr_status measure(flight *f) {
    const job *j = f->b->j;
    samples latency = {0};
    f->inputs = calloc((size_t)j->input_count + 1, sizeof *f->inputs);
    f->results = calloc((size_t)f->count * (size_t)f->b->output_count + 1, sizeof *f->results);
    if (!f->inputs || !f->results)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < j->input_count; i++)
        if (!j->inputs[i].fixed)
            TRY(rotate_input(&j->inputs[i], f->count, &f->inputs[i]));
    TRY(check_results(f));
    tsr_status status = time_runs(f, &latency);
    f->b->flight.latency = samples_take(&latency);
    return status;
}

tsr_status bench_flight(bench *b, tsr_session *session) {
    flight f = {.b = b, .session = session, .count = b->o->in_flight};
    tsr_status status = measure(&f);
    progress_clear();
    for (int i = 0; f.inputs && i < b->j->input_count; i++)
        free(f.inputs[i]);
    for (int i = 0; f.results && i < f.count * b->output_count; i++)
        free(f.results[i]);
    free(f.inputs);
    free(f.results);
    return status;
}
