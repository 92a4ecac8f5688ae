/* Programs that a driver compiles again for other textures. */
#ifndef TSR_GLES_VARIANT_H
#define TSR_GLES_VARIANT_H

#include "gles/device.h"

#include <stdint.h>

/* llvmpipe compiles a program for each combination of render targets, of formats and of textures
 * whose sides are powers of two or not. While it compiles, it changes what the key of its cache on
 * disk is made of (Mesa 22): of a program's combinations each process finds one more than the
 * process before. So each is a program of its own, with a number in its text; 0: the device's
 * driver compiles once. */
uint64_t tsr_gles_variant(const tsr_backend_device *device, const tsr_plan *plan,
                          const tsr_pass *pass);

#endif
