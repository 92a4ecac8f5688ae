#include "exif.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MARKER_APP1 = 0xE1, MARKER_SCAN = 0xDA, TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3 };

typedef struct bytes { /* reads beyond the end yield 0 */
    const unsigned char *data;
    size_t size;
    bool little_endian;
} bytes;

static uint32_t read_number(const bytes *b, size_t at, size_t length) {
    uint32_t number = 0;
    if (at > b->size || length > b->size - at)
        return 0;
    for (size_t i = 0; i < length; i++)
        number = number << 8 | b->data[at + (b->little_endian ? length - 1 - i : i)];
    return number;
}

/* A TIFF header, then a directory of entries of 12 bytes: tag, type, count, value. */
static int orientation_of_tiff(const unsigned char *data, size_t size) {
    bytes b = {data, size, size > 0 && data[0] == 'I'};
    if (read_number(&b, 2, 2) != 42)
        return 1;
    size_t at = read_number(&b, 4, 4);
    uint32_t count = read_number(&b, at, 2);
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = at + 2 + (size_t)i * 12;
        if (read_number(&b, entry, 2) != TAG_ORIENTATION)
            continue;
        uint32_t value = read_number(&b, entry + 8, 2);
        bool good = read_number(&b, entry + 2, 2) == TYPE_SHORT && value >= 1 && value <= 8;
        return good ? (int)value : 1;
    }
    return 1;
}

int exif_orientation(const unsigned char *data, size_t size) {
    static const char name[] = "Exif\0"; /* and a zero of its own */
    const bytes b = {data, size, false};
    if (read_number(&b, 0, 2) != 0xFFD8)
        return 1;
    for (size_t at = 2; read_number(&b, at, 1) == 0xFF;) {
        while (read_number(&b, at + 1, 1) == 0xFF) /* any number of them may fill up */
            at++;
        uint32_t marker = read_number(&b, at + 1, 1);
        size_t length = read_number(&b, at + 2, 2);
        if (marker == MARKER_SCAN || length < 2 || length > size - at - 2)
            break;
        if (marker == MARKER_APP1 && length >= 2 + sizeof name &&
            memcmp(data + at + 4, name, sizeof name) == 0)
            return orientation_of_tiff(data + at + 4 + sizeof name, length - 2 - sizeof name);
        at += 2 + length;
    }
    return 1;
}
