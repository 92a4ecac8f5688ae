#include "app.h"

#include "message.h"

#include <GLFW/glfw3.h>
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

/* Squares side by side, or below each other in a window that is higher than wide; each has a title
 * above it. */
static void place_panels(const app *a, rect area, int count, rect squares[3]) {
    const bool stacked = a->height > a->width;
    const float margin = floorf(12 * a->scale), title = floorf(a->painter.line * 1.2f);
    float columns = stacked ? 1 : (float)count, rows = stacked ? (float)count : 1;
    float side =
        fminf((area.w - margin * (columns + 1)) / columns, (area.h - margin * rows) / rows - title);
    side = fmaxf(floorf(side), 1);
    float left = (area.w - side * columns - margin * (columns - 1)) / 2;
    float top = (area.h - (side + title) * rows - margin * (rows - 1)) / 2;
    for (int i = 0; i < count; i++) {
        float column = stacked ? 0 : (float)i, row = stacked ? (float)i : 0;
        squares[i] =
            (rect){floorf(area.x + left + (side + margin) * column),
                   floorf(area.y + top + (side + title + margin) * row + title), side, side};
    }
}

static float swatch_size(const app *a) {
    return floorf(1.2f * a->painter.line);
}

/* Where the colours, and the slider, if there is one, end. */
static float swatches_end(const app *a) {
    return floorf(12 * a->scale + 1.25f * swatch_size(a) * SWATCH_COUNT);
}

static float slider_width(const app *a) {
    return a->network.file_count > 1 ? floorf(112 * a->scale) : 0;
}

/* Colours and text in one row, if there is room for enough text, else in two. */
layout view_layout(const app *a) {
    const float margin = floorf(12 * a->scale), row = 2.4f * a->painter.line;
    const float width = (float)a->width, height = (float)a->height;
    const gl_target *c = &a->canvas.target, *p = a->picture.texture ? &a->picture : c;
    const float slider = slider_width(a);
    const float beside = swatches_end(a) + (slider > 0 ? slider + margin : 0) + margin;
    const bool narrow = width - beside < 40 * paint_text_width(&a->painter, " ");
    const float bar = narrow ? 2 * row : row, tools = buttons_height(a);
    const int panels = *a->network.wanted.layer ? 3 : 2;
    rect squares[3];
    place_panels(a, (rect){0, tools, width, height - bar - tools}, panels, squares);
    return (layout){.canvas = view_fit(squares[0], c->width, c->height),
                    .mosaic = panels == 3 ? squares[1] : (rect){0},
                    .picture = view_fit(squares[panels - 1], p->width, p->height),
                    .bar = {0, height - bar, width, row},
                    .status = {narrow ? margin : beside, height - row,
                               width - margin - (narrow ? margin : beside), row}};
}

rect view_swatch(const app *a, int i) {
    const rect bar = view_layout(a).bar;
    const float size = swatch_size(a);
    return (rect){floorf(12 * a->scale + 1.25f * size * (float)i),
                  floorf(bar.y + 0.6f * a->painter.line), size, size};
}

rect view_slider(const app *a) {
    const rect bar = view_layout(a).bar;
    return (rect){swatches_end(a) + 8 * a->scale, bar.y, slider_width(a), bar.h};
}

int view_slider_file(const app *a, float x) {
    const rect r = view_slider(a);
    int file = (int)((x - r.x) / r.w * (float)a->network.file_count);
    return file < 0 ? 0 : file < a->network.file_count ? file : a->network.file_count - 1;
}

