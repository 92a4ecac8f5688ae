#define _POSIX_C_SOURCE 200809L

#include "sketch.h"

#include "app.h"
#include "message.h"
#include "script.h"

#include <string.h>

/* False if it is none of the brush. */
static bool press(brush *b, const char *key) {
    int color = key[0] - '1';
    bool single = key[0] && !key[1];
    if (single && color >= 0 && color < PALETTE_SIZE) {
        memcpy(b->color, palette[color], sizeof b->color);
        b->erases = false;
    } else if (single && (key[0] == '+' || key[0] == '-')) {
        b->radius = brush_resized(b->radius, key[0] == '+' ? 1 : -1);
    } else if (single && key[0] == 'E') {
        b->erases = !b->erases;
    } else {
        return false;
    }
    return true;
}

static bool press_all(brush *b, char *keys) {
    char *left;
    for (char *key = strtok_r(keys, " \t", &left); key; key = strtok_r(NULL, " \t", &left))
        if (!press(b, key))
            return false;
    return true;
}

static bool draw_stroke(canvas *paper, const brush *b, char *points) {
    float x, y;
    bool wrong;
    for (bool first = true; script_next_point(&points, &x, &y, &wrong); first = false)
        first ? canvas_begin(paper, b, x, y) : canvas_extend(paper, b, x, y);
    canvas_end(paper);
    return !wrong;
}

bool sketch_draw(const char *path, canvas *paper) {
    script s;
    brush b = {.radius = FIRST_RADIUS};
    bool good = true;
    if (!script_open(&s, path))
        return false;
    for (char *command, *rest; good && (command = script_next_command(&s, &rest));) {
        if (!*command)
            continue;
        good = !strcmp(command, "stroke") ? draw_stroke(paper, &b, rest)
               : !strcmp(command, "key")  ? press_all(&b, rest)
                                          : false;
    }
    if (!good)
        complain("%s:%d: a sketch has strokes of numbers, and keys of the brush", path, s.line);
    script_close(&s);
    return good;
}
