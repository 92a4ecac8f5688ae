#include "picker.h"

#include <math.h>

enum { SQUARE = 32, STRIP = 48 }; /* patches of one colour, a side */

/* Foley and van Dam's HSV: each channel is a trapezoid of the hue's circle. */
static void to_rgb(float hue, float saturation, float value, float rgb[3]) {
    static const float shift[] = {5, 3, 1};
    for (int c = 0; c < 3; c++) {
        float k = fmodf(shift[c] + hue * 6, 6);
        rgb[c] = value * (1 - saturation * fmaxf(0, fminf(fminf(k, 4 - k), 1)));
    }
}

static rect square_of(rect area) {
    return (rect){area.x, area.y, area.h, area.h};
}

static rect strip_of(rect area) {
    float width = (area.w - area.h) * 0.7f;
    return (rect){area.x + area.w - width, area.y, width, area.h};
}

static bool holds(rect r, float x, float y) {
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

static float part(float at, float from, float size) {
    return fminf(fmaxf((at - from) / size, 0), 1);
}

bool picker_drag(picker *p, rect area, float x, float y) {
    rect square = square_of(area);
    if (p->held == PICKER_SQUARE) {
        p->saturation = part(x, square.x, square.w);
        p->value = 1 - part(y, square.y, square.h);
    } else if (p->held == PICKER_STRIP) {
        p->hue = part(y, area.y, area.h);
    }
    to_rgb(p->hue, p->saturation, p->value, p->rgb);
    return p->held != PICKER_FREE;
}

bool picker_press(picker *p, rect area, float x, float y) {
    p->held = holds(square_of(area), x, y)  ? PICKER_SQUARE
              : holds(strip_of(area), x, y) ? PICKER_STRIP
                                            : PICKER_FREE;
    return picker_drag(p, area, x, y);
}

void picker_release(picker *p) {
    p->held = PICKER_FREE;
}

static void draw_patch(painter *to, rect r, float hue, float saturation, float value) {
    float rgb[3];
    to_rgb(hue, saturation, value, rgb);
    paint_rect(to, r, (color){rgb[0], rgb[1], rgb[2], 1});
}

static void draw_square(const picker *p, painter *to, rect r) {
    float side = r.w / SQUARE;
    for (int y = 0; y < SQUARE; y++)
        for (int x = 0; x < SQUARE; x++)
            draw_patch(to, (rect){r.x + side * (float)x, r.y + side * (float)y, side, side}, p->hue,
                       (float)x / (SQUARE - 1), 1 - (float)y / (SQUARE - 1));
}

void picker_draw(const picker *p, painter *to, rect area, float scale) {
    const color frame = {0.05f, 0.05f, 0.07f, 0.95f}, mark = {1, 1, 1, 1};
    float margin = 8 * scale, thick = 2 * scale, height = area.h / STRIP;
    rect square = square_of(area), strip = strip_of(area);
    paint_rect(to,
               (rect){area.x - margin, area.y - margin, area.w + 2 * margin, area.h + 2 * margin},
               frame);
    draw_square(p, to, square);
    for (int i = 0; i < STRIP; i++)
        draw_patch(to, (rect){strip.x, strip.y + height * (float)i, strip.w, height},
                   (float)i / STRIP, 1, 1);
    float x = square.x + p->saturation * square.w, y = square.y + (1 - p->value) * square.h;
    paint_rect(to, (rect){x - 3 * thick, y - 3 * thick, 6 * thick, 6 * thick}, mark);
    paint_rect(to, (rect){x - 2 * thick, y - 2 * thick, 4 * thick, 4 * thick},
               (color){p->rgb[0], p->rgb[1], p->rgb[2], 1});
    paint_rect(
        to,
        (rect){strip.x - thick, strip.y + p->hue * strip.h - thick, strip.w + 2 * thick, 2 * thick},
        mark);
}
