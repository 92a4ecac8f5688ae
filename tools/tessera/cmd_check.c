#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "converted.h"
#include "text.h"
#include "output.h"
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- folders of ONNX's tests: test_data_set_0/input_0.pb.. and output_0.pb.. ---------------- */

static tsr_status join_path(char path[PATH_MAX], const char *folder, const char *name) {
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length >= 0 && length < PATH_MAX
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "a path is too long");
}

static tsr_status load_numbered(const char *folder, const char *kind, int count, tensor *tensors) {
    for (int i = 0; i < count; i++) {
        char name[32], path[PATH_MAX];
        snprintf(name, sizeof name, "%s_%d.pb", kind, i);
        TRY(join_path(path, folder, name));
        TRY(file_check_regular(path));
        TRY(tensor_load(path, &tensors[i]));
    }
    return TSR_OK;
}

/* NumPy has no bfloat16: files that hold uint16 for it have been written by ONNX's own generator,
 * with its rounding and shapes of its own. */
static tsr_status check_type(const tsr_tensor_info *info, const tensor *data) {
    if (info->dtype != TSR_DTYPE_BF16 || data->dtype == TSR_DTYPE_BF16)
        return TSR_OK;
    return fail(TSR_ERROR_UNSUPPORTED, "its data of '%s' are %s, not bfloat16", info->name,
                tsr_dtype_name(data->dtype));
}

static tsr_status data_set_load(const char *folder, data_set *data) {
    TRY(load_numbered(folder, "input", data->input_count, data->inputs));
    TRY(load_numbered(folder, "output", data->output_count, data->outputs));
    TRY(data_set_bind(data));
    for (int i = 0; i < data->input_count; i++)
        TRY(check_type(&data->infos[i], &data->inputs[i]));
    for (int i = 0; i < data->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(data->model, i, &info));
        TRY(check_type(&info, &data->outputs[i]));
    }
    return TSR_OK;
}

static tsr_status check_set(const check_run *run, const tsr_model *model, const char *folder,
                            bool *good) {
    check_place place = check_place_of(run);
    place.types_differ = true;
    data_set data;
    tsr_session *session;
    TRY(data_set_create(model, &data));
    tsr_status status = data_set_load(folder, &data);
    if (status == TSR_OK)
        status = data_set_session(&place, &data, &session);
    if (status == TSR_OK) {
        status = data_set_check(&place, &data, session, good);
        tsr_session_destroy(session);
    }
    data_set_free(&data);
    return status;
}

static tsr_status check_sets(const check_run *run, const tsr_model *model, const char *folder,
                             bool *good) {
    for (int i = 0; *good; i++) {
        char name[32], path[PATH_MAX];
        snprintf(name, sizeof name, "test_data_set_%d", i);
        TRY(join_path(path, folder, name));
        if (access(path, F_OK) != 0)
            return i > 0 ? TSR_OK : fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
        TRY(check_set(run, model, path, good));
    }
    return TSR_OK;
}

/* ONNX does not say which numbers a seed gives: a reference's own cannot be expected. Those of
 * Dropout can, since its text names NumPy's. */
static tsr_status refuse_random(const tsr_model *model) {
    static const char *const random[] = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                         "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
    const char *op;
    int count;
    for (int i = 0; tsr_model_op(model, i, &op, &count); i++)
        for (size_t k = 0; k < sizeof random / sizeof *random; k++)
            if (count > 0 && !strcmp(op, random[k]))
                return fail(TSR_ERROR_UNSUPPORTED,
                            "%s: no numbers are expected of it, ONNX does not say which", op);
    return TSR_OK;
}

static tsr_status check_model(const check_run *run, const char *folder, bool *good) {
    char path[PATH_MAX];
    tsr_model *model;
    TRY(join_path(path, folder, "model.onnx"));
    TRY_LIBRARY(tsr_model_load(path, NULL, &model));
    tsr_status status = refuse_random(model);
    tsr_model *made = NULL;
    if (status == TSR_OK && run->options->converted)
        status = converted_model(model, NULL, path, &made);
    if (status == TSR_OK)
        status = check_sets(run, made ? made : model, folder, good);
    tsr_model_free(made);
    tsr_model_free(model);
    return status;
}

check_place check_place_of(const check_run *run) {
    const check_options *o = run->options;
    return (check_place){.device = run->device,
                         .cpu_fallback = o->job.cpu_fallback,
                         .poison = o->job.poison,
                         .precision = (tsr_precision)o->job.precision,
                         .weights = (tsr_weight_type)o->job.weights,
                         .allowed = o->allowed};
}

/* ---- the command ----------------------------------------------------------------------------- */

void check_report(check_run *run, const char *name, tsr_status status, bool good,
                  const char *note) {
    progress_clear();
    if (status == TSR_ERROR_UNSUPPORTED) {
        run->skipped++;
        printf("SKIP %s: %s\n", name_label(name).text, failure());
    } else if (status != TSR_OK || !good) {
        run->failed++;
        printf("FAIL %s: %s\n", name_label(name).text, failure());
    } else {
        run->passed++;
        printf("PASS %s%s%s\n", name_label(name).text, note ? ": " : "",
               note ? name_label(note).text : "");
    }
}

