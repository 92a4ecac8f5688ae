/* Counts the GL calls of a gles device. */
#ifndef TESTS_SUPPORT_GL_COUNT_H
#define TESTS_SUPPORT_GL_COUNT_H

#include "tessera.h"

/* From now on the device's calls are counted: those of runs and transfers. One device at a time. */
void count_gl_calls(tsr_device *device);
/* Calls of a function since the last forget_gl_calls(), "glDrawArrays"; NULL: of all. */
int gl_calls(const char *name);
void forget_gl_calls(void);
/* One line for each function that was called. */
void print_gl_calls(void);

#endif
