#include "case.h"
#include "check.h"
#include "converted.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status load(const op_case *c, tsr_model **model) {
    uint8_t *bytes;
    size_t size;
    TRY(case_model(c, &bytes, &size));
    tsr_status status =
        tsr_model_load_memory(bytes, size, &(tsr_model_desc){.name = c->path}, model);
    free(bytes);
    return status == TSR_OK ? TSR_OK : fail_library(status);
}

/* Moves the case's tensors to the data set. */
static tsr_status move_data(op_case *c, data_set *data) {
    int input = 0, output = 0;
    for (int i = 0; i < c->input_count; i++) {
        case_variable *v = &c->inputs[i];
        if (v->is_absent || v->is_constant)
            continue;
        if (input == data->input_count)
            return case_fail(c, "inputs", "two have one name");
        data->inputs[input++] = v->data;
        v->data = (tensor){0};
    }
    for (int i = 0; i < c->output_count && output < data->output_count; i++) {
        case_variable *v = &c->outputs[i];
        if (v->is_absent)
            continue;
        data->outputs[output++] = v->data;
        v->data = (tensor){0};
    }
    return data_set_bind(data);
}

static bool is_from_cpu(const op_case *c) {
    for (int i = 0; i < c->output_count; i++)
        if (c->outputs[i].is_from_cpu)
            return true;
    return false;
}

static tsr_status compute_on_cpu(check_run *run, data_set *data) {
    if (!run->cpu)
        TRY(job_device(&run->options->job, "cpu", &run->cpu));
    tsr_session *session;
    TRY(data_set_session(&(check_place){.device = run->cpu}, data, &session));
    tsr_status status = data_set_take_outputs(data, session);
    tsr_session_destroy(session);
    return status;
}

/* What the file says that a GPU lacks has to be refused without the CPU. */
static tsr_status check_refusal(const op_case *c, const check_place *place, data_set *data) {
    tsr_session *session;
    const check_place alone = {.device = place->device};
    tsr_status status = data_set_session(&alone, data, &session);
    if (status == TSR_ERROR_UNSUPPORTED)
        return TSR_OK;
    if (status != TSR_OK)
        return status;
    tsr_session_destroy(session);
    return case_fail(c, "cpu_only", "this backend computes it without the CPU");
}

static tsr_status run_model(check_run *run, const op_case *c, data_set *data, bool *good) {
    check_place place = check_place_of(run);
    place.cpu_fallback |= c->cpu_only != NULL;
    place.allowed.rtol = c->rtol >= 0 ? c->rtol : place.allowed.rtol;
    place.allowed.atol = c->atol >= 0 ? c->atol : place.allowed.atol;
    if (c->cpu_only && !run->is_cpu)
        TRY(check_refusal(c, &place, data));
    tsr_session *session;
    TRY(data_set_session(&place, data, &session));
    tsr_status status = data_set_check(&place, data, session, good);
    tsr_session_destroy(session);
    return status;
}

static tsr_status run_data(check_run *run, const op_case *c, data_set *data, bool *good) {
    const tsr_model *loaded = data->model;
    tsr_model *made;
    if (is_from_cpu(c))
        TRY(compute_on_cpu(run, data));
    if (!run->options->converted)
        return run_model(run, c, data, good);
    TRY(converted_model(loaded, NULL, c->path, &made));
    data->model = made;
    tsr_status status = run_model(run, c, data, good);
    data->model = loaded;
    tsr_model_free(made);
    return status;
}

static tsr_status run_case(check_run *run, op_case *c, bool *good) {
    tsr_model *model;
    data_set data;
    TRY(load(c, &model));
    tsr_status status = data_set_create(model, &data);
    if (status == TSR_OK) {
        status = move_data(c, &data);
        if (status == TSR_OK)
            status = run_data(run, c, &data, good);
        data_set_free(&data);
    }
    tsr_model_free(model);
    return status;
}

/* A case never passes by being refused: it has to say so with "cpu_only". */
static void check_case(check_run *run, const char *path, const cJSON *root, int index,
                       const char *label) {
    op_case c;
    bool good = true;
    progress("%s", label);
    tsr_status status = case_read(path, root, index, &c);
    if (status != TSR_OK) {
        check_report(run, label, TSR_ERROR_INVALID_ARGUMENT, false, NULL);
        return;
    }
    if (is_from_cpu(&c) && run->is_cpu && !run->options->converted) {
        fail(TSR_OK, "what it expects is what cpu computes");
        check_report(run, label, TSR_ERROR_UNSUPPORTED, true, NULL);
    } else {
        status = run_case(run, &c, &good);
        check_report(run, label, status == TSR_OK ? TSR_OK : TSR_ERROR_INVALID_ARGUMENT, good,
                     c.cpu_only && !run->is_cpu ? c.cpu_only : NULL);
    }
    case_free(&c);
}

/* "Conv 3x3": the file's name without the folder and .json, and the case's. */
static label case_label(const char *path, const cJSON *root, int index) {
    label made;
    const cJSON *cases = cJSON_GetObjectItemCaseSensitive(root, "cases");
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(cases, index), "name");
    snprintf(made.text, sizeof made.text, "%.*s %s", (int)(strlen(file) - strlen(".json")), file,
             name->valuestring);
    return made;
}

void check_json_file(check_run *run, const char *path) {
    cJSON *root;
    if (case_file_read(path, &root) != TSR_OK) {
        check_report(run, path, TSR_ERROR_INVALID_ARGUMENT, false, NULL);
        return;
    }
    for (int i = 0; i < case_file_count(root); i++) {
        const label name = case_label(path, root, i);
        if (!run->options->pattern || strstr(name.text, run->options->pattern))
            check_case(run, path, root, i, name.text);
    }
    cJSON_Delete(root);
}
