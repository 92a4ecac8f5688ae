/* What OpenGL ES does not tell about families of GPUs. docs/devices.md says how it was found out.
 */
#ifndef TSR_GLES_FAMILY_H
#define TSR_GLES_FAMILY_H

#include "algorithm/algorithm.h"

typedef struct tsr_gpu_family {
    const char *name; /* GL_RENDERER holds it */
    tsr_fragment_limits fragments;
    /* It clears in tile memory instead of loading what a render target held, and loads that in
     * every other pass. Adreno does not, as a rule: it renders small passes without tiles. */
    bool clears_tiles;
} tsr_gpu_family;

/* By GL_RENDERER, as drivers or browsers write it. */
const tsr_gpu_family *tsr_gpu_family_of(const char *renderer);

#endif
