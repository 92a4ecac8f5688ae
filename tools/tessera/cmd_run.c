#include "job.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status output_names(const tsr_model *model, int count, const char **names) {
    for (int i = 0; i < count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(model, i, &info));
        names[i] = info.name;
    }
    return TSR_OK;
}

static tsr_status write_output(const job *j, tsr_session *session, int index, const char *path) {
    tsr_tensor_info info;
    tensor result;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    TRY(job_fetch(session, info.name, &info.shape, &result));
    tsr_status status = output_tensor(path, &result, &j->options->image);
    if (status == TSR_OK)
        printf("%s: %s %s\n", path, info.name, shape_label(&info.shape).text);
    tensor_free(&result);
    return status;
}

static tsr_status run_session(const job *j, tsr_session *session, int count, const char **paths) {
    TRY(job_feed(j, session));
    double start = now_ms();
    TRY_LIBRARY(tsr_session_run(session));
    tsr_report report;
    TRY_LIBRARY(tsr_session_report(session, &report));
    for (int i = 0; i < count; i++)
        if (paths[i])
            TRY(write_output(j, session, i, paths[i]));
    printf("ran on %s: %d passes, %d programs, %.0f ms\n", report.backend, report.pass_count,
           report.program_count, now_ms() - start);
    return TSR_OK;
}

static tsr_status run_job(const job *j, int count, const char **paths) {
    tsr_device *device;
    tsr_session *session;
    TRY(job_device(j->options, NULL, &device));
    progress("preparing %s", j->path);
    tsr_status status = job_session(j, device, &(tsr_session_desc){0}, &session);
    if (status == TSR_OK) {
        progress("running %s", j->path);
        status = run_session(j, session, count, paths);
        tsr_session_destroy(session);
    }
    progress_clear();
    tsr_device_destroy(device);
    return status;
}

/* Files are checked before the run, so that it is not done in vain. */
static tsr_status check_paths(int count, const char **paths) {
    for (int i = 0; i < count; i++) {
        if (!paths[i])
            continue;
        TRY(output_check_tensor(paths[i]));
        for (int k = 0; k < i; k++)
            if (paths[k] && strcmp(paths[k], paths[i]) == 0)
                return fail(TSR_INVALID_ARGUMENT, "%s: named for two outputs", paths[i]);
    }
    return TSR_OK;
}

static tsr_status run(const job *j, const text_list *files) {
    int count = tsr_model_output_count(j->model);
    const char **names = calloc((size_t)count * 2 + 1, sizeof *names);
    if (!names)
        return fail(TSR_OUT_OF_MEMORY, "not enough memory");
    const char **paths = names + count;
    tsr_status status = output_names(j->model, count, names);
    if (status == TSR_OK)
        status = job_assign("output", files, count, names, paths);
    if (status == TSR_OK)
        status = check_paths(count, paths);
    if (status == TSR_OK)
        status = run_job(j, count, paths);
    free(names);
    return status;
}

int cmd_run(int argc, char **argv) {
    job_options options = {0};
    text_list outputs = {0};
    const option own[] = {
        {"output", 'o', "[NAME=]FILE", "an output: .npy, .png or .jpg; repeatable", OPTION_LIST,
         &outputs, 0, NULL},
    };
    option_set set = {.usage = "tessera run MODEL [-i [NAME=]FILE]... [-o [NAME=]FILE]...",
                      .notes = "An output that is not asked for is not written.\n",
                      .min_arguments = 1,
                      .max_arguments = 1};
    job_add_input_options(&set, &options);
    OPTIONS_ADD(&set, own);
    job_add_backend_option(&set, &options);
    job_add_session_options(&set, &options);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    job j;
    tsr_status status = job_open(&j, &options, argv[1], JOB_MISSING_REFUSED);
    if (status != TSR_OK)
        return command_exit(status);
    status = run(&j, &outputs);
    job_close(&j);
    return command_exit(status);
}
