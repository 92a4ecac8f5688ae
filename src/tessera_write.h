/* Part of tessera.h, which includes it and has the rules: models as ONNX files. */
#ifndef TESSERA_WRITE_H
#define TESSERA_WRITE_H

#include "tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_write_desc {
    int opset; /* of the file: 13 to 27; 0: the model's, but at least 13 and what its operators need
                */
    /* Sizes that the model leaves open, as in tsr_session_desc; what stays open is so in the file.
     */
    const tsr_dim_binding *dims;
    int dim_count;
    const tsr_input_shape *shapes;
    int shape_count;
    int64_t batch; /* the first size of each input that leaves it open; 0: it stays */
} tsr_write_desc;

/* Writes a model as standard ONNX, for this library and others. Nodes of constants are folded, dead
 * ones removed, calls of the model's functions replaced by their nodes. If the shapes of all inputs
 * are known, what is computed from shapes is folded, too, and passes of the optimizer run that
 * leave operators of ONNX. Names of inputs and outputs stay, others may change.
 *
 * `write` is called many times, on this thread; what it has taken before a failure is no model.
 * TSR_ERROR_UNSUPPORTED, with the node's name, where the model has a custom operator, or what that
 * opset of ONNX cannot express, and where the file would have 2 GiB or more. TSR_ERROR_IO if
 * `write` returns false. */
TSR_API tsr_status tsr_model_write_sized(const tsr_model *model, const tsr_write_desc *desc,
                                         size_t size, tsr_write_fn write, void *user);
/* desc: NULL is fine. */
static inline tsr_status tsr_model_write(const tsr_model *model, const tsr_write_desc *desc,
                                         tsr_write_fn write, void *user) {
    return tsr_model_write_sized(model, desc, sizeof *desc, write, user);
}

#ifdef __cplusplus
}
#endif
#endif