rect view_picker(const app *a) {
    const rect last = view_swatch(a, SWATCH_COUNT - 1);
    const float side = 10 * a->painter.line, margin = 20 * a->scale;
    const float x = fminf(last.x, (float)a->width - 1.25f * side - margin);
    return (rect){fmaxf(x, 0), last.y - side - margin, 1.25f * side, side};
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

void view_text(app *a, float x, float y, float width, color c, const char *line) {
    char cut[512];
    painter *p = &a->painter;
    size_t most = (size_t)fmaxf(width / paint_text_width(p, " "), 3);
    snprintf(cut, sizeof cut, "%s", line);
    if (strlen(cut) > most)
        memcpy(cut + most - 3, "...", 4);
    paint_text(p, x, y, c, cut);
}

static void draw_title(app *a, rect r, const char *title) {
    view_text(a, r.x, r.y - a->painter.line * 1.15f, r.w, faint, title);
}

static const char *picture_title(const app *a) {
    return canvas_is_blank(&a->canvas)         ? "The network's picture"
           : !a->network.now.exists            ? "Preparing ..."
           : teach_is_busy(&a->teacher)        ? "It learns your correction ..."
           : a->teacher.learned                ? "It has learned ..."
           : teach_has_correction(&a->teacher) ? "Your correction: L teaches it"
                                               : "The network's picture: paint what to change";
}

/* The layer that is shown: not the one that was asked for, as long as its session is being made. */
static const char *mosaic_title(const app *a) {
    const char *name = a->network.now.settings.layer;
    return *name ? name : "Preparing ...";
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
        draw_title(a, l->mosaic, mosaic_title(a));
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
    for (int i = 0; i < SWATCH_COUNT; i++) {
        bool chosen = i == a->color && !a->eraser;
        const float *c = app_color(a, i);
        rect r = view_swatch(a, i);
        paint_rect(p, around(r, chosen ? 3 * a->scale : 1), chosen ? text : frame);
        paint_rect(p, r, (color){c[0], c[1], c[2], 1});
        char name[2] = {(char)('0' + (i + 1) % 10), '\0'};
        bool bright = c[0] + c[1] + c[2] > 1.5f;
        color contrast = bright ? (color){0, 0, 0, 0.7f} : (color){1, 1, 1, 0.8f};
        paint_text(p, r.x + (r.w - paint_text_width(p, name)) / 2, r.y + (r.h - p->line) / 2,
                   contrast, name);
    }
}

static void draw_slider(app *a) {
    painter *p = &a->painter;
    const rect r = view_slider(a);
    const float thick = 4 * a->scale, step = r.w / (float)a->network.file_count;
    const float y = r.y + 1.7f * p->line, knob = r.x + step * ((float)a->network.file + 0.5f);
    if (r.w <= 0)
        return;
    view_text(a, r.x, r.y + 0.2f * p->line, r.w, faint, "network size");
    paint_rect(p, (rect){r.x, y - thick / 2, r.w, thick}, frame);
    for (int i = 0; i < a->network.file_count; i++)
        paint_rect(p, (rect){r.x + step * ((float)i + 0.5f) - 1, y - thick, 2, 2 * thick}, faint);
    paint_rect(p, (rect){knob - thick, y - 2 * thick, 2 * thick, 4 * thick}, busy);
}

/* What the network is doing. */
static const char *activity(const app *a) {
    const network *n = &a->network;
    return network_has_failed(n)                ? "cannot run; B: another backend"
           : network_is_preparing(n)            ? "preparing ..."
           : teach_is_busy(&a->teacher)         ? "learning ..."
           : !network_is_current(n, &a->canvas) ? "painting ..."
                                                : "ready";
}

static void draw_status(app *a, rect r) {
    static const char turns[] = "|/-\\";
    painter *p = &a->painter;
    const settings *s = &a->network.wanted;
    char line[160];
    char turn = app_is_idle(a) ? ' ' : turns[(unsigned)(glfwGetTime() * 8) % 4];
    snprintf(line, sizeof line, "%-6s %s %c %s", s->backend,
             s->precision == TSR_PRECISION_FP16 ? "fp16" : "fp32", turn, activity(a));
    view_text(a, r.x, r.y + 0.1f * p->line, r.w, text, line);
    view_text(a, r.x, r.y + 1.2f * p->line, r.w, faint, latest_message());
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
    draw_swatches(a);
    draw_slider(a);
    draw_status(a, l.status);
    paint_end(&a->painter);
    if (l.mosaic.w > 0 && a->network.layer.texture.id && !canvas_is_blank(&a->canvas))
        mosaic_draw(&a->mosaic, &a->network.layer, l.mosaic, a->height);
    paint_begin(&a->painter, NULL, a->width, a->height);
    overlay_draw(a, &l);
    paint_end(&a->painter);
}
