/* strstr() for short texts, a fraction of the C library's size. */
#include <string.h>

char *strstr(const char *text, const char *wanted) {
    size_t length = strlen(wanted);
    for (; strncmp(text, wanted, length) != 0; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}
