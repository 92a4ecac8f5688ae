#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tsr_text_add(tsr_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t needed = text->length + (size_t)(length < 0 ? 0 : length) + 1;
    if (needed > text->capacity) {
        size_t capacity = needed * 2;
        char *chars = realloc(text->chars, capacity);
        if (!chars) {
            text->failed = true;
            return;
        }
        text->chars = chars;
        text->capacity = capacity;
    }
    va_start(args, format);
    vsnprintf(text->chars + text->length, text->capacity - text->length, format, args);
    va_end(args);
    text->length = needed - 1;
}

char *tsr_text_take(tsr_text *text) {
    char *chars = text->chars;
    if (text->failed) {
        free(chars);
        chars = NULL;
    }
    *text = (tsr_text){0};
    return chars;
}
