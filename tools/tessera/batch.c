#include "batch.h"
#include "sink.h"
#include "tiling.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IN_FLIGHT = 2 }; /* so that the device is busy while a result is read back */

typedef struct delivery { /* of one output */
    sink sink;
    tsr_tensor_info info;
    const image_options *image;
    int index;     /* of the model's output */
    tensor result; /* of a run */
    tensor whole;  /* of a picture, if runs are of tiles */
} delivery;

typedef struct run_in_flight {
    char *name; /* of the item; NULL: further tiles of it follow */
    int tile;
    image_side side; /* of the item, with its name */
} run_in_flight;

typedef struct batch {
    const job *job;
    const job_input *input;
    source source;
    int delivery_count;
    delivery *deliveries;
    tsr_session *session;
    int most_in_flight, in_flight;
    run_in_flight running[MOST_IN_FLIGHT];
    run_in_flight finished; /* of the item whose results are not written yet; name NULL: none */
    int64_t done;
    double start_ms;
} batch;

tsr_status batch_input(job *j, job_input **input) {
    *input = NULL;
    for (int i = 0; i < j->input_count; i++) {
        if (!j->inputs[i].many)
            continue;
        if (*input)
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: only one input can be a folder, a pattern or a pipe",
                        j->inputs[i].many);
        *input = &j->inputs[i];
    }
    if (*input && (*input)->fixed)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: input '%s' becomes a constant of the session: give one file",
                    (*input)->many, (*input)->info.name);
    return TSR_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void show_progress(const batch *b) {
    enum { WIDTH = 30 };
    static const char full[] = "##############################";
    int64_t count = source_count(&b->source), left = b->done + b->source.skipped;
    double rate = (double)b->done * 1e3 / (now_ms() - b->start_ms);
    int bar = count > 0 ? (int)(left * WIDTH / count) : 0;
    if (count < 0)
        progress("%lld frames, %.2f/s", (long long)b->done, rate);
    else
        progress("[%-*.*s] %lld of %lld, %.2f/s", WIDTH, bar, full, (long long)left,
                 (long long)count, rate);
}

static void free_run(run_in_flight *run) {
    free(run->name);
    image_side_free(&run->side);
    *run = (run_in_flight){0};
}

/* Reads back the oldest run in flight. */
static tsr_status fetch(batch *b) {
    run_in_flight *oldest = &b->running[0];
    TRY_LIBRARY(tsr_session_select_run(b->session, b->in_flight - 1));
    for (int i = 0; i < b->delivery_count; i++) {
        delivery *d = &b->deliveries[i];
        TRY_LIBRARY(
            tsr_session_get_output(b->session, d->info.name, d->result.values, d->result.count));
        if (!b->job->tiling)
            continue;
        if (oldest->tile == 0)
            memset(d->whole.values, 0, d->whole.count * sizeof *d->whole.values);
        tiling_paste(b->job->tiling, d->index, oldest->tile, d->result.values, d->whole.values);
    }
    b->finished = *oldest;
    memmove(b->running, b->running + 1, (size_t)--b->in_flight * sizeof *b->running);
    return TSR_OK;
}

static tsr_status write_result(batch *b, delivery *d) {
    const tensor *finished;
    tensor changed;
    tsr_status status = image_finish(&b->finished.side, d->image,
                                     b->job->tiling ? &d->whole : &d->result, &changed, &finished);
    if (status == TSR_OK)
        status = sink_write(&d->sink, b->finished.name, finished, d->image);
    tensor_free(&changed);
    return status;
}

static tsr_status deliver(batch *b) {
    if (!b->finished.name)
        return TSR_OK;
    for (int i = 0; i < b->delivery_count; i++)
        TRY(write_result(b, &b->deliveries[i]));
    free_run(&b->finished);
    b->done++;
    show_progress(b);
    return TSR_OK;
}

