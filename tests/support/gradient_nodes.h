/* Random nodes with what those of random graphs (graph_maker.h) lack: other forms of attributes,
 * shapes and indices, inputs that are constants there, earlier opsets. */
#ifndef TESTS_SUPPORT_GRADIENT_NODES_H
#define TESTS_SUPPORT_GRADIENT_NODES_H

#include "graph/graph.h"
#include "support/case_text.h"
#include "support/random.h"

/* Writes the text of an onnx_case() and its opset. False if nothing is lacking of the operator. */
bool draw_gradient_node(tsr_op op, random_source *random, case_text *text, int *opset);

#endif
