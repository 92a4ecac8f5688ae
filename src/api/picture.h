/* What a model makes of a picture of some size, found by shape inference: nothing is computed. */
#ifndef TSR_API_PICTURE_H
#define TSR_API_PICTURE_H

#include "graph/receptive_field.h"

typedef struct tsr_picture_output {
    tsr_shape shape;
    tsr_field_map map;
} tsr_picture_output;

typedef struct tsr_picture_report {
    int output_count;            /* the model's */
    tsr_picture_output *outputs; /* tsr_free(); maps are set if is_local */
    int64_t alignment[TSR_PICTURE_AXES];
    tsr_cache_key numbers; /* tsr_receptive_fields' */
    uint64_t live_bytes;   /* the most that is alive at one time, in 32 bits */
    /* Elements of the outputs depend on a neighbourhood of a pixel, but for normalizations over all
     * pixels if `normalizes`; if not, `why` names the first node that reads more. */
    bool is_local, normalizes;
    char why[512]; /* also the node that normalizes */
} tsr_picture_report;

/* desc gives shapes as for a session; axes: rows and columns of the named input. Fails where no
 * session could be made for its shapes. */
tsr_status tsr_model_picture(const tsr_model *model, const tsr_session_desc *desc,
                             const char *input, const int axes[TSR_PICTURE_AXES],
                             tsr_picture_report *report);

#endif
