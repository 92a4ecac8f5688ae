#include "base/text.h"

#include "base/allocator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for `length` more characters and the NUL; false when out of memory. */
static bool reserve(tsr_text *text, size_t length) {
    size_t needed = text->length + length + 1;
    if (needed <= text->capacity)
        return true;
    char *chars = tsr_realloc(text->chars, needed * 2);
    if (!chars) {
        text->failed = true;
        return false;
    }
    text->chars = chars;
    text->capacity = needed * 2;
    return true;
}

void tsr_text_add(tsr_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(text, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(text->chars + text->length, text->capacity - text->length, format, args);
    va_end(args);
    text->length += (size_t)length;
}

void tsr_text_append(tsr_text *text, const char *chars, size_t length) {
    if (!reserve(text, length))
        return;
    memcpy(text->chars + text->length, chars, length);
    text->length += length;
    text->chars[text->length] = '\0';
}

char *tsr_text_take(tsr_text *text) {
    char *chars = text->chars;
    if (text->failed) {
        tsr_free(chars);
        chars = NULL;
    }
    *text = (tsr_text){0};
    return chars;
}
