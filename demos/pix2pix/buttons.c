#include "app.h"

#include <stdio.h>
#include <string.h>

static const color plain = {0.2f, 0.21f, 0.24f, 1}, lit = {0.27f, 0.29f, 0.33f, 1},
                   on = {0.26f, 0.53f, 0.93f, 1}, text = {0.86f, 0.87f, 0.9f, 1},
                   shade = {0.05f, 0.05f, 0.07f, 0.95f};

/* ---- what a button says, and whether it is on ------------------------------------------------ */

static bool draws(const app *a) {
    return !a->eraser;
}

static bool erases(const app *a) {
    return a->eraser;
}

static bool picks(const app *a) {
    return a->overlay == OVERLAY_PICKER;
}

static bool types(const app *a) {
    return a->overlay == OVERLAY_PROMPT;
}

static bool shows_gallery(const app *a) {
    return a->overlay == OVERLAY_GALLERY;
}

static bool shows_help(const app *a) {
    return a->overlay == OVERLAY_HELP;
}

static bool learns(const app *a) {
    return teach_is_busy(&a->teacher);
}

static bool shows_layers(const app *a) {
    return *a->network.wanted.layer != '\0';
}

static bool shows_times(const app *a) {
    return a->show_times;
}

static const char *backend(const app *a) {
    return a->network.wanted.backend;
}

static const char *precision(const app *a) {
    return a->network.wanted.precision == TSR_PRECISION_FP16 ? "fp16" : "fp32";
}

typedef struct button {
    const char *key; /* of the list of keys: what it does is there */
    const char *title;
    const char *(*find_title)(const app *a); /* where the title is NULL */
    bool (*is_on)(const app *a);             /* NULL: never */
} button;

static const button buttons[] = {
    {"P", "Brush", NULL, draws},
    {"E", "Eraser", NULL, erases},
    {"K", "Colour", NULL, picks},
    {"Ctrl+Z", "Undo", NULL, NULL},
    {"Ctrl+Y", "Redo", NULL, NULL},
    {"C", "Clear", NULL, NULL},
    {"Ctrl+O", "Open", NULL, types},
    {"S", "Save", NULL, NULL},
    {"G", "Gallery", NULL, shows_gallery},
    {"L", "Teach", NULL, learns},
    {"M", "Layers", NULL, shows_layers},
    {"T", "Times", NULL, shows_times},
    {"B", NULL, backend, NULL},
    {"F", NULL, precision, NULL},
    {"H", "Help", NULL, shows_help},
};
enum { BUTTON_COUNT = sizeof buttons / sizeof *buttons, WIDEST_TITLE = 6 };

static const char *title_of(const app *a, const button *b) {
    return b->title ? b->title : b->find_title(a);
}

/* ---- where they are -------------------------------------------------------------------------- */

/* Row by row. A title that changes has room for the widest, so that nothing moves. */
static void place(const app *a, rect areas[BUTTON_COUNT]) {
    const painter *p = &a->painter;
    float gap = 4 * a->scale, margin = 12 * a->scale, height = 1.45f * p->line;
    float x = margin, y = 8 * a->scale;
    for (int i = 0; i < BUTTON_COUNT; i++) {
        float letters = buttons[i].title ? (float)strlen(buttons[i].title) : WIDEST_TITLE;
        float width = letters * paint_text_width(p, " ") + 10 * a->scale;
        if (x > margin && x + width > (float)a->width - margin) {
            x = margin;
            y += height + gap;
        }
        areas[i] = (rect){x, y, width, height};
        x += width + gap;
    }
}

float buttons_height(const app *a) {
    rect areas[BUTTON_COUNT];
    place(a, areas);
    return areas[BUTTON_COUNT - 1].y + areas[BUTTON_COUNT - 1].h;
}

bool buttons_find(const app *a, const char *key, float *x, float *y) {
    rect areas[BUTTON_COUNT];
    place(a, areas);
    for (int i = 0; i < BUTTON_COUNT; i++)
        if (!strcmp(buttons[i].key, key)) {
            *x = areas[i].x + areas[i].w / 2;
            *y = areas[i].y + areas[i].h / 2;
            return true;
        }
    return false;
}

/* The button at this point; -1: none. */
static int at(const rect areas[BUTTON_COUNT], float x, float y) {
    for (int i = 0; i < BUTTON_COUNT; i++)
        if (rect_holds(areas[i], x, y))
            return i;
    return -1;
}

bool buttons_click(app *a, float x, float y) {
    rect areas[BUTTON_COUNT];
    place(a, areas);
    int i = at(areas, x, y);
    if (i < 0)
        return false;
    if (types(a) && buttons[i].is_on != types)
        a->overlay = OVERLAY_NONE; /* keys would be typed */
    return app_key(a, buttons[i].key);
}

/* ---- drawing --------------------------------------------------------------------------------- */

void buttons_draw(app *a) {
    rect areas[BUTTON_COUNT];
    place(a, areas);
    int under = at(areas, a->cursor_x, a->cursor_y);
    for (int i = 0; i < BUTTON_COUNT; i++) {
        const button *b = &buttons[i];
        const rect r = areas[i];
        const char *title = title_of(a, b);
        float width = paint_text_width(&a->painter, title);
        paint_rect(&a->painter, r, b->is_on && b->is_on(a) ? on : i == under ? lit : plain);
        paint_text(&a->painter, r.x + (r.w - width) / 2, r.y + (r.h - a->painter.line) / 2, text,
                   title);
    }
}

void buttons_draw_tooltip(app *a) {
    painter *p = &a->painter;
    rect areas[BUTTON_COUNT];
    char line[96];
    place(a, areas);
    int i = at(areas, a->cursor_x, a->cursor_y);
    if (i < 0)
        return;
    snprintf(line, sizeof line, "%s: %s", buttons[i].key, app_key_help(buttons[i].key));
    float margin = 6 * a->scale, width = paint_text_width(p, line) + 2 * margin;
    float x = areas[i].x, y = areas[i].y + areas[i].h + 4 * a->scale;
    if (x + width > (float)a->width)
        x = (float)a->width - width;
    x = x > 0 ? x : 0;
    paint_rect(p, (rect){x, y, width, p->line + margin}, shade);
    paint_text(p, x + margin, y + margin / 2, text, line);
}
