#include "support/case_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(case_text *text, const char *format, ...) {
    size_t length = strlen(text->text), room = sizeof text->text - length;
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text->text + length, room, format, arguments);
    va_end(arguments);
    if (added < 0 || (size_t)added >= room)
        abort();
}

void text_add_ints(case_text *text, const char *name, const int *numbers, int count) {
    text_add(text, " %s=%s%s", name, text_list(numbers, count), count == 1 ? "," : "");
}

const char *text_list(const int *numbers, int count) {
    enum { BUFFERS = 8, SIZE = 512 };
    static char texts[BUFFERS][SIZE];
    static int turn;
    char *text = texts[turn++ % BUFFERS];
    int length = 0;
    *text = 0;
    for (int i = 0; i < count && length < SIZE; i++)
        length +=
            snprintf(text + length, (size_t)(SIZE - length), "%s%d", i ? "," : "", numbers[i]);
    if (length >= SIZE)
        abort();
    return text;
}
