/* Pictures of a size that a model does not declare: whole, extended to a size that it takes, or in
 * overlapping tiles whose results are blended. */
#ifndef TESSERA_TILING_H
#define TESSERA_TILING_H

#include "job.h"

/* Lets pictures of this size keep it, if the model fixes another one and is fully convolutional:
 * its input's shape is open then. */
tsr_status tiling_open_size(job *j, job_input *input, int width, int height);

/* Once the input's shape is the picture's: decides how it is run. j->tiling stays NULL where the
 * model takes it as it is. name: the picture's, for messages. */
tsr_status tiling_choose(job *j, job_input *input, const char *name);
void tiling_free(struct tiling *t);

int tiling_count(const struct tiling *t);
tsr_shape tiling_tile_shape(const struct tiling *t);
tsr_shape tiling_result_shape(const struct tiling *t, int output); /* of the whole picture */

/* Tile k of a picture, until the next call; beyond the picture its border is repeated. */
const float *tiling_cut(struct tiling *t, int k, const float *picture);
/* Adds tile k's result to that of the picture, which is zero before the first. */
void tiling_paste(const struct tiling *t, int output, int k, const float *tile, float *result);

/* Room for the results of one picture, zeroed. */
tsr_status tiling_make_results(struct tiling *t);
tensor *tiling_result(struct tiling *t, int output);

#endif
