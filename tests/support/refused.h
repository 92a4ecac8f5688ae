/* Models that must be refused. */
#ifndef TESTS_SUPPORT_REFUSED_H
#define TESTS_SUPPORT_REFUSED_H

#include "onnx_writer.h"

/* Reading the bytes as "file.onnx" fails with the status, and the message holds each of the parts
 * ("|" between them). */
void expect_refused_bytes(const void *bytes, size_t size, tsr_status status, const char *parts);
/* The same of what was written; frees the writer. */
void expect_refused(onnx_writer *writer, tsr_status status, const char *parts);
/* The same of onnx_case() text. */
void expect_refused_case(int opset, const char *text, tsr_status status, const char *parts);

#endif
