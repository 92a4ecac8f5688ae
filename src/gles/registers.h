/* What OpenGL ES does not tell: how much fragments of a GPU can keep in registers, and whether it
 * renders in tiles. docs/devices.md says how it was found out. */
#ifndef TSR_GLES_REGISTERS_H
#define TSR_GLES_REGISTERS_H

#include <stdbool.h>

/* Texels, see tsr_device_profile; 0: any number. By GL_RENDERER, as drivers and browsers have
 * it. */
int tsr_gpu_registers(const char *renderer);
/* Does the GPU clear in tile memory instead of loading what a render target held, and load it in
 * every other pass? Adreno does not, as a rule: it renders small passes without tiles. */
bool tsr_gpu_clears_tiles(const char *renderer);

#endif
