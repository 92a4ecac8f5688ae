/* Gradients of nodes that are drawn at random. */
#ifndef TESTS_SUPPORT_DRAW_GRADIENTS_H
#define TESTS_SUPPORT_DRAW_GRADIENTS_H

#include "support/case_text.h"
#include "support/gradients.h"

/* make_gradients() of an onnx_case(), whose initializers are drawn, too. */
tsr_status read_gradients(gradient_graph *g, int opset, const char *text, uint32_t seed);

/* Draws a node of the operator, its text, and makes its gradients. open: weights are inputs, if it
 * can be prepared so. False if none was drawn (g->graph is NULL then), or on failure. */
bool draw_gradients(gradient_graph *g, tsr_op op, bool open, uint32_t seed, case_text *text);

/* Of each operator: 20; 200 with all_cases(). */
int count_gradient_cases(void);

/* For inputs: where an operator is defined, or not smooth everywhere. */
gradient_range gradient_range_of(tsr_op op);

#endif
