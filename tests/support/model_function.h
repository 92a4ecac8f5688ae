/* Functions that a model defines. */
#ifndef TESTS_SUPPORT_MODEL_FUNCTION_H
#define TESTS_SUPPORT_MODEL_FUNCTION_H

#include "onnx_writer.h"

/* Appends local:NAME with the nodes of a text (onnx_case.h), in which ATTRIBUTE=call is the call's
 * attribute of that name. inputs, outputs: names separated by commas; usual: a default of an
 * attribute, or NULL. Names are borrowed. */
void add_function(onnx_writer *writer, int opset, const char *name, const char *inputs,
                  const char *outputs, const char *text, Tsr__AttributeProto *usual);

#endif
