#include "job.h"
#include "layers.h"
#include "noise.h"
#include "text.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct compare_options {
    job_options job;
    text_list expect, floors;
    char *backends;
    double rtol, share; /* negative: default of the precision */
    bool layers;
} compare_options;

typedef struct comparison {
    const job *j;
    tolerance allowed; /* without floors */
    bool layers;
    int output_count;
    tensor *expected; /* per output; without values if nothing is expected */
    double *floors;   /* per output */
    double *errors;   /* per output: the largest that is out of tolerance; 0: none */
    int backend_count;
    const char *backends[MAX_BACKENDS];
    int compared, failed; /* pairs of tensors */
    label first_failure;
} comparison;

/* ---- running --------------------------------------------------------------------------------- */

static void runner_stop(runner *r) {
    tsr_session_destroy(r->session);
    tsr_device_destroy(r->device);
    *r = (runner){0};
}

static tsr_status run_once(runner *r) {
    double start = now_ms();
    TRY_LIBRARY(tsr_session_run(r->session));
    r->run_ms = now_ms() - start;
    return TSR_OK;
}

/* Layers are timed in a second run: in the first one drivers still compile. */
static tsr_status runner_run(const comparison *c, const char *backend, runner *made) {
    *made = (runner){.backend = backend};
    progress("running on %s", backend);
    TRY(job_device(c->j->options, backend, &made->device));
    const tsr_session_desc desc = {.keep_tensors = c->layers, .time_passes = c->layers};
    tsr_status status = job_session(c->j, made->device, &desc, &made->session);
    if (status == TSR_OK)
        status = job_set_inputs(c->j, made->session);
    if (status == TSR_OK)
        status = run_once(made);
    if (status == TSR_OK && c->layers)
        status = run_once(made);
    if (status != TSR_OK)
        runner_stop(made);
    progress_clear();
    return status;
}

/* ---- one pair of tensors --------------------------------------------------------------------- */

/* Classes with exactly the same score as the top class count as top, too. */
static bool same_top(const tensor *ours, const tensor *reference, size_t classes) {
    for (size_t row = 0; row + classes <= ours->count; row += classes) {
        const float *scores = reference->values + row;
        size_t a = top_index(ours->values + row, classes), b = top_index(scores, classes);
        if (a != b && scores[a] != scores[b])
            return false;
    }
    return true;
}

static void count_failure(comparison *c, const char *output, const char *backend,
                          const char *reference) {
    if (c->failed++ == 0)
        snprintf(c->first_failure.text, sizeof c->first_failure.text,
                 "output '%s' of %s against %s", output, backend, reference);
}

static void compare_pair(comparison *c, int index, const char *output, const char *backend,
                         const tensor *ours, const char *reference_name, const tensor *reference) {
    const double floor = c->floors[index];
    c->compared++;
    if (!shape_equal(&ours->shape, &reference->shape)) {
        printf("  %s against %s: shape %s instead of %s: FAIL\n", backend, reference_name,
               shape_label(&ours->shape).text, shape_label(&reference->shape).text);
        count_failure(c, output, backend, reference_name);
        return;
    }
    tolerance allowed = c->allowed;
    allowed.atol = floor;
    difference d = measure(ours->values, reference->values, ours->count, allowed);
    size_t classes = class_count(&ours->shape);
    bool top = !classes || same_top(ours, reference, classes);
    bool good = d.failed == 0 && top;
    printf("  %s against %s: max abs error %.3g, %.3g of the largest |reference| %.4g", backend,
           reference_name, d.max_abs, d.max_rel, d.largest);
    if (d.max_abs > 0)
        printf("; worst at %s: %.7g against %.7g", position_label(&ours->shape, d.worst).text,
               (double)ours->values[d.worst], (double)reference->values[d.worst]);
    if (floor > 0)
        printf("; floor %.3g", floor);
    if (classes)
        printf("; top-1 %s", top ? "agrees" : "DIFFERS");
    if (d.failed) {
        printf("; %zu of %zu elements out of tolerance", d.failed, d.count);
        c->errors[index] = d.max_abs > c->errors[index] ? d.max_abs : c->errors[index];
    }
    printf(": %s\n", good ? "ok" : "FAIL");
    if (!good)
        count_failure(c, output, backend, reference_name);
}

/* ---- outputs --------------------------------------------------------------------------------- */

