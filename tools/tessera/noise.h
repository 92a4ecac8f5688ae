/* How far rounding alone moves a model's outputs: they are computed once more with each element of
 * floating inputs moved to the next float, up or down. */
#ifndef TESSERA_NOISE_H
#define TESSERA_NOISE_H

#include "job.h"

/* Runs the session with moved inputs. */
tsr_status noise_run(const job *j, tsr_session *session);
/* After that: the largest move of an element of the output from what it was before. */
tsr_status noise_of(tsr_session *session, int output, const tensor *before, double *noise);

#endif
