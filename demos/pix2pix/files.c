/* Saving: the only readback of pictures, except for lessons and for backends that work in host
 * memory. */
#include "app.h"

#include "message.h"
#include "numbered.h"
#include "picture.h"

#include <tessera_write.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct image {
    unsigned char *rgb;
    int width, height;
} image;

static bool write_as(const char *prefix, const char *what, const image *i) {
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof path, "%s-%s.png", prefix, what);
    if (length < 0 || length >= (int)sizeof path)
        return complain("%s: the name is too long", prefix);
    return i->rgb && picture_write(path, i->rgb, i->width, i->height);
}

static image read_target(const gl_target *t) {
    return (image){picture_read(t->framebuffer, t->width, t->height, false), t->width, t->height};
}

bool app_save(app *a, const char *prefix) {
    char numbered[PATH_SIZE];
    if (!a->picture.texture)
        return complain("there is no picture to save yet");
    if (!prefix && !numbered_prefix(a->folder, "-input.png", numbered))
        return false;
    prefix = prefix ? prefix : numbered;
    image input = read_target(&a->canvas.target), output = read_target(&a->picture), both = {0};
    if (input.rgb && output.rgb)
        both.rgb = picture_join(input.rgb, input.width, input.height, output.rgb, output.width,
                                output.height, &both.width, &both.height);
    bool good = write_as(prefix, "input", &input) && write_as(prefix, "output", &output) &&
                write_as(prefix, "both", &both);
    free(input.rgb);
    free(output.rgb);
    free(both.rgb);
    if (good)
        announce("saved %s-input.png, -output.png and -both.png", prefix);
    return good;
}

static bool put(void *file, const char *bytes, size_t count) {
    return fwrite(bytes, 1, count, file) == count;
}

bool app_save_network(app *a) {
    char prefix[PATH_SIZE], path[PATH_SIZE + 16];
    if (!teach_has_lessons(&a->teacher))
        return complain("the network has learned nothing yet");
    if (!numbered_prefix(a->folder, ".onnx", prefix))
        return false;
    snprintf(path, sizeof path, "%s.onnx", prefix);
    FILE *file = fopen(path, "wb");
    if (!file)
        return complain("%s: cannot be written: %s", path, strerror(errno));
    const tsr_write_desc desc = {.keep_nodes = true};
    bool written = tsr_model_write(a->network.model, &desc, put, file) == TSR_OK;
    if (fclose(file) || !written) {
        complain("%s: cannot be written: %s", path, written ? strerror(errno) : tsr_last_error());
        remove(path);
        return false;
    }
    announce("saved %s", path);
    return true;
}

bool app_screenshot(const app *a, const char *path) {
    unsigned char *rgb = picture_read(0, a->width, a->height, true);
    bool good = rgb && picture_write(path, rgb, a->width, a->height);
    free(rgb);
    return good;
}
