#define _POSIX_C_SOURCE 200809L
#include "single.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct single {
    const job *j;
    const single_options *o;
    int count;
    const char *const *paths;
    char stdout_name[32];
    FILE *told; /* where outputs are told */
    double prepare_ms, run_ms;
    double compile_ms; /* of prepare_ms */
} single;

static bool is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The path, or what stands for the standard output: "-" and its format's extension. */
static const char *named(const single *s, const char *path) {
    return is_stdout(path) ? s->stdout_name : path;
}

static tsr_status check_stdout(const single *s) {
    return text_is_file(s->stdout_name) || !isatty(STDOUT_FILENO)
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT,
                      "-o -: the standard output is a terminal; --format txt writes text");
}

static tsr_status check_path(const single *s, const char *path) {
    if (is_stdout(path))
        return check_stdout(s);
    TRY(description_check_output(s->j->path, s->j->options->description, path));
    return output_check_tensor(path);
}

/* session: NULL where there is none yet. */
static tsr_status check_shape(const single *s, const tsr_session *session, int index) {
    tsr_tensor_info info;
    TRY_LIBRARY(session ? tsr_session_output(session, index, &info)
                        : tsr_model_output(s->j->model, index, &info));
    return info.shape.rank < 0 ? TSR_OK
                               : output_check_shape(named(s, s->paths[index]), &info.shape);
}

static tsr_status check_shapes(const single *s, const tsr_session *session) {
    for (int i = 0; i < s->count; i++)
        if (s->paths[i])
            TRY(check_shape(s, session, i));
    return labels_check(s->o->result.labels, s->j->model, session);
}

static tsr_status check_all(single *s) {
    for (int i = 0; i < s->count; i++) {
        if (!s->paths[i])
            continue;
        TRY(check_path(s, s->paths[i]));
        if (is_stdout(s->paths[i]))
            s->told = stderr;
    }
    if (s->o->draw.kind) {
        TRY(draw_check_path(s->o->draw.path));
        TRY(output_check_tensor(s->o->draw.path));
    }
    return check_shapes(s, NULL);
}

/* ---- the run --------------------------------------------------------------------------------- */

static tsr_status write_result(const single *s, int index, const char *name, const tensor *result) {
    const image_options *image = &s->j->output_images[index];
    const char *path = s->paths[index];
    if (path)
        TRY(is_stdout(path) ? output_to_stdout(s->o->format, result, image)
                            : output_tensor(path, result, image));
    TRY(result_print(s->told, is_stdout(path) ? NULL : path, name, result, &s->o->result));
    if (path && image_is_file(path))
        result_note_range(path, result, image);
    return TSR_OK;
}

static tsr_status deliver(const single *s, int index, const named_tensor *output) {
    const image_side side = job_side(s->j);
    const tensor *finished;
    tensor changed;
    tsr_status status =
        image_finish(&side, &s->j->output_images[index], &output->tensor, &changed, &finished);
    if (status == TSR_OK)
        status = write_result(s, index, output->name, finished);
    tensor_free(&changed);
    return status;
}

static tsr_status draw(const single *s, const named_tensor *outputs) {
    const draw_options *o = &s->o->draw;
    canvas made;
    tsr_status status = draw_picture(s->j, o, canvas_find(s->j), outputs, s->told, &made);
    if (status == TSR_OK)
        status = output_tensor(o->path, &made.picture, &canvas_image);
    if (status == TSR_OK)
        fprintf(s->told, "%s: %d x %d\n", name_label(o->path).text, made.width, made.height);
    canvas_close(&made);
    return status;
}

static tsr_status deliver_all(const single *s, tsr_session *session) {
    named_tensor *outputs = calloc((size_t)s->count + 1, sizeof *outputs);
    tsr_status status = outputs ? TSR_OK : fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    for (int i = 0; i < s->count && status == TSR_OK; i++)
        status = job_output(s->j, session, i, &outputs[i]);
    for (int i = 0; i < s->count && status == TSR_OK; i++)
        status = deliver(s, i, &outputs[i]);
    if (status == TSR_OK && s->o->draw.kind)
        status = draw(s, outputs);
    for (int i = 0; i < s->count && outputs; i++)
        tensor_free(&outputs[i].tensor);
    free(outputs);
    return status;
}

/* 0 on the cpu backend. */
static int fallback_nodes(const tsr_session *session, const tsr_report *report) {
    int count = 0;
    if (strcmp(report->backend, "cpu") == 0)
        return 0;
    for (int i = 0; i < report->node_count; i++) {
        tsr_node_report node;
        if (tsr_session_node_report(session, i, &node) == TSR_OK)
            count += strcmp(node.backend, "cpu") == 0;
    }
    return count;
}

static void print_time(FILE *file, const char *what, double ms, double compile_ms) {
    fprintf(file, "; %s %.0f ms", what, ms);
    if (compile_ms >= 0.5)
        fprintf(file, ", %.0f of them compiling", compile_ms);
}

static tsr_status print_report(const single *s, const tsr_session *session) {
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    fprintf(s->told, "ran on %s: %d passes, %d programs", report.backend, report.pass_count,
            report.program_count);
    int on_cpu = fallback_nodes(session, &report);
    if (on_cpu)
        fprintf(s->told, ", %d of %d nodes on the CPU", on_cpu, report.node_count);
    fprintf(s->told, "%s", report.precision == TSR_PRECISION_FP16 ? ", tensors of 16 bits" : "");
    if (report.precise_tensors)
        fprintf(s->told, ", %d of 32", report.precise_tensors);
    fprintf(s->told, "%s", report.precise_weights ? ", weights of 32" : "");
    print_time(s->told, "prepared in", s->prepare_ms, s->compile_ms);
    print_time(s->told, "first run", s->run_ms, report.compile_ms - s->compile_ms);
    fputc('\n', s->told);
    return TSR_OK;
}

static tsr_status run_session(single *s, tsr_session *session) {
    tsr_report report;
    TRY(check_shapes(s, session));
    TRY_LIBRARY(tsr_session_report(session, &report));
    s->compile_ms = report.compile_ms;
    double start = now_ms();
    TRY(job_set_inputs(s->j, session));
    TRY(job_run(s->j, session));
    s->run_ms = now_ms() - start;
    TRY(deliver_all(s, session));
    return print_report(s, session);
}

tsr_status single_run(const job *j, single_options *options, int count, const char *const *paths) {
    single s = {.j = j, .o = options, .count = count, .paths = paths, .told = stdout};
    tsr_device *device;
    tsr_session *session;
    snprintf(s.stdout_name, sizeof s.stdout_name, "-o -.%s", options->format);
    TRY(check_all(&s));
    if (options->draw.kind)
        TRY(draw_prepare(j, canvas_find(j), &options->draw));
    TRY(job_device(j->options, NULL, &device));
    progress("preparing %s", j->path);
    double start = now_ms();
    tsr_status status = job_session(j, device, &(tsr_session_desc){0}, &session);
    s.prepare_ms = now_ms() - start;
    if (status == TSR_OK) {
        progress("running %s", j->path);
        status = run_session(&s, session);
        tsr_session_destroy(session);
    }
    progress_clear();
    tsr_device_destroy(device);
    return status;
}