static tsr_status compare_output(comparison *c, int index, const runner *ours,
                                 const runner *reference) {
    const tensor *expected = &c->expected[index];
    if (!expected->values && ours == reference)
        return TSR_OK;
    tsr_tensor_info info, theirs;
    tensor result, other = {0};
    TRY_LIBRARY(tsr_session_output(ours->session, index, &info));
    TRY(job_fetch(ours->session, info.name, &info.shape, &result));
    tsr_status status = TSR_OK;
    if (!expected->values) {
        status = tsr_session_output(reference->session, index, &theirs);
        status = status == TSR_OK
                     ? job_fetch(reference->session, theirs.name, &theirs.shape, &other)
                     : fail_library(status);
    }
    if (status == TSR_OK) {
        printf("output '%s' %s\n", name_label(info.name).text, shape_label(&info.shape).text);
        compare_pair(c, index, info.name, ours->backend, &result,
                     expected->values ? "the expected file" : reference->backend,
                     expected->values ? expected : &other);
    }
    tensor_free(&other);
    tensor_free(&result);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static tsr_status compare_all(comparison *c, const runner *runners) {
    if (c->layers)
        TRY(print_layers(runners, c->backend_count, c->allowed));
    for (int r = 0; r < c->backend_count; r++)
        for (int i = 0; i < c->output_count; i++)
            TRY(compare_output(c, i, &runners[r], &runners[0]));
    return TSR_OK;
}

/* Rounding in every layer moves an output further than rounding of the inputs does. */
enum { NOISE_FACTOR = 16 };

static void print_noise(const char *output, const char *backend, double error, double noise) {
    if (error <= NOISE_FACTOR * noise)
        printf("output '%s': moving each input to the next float moves it by up to %.3g on %s, so "
               "that the error, %.3g, may be rounding; --floor '%s=%.2g' allows that much\n",
               name_label(output).text, noise, backend, error, name_label(output).text,
               1.1 * error);
}

/* Of outputs that are out of tolerance, those by what rounding may explain. before: room for all.
 */
static tsr_status explain_failures(const comparison *c, const runner *reference, tensor *before) {
    tsr_tensor_info info;
    double noise;
    for (int i = 0; i < c->output_count; i++)
        if (c->errors[i] > 0) {
            TRY_LIBRARY(tsr_session_output(reference->session, i, &info));
            TRY(job_fetch(reference->session, info.name, &info.shape, &before[i]));
        }
    TRY(noise_run(c->j, reference->session));
    for (int i = 0; i < c->output_count; i++)
        if (c->errors[i] > 0) {
            TRY_LIBRARY(tsr_session_output(reference->session, i, &info));
            TRY(noise_of(reference->session, i, &before[i], &noise));
            print_noise(info.name, reference->backend, c->errors[i], noise);
        }
    return TSR_OK;
}

static tsr_status explain(const comparison *c, const runner *reference) {
    tensor *before = calloc((size_t)c->output_count + 1, sizeof *before);
    if (!before)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    tsr_status status = explain_failures(c, reference, before);
    for (int i = 0; i < c->output_count; i++)
        tensor_free(&before[i]);
    free(before);
    return status;
}

static tsr_status compare_backends(comparison *c) {
    runner runners[MAX_BACKENDS];
    int running = 0;
    tsr_status status = TSR_OK;
    while (status == TSR_OK && running < c->backend_count) {
        status = runner_run(c, c->backends[running], &runners[running]);
        running += status == TSR_OK;
    }
    if (status == TSR_OK)
        status = compare_all(c, runners);
    if (status == TSR_OK && c->failed)
        status = explain(c, &runners[0]);
    while (running > 0)
        runner_stop(&runners[--running]);
    return status;
}

static tsr_status read_floors(comparison *c, const text_list *list, const char *const *names) {
    for (int i = 0; i < list->count; i++) {
        const char *text = list->items[i], *equals = strrchr(text, '=');
        int first = 0, last = c->output_count - 1;
        double floor;
        TRY(number_parse("floor", equals ? equals + 1 : text, &floor));
        if (equals) {
            TRY(job_find("output", text, (size_t)(equals - text), c->output_count, names, &first));
            last = first;
        }
        for (int k = first; k <= last; k++)
            c->floors[k] = floor;
    }
    return TSR_OK;
}

/* names and paths have room for one per output. */
static tsr_status read_expectations(comparison *c, const compare_options *o, const char **names,
                                    const char **paths) {
    for (int i = 0; i < c->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(c->j->model, i, &info));
        names[i] = info.name;
    }
    TRY(read_floors(c, &o->floors, names));
    TRY(job_assign("output", &o->expect, c->output_count, names, paths));
    for (int i = 0; i < c->output_count; i++)
        if (paths[i])
            TRY(tensor_load(paths[i], &c->expected[i]));
    return TSR_OK;
}

