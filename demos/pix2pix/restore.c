#define _POSIX_C_SOURCE 200809L

#include "restore.h"

#include "folder.h"
#include "message.h"

#include <GLFW/glfw3.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two writes. */
static const double pause = 2;

/* The file is a PPM, which is its pixels behind a short header: 256 x 256 take less than 1 ms. */
enum { LONGEST_SIDE = 4096 };

void restore_open(drawing_file *f, const canvas *c) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[2048];
    int length =
        state && *state == '/'
            ? snprintf(folder, sizeof folder, "%s/tessera/pix2pix", state)
            : snprintf(folder, sizeof folder, "%s/.local/state/tessera/pix2pix", home ? home : ".");
    *f = (drawing_file){.version = c->version, .written = -pause};
    if (length < (int)sizeof folder && make_folder(folder))
        snprintf(f->path, sizeof f->path, "%s/drawing.ppm", folder);
    else
        complain("%.512s: cannot be made: the drawing is not kept", folder);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* RGB bytes, to be freed; NULL if the file is no whole PPM of 8 bits. */
static unsigned char *read_pixels(FILE *file, int *width, int *height) {
    int most;
    if (fscanf(file, "P6 %5d %5d %3d", width, height, &most) != 3 || most != 255 ||
        fgetc(file) != '\n' || *width < 1 || *height < 1 || *width > LONGEST_SIDE ||
        *height > LONGEST_SIDE)
        return NULL;
    size_t size = (size_t)*width * (size_t)*height * 3;
    unsigned char *rgb = malloc(size);
    if (rgb && fread(rgb, 1, size, file) == size && fgetc(file) == EOF)
        return rgb;
    free(rgb);
    return NULL;
}

static bool is_white(const unsigned char *rgb, size_t size) {
    while (size > 0 && rgb[size - 1] == 255)
        size--;
    return size == 0;
}

static void put(canvas *c, painter *p, const unsigned char *rgb, int width, int height) {
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, GL_RGB, GL_UNSIGNED_BYTE, rgb);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    canvas_put(c, p, texture, width, height);
    glDeleteTextures(1, &texture);
}

bool restore_load(drawing_file *f, canvas *c, painter *p) {
    int width = 0, height = 0;
    FILE *file = *f->path ? fopen(f->path, "rb") : NULL;
    if (!file)
        return false;
    unsigned char *rgb = read_pixels(file, &width, &height);
    fclose(file);
    if (!rgb)
        return complain("%.400s: damaged: the drawing of last time is lost", f->path);
    bool drawn = !is_white(rgb, (size_t)width * (size_t)height * 3);
    if (drawn) {
        put(c, p, rgb, width, height);
        f->version = c->version;
    }
    free(rgb);
    return drawn;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_pixels(FILE *file, const canvas *c) {
    unsigned char row[3 * LONGEST_SIDE];
    const unsigned char *from = c->kept;
    size_t width = (size_t)c->target.width;
    fprintf(file, "P6\n%d %d\n255\n", c->target.width, c->target.height);
    for (int y = 0; y < c->target.height; y++) {
        for (size_t x = 0; x < width; x++, from += 4)
            memcpy(row + 3 * x, from, 3);
        fwrite(row, 3, width, file);
    }
    return !ferror(file);
}

/* Under another name first: whenever the program is killed, a whole file is there. */
static void write_drawing(drawing_file *f, const canvas *c) {
    char name[sizeof f->path + 8];
    snprintf(name, sizeof name, "%s.new", f->path);
    FILE *file = fopen(name, "wb");
    bool written = file && write_pixels(file, c);
    written = file && !fclose(file) && written;
    if (!written || rename(name, f->path))
        complain("%.400s: cannot be written: %s", f->path, strerror(errno));
    f->version = c->version;
    f->written = glfwGetTime();
}

void restore_write(drawing_file *f, const canvas *c) {
    if (*f->path && f->version != c->version)
        write_drawing(f, c);
}

void restore_step(drawing_file *f, const canvas *c) {
    if (!c->drawing && !c->read && glfwGetTime() - f->written >= pause)
        restore_write(f, c);
}

void restore_close(drawing_file *f, canvas *c) {
    if (!*f->path)
        return;
    canvas_end(c);
    glFinish();
    canvas_keep(c);
    restore_write(f, c);
}