/* Of an item without tiles, or one of its tiles. */
static tsr_status submit(batch *b, const source_item *item, int tile) {
    if (b->job->tiling)
        TRY(job_set_tile(b->job, b->session, tile, item->tensor.values));
    else
        TRY_LIBRARY(tsr_session_set_input(b->session, b->input->info.name, item->tensor.values,
                                          item->tensor.count));
    TRY(job_calibrate(b->job, b->session)); /* with the first item */
    TRY_LIBRARY(tsr_session_submit(b->session));
    b->running[b->in_flight++] = (run_in_flight){.tile = tile};
    return TSR_OK;
}

static tsr_status start(batch *b, source_item *item) {
    int count = b->job->tiling ? tiling_count(b->job->tiling) : 1;
    for (int tile = 0; tile < count; tile++) {
        if (b->in_flight == b->most_in_flight) {
            TRY(deliver(b));
            TRY(fetch(b));
        }
        TRY(submit(b, item, tile));
    }
    run_in_flight *last = &b->running[b->in_flight - 1];
    last->name = item->name;
    last->side = item->side;
    item->name = NULL;
    item->side = (image_side){0};
    source_item_free(item);
    return TSR_OK;
}

static tsr_status finish_all(batch *b) {
    TRY(deliver(b));
    while (b->in_flight) {
        TRY(fetch(b));
        TRY(deliver(b));
    }
    return TSR_OK;
}

/* After an incomplete frame the items in flight are still finished. */
static tsr_status read_next(batch *b, source_item *item) {
    tsr_status status = source_next(&b->source, item);
    if (status != TSR_OK)
        TRY(finish_all(b));
    return status;
}

/* While the device executes runs, results of earlier items are written and the next item is read.
 * Results are not delayed if the next item has not arrived in a pipe yet. */
static tsr_status run_items(batch *b, source_item *item) {
    TRY(read_next(b, item));
    while (item->name) {
        TRY(start(b, item));
        TRY(deliver(b));
        if (source_waits(&b->source))
            TRY(finish_all(b));
        TRY(read_next(b, item));
        if (b->in_flight == b->most_in_flight)
            TRY(fetch(b));
    }
    return finish_all(b);
}

static tsr_status run(batch *b) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(b->session, &report));
    b->start_ms = now_ms();
    source_item item = {0};
    tsr_status status = run_items(b, &item);
    source_item_free(&item);
    progress_clear();
    TRY(status);
    double seconds = (now_ms() - b->start_ms) * 1e-3;
    fprintf(stderr, "ran on %s: %lld %s%s in %.2f s, %.2f a second", report.backend,
            (long long)b->done, b->source.paths ? "file" : "frame", b->done == 1 ? "" : "s",
            seconds, seconds > 0 ? (double)b->done / seconds : 0);
    if (b->source.skipped)
        fprintf(stderr, "; %lld skipped", (long long)b->source.skipped);
    fputc('\n', stderr);
    return TSR_OK;
}

/* ---- preparation ---------------------------------------------------------------------------- */

/* Checks an output against the inputs and the outputs before it. */
static tsr_status check_sink(const batch *b, const delivery *d, const char *path) {
    if (sink_goes_to(&d->sink, b->input->many))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: is the folder of the inputs; the next run, or another shard, would read "
                    "the outputs as inputs",
                    path);
    for (const delivery *other = b->deliveries; other < d; other++)
        if (sink_is_same(&other->sink, &d->sink))
            return fail(TSR_ERROR_INVALID_ARGUMENT,
                        "%s: two outputs would be written to the same files", path);
    return sink_check(&d->sink, b->job, b->source.paths, b->source.path_count);
}

/* As the input's, unless the options say otherwise. */
static film_format film_format_of(const batch *b, int video, const char *path) {
    film_format format = b->source.film.format;
    if (video != VIDEO_AUTO || file_is(path, ".y4m"))
        format.is_y4m = video == VIDEO_Y4M || file_is(path, ".y4m");
    return format;
}