static tsr_status choose_backends(comparison *c, const compare_options *o) {
    static char standard[] = "cpu,gles";
    text_list list;
    if (!text_split(o->backends ? o->backends : standard, &list) || list.count > MAX_BACKENDS)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "--backends: at most %d", MAX_BACKENDS);
    c->backend_count = list.count;
    for (int i = 0; i < list.count; i++)
        c->backends[i] = list.items[i];
    if (list.count == 1 && o->expect.count == 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "nothing to compare '%s' with: name two backends or give "
                    "--expect",
                    c->backends[0]);
    return TSR_OK;
}

static int verdict(const comparison *c) {
    if (c->failed) {
        printf("OUT OF TOLERANCE: %d of %d comparisons, first %s\n", c->failed, c->compared,
               name_label(c->first_failure.text).text);
        return EXIT_MISMATCH;
    }
    printf("within tolerance: %d comparison%s, |a - b| <= %g * max|b| + %g * |b| + floor\n",
           c->compared, c->compared == 1 ? "" : "s", c->allowed.share, c->allowed.rtol);
    return EXIT_DONE;
}

static int compare(const job *j, const compare_options *o) {
    bool narrow = o->job.precision || o->job.weights == TSR_WEIGHTS_FP16,
         nibbles = o->job.weights == TSR_WEIGHTS_INT4,
         integers = nibbles || o->job.weights == TSR_WEIGHTS_INT8;
    double standard = nibbles ? 3e-1 : integers ? 5e-2 : narrow ? 1e-2 : 1e-4;
    comparison c = {.j = j,
                    .layers = o->layers,
                    .allowed = {.share = o->share >= 0 ? o->share : standard,
                                .rtol = o->rtol >= 0         ? o->rtol
                                        : narrow || integers ? 1e-2
                                                             : 1e-3},
                    .output_count = tsr_model_output_count(j->model)};
    size_t room = (size_t)c.output_count + 1;
    c.expected = calloc(room, sizeof *c.expected);
    c.floors = calloc(room, sizeof *c.floors);
    c.errors = calloc(room, sizeof *c.errors);
    const char **names = calloc(2 * room, sizeof *names);
    tsr_status status = c.expected && c.floors && c.errors && names
                            ? choose_backends(&c, o)
                            : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    if (status == TSR_OK)
        status = read_expectations(&c, o, names, names + room);
    if (status == TSR_OK)
        status = compare_backends(&c);
    free(names);
    for (int i = 0; c.expected && i < c.output_count; i++)
        tensor_free(&c.expected[i]);
    free(c.expected);
    free(c.floors);
    free(c.errors);
    return status == TSR_OK ? verdict(&c) : command_exit(status);
}

int cmd_compare(int argc, char **argv) {
    compare_options o = {.rtol = -1, .share = -1};
    const option items[] = {
        {"backends", 'b', "A,B,..", "backends to compare; the first is the reference (cpu,gles)",
         OPTION_TEXT, &o.backends, 0, NULL},
        {"expect", 'e', "[NAME=]FILE", "expected output; repeatable", OPTION_LIST, &o.expect, 0,
         NULL},
        {"layers", 'l', NULL, "print a table of layers: times and errors", OPTION_FLAG, &o.layers,
         0, NULL},
        {"rtol", 0, "R", "allowed error relative to the element (1e-3; 16 bits, int8 1e-2)",
         OPTION_NUMBER, &o.rtol, 0, NULL},
        {"atol", 0, "A",
         "allowed error relative to the largest element (1e-4; 16 bits 1e-2, int8 5e-2)",
         OPTION_NUMBER, &o.share, 0, NULL},
        {"floor", 0, "[NAME=]F",
         "additional allowed error of an output, for its noise (0); repeatable", OPTION_LIST,
         &o.floors, 0, NULL},
    };
    option_set set = {
        .usage = "tessera compare MODEL [-i [NAME=]FILE]... "
                 "[--expect [NAME=]FILE]... [--backends A,B,..] [--layers]",
        .notes = "An element a passes if |a - b| <= A * max|b| + R * |b| + F, where b is the "
                 "reference.\nFor class scores the top class must agree, too.\n",
        .min_arguments = 1,
        .max_arguments = 1};
    OPTIONS_ADD(&set, items);
    job_add_seed_option(&set, &o.job);
    job_add_session_options(&set, &o.job);
    job_add_passes_option(&set, &o.job);
    job_add_input_options(&set, &o.job);
    job j;
    int code;
    if (!job_start(&j, &set, argc, argv, &o.job, JOB_MISSING_RANDOM, &code))
        return code;
    code = compare(&j, &o);
    job_close(&j);
    return code;
}
