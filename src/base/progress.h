/* Progress of one call of the API, which the caller may cancel. A call consists of stages, each of
 * which takes a share of what remains: fractions never decrease. */
#ifndef TSR_BASE_PROGRESS_H
#define TSR_BASE_PROGRESS_H

#include "base/error.h"

typedef struct tsr_progress_meter {
    tsr_progress caller; /* fn NULL: nobody is told */
    double begin, end;   /* of the stage, as fractions of the call; zeroed before the first */
} tsr_progress_meter;

/* Begins a stage. meter: NULL is fine, here and below. */
void tsr_progress_stage(tsr_progress_meter *meter, double share_of_rest);
/* The i-th of n equal parts of a stage. meter: NULL is fine. */
tsr_progress_meter tsr_progress_part(const tsr_progress_meter *meter, int i, int n);
/* `done` of the stage's `total` units are done. TSR_ERROR_CANCELLED if the caller says so. */
tsr_status tsr_progress_report(const tsr_progress_meter *meter, const char *what, int64_t done,
                               int64_t total);

#endif
