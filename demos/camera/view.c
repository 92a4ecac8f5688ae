#include "app.h"

#include "message.h"

#include <math.h>
#include <stdio.h>

static const color paper = {0.14f, 0.15f, 0.17f, 1}, shade = {0.05f, 0.05f, 0.07f, 0.86f},
                   text = {0.86f, 0.87f, 0.9f, 1}, faint = {0.55f, 0.57f, 0.62f, 1},
                   bright = {1, 1, 1, 1};
static const rect whole = {0, 0, 1, 1};

/* The largest centred rectangle of a picture's aspect. */
static rect fit(rect r, const gl_target *picture) {
    float zoom = fminf(r.w / (float)picture->width, r.h / (float)picture->height);
    float w = floorf((float)picture->width * zoom), h = floorf((float)picture->height * zoom);
    return (rect){floorf(r.x + (r.w - w) / 2), floorf(r.y + (r.h - h) / 2), w, h};
}

static void draw_panel(app *a, rect r, const gl_target *picture, const char *title) {
    painter *p = &a->painter;
    r.y += p->line;
    r.h -= p->line;
    rect place = fit(r, picture);
    if (place.w < 1 || place.h < 1)
        return;
    paint_image(p, picture->texture, place, whole, 1, 0);
    paint_text(p, place.x, place.y - p->line, faint, title);
}

/* The source left of the window's split, the result right of it. */
static void draw_split(app *a, rect r, const gl_target *source) {
    painter *p = &a->painter;
    rect place = fit(r, source);
    float x = fminf(fmaxf(a->split * (float)a->width - place.x, 0), place.w);
    float part = x / place.w;
    if (place.w < 1 || place.h < 1)
        return;
    paint_image(p, source->texture, (rect){place.x, place.y, x, place.h}, (rect){0, 0, part, 1}, 1,
                0);
    paint_image(p, a->result.texture, (rect){place.x + x, place.y, place.w - x, place.h},
                (rect){part, 0, 1 - part, 1}, 1, 0);
    paint_rect(p, (rect){place.x + x - a->scale, place.y, 2 * a->scale, place.h}, bright);
}

static void draw_pictures(app *a, rect r) {
    const gl_target *source = &a->pictures[a->shown];
    const float half = (r.w - 12 * a->scale) / 2;
    if (!a->result.texture) {
        if (source->texture)
            draw_panel(a, r, source, network_has_failed(&a->network) ? "Source" : "Preparing ...");
    } else if (a->mode == VIEW_SPLIT) {
        draw_split(a, r, source);
    } else if (a->mode == VIEW_RESULT) {
        draw_panel(a, r, &a->result, "Network");
    } else {
        draw_panel(a, (rect){r.x, r.y, half, r.h}, source, a->source.desc.kind->name);
        draw_panel(a, (rect){r.x + r.w - half, r.y, half, r.h}, &a->result, "Network");
    }
}

static void draw_state(app *a, rect bar) {
    painter *p = &a->painter;
    const network *n = &a->network;
    const picture_sizes *s = &n->model.sizes;
    char state[200];
    snprintf(
        state, sizeof state,
        "%s %s  %d x %d -> %d x %d  network %.1f ms  %.1f pictures/s  %lld dropped%s%s  H: keys",
        n->wanted.backend, n->wanted.precision == TSR_PRECISION_FP16 ? "fp16" : "fp32", s->in_width,
        s->in_height, s->out_width, s->out_height, n->ms, a->interval > 0 ? 1 / a->interval : 0,
        a->source.dropped, a->edges ? "  outlines" : "",
        network_has_failed(n)     ? "  cannot run; B: another backend"
        : network_is_preparing(n) ? "  preparing ..."
        : a->paused               ? "  paused"
                                  : "");
    paint_text(p, bar.x, bar.y, text, state);
    paint_text(p, bar.x, bar.y + p->line, faint, latest_message());
}

static void draw_help(app *a) {
    painter *p = &a->painter;
    const char *key, *what;
    float x = 40 * a->scale, y = 40 * a->scale;
    paint_rect(p, (rect){0, 0, (float)a->width, (float)a->height}, shade);
    for (int i = 0; keys_text(i, &key, &what); i++, y += p->line) {
        paint_text(p, x, y, text, key);
        paint_text(p, x + 10 * paint_text_width(p, " "), y, faint, what);
    }
    paint_text(p, x, y, text, "Mouse");
    paint_text(p, x + 10 * paint_text_width(p, " "), y, faint,
               "moves the border of before and after");
}

void view_draw(app *a) {
    painter *p = &a->painter;
    float margin = 12 * a->scale, bar = 2.4f * p->line;
    rect r = {margin, margin, (float)a->width - 2 * margin, (float)a->height - 2 * margin - bar};
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, a->width, a->height);
    glClearColor(paper.r, paper.g, paper.b, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    paint_begin(p, NULL, a->width, a->height);
    draw_pictures(a, r);
    draw_state(a, (rect){margin, (float)a->height - bar, r.w, bar});
    if (a->show_help)
        draw_help(a);
    paint_end(p);
}
