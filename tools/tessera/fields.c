#include "fields.h"
#include "text.h"
#include "tool.h"
#include "base/similar.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct place {
    const char *file, *where;
    const field *f;
} place;

tsr_status fields_fail(const char *file, const char *where, const char *key, const char *wanted) {
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s%s%s: %s", file, where, where[0] ? "." : "", key,
                wanted);
}

static tsr_status fail_at(const place *p, const char *wanted) {
    return fields_fail(p->file, p->where, p->f->key, wanted);
}

static tsr_status fail_unknown(const char *file, const char *where, const char *key,
                               const field *fields, int count) {
    tsr_similar similar = {0};
    for (int i = 0; i < count; i++)
        tsr_similar_add(&similar, key, fields[i].key);
    if (!similar.count) /* inputs of a model without any */
        return fields_fail(file, where, key, "unknown key; there are none");
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s%s%s: unknown key; the nearest is '%s'", file,
                where, where[0] ? "." : "", key, similar.names[0]);
}

static tsr_status fail_name(const place *p, const char *name) {
    tsr_similar similar = {0};
    const field *f = p->f;
    for (int i = 0; f->name_count ? i < f->name_count : f->names[i] != NULL; i++)
        tsr_similar_add(&similar, name, f->names[i]);
    char text[512] = "";
    for (int i = 0; i < similar.count; i++)
        name_list_add(text, sizeof text, similar.names[i]);
    return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s%s%s: there is no '%s'; the nearest: %s",
                p->file, p->where, p->where[0] ? "." : "", f->key, name, text);
}

static tsr_status read_name(const place *p, const cJSON *value, int *index) {
    const field *f = p->f;
    if (!cJSON_IsString(value))
        return fail_at(p, "is not a text");
    for (*index = 0; f->name_count ? *index < f->name_count : f->names[*index] != NULL; ++*index)
        if (strcmp(f->names[*index], value->valuestring) == 0)
            return TSR_OK;
    return fail_name(p, value->valuestring);
}

static tsr_status read_element(const place *p, const cJSON *value, int at) {
    const field *f = p->f;
    double number = cJSON_IsNumber(value) ? value->valuedouble : NAN;
    if (f->kind == FIELD_NAMES)
        return read_name(p, value, (int *)f->target + at);
    if (!isfinite(number))
        return fail_at(p, "is not a number");
    if (f->kind == FIELD_NUMBERS)
        ((double *)f->target)[at] = number;
    else if (number < 0 || number > INT_MAX || floor(number) != number)
        return fail_at(p, "is not a whole number of at least 0");
    else
        ((int *)f->target)[at] = (int)number;
    return TSR_OK;
}

static tsr_status read_list(const place *p, const cJSON *value) {
    const field *f = p->f;
    int least = f->most ? f->least : 1, most = f->most ? f->most : 1, count = 0;
    char wanted[64];
    if (!cJSON_IsArray(value)) {
        TRY(read_element(p, value, count++));
    } else {
        for (const cJSON *item = value->child; item; item = item->next, count++)
            if (count < most)
                TRY(read_element(p, item, count));
    }
    snprintf(wanted, sizeof wanted, "is not a list of %d to %d elements", least, most);
    if (count < least || count > most)
        return fail_at(p, wanted);
    if (f->count)
        *f->count = count;
    return TSR_OK;
}

static tsr_status read_value(const place *p, const cJSON *value) {
    switch (p->f->kind) {
    case FIELD_ANY:
        *(const cJSON **)p->f->target = value;
        return TSR_OK;
    case FIELD_CHOICE:
        return read_name(p, value, p->f->target);
    case FIELD_TEXT:
        if (!cJSON_IsString(value))
            return fail_at(p, "is not a text");
        *(const char **)p->f->target = value->valuestring;
        return TSR_OK;
    default:
        return read_list(p, value);
    }
}

tsr_status fields_read(const char *file, const char *where, const cJSON *object,
                       const field *fields, int count) {
    if (!cJSON_IsObject(object))
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: %s%sis not an object", file, where,
                    where[0] ? ": " : "");
    for (const cJSON *value = object->child; value; value = value->next) {
        int i = 0;
        while (i < count && strcmp(fields[i].key, value->string) != 0)
            i++;
        if (i == count)
            return fail_unknown(file, where, value->string, fields, count);
        TRY(read_value(&(place){file, where, &fields[i]}, value));
    }
    return TSR_OK;
}
