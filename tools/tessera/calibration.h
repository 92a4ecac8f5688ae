/* Inputs of runs that measure a model: those of the job, and files of a folder for each other one.
 */
#ifndef TESSERA_CALIBRATION_H
#define TESSERA_CALIBRATION_H

#include "source.h"

typedef struct calibration {
    job *job;
    source *files;     /* by input; without paths: the job has its elements */
    int count;         /* of samples */
    char **names;      /* by sample: the file that is read, or the first of them */
    tsr_status status; /* of calibration_sample(), and its message (malloc) */
    char *message;
} calibration;

/* folder has the files of the only input that has no elements yet, or a folder for each such
 * input, of its name. The shapes of these inputs are those of the first files from then on. */
tsr_status calibration_open(calibration *made, job *j, const char *folder);
void calibration_close(calibration *c);

/* Sets the inputs of the job. */
tsr_status calibration_load(calibration *c, int sample);
/* For tsr_write_desc. */
tsr_status calibration_sample(void *calibration, int sample, tsr_fixed_input *inputs);

#endif
