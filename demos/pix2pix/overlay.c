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
    paint_text(p, list->x, list->y, text, key);
    paint_text(p, list->x + 10 * paint_text_width(p, " "), list->y, faint, help);
    list->y += p->line;
}

static void count_key(void *user, const char *key, const char *help) {
    (void)key;
    (void)help;
    ++*(int *)user;
}

static void draw_help(app *a) {
    painter *p = &a->painter;
    int lines = 0;
    app_each_key(count_key, &lines);
    float width = fminf(43 * paint_text_width(p, " "), (float)a->width);
    float height = (float)(lines + 1) * p->line;
    float x = ((float)a->width - width) / 2, y = fmaxf(((float)a->height - height) / 2, 0);
    paint_rect(p, (rect){x, y, width, height}, shade);
    help_list list = {a, x + p->line / 2, y + p->line / 2};
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

/* ---- the path of a picture ------------------------------------------------------------------- */

static void draw_prompt(app *a) {
    painter *p = &a->painter;
    const prompt *prompt = &a->prompt;
    const float margin = 12 * a->scale, letter = paint_text_width(p, " ");
    const float width = (float)a->width - 2 * margin, y = (float)a->height / 4;
    const int lines = 3 + prompt->match_count,
              most = (int)fmaxf((width - 2 * margin) / letter - 4, 0);
    const int length = (int)strlen(prompt->text);
    char line[PROMPT_SIZE + 8];
    paint_rect(p, (rect){margin, y, width, (float)(lines + 1) * p->line}, shade);
    paint_text(p, 2 * margin, y + p->line / 2, text, "Open a picture:");
    /* Its end, where it is too long. */
    snprintf(line, sizeof line, "> %s_", prompt->text + (length > most ? length - most : 0));
    paint_text(p, 2 * margin, y + 1.7f * p->line, text, line);
    view_text(a, 2 * margin, y + 2.9f * p->line, width - 2 * margin, faint,
              "Tab completes, Enter opens, Escape closes");
    for (int i = 0; i < prompt->match_count; i++)
        view_text(a, 2 * margin, y + (4 + (float)i) * p->line - p->line / 8, width - 2 * margin,
                  text, prompt->matches[i]);
}

void overlay_draw(app *a, const layout *l) {
    if (a->show_times)
        draw_times(a, l->picture);
    if (a->overlay == OVERLAY_GALLERY)
        gallery_draw(a);
    if (a->overlay == OVERLAY_HELP)
        draw_help(a);
    if (a->overlay == OVERLAY_PICKER)
        picker_draw(&a->picker, &a->painter, view_picker(a), a->scale);
    if (a->overlay == OVERLAY_PROMPT)
        draw_prompt(a);
    buttons_draw(a);
    buttons_draw_tooltip(a);
}
