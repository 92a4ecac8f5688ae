/* Small models from one line of text, for tests and the fuzzer's seeds. */
#ifndef ONNX_CASE_H
#define ONNX_CASE_H

#include "onnx_writer.h"

/* Nodes separated by "; ", each "Op inputs... -> outputs... attributes...", words separated by one
 * space. Op may be domain:Op. An input is
 *   x[1,3,H,8]   a graph input, letters being symbolic sizes; x[] a scalar
 *   x:int8[2,3]  a graph input of another type than float32
 *   w{4,3,3,3}   an initializer of small floats
 *   s(1,-1)      one of int64, of one axis
 *   f<0.5,2>     one of float32, of one axis
 *   k<0.5        a float32 scalar
 *   a            a name made elsewhere
 *   _            an absent input
 * An output is a name, or _; the graph's are those that end with ! and the last node's. An
 * attribute is name=3 (int), name=3.0 (float), name=1,2 or name=1, (ints), name=1.0,2.0 (floats),
 * name=text, name=text|text| (a list of strings), or name=@1: the first of the graphs that follow
 * the nodes, each after " @ "; those refer to later ones only. Node i is called "<Op><i>". Aborts
 * on bad text. */
onnx_writer *onnx_case(int opset, const char *text);

/* The same with other initializers: element i of those in braces. */
typedef float onnx_element_fn(void *user, const char *name, size_t i);
onnx_writer *onnx_case_filled(int opset, const char *text, onnx_element_fn *element, void *user);

/* onnx_case as bytes, allocated with malloc. */
uint8_t *onnx_case_bytes(int opset, const char *text, size_t *size);

#endif
