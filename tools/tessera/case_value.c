#include "case.h"
#include "tool.h"

#include "base/dtype.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 20 };

/* Doubles, which cJSON reads, hold integers up to here. */
static const double most_exact = 9007199254740992.0;

tsr_status case_fail(const op_case *c, const char *where, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: case '%s': %s: %s", c->path,
                c->name ? c->name : "", where, text);
}

tsr_status case_check_keys(const op_case *c, const char *where, const cJSON *object,
                           const char *const *keys) {
    const cJSON *member, *other;
    cJSON_ArrayForEach(member, object) {
        int i = 0;
        while (keys[i] && strcmp(keys[i], member->string) != 0)
            i++;
        if (!keys[i])
            return case_fail(c, where, "there is no field \"%s\"", member->string);
        for (other = member->next; other; other = other->next)
            if (strcmp(other->string, member->string) == 0)
                return case_fail(c, where, "the field \"%s\" is given twice", member->string);
    }
    return TSR_OK;
}

bool case_is_name(const char *text) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    return *text && strspn(text, letters) == strlen(text);
}

bool case_int(const cJSON *json, int64_t low, int64_t high, int64_t *value) {
    const double number = cJSON_IsNumber(json) ? json->valuedouble : NAN;
    if (!(fabs(number) <= most_exact) || floor(number) != number)
        return false;
    *value = (int64_t)number;
    return *value >= low && *value <= high;
}

/* ---- shapes and types ------------------------------------------------------------------------ */

static tsr_status read_shape(const op_case *c, const char *where, const cJSON *json,
                             tsr_shape *shape) {
    const cJSON *dim;
    *shape = (tsr_shape){0};
    if (!cJSON_IsArray(json))
        return case_fail(c, where, "\"shape\" is not a list");
    cJSON_ArrayForEach(dim, json) {
        if (shape->rank == TSR_MAX_RANK)
            return case_fail(c, where, "\"shape\" has more than %d sizes", TSR_MAX_RANK);
        if (!case_int(dim, 0, MOST_ELEMENTS, &shape->dim[shape->rank++]))
            return case_fail(c, where, "size %d of \"shape\" is not an integer from 0 to %d",
                             shape->rank - 1, MOST_ELEMENTS);
    }
    const int64_t count = tsr_shape_count(shape);
    if (count < 0 || count > MOST_ELEMENTS)
        return case_fail(c, where, "more than %d elements", MOST_ELEMENTS);
    return TSR_OK;
}

static tsr_status read_type(const op_case *c, const char *where, const cJSON *json,
                            tsr_dtype *dtype) {
    *dtype = TSR_DTYPE_F32;
    if (!json)
        return TSR_OK;
    for (int i = 0; cJSON_IsString(json) && i < TSR_DTYPE_COUNT; i++)
        if (strcmp(json->valuestring, tsr_dtype_name((tsr_dtype)i)) == 0) {
            *dtype = (tsr_dtype)i;
            return TSR_OK;
        }
    return case_fail(c, where, "\"type\" is %s%s%s", cJSON_IsString(json) ? "'" : "not a text",
                     cJSON_IsString(json) ? json->valuestring : "",
                     cJSON_IsString(json) ? "', which is no element type" : "");
}

/* ---- elements -------------------------------------------------------------------------------- */

/* What JSON has no number for. */
static bool read_text_element(const char *text, tsr_dtype dtype, float *number, int64_t *integer) {
    char *end;
    if (!dtype_is_integer(dtype)) {
        *number = strcmp(text, "NaN") == 0         ? NAN
                  : strcmp(text, "Infinity") == 0  ? INFINITY
                  : strcmp(text, "-Infinity") == 0 ? -INFINITY
                                                   : 0;
        return *number != 0;
    }
    errno = 0;
    *integer = dtype == TSR_DTYPE_U64 && *text != '-' ? (int64_t)strtoull(text, &end, 10)
                                                      : strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && (dtype != TSR_DTYPE_U64 || *text != '-');
}

static bool read_element(const cJSON *json, tensor *data, size_t at) {
    int64_t integer = 0;
    float number = 0;
    if (cJSON_IsString(json)) {
        if (!read_text_element(json->valuestring, data->dtype, &number, &integer))
            return false;
    } else if (data->integers) {
        const bool wide = tsr_dtype_size(data->dtype) == 8;
        if (!case_int(json,
                      wide && tsr_dtype_low(data->dtype) < 0 ? -(int64_t)most_exact
                                                             : tsr_dtype_low(data->dtype),
                      wide ? (int64_t)most_exact : tsr_dtype_high(data->dtype), &integer))
            return false;
    } else {
        number = cJSON_IsNumber(json) ? (float)json->valuedouble : NAN;
        if (!isfinite(number))
            return false;
    }
    if (data->integers)
        data->integers[at] = integer;
    data->values[at] = data->integers ? (float)tsr_dtype_number(data->dtype, integer) : number;
    return true;
}

