#define _POSIX_C_SOURCE 200809L
#include "difference.h"
#include "job.h"
#include "text.h"
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct check_options {
    job_options job;
    char *list, *root;
    tolerance allowed;
} check_options;

typedef struct check_run {
    const check_options *options;
    tsr_device *device;
    int passed, failed, skipped;
} check_run;

/* One test_data_set folder: input_0.pb.. and output_0.pb.. in the order of the model. */
typedef struct data_set {
    const tsr_model *model;
    int input_count, output_count;
    tensor *inputs, *outputs;
    void **packed; /* of fixed inputs, NULL for the others */
    tsr_tensor_info *infos;
    tsr_input_shape *shapes;
    tsr_fixed_input *fixed;
} data_set;

/* ---- data ------------------------------------------------------------------------------------ */

static void data_set_free(data_set *data) {
    for (int i = 0; data->inputs && i < data->input_count; i++)
        tensor_free(&data->inputs[i]);
    for (int i = 0; data->outputs && i < data->output_count; i++)
        tensor_free(&data->outputs[i]);
    for (int i = 0; data->packed && i < data->input_count; i++)
        free(data->packed[i]);
    free(data->inputs);
    free(data->outputs);
    free(data->packed);
    free(data->infos);
    free(data->shapes);
    free(data->fixed);
}

static tsr_status data_set_create(const tsr_model *model, data_set *data) {
    *data = (data_set){.model = model,
                       .input_count = tsr_model_input_count(model),
                       .output_count = tsr_model_output_count(model)};
    size_t inputs = (size_t)data->input_count + 1;
    data->inputs = calloc(inputs, sizeof *data->inputs);
    data->outputs = calloc((size_t)data->output_count + 1, sizeof *data->outputs);
    data->packed = calloc(inputs, sizeof *data->packed);
    data->infos = calloc(inputs, sizeof *data->infos);
    data->shapes = calloc(inputs, sizeof *data->shapes);
    data->fixed = calloc(inputs, sizeof *data->fixed);
    if (data->inputs && data->outputs && data->packed && data->infos && data->shapes && data->fixed)
        return TSR_OK;
    data_set_free(data);
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
}

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
    for (int i = 0; i < data->input_count; i++) {
        tsr_tensor_info *info = &data->infos[i];
        TRY_LIBRARY(tsr_model_input(data->model, i, info));
        TRY(check_type(info, &data->inputs[i]));
        if (tsr_model_input_is_parameter(data->model, i))
            TRY(tensor_pack(&data->inputs[i], info->dtype, info->name, &data->packed[i]));
    }
    for (int i = 0; i < data->output_count; i++) {
        tsr_tensor_info info;
        TRY_LIBRARY(tsr_model_output(data->model, i, &info));
        TRY(check_type(&info, &data->outputs[i]));
    }
    return TSR_OK;
}

/* ---- one run --------------------------------------------------------------------------------- */

static tsr_status make_session(const check_run *run, data_set *data, tsr_session **session) {
    tsr_session_desc desc = {.precision = (tsr_precision)run->options->job.precision,
                             .allow_cpu_fallback = run->options->job.cpu_fallback,
                             .poison = run->options->job.poison,
                             .shapes = data->shapes,
                             .fixed = data->fixed};
    for (int i = 0; i < data->input_count; i++) {
        const tsr_tensor_info *info = &data->infos[i];
        const tsr_shape *shape = &data->inputs[i].shape;
        if (data->packed[i])
            data->fixed[desc.fixed_count++] =
                (tsr_fixed_input){info->name, info->dtype, *shape, data->packed[i]};
        else
            data->shapes[desc.shape_count++] = (tsr_input_shape){info->name, *shape};
    }
    TRY_LIBRARY(tsr_session_create(run->device, data->model, &desc, session));
    return TSR_OK;
}

/* TSR_OK also for an unexpected result; *good is false then. */
static tsr_status check_output(const check_run *run, tsr_session *session, int index,
                               const tensor *expected, bool *good) {
    tsr_tensor_info info;
    tensor result;
    TRY_LIBRARY(tsr_session_output(session, index, &info));
    *good = shape_equal(&info.shape, &expected->shape);
    if (!*good) {
        fail(TSR_OK, "output '%s' is %s instead of %s", info.name, shape_label(&info.shape).text,
             shape_label(&expected->shape).text);
        return TSR_OK;
    }
    TRY(tensor_create(TSR_DTYPE_F32, &info.shape, &result));
    tsr_status status = tsr_session_get_output(session, info.name, result.values, result.count);
    if (status != TSR_OK) {
        fail_library(status);
    } else {
        const tolerance exactly = {0};
        difference d = measure(result.values, expected->values, result.count,
                               dtype_is_integer(info.dtype) ? exactly : run->options->allowed);
        *good = d.failed == 0;
        if (d.failed)
            fail(TSR_OK, "output '%s': %zu of %zu elements differ, worst at %s: %g instead of %g",
                 info.name, d.failed, d.count, position_label(&info.shape, d.worst).text,
                 (double)result.values[d.worst], (double)expected->values[d.worst]);
    }
    tensor_free(&result);
    return status;
}

