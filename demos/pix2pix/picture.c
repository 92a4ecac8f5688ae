#define _POSIX_C_SOURCE 200809L

#include "picture.h"

#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

static void put_on_white(unsigned char *rgba, size_t count) {
    for (unsigned char *p = rgba; count > 0; count--, p += 4) {
        for (int c = 0; c < 3; c++)
            p[c] = (unsigned char)((p[c] * p[3] + 255 * (255 - p[3]) + 127) / 255);
        p[3] = 255;
    }
}

/* Decoded RGBA for stbi_image_free; NULL on failure, or if a side is longer than `most`. */
static unsigned char *decode(const char *path, int most, int *width, int *height) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        complain("%s: %s", path, strerror(errno));
        return NULL;
    }
    int channels;
    unsigned char *pixels = NULL;
    bool known = stbi_info_from_file(file, width, height, &channels); /* goes back to the start */
    if (known && (*width > most || *height > most))
        complain("%s: %d x %d pixels; at most %d x %d can be shown", path, *width, *height, most,
                 most);
    else if (!known || !(pixels = stbi_load_from_file(file, width, height, &channels, 4)))
        complain("%s: not a picture that can be read: %s", path, stbi_failure_reason());
    fclose(file);
    return pixels;
}

GLuint picture_load(const char *path, int *width, int *height) {
    enum { LONGEST_SIDE = 8192 }; /* a small file may have very many pixels */
    GLint largest = 0;
    GLuint texture = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
    unsigned char *pixels =
        decode(path, largest < LONGEST_SIDE ? largest : LONGEST_SIDE, width, height);
    if (!pixels)
        return 0;
    put_on_white(pixels, (size_t)*width * (size_t)*height);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, *width, *height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glGenerateMipmap(GL_TEXTURE_2D);
    stbi_image_free(pixels);
    return texture;
}

unsigned char *picture_read(GLuint framebuffer, int width, int height, bool upside_down) {
    size_t count = (size_t)width * (size_t)height;
    unsigned char *rgba = malloc(count * 4), *rgb = malloc(count * 3);
    if (rgba && rgb) {
        gl_read_pixels(framebuffer, width, height, rgba);
        for (size_t i = 0; i < count; i++) {
            size_t row = i / (size_t)width, from = upside_down ? (size_t)height - 1 - row : row;
            memcpy(rgb + 3 * i, rgba + 4 * (from * (size_t)width + i % (size_t)width), 3);
        }
    } else {
        complain("no memory for a picture of %d x %d pixels", width, height);
        free(rgb);
        rgb = NULL;
    }
    free(rgba);
    return rgb;
}

static void write_bytes(void *file, void *data, int size) {
    fwrite(data, 1, (size_t)size, file);
}

bool picture_write(const char *path, const unsigned char *rgb, int width, int height) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return complain("%s: cannot be written: %s", path, strerror(errno));
    bool written = stbi_write_png_to_func(write_bytes, file, width, height, 3, rgb, width * 3) &&
                   !ferror(file);
    struct stat status;
    bool regular = !fstat(fileno(file), &status) && S_ISREG(status.st_mode);
    if (!fclose(file) && written)
        return true;
    complain("%s: cannot be written: %s", path, strerror(errno));
    if (regular) /* not a device or pipe */
        remove(path);
    return false;
}

/* Into a row of `stride` pixels, from column `left` on. */
static void place(const unsigned char *rgb, int width, int height, int zoom, unsigned char *to,
                  int stride, int left) {
    for (int y = 0; y < height * zoom; y++)
        for (int x = 0; x < width * zoom; x++)
            memcpy(to + 3 * ((size_t)y * (size_t)stride + (size_t)(left + x)),
                   rgb + 3 * ((size_t)(y / zoom) * (size_t)width + (size_t)(x / zoom)), 3);
}

unsigned char *picture_join(const unsigned char *left, int left_width, int left_height,
                            const unsigned char *right, int right_width, int right_height,
                            int *width, int *height) {
    int larger = left_height > right_height ? left_height : right_height;
    int left_zoom = larger / left_height, right_zoom = larger / right_height;
    *width = left_width * left_zoom + right_width * right_zoom;
    *height = larger;
    unsigned char *rgb = malloc((size_t)*width * (size_t)*height * 3);
    if (!rgb) {
        complain("no memory for a picture of %d x %d pixels", *width, *height);
        return NULL;
    }
    memset(rgb, 255, (size_t)*width * (size_t)*height * 3);
    place(left, left_width, left_height, left_zoom, rgb, *width, 0);
    place(right, right_width, right_height, right_zoom, rgb, *width, left_width * left_zoom);
    return rgb;
}
