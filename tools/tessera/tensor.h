/* Dense tensors in memory, and their files. */
#ifndef TESSERA_TENSOR_H
#define TESSERA_TENSOR_H

#include "tessera.h"

#include <stdio.h>

typedef struct tensor {
    tsr_dtype dtype; /* of the file */
    tsr_shape shape;
    size_t count;
    float *values;     /* every element, as a float */
    int64_t *integers; /* exact elements of integer and bool tensors; NULL for floating types */
} tensor;

typedef struct named_tensor {
    const char *name; /* borrowed */
    tensor tensor;
} named_tensor;

/* Zeroed elements. */
tsr_status tensor_create(tsr_dtype dtype, const tsr_shape *shape, tensor *made);
void tensor_free(tensor *t);

/* The elements as a dense array of dtype (malloc); fails if dtype cannot represent one of them. */
tsr_status tensor_pack(const tensor *t, tsr_dtype dtype, const char *name, void **data);

/* Position of the first NaN or infinity, count if there is none. */
size_t tensor_find_non_finite(const tensor *t);

bool dtype_is_integer(tsr_dtype dtype);
/* Classes of a single row of scores, [C], [1, C] or [1, C, 1, 1], C > 1; 0 for other tensors. */
size_t vector_class_count(const tsr_shape *shape);
/* Classes per row of scores, [N, C] or [N, C, 1, 1]; 0 for other tensors. */
size_t class_count(const tsr_shape *shape);
bool shape_equal(const tsr_shape *a, const tsr_shape *b);

typedef struct label {
    char text[256];
} label;

label shape_label(const tsr_shape *shape);                    /* "[1, 3, ?, 256]" */
label info_label(const tsr_tensor_info *info);                /* "[batch, 3, ?, 256]" */
label position_label(const tsr_shape *shape, size_t element); /* "[0, 2, 17, 4]" */

/* Rejects devices and pipes: they may block, never end, or be readable only once. */
tsr_status file_check_regular(const char *path);
/* The whole file (malloc). */
tsr_status file_read(const char *path, unsigned char **bytes, size_t *size);
/* Whether the name has this extension, in any case. */
bool file_is(const char *path, const char *extension);

/* npy.c: format versions 1 to 3, little-endian f2 f4 f8 i1 u1 i4 i8 b1, C order. */
tsr_status npy_parse(const unsigned char *bytes, size_t size, const char *path, tensor *made);
bool npy_write(FILE *file, const tensor *t);

/* tensor_text.c: .txt and .csv have a line for each row of the last axis, .json is
 * {"shape": [..], "data": [..]} with all elements in row-major order. */
bool text_is_file(const char *path);
bool text_write(FILE *file, const char *path, const tensor *t);

/* .npy or .pb (an ONNX TensorProto). */
tsr_status tensor_load(const char *path, tensor *made);

#endif
