/* Operators that a model's nodes may use besides ONNX's: --custom-ops FILE. docs/custom-ops.md
 * describes both kinds of file. */
#ifndef TESSERA_CUSTOM_OPS_H
#define TESSERA_CUSTOM_OPS_H

#include "tessera.h"

typedef struct custom_text custom_text;

typedef struct custom_ops {
    const tsr_custom_op *ops;
    int count;
    void *library;     /* that has them, */
    custom_text *text; /* or the text file */
} custom_ops;

/* Opens a shared object, or a text file. On failure there is nothing to close; else to be closed
 * after the model. path must outlive them. */
tsr_status custom_ops_open(const char *path, custom_ops *made);
void custom_ops_close(custom_ops *ops);

/* custom_text.c: operators with shader bodies alone. */
tsr_status custom_text_parse(const char *path, const unsigned char *bytes, size_t size,
                             custom_ops *made);
void custom_text_free(custom_text *text);

#endif
