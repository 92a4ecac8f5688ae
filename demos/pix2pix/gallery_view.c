/* The gallery over the window, below the buttons: a grid of as large thumbnails as fit. */
#include "app.h"

#include <math.h>
#include <stdio.h>

static const color shade = {0.05f, 0.05f, 0.07f, 0.94f}, text = {0.9f, 0.91f, 0.94f, 1},
                   frame = {0.98f, 0.55f, 0.12f, 1};

typedef struct grid {
    int columns, rows;
    float side, gap, line; /* of a thumbnail, around it, of the name under it */
} grid;

static grid fit_grid(const app *a) {
    const int count = a->gallery.count;
    grid best = {.columns = 1, .side = 0};
    for (int columns = 1; columns <= count; columns++) {
        grid g = {columns, (count + columns - 1) / columns, 0, 10 * a->scale, a->painter.line};
        float wide = ((float)a->width - g.gap) / (float)g.columns - g.gap;
        float high =
            ((float)a->height - buttons_height(a) - g.gap) / (float)g.rows - g.gap - g.line;
        g.side = floorf(fmaxf(fminf(wide, high), 1));
        if (g.side > best.side)
            best = g;
    }
    return best;
}

/* The square of a thumbnail. */
static rect place(const app *a, int i) {
    const grid g = fit_grid(a);
    const float wide = g.side + g.gap, high = wide + g.line;
    const float left = ((float)a->width - wide * (float)g.columns + g.gap) / 2;
    const float tools = buttons_height(a);
    const float top = tools + ((float)a->height - tools - high * (float)g.rows + g.gap) / 2;
    return (rect){floorf(left + wide * (float)(i % g.columns)),
                  floorf(top + high * (float)(i / g.columns)), g.side, g.side};
}

rect view_thumbnail(const app *a, int i) {
    const thumbnail *t = &a->gallery.thumbnails[i];
    return view_fit(place(a, i), t->width, t->height);
}

void gallery_select(app *a, int right, int down) {
    gallery *g = &a->gallery;
    int wanted = g->selected + right + down * fit_grid(a).columns;
    if (wanted >= 0 && wanted < g->count)
        g->selected = wanted;
}

/* The number is of the key that chooses it; the name is cut where the next one begins. */
static void draw_name(app *a, int i) {
    painter *p = &a->painter;
    const rect r = place(a, i);
    const int fitting = (int)(r.w / paint_text_width(p, " "));
    char line[80];
    const char *name = a->gallery.thumbnails[i].name;
    int length = i < 10 ? snprintf(line, sizeof line, "%d %s", (i + 1) % 10, name)
                        : snprintf(line, sizeof line, "%s", name);
    if (fitting < length)
        line[fitting] = '\0';
    paint_text(p, r.x, r.y + r.h, text, line);
}

void gallery_draw(app *a) {
    painter *p = &a->painter;
    paint_rect(p, (rect){0, 0, (float)a->width, (float)a->height}, shade);
    for (int i = 0; i < a->gallery.count; i++) {
        const rect r = view_thumbnail(a, i);
        const float edge = 3 * a->scale;
        if (i == a->gallery.selected)
            paint_rect(p, (rect){r.x - edge, r.y - edge, r.w + 2 * edge, r.h + 2 * edge}, frame);
        paint_image(p, a->gallery.thumbnails[i].texture, r, (rect){0, 0, 1, 1}, 1, 0);
        draw_name(a, i);
    }
}
