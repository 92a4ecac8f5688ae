/* What OpenGL ES does not tell: how much fragments of a GPU can keep in registers. docs/devices.md
 * says how it was found out. */
#ifndef TSR_GLES_REGISTERS_H
#define TSR_GLES_REGISTERS_H

/* Texels, see tsr_device_profile; 0: any number. By GL_RENDERER, as drivers or browsers write it. */
int tsr_gpu_registers(const char *renderer);

#endif
