#define _POSIX_C_SOURCE 200809L
#include "tensor.h"
#include "tool.h"
#include "base/dtype.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool dtype_is_integer(tsr_dtype dtype) {
    return !tsr_dtype_is_float(dtype);
}

size_t class_count(const tsr_shape *shape) {
    bool scores =
        shape->rank == 2 || (shape->rank == 4 && shape->dim[2] == 1 && shape->dim[3] == 1);
    return scores && shape->dim[1] > 1 ? (size_t)shape->dim[1] : 0;
}

size_t vector_class_count(const tsr_shape *shape) {
    if (shape->rank == 1)
        return shape->dim[0] > 1 ? (size_t)shape->dim[0] : 0;
    return shape->rank > 1 && shape->dim[0] == 1 ? class_count(shape) : 0;
}

bool shape_equal(const tsr_shape *a, const tsr_shape *b) {
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

tsr_status tensor_create(tsr_dtype dtype, const tsr_shape *shape, tensor *made) {
    *made = (tensor){.dtype = dtype, .shape = *shape};
    int64_t count = tsr_shape_count(shape);
    if (count < 0 || (uint64_t)count > SIZE_MAX / sizeof(int64_t))
        return fail(TSR_ERROR_SHAPE, "a tensor of shape %s is too large", shape_label(shape).text);
    made->count = (size_t)count;
    size_t room = made->count ? made->count : 1;
    made->values = calloc(room, sizeof *made->values);
    if (dtype_is_integer(dtype))
        made->integers = calloc(room, sizeof *made->integers);
    if (made->values && (made->integers || !dtype_is_integer(dtype)))
        return TSR_OK;
    tensor_free(made);
    return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory for a tensor of shape %s",
                shape_label(shape).text);
}

void tensor_free(tensor *t) {
    free(t->values);
    free(t->integers);
    *t = (tensor){0};
}

size_t tensor_find_non_finite(const tensor *t) {
    size_t at = 0;
    while (at < t->count && isfinite(t->values[at]))
        at++;
    return at;
}

/* False if the element is not an integer that fits dtype. */
static bool integer_at(const tensor *t, size_t at, tsr_dtype dtype, int64_t *value) {
    if (t->integers) {
        *value = t->integers[at];
    } else {
        double exact = t->values[at];
        if (!(fabs(exact) < 9e18) || floor(exact) != exact)
            return false;
        *value = (int64_t)exact;
    }
    return *value >= tsr_dtype_low(dtype) && *value <= tsr_dtype_high(dtype);
}

static bool pack_element(const tensor *t, size_t at, tsr_dtype dtype, void *data) {
    bool is_integer = dtype_is_integer(dtype);
    int64_t value = 0;
    if (is_integer && !integer_at(t, at, dtype, &value))
        return false;
    tsr_dtype_store(dtype, is_integer ? (const void *)&value : &t->values[at], 1,
                    (char *)data + at * tsr_dtype_size(dtype));
    return true;
}

tsr_status tensor_pack(const tensor *t, tsr_dtype dtype, const char *name, void **data) {
    *data = calloc(t->count ? t->count : 1, tsr_dtype_size(dtype));
    if (!*data)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "input '%s': not enough memory", name);
    for (size_t at = 0; at < t->count; at++) {
        if (pack_element(t, at, dtype, *data))
            continue;
        free(*data);
        *data = NULL;
        return fail(TSR_ERROR_INVALID_ARGUMENT, "input '%s' is %s, which cannot hold %g at %s",
                    name, tsr_dtype_name(dtype), (double)t->values[at],
                    position_label(&t->shape, at).text);
    }
    return TSR_OK;
}

static label list_label(int rank, const int64_t *dims, const char *const *names) {
    label made = {"["};
    size_t used = 1;
    for (int i = 0; i < rank && used < sizeof made.text - 1; i++) {
        char *end = made.text + used;
        size_t room = sizeof made.text - used;
        const char *comma = i ? ", " : "", *name = names && names[i] ? names[i] : "?";
        char shown[sizeof made.text];
        tsr_escape(name, shown, sizeof shown);
        int wrote = dims[i] >= 0 ? snprintf(end, room, "%s%lld", comma, (long long)dims[i])
                                 : snprintf(end, room, "%s%s", comma, shown);
        used += wrote < 0 ? 0 : (size_t)wrote;
    }
    if (used < sizeof made.text - 1)
        memcpy(made.text + used, "]", 2);
    return made;
}

label shape_label(const tsr_shape *shape) {
    return shape->rank < 0 ? (label){"[unknown]"} : list_label(shape->rank, shape->dim, NULL);
}

label info_label(const tsr_tensor_info *info) {
    return info->shape.rank < 0 ? (label){"[unknown]"}
                                : list_label(info->shape.rank, info->shape.dim, info->dim_name);
}

label position_label(const tsr_shape *shape, size_t element) {
    int64_t at[TSR_MAX_RANK] = {0};
    for (int i = shape->rank - 1; i >= 0; i--) {
        size_t size = shape->dim[i] > 0 ? (size_t)shape->dim[i] : 1;
        at[i] = (int64_t)(element % size);
        element /= size;
    }
    return list_label(shape->rank, at, NULL);
}

static tsr_status read_all(FILE *file, const char *path, unsigned char **bytes, size_t *size) {
    size_t room = 1 << 16;
    *size = 0;
    *bytes = malloc(room);
    while (*bytes) {
        *size += fread(*bytes + *size, 1, room - *size, file);
        if (*size < room)
            break;
        unsigned char *larger = room <= SIZE_MAX / 2 ? realloc(*bytes, room * 2) : NULL;
        if (!larger)
            free(*bytes);
        *bytes = larger;
        room *= 2;
    }
    if (!*bytes)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory to read it", path);
    if (ferror(file)) {
        free(*bytes);
        *bytes = NULL;
        return fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    }
    return TSR_OK;
}

tsr_status file_check_regular(const char *path) {
    struct stat place;
    bool readable = stat(path, &place) != 0 || S_ISREG(place.st_mode) || S_ISDIR(place.st_mode);
    return readable ? TSR_OK /* otherwise reading it gives a better message */
                    : fail(TSR_ERROR_IO, "%s: this is a device or pipe, not a file", path);
}

tsr_status file_read(const char *path, unsigned char **bytes, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    tsr_status status = read_all(file, path, bytes, size);
    fclose(file);
    return status;
}

bool file_is(const char *path, const char *extension) {
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}
