#define _POSIX_C_SOURCE 200809L

#include "gallery.h"

#include "message.h"
#include "picture.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_picture(const struct dirent *entry) {
    const char *ending = strrchr(entry->d_name, '.');
    return ending && (!strcmp(ending, ".png") || !strcmp(ending, ".jpg"));
}

static void add(gallery *g, const char *folder, const char *file) {
    char path[4096];
    thumbnail *t = &g->thumbnails[g->count];
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (length < 0 || length >= (int)sizeof path)
        return;
    t->texture = picture_load(path, &t->width, &t->height);
    if (!t->texture)
        return;
    int name = (int)(strrchr(file, '.') - file);
    snprintf(t->name, sizeof t->name, "%.*s", name, file);
    g->count++;
}

void gallery_open(gallery *g, const char *folder) {
    struct dirent **entries;
    *g = (gallery){0};
    int count = scandir(folder, &entries, is_picture, alphasort);
    if (count < 0) {
        complain("%s: no gallery: %s", folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        if (g->count < GALLERY_SIZE)
            add(g, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

void gallery_close(gallery *g) {
    for (int i = 0; i < g->count; i++)
        glDeleteTextures(1, &g->thumbnails[i].texture);
}
