/* Custom operators for tests, in the domain "test". */
#ifndef TESTS_SUPPORT_CUSTOM_OPS_H
#define TESTS_SUPPORT_CUSTOM_OPS_H

#include "tessera.h"

/* Scale   x, gain (2), offset (0)     gain * x + offset
 * Shift   x of 4 axes, rows, columns  x moved down and to the right, zero where nothing was
 * Join    a, b and, if given, c       along channels: a, then b resized to a's rows and columns;
 * and c's first element added. Of 4 axes OnCpu   x                           -x; without bodies
 * Broken  x                           x; bodies that do not compile
 * Picky   x                           x; a shape function that refuses, a CPU function that fails
 *                                     where x begins with a negative number */
enum { CUSTOM_OP_COUNT = 6 };
extern const tsr_custom_op custom_ops[CUSTOM_OP_COUNT];

/* Of onnx_case() text, opset 13, with these operators. */
tsr_status load_with(const tsr_custom_op *ops, int count, const char *text, tsr_model **model);
/* The same with all of the above; fails the test where that fails. */
tsr_model *make_custom_model(const char *text);

#endif
