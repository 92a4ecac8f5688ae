#include "ranges.h"

#include "message.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, MOST_BYTES = 1 << 20 };

static double number(const cJSON *item, double otherwise) {
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

static const cJSON *find(const cJSON *root, const char *group, const char *name, const char *key) {
    const cJSON *tensors = cJSON_GetObjectItemCaseSensitive(root, group);
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(tensors, name), key);
}

static void read_range(const cJSON *root, const char *group, const char *name, range *r) {
    const cJSON *ends = find(root, group, name, "range");
    r->low = (float)number(cJSON_GetArrayItem(ends, 0), (double)r->low);
    r->high = (float)number(cJSON_GetArrayItem(ends, 1), (double)r->high);
}

/* (value - mean) * scale or / std. */
static bool normalize(const cJSON *root, const char *name, const char *from, range *r) {
    const cJSON *mean = find(root, "inputs", name, "mean"),
                *std = find(root, "inputs", name, "std");
    const cJSON *scale = find(root, "inputs", name, "scale");
    if (cJSON_IsArray(mean) || cJSON_IsArray(std) || cJSON_IsArray(scale))
        return complain("%s: '%s' has a mean, std or scale for each channel; this demo has one for "
                        "all: --range LO:HI replaces them",
                        from, name);
    double factor = number(scale, 1) / number(std, 1), middle = number(mean, 0);
    *r = (range){(float)((r->low - middle) * factor), (float)((r->high - middle) * factor)};
    return true;
}

/* The text of MODEL.json beside MODEL.onnx, to be freed; NULL: there is none. */
static char *read_beside(const char *path, char *name) {
    const char *end = strrchr(path, '.');
    int stem = end && !strchr(end, '/') ? (int)(end - path) : (int)strlen(path);
    if (snprintf(name, PATH_SIZE, "%.*s.json", stem, path) >= PATH_SIZE)
        return NULL;
    FILE *file = fopen(name, "rb");
    char *text = file ? calloc(MOST_BYTES + 1, 1) : NULL;
    if (text && !fread(text, 1, MOST_BYTES, file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static cJSON *find_description(const tsr_model *model, const char *path, char *from) {
    const char *key, *value;
    char *text = read_beside(path, from);
    cJSON *root = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (cJSON_HasObjectItem(root, "tessera"))
        return root;
    cJSON_Delete(root);
    snprintf(from, PATH_SIZE, "%s", path);
    for (int i = 0; tsr_model_metadata(model, i, &key, &value); i++)
        if (!strcmp(key, "tessera"))
            return cJSON_Parse(value);
    return NULL;
}

bool ranges_read(const tsr_model *model, const char *path, const char *input, const char *output,
                 range *in, range *out) {
    char from[PATH_SIZE];
    cJSON *root = find_description(model, path, from);
    *in = (range){0, 1};
    read_range(root, "inputs", input, in);
    *out = *in;
    read_range(root, "outputs", output, out);
    bool good = normalize(root, input, from, in);
    cJSON_Delete(root);
    if (good && (in->low == in->high || out->low == out->high))
        good = complain("%s: a range has two equal ends", from);
    return good;
}

void range_normalize(const range *r, float mean[4], float scale[4]) {
    for (int i = 0; i < 4; i++) {
        scale[i] = (r->high - r->low) / 255;
        mean[i] = -r->low / scale[i];
    }
}
