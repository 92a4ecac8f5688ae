/* A growing string. */
#ifndef TSR_BASE_TEXT_H
#define TSR_BASE_TEXT_H

#include "base/error.h"

typedef struct tsr_text { /* zeroed: empty */
    char *chars;
    size_t length, capacity;
    bool failed; /* out of memory: later additions are lost */
} tsr_text;

void tsr_text_add(tsr_text *text, const char *format, ...) TSR_PRINTF(2, 3);
void tsr_text_append(tsr_text *text, const char *chars, size_t length);
/* The text, to be given to tsr_free(); NULL when out of memory. */
char *tsr_text_take(tsr_text *text);

#endif
