/* Results drawn on the input picture, and told on stdout. */
#ifndef TESSERA_DRAW_H
#define TESSERA_DRAW_H

#include "job.h"

typedef enum draw_kind { DRAW_NONE, DRAW_BOXES, DRAW_MASK, DRAW_KEYPOINTS, DRAW_CLASSES } draw_kind;

extern const char *const draw_kinds[]; /* by draw_kind, then NULL */

typedef struct draw_options {
    int kind;             /* a draw_kind */
    const char *path;     /* of the picture */
    double score;         /* the least of boxes, points and masks; negative: the description's */
    const labels *labels; /* perhaps none */
    decoding decode;      /* by draw_prepare() */
} draw_options;

/* Finds how outputs are decoded, before the run, which may be long. */
tsr_status draw_prepare(const job *j, draw_options *o);

/* After a run of the session; told: where it is printed what was found. */
tsr_status draw_run(const job *j, tsr_session *session, const draw_options *o, FILE *told);

#endif
