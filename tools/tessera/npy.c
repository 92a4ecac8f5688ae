/* NumPy's .npy: a magic number, a header in the form of a Python dictionary, the elements. Files
 * and hosts are little-endian. */
#include "tensor.h"
#include "tool.h"
#include "base/dtype.h"

#include <stdlib.h>
#include <string.h>

typedef struct header {
    tsr_dtype dtype;
    bool fortran_order;
    bool has_dtype, has_order, has_shape;
    tsr_shape shape;
} header;

typedef struct cursor {
    const char *at, *end;
} cursor;

static const struct {
    const char *descr;
    tsr_dtype dtype;
} types[] = {
    {"<f4", TSR_DTYPE_F32}, {"<f2", TSR_DTYPE_F16},  {"<f8", TSR_DTYPE_F64}, {"<i8", TSR_DTYPE_I64},
    {"<i4", TSR_DTYPE_I32}, {"|i1", TSR_DTYPE_I8},   {"<i1", TSR_DTYPE_I8},  {"|u1", TSR_DTYPE_U8},
    {"<u1", TSR_DTYPE_U8},  {"<i2", TSR_DTYPE_I16},  {"<u2", TSR_DTYPE_U16}, {"<u4", TSR_DTYPE_U32},
    {"<u8", TSR_DTYPE_U64}, {"|b1", TSR_DTYPE_BOOL}, {"=f4", TSR_DTYPE_F32},
};

static void skip_space(cursor *text) {
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at)
        text->at++;
}

static bool take(cursor *text, const char *token) {
    skip_space(text);
    size_t length = strlen(token);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, token, length) != 0)
        return false;
    text->at += length;
    return true;
}

static bool take_string(cursor *text, char *string, size_t room) {
    skip_space(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    size_t length = 0;
    while (text->at < text->end && *text->at != quote && length + 1 < room)
        string[length++] = *text->at++;
    string[length] = '\0';
    return text->at < text->end && *text->at++ == quote;
}

static bool take_size(cursor *text, int64_t *size) {
    skip_space(text);
    const char *start = text->at;
    *size = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        if (*size > (INT64_MAX - 9) / 10)
            return false;
        *size = *size * 10 + (*text->at++ - '0');
    }
    return text->at > start;
}

/* "()", "(3,)", "(1, 3, 256, 256)" */
static bool take_shape(cursor *text, tsr_shape *shape) {
    shape->rank = 0;
    if (!take(text, "("))
        return false;
    while (!take(text, ")")) {
        if (shape->rank == TSR_MAX_RANK || !take_size(text, &shape->dim[shape->rank]))
            return false;
        shape->rank++;
        if (!take(text, ","))
            return take(text, ")") && shape->rank > 1;
    }
    return true;
}

static bool take_bool(cursor *text, bool *value) {
    *value = take(text, "True");
    return *value || take(text, "False");
}

static bool take_dtype(cursor *text, tsr_dtype *dtype) {
    char descr[16];
    if (!take_string(text, descr, sizeof descr))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].descr, descr) == 0) {
            *dtype = types[i].dtype;
            return true;
        }
    }
    return false;
}

static bool take_entry(cursor *text, header *h) {
    char key[32];
    if (!take_string(text, key, sizeof key) || !take(text, ":"))
        return false;
    if (strcmp(key, "descr") == 0)
        return h->has_dtype = take_dtype(text, &h->dtype);
    if (strcmp(key, "fortran_order") == 0)
        return h->has_order = take_bool(text, &h->fortran_order);
    if (strcmp(key, "shape") == 0)
        return h->has_shape = take_shape(text, &h->shape);
    return false;
}

static bool parse_header(cursor text, header *h) {
    if (!take(&text, "{"))
        return false;
    while (!take(&text, "}")) {
        if (!take_entry(&text, h))
            return false;
        if (!take(&text, ",")) {
            if (!take(&text, "}"))
                return false;
            break;
        }
    }
    skip_space(&text);
    return text.at == text.end && h->has_dtype && h->has_order && h->has_shape;
}

/* Sets text to the header and *data to the offset of the elements. */
static bool find_header(const unsigned char *bytes, size_t size, cursor *text, size_t *data) {
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0 || bytes[6] < 1 || bytes[6] > 3)
        return false;
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - start)
        return false;
    *text = (cursor){(const char *)bytes + start, (const char *)bytes + start + length};
    *data = start + length;
    return true;
}

tsr_status npy_parse(const unsigned char *bytes, size_t size, const char *path, tensor *made) {
    cursor text;
    size_t start;
    header h = {0};
    if (!find_header(bytes, size, &text, &start))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: not an .npy file of version 1 to 3, or cut short", path);
    if (!parse_header(text, &h))
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: its .npy header is malformed or names a type other than little-endian "
                    "f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8 or b1",
                    path);
    if (h.fortran_order)
        return fail(TSR_ERROR_INVALID_ARGUMENT, "%s: is in Fortran order; only C order is read",
                    path);
    int64_t count = tsr_shape_count(&h.shape);
    size_t room = (size - start) / tsr_dtype_size(h.dtype);
    if (count < 0 || (uint64_t)count != room || (size - start) % tsr_dtype_size(h.dtype) != 0)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: holds %zu bytes of elements, which is not %s of shape %s", path,
                    size - start, tsr_dtype_name(h.dtype), shape_label(&h.shape).text);
    TRY(tensor_create(h.dtype, &h.shape, made));
    tsr_dtype_load(h.dtype, bytes + start, made->count,
                   made->integers ? (void *)made->integers : made->values);
    for (size_t at = 0; made->integers && at < made->count; at++)
        made->values[at] = (float)tsr_dtype_number(h.dtype, made->integers[at]);
    return TSR_OK;
}

bool npy_write(FILE *file, const tensor *t) {
    char dict[256];
    int used = snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < t->shape.rank; i++)
        used +=
            snprintf(dict + used, sizeof dict - (size_t)used, "%lld%s", (long long)t->shape.dim[i],
                     i + 1 < t->shape.rank ? ", " : (t->shape.rank == 1 ? "," : ""));
    used += snprintf(dict + used, sizeof dict - (size_t)used, "), }");
    /* magic (10 bytes), dictionary, spaces and a newline fill a multiple of 64 */
    int total = (10 + used + 1 + 63) / 64 * 64;
    int length = total - 10;
    unsigned char magic[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
    magic[8] = (unsigned char)(length & 255);
    magic[9] = (unsigned char)(length >> 8);
    return fwrite(magic, 1, 10, file) == 10 &&
           fprintf(file, "%s%*s", dict, length - used, "\n") == length &&
           fwrite(t->values, sizeof *t->values, t->count, file) == t->count;
}