/* A folder, or a file of tests in JSON. */
static void check_path(check_run *run, const char *name, const char *path) {
    if (file_is(path, ".json")) {
        check_json_file(run, path);
        return;
    }
    bool good = true;
    progress("%s", name);
    tsr_status status = check_model(run, path, &good);
    check_report(run, name, status, good, NULL);
}

static tsr_status no_case_named(const char *pattern) {
    return fail(TSR_ERROR_INVALID_ARGUMENT, "no test has a name that holds '%s'", pattern);
}

/* One name per line, relative to root; '#' begins a comment. */
static tsr_status check_list(check_run *run, const char *list, const char *root) {
    FILE *file = fopen(list, "r");
    if (!file)
        return fail(TSR_ERROR_IO, "%s: %s", list, strerror(errno));
    char line[PATH_MAX], path[PATH_MAX];
    tsr_status status = TSR_OK;
    while (status == TSR_OK && fgets(line, sizeof line, file)) {
        char *name = line + strspn(line, " \t");
        name[strcspn(name, "#\r\n")] = '\0';
        size_t length = strlen(name);
        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t'))
            name[--length] = '\0';
        if (!length)
            continue;
        status = join_path(path, root, name);
        if (status == TSR_OK)
            check_path(run, name, path);
    }
    if (status == TSR_OK && ferror(file))
        status = fail(TSR_ERROR_IO, "%s: %s", list, strerror(errno));
    if (status == TSR_OK && run->passed + run->failed + run->skipped == 0)
        status = run->options->pattern
                     ? no_case_named(run->options->pattern)
                     : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: names no folder to check", list);
    fclose(file);
    return status;
}

static int check(const check_options *o, int folder_count, char **folders) {
    check_run run = {.options = o, .is_cpu = o->job.backend && !strcmp(o->job.backend, "cpu")};
    tsr_status status = job_device(&o->job, NULL, &run.device);
    if (status != TSR_OK)
        return command_exit(status);
    for (int i = 0; i < folder_count; i++)
        check_path(&run, folders[i], folders[i]);
    if (o->list)
        status = check_list(&run, o->list, o->root);
    tsr_device_destroy(run.device);
    tsr_device_destroy(run.cpu);
    if (status == TSR_OK && run.passed + run.failed + run.skipped == 0)
        status = no_case_named(o->pattern);
    if (status != TSR_OK)
        return command_exit(status);
    printf("%d passed, %d failed, %d skipped\n", run.passed, run.failed, run.skipped);
    return run.failed ? EXIT_MISMATCH : EXIT_DONE;
}

/* A file, or a folder with a model. */
static tsr_status check_exists(const char *path) {
    char model[PATH_MAX];
    if (access(path, R_OK) != 0)
        return fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    if (!output_is_folder(path))
        return TSR_OK;
    TRY(join_path(model, path, "model.onnx"));
    return access(model, R_OK) == 0 ? TSR_OK : fail(TSR_ERROR_IO, "%s: %s", model, strerror(errno));
}

int cmd_check(int argc, char **argv) {
    check_options o = {.root = ".", .allowed = {.rtol = 1e-3, .atol = 1e-5}};
    const option items[] = {
        {"list", 0, "FILE", "file with names of test folders, one per line, # for comments",
         OPTION_TEXT, &o.list, 0, NULL},
        {"root", 0, "DIR", "parent of the folders in --list (.)", OPTION_TEXT, &o.root, 0, NULL},
        {"case", 0, "TEXT", "of JSON files only the tests whose names hold TEXT", OPTION_TEXT,
         &o.pattern, 0, NULL},
        {"rtol", 0, "R", "allowed relative error (1e-3)", OPTION_NUMBER, &o.allowed.rtol, 0, NULL},
        {"atol", 0, "A", "allowed absolute error (1e-5)", OPTION_NUMBER, &o.allowed.atol, 0, NULL},
        {"converted", 0, NULL, "run each model as 'tessera convert' writes it", OPTION_FLAG,
         &o.converted, 0, NULL},
    };
    option_set set = {
        .usage = "tessera check DIR|FILE.json... [--case TEXT] [--list FILE --root DIR] "
                 "[--backend NAME]",
        .notes = "A folder contains model.onnx and test_data_set_0/input_0.pb, output_0.pb, ...\n"
                 "A file contains tests of one operator: docs/op-tests.md has the format.\n"
                 "A model that needs an unsupported feature is a SKIP.\n",
        .max_arguments = INT_MAX};
    job_add_backend_option(&set, &o.job);
    job_add_storage_options(&set, &o.job);
    job_add_device_options(&set, &o.job);
    OPTIONS_ADD(&set, items);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    for (int i = 1; i <= arguments; i++) {
        tsr_status status = check_exists(argv[i]);
        if (status != TSR_OK)
            return command_exit(status);
    }
    if (arguments == 0 && !o.list)
        return command_exit(
            fail(TSR_ERROR_INVALID_ARGUMENT, "no folder or file to check; usage: %s", set.usage));
    return check(&o, arguments, argv + 1);
}
