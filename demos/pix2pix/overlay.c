#include "app.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const color shade = {0.05f, 0.05f, 0.07f, 0.86f}, text = {0.9f, 0.91f, 0.94f, 1},
                   faint = {0.62f, 0.64f, 0.7f, 1}, bar = {0.98f, 0.55f, 0.12f, 0.55f};

/* ---- the list of keys ------------------------------------------------------------------------ */

typedef struct help_list {
    app *a;
    float x, y;
} help_list;

static void add_key(void *user, const char *key, const char *help) {
    help_list *list = user;
    painter *p = &list->a->painter;
    if (!help) /* one of several keys of a command */
        return;
    paint_text(p, list->x, list->y, text, key);
    paint_text(p, list->x + 10 * paint_text_width(p, " "), list->y, faint, help);
    list->y += p->line;
}

static void count_key(void *user, const char *key, const char *help) {
    (void)key;
    *(int *)user += help != NULL;
}

static void draw_help(app *a) {
    painter *p = &a->painter;
    int lines = 0;
    app_each_key(count_key, &lines);
    float width = 52 * paint_text_width(p, " "), height = (float)(lines + 2) * p->line;
    float x = ((float)a->width - width) / 2, y = fmaxf(((float)a->height - height) / 2, 0);
    paint_rect(p, (rect){x, y, width, height}, shade);
    help_list list = {a, x + p->line, y + p->line};
    app_each_key(add_key, &list);
}

/* ---- times ----------------------------------------------------------------------------------- */

static void draw_layer_time(app *a, const layer_info *layer, double most, float x, float y,
                            float width) {
    painter *p = &a->painter;
    char line[128];
    const int64_t *d = layer->shape.dim;
    if (layer->shape.rank == 4)
        snprintf(line, sizeof line, "%7.2f %-18.18s %4lld %lldx%lld", layer->ms, layer->op,
                 (long long)d[1], (long long)d[2], (long long)d[3]);
    else
        snprintf(line, sizeof line, "%7.2f %-18.18s", layer->ms, layer->op);
    paint_rect(p, (rect){x, y, (float)(width * layer->ms / most), p->line}, bar);
    paint_text(p, x, y, text, line);
}

/* The slowest layers: those below a fraction of the slowest are omitted until all lines fit. */
static int count_above(const network *n, double ms) {
    int count = 0;
    for (int i = 0; i < n->layer_count; i++)
        count += n->layers[i].ms > ms;
    return count;
}

static void draw_times(app *a, rect r) {
    painter *p = &a->painter;
    const network *n = &a->network;
    char line[128];
    double sum = 0, most = 1e-9, least = 0;
    for (int i = 0; i < n->layer_count; i++) {
        sum += n->layers[i].ms > 0 ? n->layers[i].ms : 0;
        most = fmax(most, n->layers[i].ms);
    }
    int lines = (int)(r.h / p->line) - 3;
    while (count_above(n, least) > lines && least < most)
        least = least > 0 ? least * 1.25 : most * 1e-4;
    paint_rect(p, (rect){r.x, r.y, r.w, (float)(count_above(n, least) + 3) * p->line}, shade);
    snprintf(line, sizeof line, "frame   %6.1f ms", a->frame_ms);
    paint_text(p, r.x, r.y, text, line);
    snprintf(line, sizeof line, "network %6.1f ms, layers %.1f ms", n->ms, sum);
    paint_text(p, r.x, r.y + p->line, text, line);
    float y = r.y + 2.5f * p->line;
    for (int i = 0; i < n->layer_count; i++)
        if (n->layers[i].ms > least) {
            draw_layer_time(a, &n->layers[i], most, r.x, y, r.w);
            y += p->line;
        }
}

void overlay_draw(app *a, const layout *l) {
    if (a->show_times)
        draw_times(a, l->picture);
    if (a->show_gallery)
        gallery_draw(a);
    if (a->show_help)
        draw_help(a);
}
