/* Objects of JSON read by a table of their keys: unknown keys and other types are refused, by file
 * and key. */
#ifndef TESSERA_FIELDS_H
#define TESSERA_FIELDS_H

#include "json.h"

#include <stdbool.h>

typedef enum field_kind {
    FIELD_ANY,     /* const cJSON *: checked by the caller */
    FIELD_NUMBERS, /* double[most]; a number or a list of them, as many as *count tells then */
    FIELD_INTS,    /* int[most], the same with whole numbers of at least 0 */
    FIELD_CHOICE,  /* int, index into names */
    FIELD_NAMES,   /* int[most], indexes into names, of a text or a list of them */
    FIELD_TEXT,    /* const char *, of the JSON */
} field_kind;

typedef struct field {
    const char *key;
    field_kind kind;
    void *target;
    int least, most; /* elements; 0, 0: one */
    int *count;      /* NULL: nobody wants to know */
    const char *const *names;
    int name_count; /* 0: names end with NULL */
} field;

/* file and where ("inputs.x", "" for the root) are for messages. Targets without a key stay as they
 * are. */
tsr_status fields_read(const char *file, const char *where, const cJSON *object,
                       const field *fields, int count);
#define FIELDS_READ(file, where, object, array)                                                    \
    fields_read(file, where, object, array, (int)(sizeof(array) / sizeof(array)[0]))

/* The error of a key whose value is not what was wanted. */
tsr_status fields_fail(const char *file, const char *where, const char *key, const char *wanted);

#endif
