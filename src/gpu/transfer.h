/* Moving elements between a caller's memory and a tensor by a pass, so that the host only copies
 * bytes. Memory's side is a staging texture or buffer: texels of four floats, halves or bytes,
 * dense and row by row. */
#ifndef TSR_GPU_TRANSFER_H
#define TSR_GPU_TRANSFER_H

#include "base/elements.h"
#include "plan/plan.h"

/* Of a staging texture's texels, as memory has them. Outputs have no halves: two are written as
 * four bytes. Floats of outputs are stored as tsr_transfer.staging.format says.
 */
typedef enum tsr_staging_type {
    TSR_STAGING_FLOATS,
    TSR_STAGING_HALVES,
    TSR_STAGING_BYTES
} tsr_staging_type;

enum { TSR_MAX_TRANSFER_ARGS = 24 };

/* Forms of an input or output whose programs are kept. */
enum { TSR_TRANSFER_FORMS = 4 };

typedef struct tsr_transfer {
    tsr_elements elements; /* data is not kept */
    tsr_staging_type type;
    tsr_layout
        staging;   /* four planes: plane i has channels 4t + i, see glsl/rows_from_tensor.glsl */
    tsr_pass pass; /* reads the staging texture as its table, or writes it as TSR_STAGING_TENSOR */
    tsr_arg args[TSR_MAX_TRANSFER_ARGS];
} tsr_transfer;

/* Can a pass transfer these elements? Others are converted on the CPU. */
bool tsr_transfer_converts(const tsr_plan *plan, int value, const tsr_elements *elements);
/* Elements to the tensor of a value. The transfer's address must not change while its pass is used.
 */
tsr_status tsr_transfer_in(const tsr_plan *plan, int value, const tsr_elements *elements,
                           tsr_transfer *transfer);
/* The tensor of a value to elements. */
tsr_status tsr_transfer_out(const tsr_plan *plan, int value, const tsr_elements *elements,
                            tsr_transfer *transfer);
/* Where pixels are drawn into a texture or framebuffer of the caller's. */
typedef struct tsr_drawing {
    int x, y;
    bool flip;
} tsr_drawing;

/* The tensor of a value to pixels of four bytes, drawn. */
void tsr_transfer_draw(const tsr_plan *plan, int value, const tsr_pixels *pixels,
                       const tsr_drawing *drawn, tsr_transfer *transfer);
/* The same in a staging buffer, of which a texture is copied: with rows of TSR_DRAWN_ROW_BYTES or a
 * multiple of that. */
enum { TSR_DRAWN_ROW_BYTES = 256 };
tsr_status tsr_transfer_draw_staged(const tsr_plan *plan, int value, const tsr_pixels *pixels,
                                    tsr_transfer *transfer);
/* Do both have the same program? */
bool tsr_transfer_same_program(const tsr_transfer *a, const tsr_transfer *b);

/* From the staging texture or buffer, plane by plane, to the caller's memory. Fails where elements
 * are asked for in another form than they were transferred in, unless these are floats. */
tsr_status tsr_transfer_read(const tsr_transfer *transfer, const tsr_value *value,
                             const void *staged, const tsr_elements *to);

/* Bytes that are uploaded: of pixels, their rows with gaps. */
size_t tsr_transfer_bytes(const tsr_elements *elements);

#endif
