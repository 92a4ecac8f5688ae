#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* The code of the UTF-8 character at the start of text, and its bytes; -1 and 1 where there is
 * none. */
static int decode(const char *text, int *length) {
    static const int least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    int n = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    int code = n < 2 ? first : first & (0xFF >> (n + 1));
    *length = 1;
    if (n == 0 || first >= 0xF8)
        return -1;
    for (int i = 1; i < n; i++) {
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return -1;
        code = code << 6 | (text[i] & 0x3F);
    }
    if (code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return -1;
    *length = n;
    return code;
}

/* Controls (C0, DEL, C1), line and paragraph separators, changes of the writing's direction,
 * non-characters. */
static bool is_hidden(int code) {
    static const int ranges[][2] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x200E, 0x200F},
                                    {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFFFE, 0xFFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

/* The character at the start of text as it is to be shown; returns its bytes in text. */
static int show(const char *text, char shown[8]) {
    int bytes, code = decode(text, &bytes);
    if (code == '\n' || code == '\t')
        snprintf(shown, 8, "\\%c", code == '\n' ? 'n' : 't');
    else if (code < 0 || (code < 0x100 && is_hidden(code)))
        snprintf(shown, 8, "\\x%02x", (code < 0 ? (unsigned)*text : (unsigned)code) & 0xFF);
    else if (is_hidden(code))
        snprintf(shown, 8, "\\u%04x", (unsigned)code & 0xFFFF);
    else
        snprintf(shown, 8, "%.*s", bytes, text);
    return bytes;
}

char *tsr_escape(const char *text, char *to, size_t size) {
    size_t used = 0;
    for (char shown[8]; *text; used += strlen(shown)) {
        text += show(text, shown);
        if (used + strlen(shown) >= size)
            break;
        memcpy(to + used, shown, strlen(shown));
    }
    if (size > 0)
        to[used] = '\0';
    return to;
}
