/* Tensors as text: 9 digits, from which a float can be read back exactly. NaN and infinities are
 * texts in JSON, which has no such numbers. */
#include "tensor.h"

#include <inttypes.h>
#include <math.h>

static const char *name_of_value(float value) {
    return isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
}

static void write_element(FILE *file, const tensor *t, size_t at, bool json) {
    if (t->integers)
        fprintf(file, "%" PRId64, t->integers[at]);
    else if (isfinite(t->values[at]))
        fprintf(file, "%.9g", (double)t->values[at]);
    else
        fprintf(file, json ? "\"%s\"" : "%s", name_of_value(t->values[at]));
}

static void write_rows(FILE *file, const tensor *t, char separator) {
    int rank = t->shape.rank;
    size_t row = rank > 0 ? (size_t)t->shape.dim[rank - 1] : 1;
    for (size_t at = 0; at < t->count; at++) {
        write_element(file, t, at, false);
        fputc((at + 1) % row ? separator : '\n', file);
    }
}

static void write_json(FILE *file, const tensor *t) {
    fputs("{\"shape\": [", file);
    for (int i = 0; i < t->shape.rank; i++)
        fprintf(file, "%s%" PRId64, i ? ", " : "", t->shape.dim[i]);
    fputs("], \"data\": [", file);
    for (size_t at = 0; at < t->count; at++) {
        fputs(at ? ", " : "", file);
        write_element(file, t, at, true);
    }
    fputs("]}\n", file);
}

bool text_is_file(const char *path) {
    return file_is(path, ".txt") || file_is(path, ".csv") || file_is(path, ".json");
}

bool text_write(FILE *file, const char *path, const tensor *t) {
    if (file_is(path, ".json"))
        write_json(file, t);
    else
        write_rows(file, t, file_is(path, ".csv") ? ',' : ' ');
    return !ferror(file);
}
