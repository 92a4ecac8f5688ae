#include "case.h"
#include "json.h"
#include "tool.h"

#include "base/dtype.h"

#include <stdlib.h>
#include <string.h>

enum { NEWEST_OPSET = 1000, USUAL_OPSET = 22 };

/* ---- files ----------------------------------------------------------------------------------- */

static const cJSON *member(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* No two cases have one name. */
static tsr_status check_names(const char *path, const cJSON *cases) {
    const cJSON *one, *other;
    int index = 0;
    cJSON_ArrayForEach(one, cases) {
        const cJSON *name = member(one, "name");
        if (!cJSON_IsString(name) || !*name->valuestring)
            return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: cases[%d] has no \"name\"", path, index);
        for (other = one->next; other; other = other->next) {
            const cJSON *second = member(other, "name");
            if (cJSON_IsString(second) && strcmp(second->valuestring, name->valuestring) == 0)
                return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: two cases have the name '%s'", path,
                            name->valuestring);
        }
        index++;
    }
    return index ? TSR_OK : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: it has no cases", path);
}

tsr_status case_file_read(const char *path, cJSON **root) {
    static const char *const keys[] = {"operator", "opset", "rtol", "atol",
                                       "cpu_only", "cases", NULL};
    tsr_status status = json_read(path, root);
    if (status == TSR_OK && (!cJSON_IsObject(*root) || !cJSON_IsArray(member(*root, "cases"))))
        status = fail(TSR_ERROR_INVALID_ARGUMENT,
                      "%s: not tests of an operator: an object with a list \"cases\"", path);
    if (status == TSR_OK)
        status = case_check_keys(&(op_case){.path = path}, "the file", *root, keys);
    if (status == TSR_OK)
        status = check_names(path, member(*root, "cases"));
    if (status != TSR_OK) {
        cJSON_Delete(*root);
        *root = NULL;
    }
    return status;
}

int case_file_count(const cJSON *root) {
    return cJSON_GetArraySize(member(root, "cases"));
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* The case's field, or else the file's. */
static const cJSON *field(const cJSON *root, const cJSON *json, const char *name) {
    const cJSON *own = member(json, name);
    return own ? own : member(root, name);
}

static tsr_status read_tolerance(const op_case *c, const char *name, const cJSON *json,
                                 double *value) {
    *value = -1;
    if (json && (!cJSON_IsNumber(json) || !(json->valuedouble >= 0)))
        return case_fail(c, name, "not a number of at least 0");
    *value = json ? json->valuedouble : -1;
    return TSR_OK;
}

static tsr_status read_head(const cJSON *root, const cJSON *json, op_case *c) {
    const cJSON *op = member(root, "operator"), *opset = field(root, json, "opset"),
                *cpu_only = field(root, json, "cpu_only");
    int64_t number = USUAL_OPSET;
    if (!cJSON_IsString(op) || !case_is_name(op->valuestring))
        return case_fail(c, "operator", "not the name of an operator");
    if (opset && !case_int(opset, 1, NEWEST_OPSET, &number))
        return case_fail(c, "opset", "not an integer from 1 to %d", NEWEST_OPSET);
    if (cpu_only && !cJSON_IsString(cpu_only))
        return case_fail(c, "cpu_only", "not a text, which says why");
    c->op = op->valuestring;
    c->opset = (int)number;
    c->cpu_only = cpu_only ? cpu_only->valuestring : NULL;
    c->attributes = member(json, "attributes");
    c->nodes = member(json, "nodes");
    if (c->nodes && !cJSON_IsArray(c->nodes))
        return case_fail(c, "nodes", "not a list");
    if (c->attributes && !cJSON_IsObject(c->attributes))
        return case_fail(c, "attributes", "not an object");
    TRY(read_tolerance(c, "rtol", field(root, json, "rtol"), &c->rtol));
    return read_tolerance(c, "atol", field(root, json, "atol"), &c->atol);
}

/* Sessions take inputs and give outputs as floats. */
static bool fits_floats(const tensor *data) {
    for (size_t i = 0; data->integers && i < data->count; i++) {
        const float x = data->values[i];
        if (tsr_dtype_int_of_float(data->dtype, x) != data->integers[i])
            return false;
    }
    return true;
}

static tsr_status read_variables(op_case *c, const char *kind, const cJSON *list, int *count,
                                 case_variable *variables) {
    const cJSON *json;
    const bool outputs = *kind == 'o';
    if (!cJSON_IsArray(list))
        return case_fail(c, kind, "not a list");
    cJSON_ArrayForEach(json, list) {
        char where[32];
        snprintf(where, sizeof where, "%s[%d]", kind, *count);
        if (*count == CASE_MOST_VARIABLES)
            return case_fail(c, kind, "more than %d", CASE_MOST_VARIABLES);
        case_variable *variable = &variables[*count];
        TRY(case_variable_read(c, where, json, variable));
        ++*count; /* what is counted is freed */
        if (variable->is_from_cpu && !outputs)
            return case_fail(c, where, "\"data\" is \"cpu\", which only outputs can be");
        if (variable->is_constant && outputs)
            return case_fail(c, where, "an output is no constant");
        if (!variable->is_constant && !fits_floats(&variable->data))
            return case_fail(c, where, "it has integers that no float holds");
        snprintf(variable->made_name, sizeof variable->made_name, "%c%d", outputs ? 'y' : 'x',
                 *count - 1);
        if (!variable->name)
            variable->name = variable->is_absent ? "" : variable->made_name;
    }
    return TSR_OK;
}

static tsr_status check_variables(const op_case *c) {
    int expected = 0, computed = 0;
    for (int i = 0; i < c->output_count; i++) {
        expected += !c->outputs[i].is_absent;
        computed += c->outputs[i].is_from_cpu;
    }
    if (!expected)
        return case_fail(c, "outputs", "none is expected");
    if (computed && computed < expected)
        return case_fail(c, "outputs", "some are \"cpu\", others are not");
    return TSR_OK;
}

tsr_status case_read(const char *path, const cJSON *root, int index, op_case *made) {
    static const char *const keys[] = {"name",    "opset", "attributes", "inputs", "nodes",
                                       "outputs", "rtol",  "cpu_only",   "atol",   NULL};
    const cJSON *json = cJSON_GetArrayItem(member(root, "cases"), index);
    *made = (op_case){.path = path, .name = member(json, "name")->valuestring};
    TRY(case_check_keys(made, "the case", json, keys));
    tsr_status status = read_head(root, json, made);
    if (status == TSR_OK)
        status = read_variables(made, "inputs", member(json, "inputs"), &made->input_count,
                                made->inputs);
    if (status == TSR_OK)
        status = read_variables(made, "outputs", member(json, "outputs"), &made->output_count,
                                made->outputs);
    if (status == TSR_OK)
        status = check_variables(made);
    if (status != TSR_OK)
        case_free(made);
    return status;
}

void case_free(op_case *c) {
    for (int i = 0; i < c->input_count; i++)
        tensor_free(&c->inputs[i].data);
    for (int i = 0; i < c->output_count; i++)
        tensor_free(&c->outputs[i].data);
    c->input_count = c->output_count = 0;
}
