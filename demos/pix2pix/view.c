#include "app.h"

#include "message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const color paper = {0.14f, 0.15f, 0.17f, 1}, frame = {0.24f, 0.25f, 0.28f, 1},
                   text = {0.86f, 0.87f, 0.9f, 1}, faint = {0.55f, 0.57f, 0.62f, 1},
                   busy = {0.98f, 0.55f, 0.12f, 1};

bool rect_holds(rect r, float x, float y) {
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

/* ---- layout ---------------------------------------------------------------------------------- */

rect view_fit(rect square, int width, int height) {
    float zoom = fminf(square.w / (float)width, square.h / (float)height);
    rect r = {0, 0, fmaxf(floorf((float)width * zoom), 1), fmaxf(floorf((float)height * zoom), 1)};
    r.x = floorf(square.x + (square.w - r.w) / 2);
    r.y = floorf(square.y + (square.h - r.h) / 2);
    return r;
}

layout view_layout(const app *a) {
    float margin = floorf(12 * a->scale), line = a->painter.line;
    float bar = 2.4f * line, width = (float)a->width, height = (float)a->height;
    int panels = *a->network.now.layer ? 3 : 2;
    float side = (width - margin * (float)(panels + 1)) / (float)panels;
    side = fmaxf(floorf(fminf(side, height - bar - line - 2 * margin)), 1);
    float left = (width - side * (float)panels - margin * (float)(panels - 1)) / 2;
    float top = fmaxf((height - bar - side) / 2, margin + line);
    rect squares[3];
    for (int i = 0; i < panels; i++)
        squares[i] = (rect){floorf(left + (side + margin) * (float)i), floorf(top), side, side};
    const gl_target *c = &a->canvas.target, *p = a->picture.texture ? &a->picture : c;
    return (layout){.canvas = view_fit(squares[0], c->width, c->height),
                    .mosaic = panels == 3 ? squares[1] : (rect){0},
                    .picture = view_fit(squares[panels - 1], p->width, p->height),
                    .bar = {0, height - bar, width, bar}};
}

rect view_swatch(const app *a, int i) {
    rect bar = view_layout(a).bar;
    float size = floorf(bar.h * 0.5f), step = size * 1.25f;
    return (rect){floorf(12 * a->scale + step * (float)i), floorf(bar.y + bar.h * 0.25f), size,
                  size};
}

/* ---- drawing --------------------------------------------------------------------------------- */

void view_copy_picture(app *a, const gl_target *to, float factor, float summand) {
    const tsr_texture *t = &a->network.picture.texture;
    rect whole = {0, 0, (float)t->width, (float)t->height};
    rect part = {0, 0, whole.w / (float)t->texture_width, whole.h / (float)t->texture_height};
    paint_begin(&a->painter, to, t->width, t->height);
    paint_image(&a->painter, t->id, whole, part, factor, summand);
    paint_end(&a->painter);
}

static rect around(rect r, float by) {
    return (rect){r.x - by, r.y - by, r.w + 2 * by, r.h + 2 * by};
}

static void draw_title(app *a, rect r, const char *title) {
    paint_text(&a->painter, r.x, r.y - a->painter.line * 1.15f, faint, title);
}

static const char *picture_title(const app *a) {
    return canvas_is_blank(&a->canvas)         ? "The network's picture"
           : !a->network.picture.texture.id    ? "Preparing ..."
           : teach_is_busy(&a->teacher)        ? "It learns your correction ..."
           : a->teacher.learned                ? "It has learned ..."
           : teach_has_correction(&a->teacher) ? "Your correction: L teaches it"
                                               : "The network's picture: paint what to change";
}

/* On the blank canvas. */
static void draw_invitation(app *a, rect r) {
    static const char invitation[] = "Draw here";
    float x = r.x + (r.w - paint_text_width(&a->painter, invitation)) / 2;
    float y = r.y + (r.h - a->painter.line) / 2;
    paint_text(&a->painter, x, y, (color){0.7f, 0.71f, 0.74f, 1}, invitation);
}

/* Of a lesson: under the picture. */
static void draw_progress(app *a, rect r) {
    float part = (float)a->teacher.steps / LESSON_STEPS, height = 4 * a->scale;
    rect all = {r.x, r.y + r.h + 2 * a->scale, r.w, height};
    paint_rect(&a->painter, all, frame);
    paint_rect(&a->painter, (rect){all.x, all.y, all.w * part, height}, busy);
}

static void draw_panels(app *a, const layout *l) {
    painter *p = &a->painter;
    const rect whole = {0, 0, 1, 1};
    paint_rect(p, around(l->canvas, 1), frame);
    paint_rect(p, around(l->picture, 1), frame);
    draw_title(a, l->canvas, "Your sketch");
    draw_title(a, l->picture, picture_title(a));
    if (l->mosaic.w > 0) {
        paint_rect(p, around(l->mosaic, 1), frame);
        draw_title(a, l->mosaic, a->network.now.layer);
    }
    paint_image(p, a->canvas.target.texture, l->canvas, whole, 1, 0);
    if (canvas_is_blank(&a->canvas))
        draw_invitation(a, l->canvas);
    if (a->picture.texture)
        paint_image(p, a->picture.texture, l->picture, whole, 1, 0);
    if (a->picture.texture && teach_has_correction(&a->teacher))
        paint_over(p, a->teacher.correction.target.texture, l->picture);
    if (teach_is_busy(&a->teacher))
        draw_progress(a, l->picture);
}

static void draw_pen(app *a, const layout *l) {
    float zoom = l->canvas.w / (float)a->canvas.target.width, arm = 8 * a->scale;
    float x = l->canvas.x + a->pen_x * zoom, y = l->canvas.y + a->pen_y * zoom;
    color c = a->canvas.drawing ? (color){0.9f, 0.2f, 0.2f, 1} : (color){0.3f, 0.5f, 0.9f, 1};
    paint_rect(&a->painter, (rect){x - arm, y - 1, 2 * arm, 2}, c);
    paint_rect(&a->painter, (rect){x - 1, y - arm, 2, 2 * arm}, c);
}

static void draw_swatches(app *a) {
    painter *p = &a->painter;
    for (int i = 0; i <= PALETTE_SIZE; i++) {
        bool chosen = a->eraser ? i == PALETTE_SIZE : i == a->color;
        const float *c = palette[i % PALETTE_SIZE];
        rect r = view_swatch(a, i);
        paint_rect(p, around(r, chosen ? 3 * a->scale : 1), chosen ? text : frame);
        paint_rect(p, r, i < PALETTE_SIZE ? (color){c[0], c[1], c[2], 1} : (color){1, 1, 1, 1});
        char name[2] = {i < PALETTE_SIZE ? (char)('1' + i) : 'E', '\0'};
        bool bright = i == PALETTE_SIZE || c[0] + c[1] + c[2] > 1.5f;
        color contrast = bright ? (color){0, 0, 0, 0.7f} : (color){1, 1, 1, 0.8f};
        paint_text(p, r.x + (r.w - paint_text_width(p, name)) / 2, r.y + (r.h - p->line) / 2,
                   contrast, name);
    }
}

static void draw_bar(app *a, const layout *l) {
    painter *p = &a->painter;
    const network *n = &a->network;
    char state[160];
    rect last = view_swatch(a, PALETTE_SIZE);
    float x = last.x + last.w + 16 * a->scale, y = l->bar.y;
    snprintf(state, sizeof state, "%s %s  %s  H: keys", n->now.backend,
             n->now.precision == TSR_PRECISION_FP16 ? "fp16" : "fp32",
             n->failed ? "cannot run; B: another backend"
             : n->picture.texture.id || canvas_is_blank(&a->canvas) ? "live"
                                                                    : "preparing");
    draw_swatches(a);
    paint_text(p, x, y + 0.1f * p->line, text, state);
    paint_text(p, x, y + 1.2f * p->line, faint, latest_message());
}

void view_draw(app *a) {
    layout l = view_layout(a);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(0, 0, a->width, a->height);
    glClearColor(paper.r, paper.g, paper.b, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    paint_begin(&a->painter, NULL, a->width, a->height);
    draw_panels(a, &l);
    if (a->pen_shown)
        draw_pen(a, &l);
    draw_bar(a, &l);
    paint_end(&a->painter);
    if (l.mosaic.w > 0 && a->network.layer.texture.id && !canvas_is_blank(&a->canvas))
        mosaic_draw(&a->mosaic, &a->network.layer, l.mosaic, a->height);
    paint_begin(&a->painter, NULL, a->width, a->height);
    overlay_draw(a, &l);
    paint_end(&a->painter);
}
