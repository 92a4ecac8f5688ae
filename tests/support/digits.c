#include "support/digits.h"

#include <math.h>
#include <stb/stb_truetype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits are drawn once, large, and sampled from there. */
enum { GLYPH = 80, TYPEFACES = 6 };

static unsigned char glyphs[TYPEFACES][DIGIT_CLASSES][GLYPH][GLYPH];

static unsigned char *read_font(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "/usr/share/fonts/truetype/dejavu/%s.ttf", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(size);
    if (bytes && fread(bytes, 1, size, file) != size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

/* In the middle of its square. */
static void draw_glyph(const stbtt_fontinfo *font, int digit, unsigned char glyph[GLYPH][GLYPH]) {
    int width = 0, height = 0;
    unsigned char *bitmap = stbtt_GetCodepointBitmap(
        font, 0, stbtt_ScaleForPixelHeight(font, GLYPH), '0' + digit, &width, &height, NULL, NULL);
    for (int y = 0; y < height; y++)
        memcpy(&glyph[(GLYPH - height) / 2 + y][(GLYPH - width) / 2], bitmap + y * width,
               (size_t)width);
    stbtt_FreeBitmap(bitmap, NULL);
}

static bool draw_typeface(const char *name, unsigned char typeface[][GLYPH][GLYPH]) {
    stbtt_fontinfo font;
    unsigned char *bytes = read_font(name);
    bool good = bytes && stbtt_InitFont(&font, bytes, 0);
    for (int digit = 0; good && digit < DIGIT_CLASSES; digit++)
        draw_glyph(&font, digit, typeface[digit]);
    free(bytes);
    return good;
}

bool open_digits(void) {
    static const char *const names[TYPEFACES] = {"DejaVuSans",     "DejaVuSans-Bold",
                                                 "DejaVuSansMono", "DejaVuSansMono-Bold",
                                                 "DejaVuSerif",    "DejaVuSerif-Bold"};
    static bool opened;
    bool good = true;
    for (int f = 0; f < TYPEFACES && good && !opened; f++)
        good = draw_typeface(names[f], glyphs[f]);
    opened = opened || good;
    return good;
}

/* Bilinear; nothing around. */
static float sample(unsigned char glyph[GLYPH][GLYPH], float x, float y) {
    int left = (int)floorf(x), top = (int)floorf(y);
    if (left < 0 || top < 0 || left >= GLYPH - 1 || top >= GLYPH - 1)
        return 0;
    float right = x - (float)left, below = y - (float)top;
    const unsigned char *a = &glyph[top][left], *b = &glyph[top + 1][left];
    float upper = a[0] + (float)(a[1] - a[0]) * right, lower = b[0] + (float)(b[1] - b[0]) * right;
    return (upper + (lower - upper) * below) / 255;
}

static void draw(unsigned char glyph[GLYPH][GLYPH], random_source *random, float *picture) {
    float angle = random_float(random, 0, 0.26f), slant = random_float(random, 0, 0.25f),
          wide = random_float(random, 2.9f, 0.6f), high = random_float(random, 2.9f, 0.4f),
          dx = random_float(random, 0, 2.5f), dy = random_float(random, 0, 2.5f),
          noise = random_float(random, 0.1f, 0.1f);
    float cosine = cosf(angle), sine = sinf(angle);
    for (int i = 0; i < DIGIT_PIXELS; i++) {
        float x = (float)(i % DIGIT_SIZE) - (DIGIT_SIZE - 1) / 2.0f - dx,
              y = (float)(i / DIGIT_SIZE) - (DIGIT_SIZE - 1) / 2.0f - dy;
        float u = cosine * x - sine * y, v = sine * x + cosine * y;
        float ink = sample(glyph, (u + slant * v) * wide + GLYPH / 2.0f, v * high + GLYPH / 2.0f);
        picture[i] = ink + random_float(random, 0, noise);
    }
}

void make_digits(random_source *random, int count, float *pictures, float *classes) {
    memset(classes, 0, (size_t)count * DIGIT_CLASSES * sizeof *classes);
    for (int i = 0; i < count; i++) {
        int digit = random_int(random, 0, DIGIT_CLASSES - 1),
            face = random_int(random, 0, TYPEFACES - 1);
        classes[i * DIGIT_CLASSES + digit] = 1;
        draw(glyphs[face][digit], random, pictures + i * DIGIT_PIXELS);
    }
}
