/* Builds the text of an onnx_case() piece by piece. */
#ifndef TESTS_SUPPORT_CASE_TEXT_H
#define TESTS_SUPPORT_CASE_TEXT_H

typedef struct case_text {
    char text[1 << 14];
} case_text;

/* Appends. */
void text_add(case_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* " name=1,2", an attribute of integers. */
void text_add_ints(case_text *text, const char *name, const int *numbers, int count);
/* "1,2", in one of a few rotating buffers. */
const char *text_list(const int *numbers, int count);

#endif
