/* Tests of one operator as data: docs/op-tests.md has the format. */
#ifndef TESSERA_CASE_H
#define TESSERA_CASE_H

#include "tensor.h"

#include <cjson/cJSON.h>

enum { CASE_MOST_VARIABLES = 64 };

typedef struct case_variable {
    const char *name;
    bool is_absent;   /* an optional input or output that is left out */
    bool is_constant; /* an initializer */
    bool is_from_cpu; /* of an output: what the cpu backend computes is expected */
    tensor data;
    char made_name[16]; /* name points to it where the file has none */
} case_variable;

typedef struct op_case {
    const char *path, *name, *op;
    int opset;
    const char *cpu_only; /* why a GPU does not compute it; NULL if it does */
    double rtol, atol;    /* negative: not given */
    int input_count, output_count;
    case_variable inputs[CASE_MOST_VARIABLES], outputs[CASE_MOST_VARIABLES];
    const cJSON *attributes; /* NULL: none */
    const cJSON *nodes;      /* before the operator's; NULL: none */
} op_case;

/* case_file.c: a whole file (root to be freed by cJSON_Delete) and its cases, checked. */
tsr_status case_file_read(const char *path, cJSON **root);
int case_file_count(const cJSON *root);
/* On failure, which names file, case and field, there is nothing to free. The case borrows path and
 * root. */
tsr_status case_read(const char *path, const cJSON *root, int index, op_case *made);
void case_free(op_case *c);

/* case_value.c: a variable, {"shape", "type", "data" or "seed"}. where: of the case's field. */
tsr_status case_variable_read(const op_case *c, const char *where, const cJSON *json,
                              case_variable *made);
/* Fails with file, case and field before the message. */
tsr_status case_fail(const op_case *c, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails if the object has a member that is not of the list, which NULL ends. */
tsr_status case_check_keys(const op_case *c, const char *where, const cJSON *object,
                           const char *const *keys);
/* Letters, digits, "_" and ".". */
bool case_is_name(const char *text);
/* False if the number is not an integer from low to high. */
bool case_int(const cJSON *json, int64_t low, int64_t high, int64_t *value);

/* case_model.c: the case as an ONNX file (malloc). */
tsr_status case_model(const op_case *c, uint8_t **bytes, size_t *size);

#endif
