#include "batch.h"
#include "sink.h"
#include "text.h"
#include "tiling.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_IN_FLIGHT = 2 }; /* so that the device is busy while a result is read back */

typedef struct delivery { /* of an output or, behind those, of drawings */
    const char *path;     /* NULL: it is not written */
    sink sink;            /* where it has a path */
    const image_options *image;
    bool fetched; /* from the session */
    tensor tile;  /* a run's result, if runs are of tiles */
} delivery;

typedef struct run_in_flight {
    source_item item; /* name NULL: further tiles of it follow */
    int tile;
} run_in_flight;

typedef struct batch {
    job *job;
    job_input *input;
    const batch_options *o;
    source source;
    int count; /* of the model's outputs */
    delivery *deliveries;
    named_tensor *results; /* outputs that are fetched, of the whole picture */
    FILE *told;            /* NULL: nothing is told */
    tsr_device *device;
    tsr_session *session; /* for items of this shape; NULL: none could be made */
    tsr_shape shape;
    int most_in_flight, in_flight;
    run_in_flight running[MOST_IN_FLIGHT];
    source_item finished; /* whose results are not delivered yet; name NULL: none */
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

/* Reads back the oldest run in flight. */
static tsr_status fetch(batch *b) {
    const struct tiling *tiling = b->job->tiling;
    const run_in_flight oldest = b->running[0];
    TRY_LIBRARY(tsr_session_select_run(b->session, b->in_flight - 1));
    for (int i = 0; i < b->count; i++) {
        delivery *d = &b->deliveries[i];
        tensor *whole = &b->results[i].tensor, *got = tiling ? &d->tile : whole;
        if (!d->fetched)
            continue;
        TRY_LIBRARY(
            tsr_session_get_output(b->session, b->results[i].name, got->values, got->count));
        if (tiling && oldest.tile == 0)
            memset(whole->values, 0, whole->count * sizeof *whole->values);
        if (tiling)
            tiling_paste(tiling, i, oldest.tile, got->values, whole->values);
    }
    b->finished = oldest.item;
    memmove(b->running, b->running + 1, (size_t)--b->in_flight * sizeof *b->running);
    return TSR_OK;
}

static const char *shown_name(const batch *b) {
    return b->finished.path ? b->finished.path : b->finished.name;
}

static tsr_status deliver_output(batch *b, int index) {
    delivery *d = &b->deliveries[index];
    const named_tensor *result = &b->results[index];
    const tensor *finished;
    tensor changed;
    tsr_status status =
        image_finish(&b->finished.side, d->image, &result->tensor, &changed, &finished);
    if (status == TSR_OK && d->path)
        status = sink_write(&d->sink, b->finished.name, finished, d->image);
    if (status == TSR_OK && b->told && !b->o->single->draw.kind)
        status =
            result_print(b->told, shown_name(b), result->name, finished, &b->o->single->result);
    tensor_free(&changed);
    return status;
}

static tsr_status deliver_drawing(batch *b) {
    delivery *d = &b->deliveries[b->count];
    job_input input = *b->input;
    canvas made;
    input.path = b->finished.path;
    input.tensor = b->finished.tensor;
    input.info.shape = input.tensor.shape;
    fprintf(b->told, "%s\n", name_label(shown_name(b)).text);
    tsr_status status =
        draw_picture(b->job, &b->o->single->draw, &input, b->results, b->told, &made);
    if (status == TSR_OK)
        status = sink_write(&d->sink, b->finished.name, &made.picture, d->image);
    canvas_close(&made);
    return status;
}

static tsr_status deliver(batch *b) {
    if (!b->finished.name)
        return TSR_OK;
    if (b->told)
        progress_clear();
    for (int i = 0; i < b->count; i++)
        if (b->deliveries[i].fetched)
            TRY(deliver_output(b, i));
    if (b->o->single->draw.kind)
        TRY(deliver_drawing(b));
    if (b->told)
        fflush(b->told); /* main() sees whether it was written */
    source_item_free(&b->finished);
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
    if (!b->o->single->draw.kind)
        tensor_free(&item->tensor);
    b->running[b->in_flight - 1].item = *item;
    *item = (source_item){0};
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

static void end_session(batch *b) {
    tsr_session_destroy(b->session);
    tiling_free(b->job->tiling);
    b->session = NULL;
    b->job->tiling = NULL;
}

static tsr_status make_results(batch *b) {
    for (int i = 0; i < b->count; i++) {
        delivery *d = &b->deliveries[i];
        tsr_tensor_info info;
        if (!d->fetched)
            continue;
        TRY_LIBRARY(tsr_session_output(b->session, i, &info));
        b->results[i].name = info.name;
        if (d->path)
            TRY(sink_check_shape(&d->sink, &info.shape));
        tensor_free(&d->tile);
        tensor_free(&b->results[i].tensor);
        if (b->job->tiling) {
            TRY(tensor_create(TSR_DTYPE_F32, &info.shape, &d->tile));
            info.shape = tiling_result_shape(b->job->tiling, i);
        }
        TRY(tensor_create(TSR_DTYPE_F32, &info.shape, &b->results[i].tensor));
    }
    return labels_check(b->o->single->result.labels, b->job->model, b->session);
}

static tsr_status make_session(batch *b) {
    progress("preparing %s", b->job->path);
    const tsr_session_desc desc = {.runs_in_flight = b->most_in_flight};
    return job_session(b->job, b->device, &desc, &b->session);
}

static tsr_status prepare_session(batch *b) {
    TRY(make_results(b));
    return job_set_inputs(b->job, b->session);
}

/* A session for an item of another shape. Its programs are for the most part those of the one
 * before, which the device keeps. An item of a size that the network or the device does not take is
 * skipped, as one that cannot be read: then there is no session. */
static tsr_status change_session(batch *b, source_item *item) {
    double start = now_ms();
    end_session(b);
    b->shape = item->tensor.shape;
    source_set_shape(&b->source, &b->shape);
    tsr_status status = tiling_choose(b->job, b->input, item->path);
    if (status == TSR_OK)
        status = make_session(b);
    if (status == TSR_ERROR_SHAPE || status == TSR_ERROR_LIMIT) {
        end_session(b);
        fail(status, "%s: %s", item->path, failure());
        source_item_free(item);
        source_skip(&b->source);
        return TSR_OK;
    }
    if (status == TSR_OK)
        status = prepare_session(b);
    b->start_ms += now_ms() - start; /* the rate is that of runs */
    return status;
}

/* After an incomplete frame the items in flight are still finished. */
static tsr_status read_next(batch *b, source_item *item) {
    for (;;) {
        tsr_status status = source_next(&b->source, item);
        if (status != TSR_OK)
            TRY(finish_all(b));
        TRY(status);
        if (!item->name || (b->session && shape_equal(&item->tensor.shape, &b->shape)))
            return TSR_OK;
        TRY(finish_all(b));
        TRY(change_session(b, item));
        if (b->session)
            return TSR_OK;
    }
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
    tsr_device_info device;
    TRY_LIBRARY(tsr_device_get_info(b->device, &device));
    b->start_ms = now_ms();
    source_item item = {0};
    tsr_status status = run_items(b, &item);
    source_item_free(&item);
    progress_clear();
    TRY(status);
    double seconds = (now_ms() - b->start_ms) * 1e-3;
    fprintf(stderr, "ran on %s: %lld %s%s in %.2f s, %.2f a second", device.backend,
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
        if (other->path && sink_is_same(&other->sink, &d->sink))
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

/* Frames are of one size. */
static bool writes_film(const batch *b) {
    bool film = false;
    for (int i = 0; i <= b->count; i++)
        film = film || (b->deliveries[i].path && !b->deliveries[i].sink.pattern);
    return film;
}

static tsr_status open_sink(batch *b, delivery *d) {
    const film_format format = film_format_of(b, b->o->video, d->path);
    TRY(sink_open(&d->sink, d->path, &format));
    if (strcmp(d->path, "-") == 0 && b->told)
        b->told = stderr;
    return check_sink(b, d, d->path);
}

/* Checked before the model is prepared, which may be slow. */
static tsr_status open_sinks(batch *b, const char **paths) {
    const draw_options *draw = &b->o->single->draw;
    bool written = draw->kind;
    b->deliveries = calloc((size_t)b->count + 1, sizeof *b->deliveries);
    b->results = calloc((size_t)b->count + 1, sizeof *b->results);
    if (!b->deliveries || !b->results)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < b->count; i++)
        written = written || paths[i];
    if (b->o->told || draw->kind || !written)
        b->told = stdout;
    for (int i = 0; i <= b->count; i++) {
        delivery *d = &b->deliveries[i];
        d->image = i < b->count ? &b->job->output_images[i] : &canvas_image;
        d->path = i < b->count ? paths[i] : draw->path;
        d->fetched = i < b->count && (d->path || b->told);
        if (d->path)
            TRY(open_sink(b, d));
    }
    b->source.own_sizes = b->source.paths && !writes_film(b);
    return draw->kind ? draw_check_path(b->deliveries[b->count].sink.pattern) : TSR_OK;
}

static tsr_status run_device(batch *b) {
    b->most_in_flight = b->job->options->cpu_fallback ? 1 : MOST_IN_FLIGHT;
    TRY(job_device(b->job->options, NULL, &b->device));
    tsr_status status = b->source.own_sizes ? TSR_OK : make_session(b);
    if (status == TSR_OK && b->session)
        status = prepare_session(b);
    if (status == TSR_OK)
        status = run(b);
    progress_clear();
    end_session(b);
    tsr_device_destroy(b->device);
    return status;
}

static void close_batch(batch *b) {
    for (int i = 0; i <= b->count && b->deliveries; i++) {
        sink_close(&b->deliveries[i].sink);
        tensor_free(&b->deliveries[i].tile);
    }
    for (int i = 0; i < b->count && b->results; i++)
        tensor_free(&b->results[i].tensor);
    free(b->deliveries);
    free(b->results);
    for (int i = 0; i < b->in_flight; i++)
        source_item_free(&b->running[i].item);
    source_item_free(&b->finished);
    source_close(&b->source);
}

/* Of the first item that can be read; later ones may have their own. */
static tsr_status take_shape(batch *b) {
    const char *name;
    TRY(source_shape(&b->source, &b->shape, &name));
    source_set_shape(&b->source, &b->shape);
    tsr_status status = b->source.own_sizes ? TSR_OK : tiling_choose(b->job, b->input, name);
    return status == TSR_OK ? TSR_OK : fail(status, "%s: %s", name, failure());
}

static bool is_done(const void *user, const char *name) {
    const batch *b = user;
    for (int i = 0; i <= b->count; i++)
        if (b->deliveries[i].path && !sink_has(&b->deliveries[i].sink, name))
            return false;
    return true;
}

static tsr_status check_resume(const batch *b) {
    int written = 0;
    bool files = b->source.paths != NULL;
    for (int i = 0; i <= b->count; i++) {
        written += b->deliveries[i].path != NULL;
        files = files && (!b->deliveries[i].path || b->deliveries[i].sink.pattern);
    }
    return files && written
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT,
                      "%s: --resume is for files that become files, not for films", b->input->many);
}

/* Without those that an earlier run has written. */
static tsr_status run_rest(batch *b) {
    if (b->o->resume)
        source_leave_out(&b->source, is_done, b);
    if (b->source.left_out)
        note("left out: %lld of %lld inputs, whose outputs are there",
             (long long)b->source.left_out,
             (long long)(b->source.left_out + source_count(&b->source)));
    return b->o->resume && source_count(&b->source) == 0 ? TSR_OK : run_device(b);
}

tsr_status batch_run(job *j, job_input *input, const batch_options *options, int count,
                     const char **paths, int64_t *skipped) {
    batch b = {.job = j, .input = input, .o = options, .count = count};
    draw_options *draw = &options->single->draw;
    TRY(source_open(&b.source, j, input, options->shard, options->frame));
    tsr_status status = open_sinks(&b, paths);
    if (status == TSR_OK && options->resume)
        status = check_resume(&b);
    if (status == TSR_OK)
        status = labels_check(options->single->result.labels, j->model, NULL);
    if (status == TSR_OK)
        status = take_shape(&b);
    if (status == TSR_OK && draw->kind)
        status = draw_prepare(j, canvas_shows(input) ? input : NULL, draw);
    if (status == TSR_OK)
        status = run_rest(&b);
    for (int i = 0; i <= count && b.deliveries; i++) {
        tsr_status ended = b.deliveries[i].path ? sink_end(&b.deliveries[i].sink) : TSR_OK;
        status = status == TSR_OK ? ended : status;
    }
    *skipped = b.source.skipped;
    close_batch(&b);
    return status;
}
