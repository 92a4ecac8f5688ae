/* Which passes convolutions and matrix products become here. */
#ifndef TSR_GLES_KERNELS_H
#define TSR_GLES_KERNELS_H

#include "backend/backend.h"
#include "gpu/lower.h"

/* choice: not AUTO. */
const tsr_gpu_kernels *tsr_gles_kernels(tsr_kernel_choice choice);

/* For tsr_backend. */
void tsr_gles_offer_kernels(const tsr_backend_device *device, tsr_kernel_offer *offer);

/* ---- for src/gles/blocks.c and what it chooses from ---- */

/* Slices of a sum over so many input tiles that a pass of so many fragments needs to keep the
 * device busy, none of them short; may be 0. */
int64_t tsr_gles_busy_slices(const tsr_plan *plan, int64_t fragments, int64_t tiles);

/* Of programs in plain text, to keep them short. */
enum { TSR_MAX_TAPS = 8, TSR_MAX_ROW = 64 };

/* What glsl/row.glsl needs. */
void tsr_gles_set_row(tsr_pass *pass, int taps, int row);

/* As those of tsr_gpu_kernels, with weights in textures. */
tsr_pass *tsr_gles_convolution(tsr_plan *plan, const tsr_convolution *conv, int input, int output);
tsr_pass *tsr_gles_transposed(tsr_plan *plan, const tsr_convolution *conv, int input,
                              const tsr_node *node);

#endif
