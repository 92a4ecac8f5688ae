#define _POSIX_C_SOURCE 200809L

#include "gallery.h"

#include "message.h"
#include "picture.h"
#include "sketch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *end) {
    size_t length = strlen(name), of_end = strlen(end);
    return length > of_end && !strcmp(name + length - of_end, end);
}

static int is_script(const struct dirent *entry) {
    return ends_with(entry->d_name, ".txt");
}

static int is_picture(const struct dirent *entry) {
    return ends_with(entry->d_name, ".png") || ends_with(entry->d_name, ".jpg");
}

/* Into a texture of its own; 0 on failure. */
static GLuint draw_script(canvas *paper, const char *path) {
    canvas_clear(paper);
    if (!sketch_draw(path, paper))
        return 0;
    gl_target copy;
    const int w = paper->target.width, h = paper->target.height;
    if (!gl_target_create(&copy, GL_RGBA8, w, h))
        return 0;
    glBindFramebuffer(GL_FRAMEBUFFER, paper->target.framebuffer);
    glBindTexture(GL_TEXTURE_2D, copy.texture);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, w, h);
    glDeleteFramebuffers(1, &copy.framebuffer);
    return copy.texture;
}

/* paper: to draw scripts on; NULL: the file is a picture. */
static void add(gallery *g, canvas *paper, const char *file) {
    char path[4096];
    thumbnail *t = &g->thumbnails[g->count];
    int length = snprintf(path, sizeof path, "%s/%s", g->folder, file);
    if (length < 0 || length >= (int)sizeof path)
        return;
    t->width = t->height = SKETCH_SIZE;
    t->texture = paper ? draw_script(paper, path) : picture_load(path, &t->width, &t->height);
    if (!t->texture)
        return;
    const char *kind = strchr(file, '_'), *name = kind ? kind + 1 : file;
    const char *end = strrchr(name, '.');
    snprintf(t->name, sizeof t->name, "%.*s", end ? (int)(end - name) : (int)strlen(name), name);
    g->count++;
}

static void add_all(gallery *g, canvas *paper, int (*is_one)(const struct dirent *)) {
    struct dirent **entries;
    int count = scandir(g->folder, &entries, is_one, alphasort);
    if (count < 0) {
        complain("%s: no gallery: %s", g->folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        if (g->count < GALLERY_SIZE)
            add(g, paper, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

bool gallery_open(gallery *g) {
    canvas paper;
    gallery_close(g);
    if (canvas_create(&paper, SKETCH_SIZE, SKETCH_SIZE, false))
        add_all(g, &paper, is_script);
    canvas_destroy(&paper);
    add_all(g, NULL, is_picture);
    return g->count > 0;
}

void gallery_close(gallery *g) {
    for (int i = 0; i < g->count; i++)
        glDeleteTextures(1, &g->thumbnails[i].texture);
    *g = (gallery){.folder = g->folder};
}