/* Checked before the model is prepared, which may be slow. */
static tsr_status open_sinks(batch *b, int video, int count, const char **paths) {
    b->deliveries = calloc((size_t)count + 1, sizeof *b->deliveries);
    if (!b->deliveries)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < count; i++) {
        if (!paths[i])
            continue;
        delivery *d = &b->deliveries[b->delivery_count];
        d->image = &b->job->output_images[i];
        d->index = i;
        const film_format format = film_format_of(b, video, paths[i]);
        TRY(sink_open(&d->sink, paths[i], &format));
        b->delivery_count++;
        TRY(check_sink(b, d, paths[i]));
        TRY_LIBRARY(tsr_model_output(b->job->model, i, &d->info));
    }
    return b->delivery_count ? TSR_OK
                             : fail(TSR_ERROR_INVALID_ARGUMENT,
                                    "%s: many inputs want an output: -o FOLDER", b->input->many);
}

static tsr_status make_results(batch *b) {
    int count = tsr_session_output_count(b->session);
    for (int i = 0; i < b->delivery_count; i++) {
        delivery *d = &b->deliveries[i];
        tsr_tensor_info info = {0};
        for (int k = 0; k < count && (!info.name || strcmp(info.name, d->info.name) != 0); k++)
            TRY_LIBRARY(tsr_session_output(b->session, k, &info));
        d->info = info; /* the session knows the shape */
        TRY(sink_check_shape(&d->sink, &info.shape));
        TRY(tensor_create(TSR_DTYPE_F32, &info.shape, &d->result));
        if (!b->job->tiling)
            continue;
        const tsr_shape whole = tiling_result_shape(b->job->tiling, d->index);
        TRY(tensor_create(TSR_DTYPE_F32, &whole, &d->whole));
    }
    return TSR_OK;
}

static tsr_status run_session(batch *b, tsr_device *device) {
    progress("preparing %s", b->job->path);
    b->most_in_flight = b->job->options->cpu_fallback ? 1 : MOST_IN_FLIGHT;
    const tsr_session_desc desc = {.runs_in_flight = b->most_in_flight};
    TRY(job_session(b->job, device, &desc, &b->session));
    tsr_status status = make_results(b);
    if (status == TSR_OK)
        status = job_set_inputs(b->job, b->session);
    if (status == TSR_OK)
        status = run(b);
    tsr_session_destroy(b->session);
    return status;
}

static tsr_status run_device(batch *b) {
    tsr_device *device;
    TRY(job_device(b->job->options, NULL, &device));
    tsr_status status = run_session(b, device);
    progress_clear();
    tsr_device_destroy(device);
    return status;
}

static void close_batch(batch *b) {
    for (int i = 0; i < b->delivery_count; i++) {
        sink_close(&b->deliveries[i].sink);
        tensor_free(&b->deliveries[i].result);
        tensor_free(&b->deliveries[i].whole);
    }
    free(b->deliveries);
    for (int i = 0; i < b->in_flight; i++)
        free_run(&b->running[i]);
    free_run(&b->finished);
    source_close(&b->source);
}

/* Of the first item that can be read; all are run with it. */
static tsr_status take_size(batch *b, job *j, job_input *input) {
    int width, height;
    TRY(source_size(&b->source, &width, &height));
    if (width)
        TRY(tiling_open_size(j, input, width, height));
    TRY(source_shape(&b->source, &input->info.shape));
    input->shaped = true;
    return tiling_choose(j, input, input->many);
}

tsr_status batch_run(job *j, job_input *input, const batch_options *options, int count,
                     const char **paths, int64_t *skipped) {
    batch b = {.job = j, .input = input};
    TRY(source_open(&b.source, j, input, options->shard, options->frame));
    tsr_status status = open_sinks(&b, options->video, count, paths);
    if (status == TSR_OK)
        status = take_size(&b, j, input);
    if (status == TSR_OK)
        status = run_device(&b);
    for (int i = 0; i < b.delivery_count; i++) {
        tsr_status ended = sink_end(&b.deliveries[i].sink);
        status = status == TSR_OK ? ended : status;
    }
    *skipped = b.source.skipped;
    close_batch(&b);
    return status;
}