static tsr_status read_data(const op_case *c, const char *where, const cJSON *json, tensor *data) {
    const size_t given = cJSON_IsArray(json) ? (size_t)cJSON_GetArraySize(json) : 1;
    const cJSON *element = cJSON_IsArray(json) ? json->child : json;
    if (cJSON_IsArray(json) && given != data->count)
        return case_fail(c, where, "\"data\" has %zu elements, %s has %zu", given,
                         shape_label(&data->shape).text, data->count);
    for (size_t i = 0; i < data->count; i++) {
        if (!read_element(element, data, i))
            return case_fail(c, where, "element %zu of \"data\" is not of type %s", i,
                             tsr_dtype_name(data->dtype));
        element = cJSON_IsArray(json) ? element->next : element;
    }
    return TSR_OK;
}

/* splitmix64: the same numbers everywhere. */
static double next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) / most_exact;
}

static tsr_status draw_data(const op_case *c, const char *where, const cJSON *json, tensor *data) {
    const cJSON *low = cJSON_GetObjectItemCaseSensitive(json, "low"),
                *high = cJSON_GetObjectItemCaseSensitive(json, "high");
    double from = low ? low->valuedouble : data->integers ? 0 : -1;
    double to = high ? high->valuedouble : data->dtype == TSR_DTYPE_BOOL || !data->integers ? 1 : 9;
    int64_t seed;
    if (!case_int(cJSON_GetObjectItemCaseSensitive(json, "seed"), 0, INT32_MAX, &seed))
        return case_fail(c, where, "\"seed\" is not an integer from 0 to %d", INT32_MAX);
    if ((low && !cJSON_IsNumber(low)) || (high && !cJSON_IsNumber(high)) || !(from <= to) ||
        fabs(from) > 1e15 || fabs(to) > 1e15)
        return case_fail(c, where, "\"low\" and \"high\" are not a range of numbers");
    if (data->integers && (floor(from) != from || floor(to) != to ||
                           from < tsr_dtype_number(data->dtype, tsr_dtype_low(data->dtype)) ||
                           to > tsr_dtype_number(data->dtype, tsr_dtype_high(data->dtype))))
        return case_fail(c, where, "\"low\" or \"high\" is not of type %s",
                         tsr_dtype_name(data->dtype));
    uint64_t state = (uint64_t)seed;
    for (size_t i = 0; i < data->count; i++) {
        const double u = next_random(&state);
        const double x =
            data->integers ? floor(from + u * (to - from + 1)) : from + u * (to - from);
        data->values[i] = (float)x;
        if (data->integers)
            data->integers[i] = (int64_t)x;
    }
    return TSR_OK;
}

/* ---- variables ------------------------------------------------------------------------------- */

static tsr_status read_elements(const op_case *c, const char *where, const cJSON *json,
                                case_variable *made) {
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(json, "data"),
                *seed = cJSON_GetObjectItemCaseSensitive(json, "seed");
    tsr_shape shape;
    tsr_dtype dtype;
    TRY(read_shape(c, where, cJSON_GetObjectItemCaseSensitive(json, "shape"), &shape));
    TRY(read_type(c, where, cJSON_GetObjectItemCaseSensitive(json, "type"), &dtype));
    if (!data == !seed)
        return case_fail(c, where, "it has %s of \"data\" and \"seed\"", data ? "both" : "none");
    TRY(tensor_create(dtype, &shape, &made->data));
    tsr_status status =
        data ? read_data(c, where, data, &made->data) : draw_data(c, where, json, &made->data);
    if (status != TSR_OK)
        tensor_free(&made->data);
    return status;
}

tsr_status case_variable_read(const op_case *c, const char *where, const cJSON *json,
                              case_variable *made) {
    static const char *const keys[] = {"name", "shape", "type",     "data", "seed",
                                       "low",  "high",  "constant", NULL};
    *made = (case_variable){.is_absent = cJSON_IsNull(json)};
    if (made->is_absent)
        return TSR_OK;
    if (!cJSON_IsObject(json))
        return case_fail(c, where, "not a variable, which is an object, or null if it is absent");
    TRY(case_check_keys(c, where, json, keys));
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "name"),
                *constant = cJSON_GetObjectItemCaseSensitive(json, "constant"),
                *data = cJSON_GetObjectItemCaseSensitive(json, "data");
    if (name && (!cJSON_IsString(name) || !case_is_name(name->valuestring)))
        return case_fail(c, where, "\"name\" is not made of letters, digits, _ and .");
    if (constant && !cJSON_IsBool(constant))
        return case_fail(c, where, "\"constant\" is not true or false");
    made->name = name ? name->valuestring : NULL;
    made->is_constant = cJSON_IsTrue(constant);
    made->is_from_cpu = cJSON_IsString(data) && strcmp(data->valuestring, "cpu") == 0;
    return made->is_from_cpu ? TSR_OK : read_elements(c, where, json, made);
}
