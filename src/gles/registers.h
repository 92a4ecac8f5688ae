/* What OpenGL ES does not tell: what fragments of a GPU can do. docs/devices.md says how it was
 * found out. */
#ifndef TSR_GLES_REGISTERS_H
#define TSR_GLES_REGISTERS_H

#include "algorithm/algorithm.h"

/* By GL_RENDERER, as drivers or browsers write it. */
tsr_fragment_limits tsr_fragment_limits_of(const char *renderer);

#endif
