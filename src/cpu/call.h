/* What the reference operators share: a call's tensors, walks over broadcast operands, and copies
 * by index tables. Operators trust shapes and attributes: shape inference has checked them. */
#ifndef TSR_CPU_CALL_H
#define TSR_CPU_CALL_H

#include "cpu/cpu.h"

/* Elements and shape of input or output i; NULL where an optional one is absent. */
const void *tsr_call_in(const tsr_cpu_call *call, int i);
void *tsr_call_out(const tsr_cpu_call *call, int i);
const tsr_shape *tsr_call_in_shape(const tsr_cpu_call *call, int i);
const tsr_shape *tsr_call_out_shape(const tsr_cpu_call *call, int i);
/* Bytes of an element of input 0. */
size_t tsr_call_element_size(const tsr_cpu_call *call);

/* count * size bytes from tsr_malloc(), at least one; NULL with a message when out of memory. */
void *tsr_cpu_scratch(int64_t count, size_t size);

/* Stores sums of products as elements from `first` on of output 0: as floats, or as integers where
 * it has them. */
void tsr_call_store_sums(const tsr_cpu_call *call, int64_t first, int64_t count,
                         const double *sums);

/* For post-ops: a unary operator or Clip (param: low, high) and an operator of two inputs. out
 * may be an input of the same shape. */
void tsr_cpu_apply_unary(tsr_op op, const float param[2], const float *x, int64_t count,
                         float *out);
void tsr_cpu_apply_binary(tsr_op op, const float *a, const tsr_shape *a_shape, const float *b,
                          const tsr_shape *b_shape, float *out, const tsr_shape *shape);
/* LeakyReluGrad, of count elements each; out may be an input. */
void tsr_cpu_apply_leaky_relu_grad(float alpha, const float *dy, const float *y, int64_t count,
                                   float *out);

/* Iterates over a non-empty shape in row-major order; offset[k] is the offset of the element of
 * operand k, broadcast to that shape. */
typedef struct tsr_broadcast_iterator {
    int rank;
    int64_t dim[TSR_MAX_RANK], index[TSR_MAX_RANK], stride[2][TSR_MAX_RANK], offset[2];
} tsr_broadcast_iterator;

void tsr_broadcast_begin(tsr_broadcast_iterator *it, const tsr_shape *shape, const tsr_shape *a,
                         const tsr_shape *b);
bool tsr_broadcast_next(tsr_broadcast_iterator *it); /* false after the last index */

/* A result whose element [i0, i1, ...] is input element offset[0][i0] + offset[1][i1] + ..., or the
 * fill where one of those offsets is negative. */
typedef struct tsr_remap {
    int rank;
    int64_t count[TSR_MAX_RANK];
    int64_t *offset[TSR_MAX_RANK];
} tsr_remap;

/* Allocates tables for a result of this shape, for the caller to fill; tsr_remap_run() frees
 * them. */
tsr_status tsr_remap_create(tsr_remap *remap, const tsr_shape *shape);
/* Copies from input 0 to output 0 and frees the tables. fill: one element; NULL if no offset is
 * negative. */
void tsr_remap_run(tsr_remap *remap, const tsr_cpu_call *call, const void *fill);
/* Row-major strides in elements. */
void tsr_cpu_strides(const tsr_shape *shape, int64_t stride[TSR_MAX_RANK]);

#endif
