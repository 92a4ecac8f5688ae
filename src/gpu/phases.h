/* Work in phases of units, all at once or in steps: how a runner is built. */
#ifndef TSR_GPU_PHASES_H
#define TSR_GPU_PHASES_H

#include "backend/backend.h"

typedef struct tsr_gpu_phase {
    tsr_status (*work)(tsr_runner *runner, int unit); /* TSR_NOT_READY: the same unit again later */
    int units;
} tsr_gpu_phase;

/* How far the work has come; zero-initialised. */
typedef struct tsr_gpu_steps {
    int phase, unit; /* what is next */
    double deadline; /* of this step, by tsr_clock_ms() */
} tsr_gpu_steps;

/* Works through the phases in their order, for about ms milliseconds (INFINITY: to the end), on one
 * unit at least. TSR_NOT_READY while work remains. */
tsr_status tsr_gpu_work(tsr_runner *runner, const tsr_gpu_phase *phases, int count,
                        tsr_gpu_steps *steps, double ms);

#endif
