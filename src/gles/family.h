/* What OpenGL ES does not tell about families of GPUs. docs/devices.md says how it was found out.
 */
#ifndef TSR_GLES_FAMILY_H
#define TSR_GLES_FAMILY_H

#include "algorithm/algorithm.h"

enum { TSR_FAMILY_NAMES = 12 };

typedef struct tsr_gpu_family {
    const char *names[TSR_FAMILY_NAMES]; /* GL_RENDERER holds one */
    tsr_fragment_limits fragments;
    /* It clears in tile memory instead of loading what a render target held, and loads that in
     * every other pass. Adreno does not, as a rule: it renders small passes without tiles. */
    bool clears_tiles;
} tsr_gpu_family;

/* The first of which GL_RENDERER, as drivers or browsers write it, holds a name. */
const tsr_gpu_family *tsr_gpu_family_of(const char *renderer);

#endif