static tsr_status run_session(const check_run *run, const data_set *data, tsr_session *session,
                              bool *good) {
    for (int i = 0; i < data->input_count; i++)
        if (!data->packed[i])
            TRY_LIBRARY(tsr_session_set_input(session, data->infos[i].name, data->inputs[i].values,
                                              data->inputs[i].count));
    if (run->options->job.precision == TSR_PRECISION_AUTO)
        TRY_LIBRARY(tsr_session_calibrate(session));
    TRY_LIBRARY(tsr_session_run(session));
    for (int i = 0; *good && i < data->output_count; i++)
        TRY(check_output(run, session, i, &data->outputs[i], good));
    return TSR_OK;
}

static tsr_status check_set(const check_run *run, const tsr_model *model, const char *folder,
                            bool *good) {
    data_set data;
    tsr_session *session;
    TRY(data_set_create(model, &data));
    tsr_status status = data_set_load(folder, &data);
    if (status == TSR_OK)
        status = make_session(run, &data, &session);
    if (status == TSR_OK) {
        status = run_session(run, &data, session, good);
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
    if (status == TSR_OK)
        status = check_sets(run, model, folder, good);
    tsr_model_free(model);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void check_folder(check_run *run, const char *name, const char *folder) {
    bool good = true;
    progress("%s", name);
    tsr_status status = check_model(run, folder, &good);
    progress_clear();
    if (status == TSR_ERROR_UNSUPPORTED) {
        run->skipped++;
        printf("SKIP %s: %s\n", name_label(name).text, failure());
    } else if (status != TSR_OK || !good) {
        run->failed++;
        printf("FAIL %s: %s\n", name_label(name).text, failure());
    } else {
        run->passed++;
        printf("PASS %s\n", name_label(name).text);
    }
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
            check_folder(run, name, path);
    }
    if (status == TSR_OK && ferror(file))
        status = fail(TSR_ERROR_IO, "%s: %s", list, strerror(errno));
    if (status == TSR_OK && run->passed + run->failed + run->skipped == 0)
        status = fail(TSR_ERROR_INVALID_ARGUMENT, "%s: names no folder to check", list);
    fclose(file);
    return status;
}

static int check(const check_options *o, int folder_count, char **folders) {
    check_run run = {.options = o};
    tsr_status status = job_device(&o->job, NULL, &run.device);
    if (status != TSR_OK)
        return command_exit(status);
    for (int i = 0; i < folder_count; i++)
        check_folder(&run, folders[i], folders[i]);
    if (o->list)
        status = check_list(&run, o->list, o->root);
    tsr_device_destroy(run.device);
    if (status != TSR_OK)
        return command_exit(status);
    printf("%d passed, %d failed, %d skipped\n", run.passed, run.failed, run.skipped);
    return run.failed ? EXIT_MISMATCH : EXIT_DONE;
}

int cmd_check(int argc, char **argv) {
    check_options o = {.root = ".", .allowed = {.rtol = 1e-3, .atol = 1e-5}};
    const option items[] = {
        {"list", 0, "FILE", "file with names of test folders, one per line, # for comments",
         OPTION_TEXT, &o.list, 0, NULL},
        {"root", 0, "DIR", "parent of the folders in --list (.)", OPTION_TEXT, &o.root, 0, NULL},
        {"rtol", 0, "R", "allowed relative error (1e-3)", OPTION_NUMBER, &o.allowed.rtol, 0, NULL},
        {"atol", 0, "A", "allowed absolute error (1e-5)", OPTION_NUMBER, &o.allowed.atol, 0, NULL},
    };
    option_set set = {
        .usage = "tessera check DIR... [--list FILE --root DIR] [--backend NAME]",
        .notes = "A folder contains model.onnx and test_data_set_0/input_0.pb, "
                 "output_0.pb, ...\nA model that needs an unsupported feature is a SKIP.\n",
        .max_arguments = INT_MAX};
    job_add_backend_option(&set, &o.job);
    job_add_precision_option(&set, &o.job);
    job_add_device_options(&set, &o.job);
    OPTIONS_ADD(&set, items);
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    if (arguments == 0 && !o.list)
        return command_exit(
            fail(TSR_ERROR_INVALID_ARGUMENT, "no folder to check; usage: %s", set.usage));
    return check(&o, arguments, argv + 1);
}
