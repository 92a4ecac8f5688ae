/* Results drawn on the input picture, and told on stdout. */
#ifndef TESSERA_DRAW_H
#define TESSERA_DRAW_H

#include "canvas.h"

typedef enum draw_kind { DRAW_NONE, DRAW_BOXES, DRAW_MASK, DRAW_KEYPOINTS, DRAW_CLASSES } draw_kind;

extern const char *const draw_kinds[]; /* by draw_kind, then NULL */

typedef struct draw_options {
    int kind;             /* a draw_kind */
    const char *path;     /* of the drawing */
    double score;         /* the least of boxes, points and masks; negative: the description's */
    const labels *labels; /* perhaps none */
    decoding decode;      /* by draw_prepare() */
} draw_options;

/* Refuses files that are no pictures. path: a pattern, too; NULL: a film. */
tsr_status draw_check_path(const char *path);
/* Finds how outputs are decoded, before the run, which may be long. input: as canvas_find() has it.
 */
tsr_status draw_prepare(const job *j, const job_input *input, draw_options *o);

/* outputs: all of a run on this input; told: where it is printed what was found. made: the drawing,
 * which is to be closed. */
tsr_status draw_picture(const job *j, const draw_options *o, const job_input *input,
                        const named_tensor *outputs, FILE *told, canvas *made);

#endif
