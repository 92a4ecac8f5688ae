/* What the window shows and what keys, mouse and script do to it. */
#ifndef PIX2PIX_APP_H
#define PIX2PIX_APP_H

#include "canvas.h"
#include "gallery.h"
#include "mosaic.h"
#include "network.h"
#include "paint.h"

struct GLFWwindow;

enum { PALETTE_SIZE = 9 };
extern const float palette[PALETTE_SIZE][3];

typedef struct app {
    struct GLFWwindow *window;
    painter painter;
    canvas canvas;
    network network;
    mosaic mosaic;
    gallery gallery;
    gl_target picture; /* the network's latest, 0..1; texture 0 before the first */
    int color;         /* of the palette */
    bool eraser;
    float radius;             /* of the brush, in pixels of the canvas */
    float cursor_x, cursor_y; /* the mouse's, as of its latest event, in pixels of the window */
    float pen_x, pen_y;       /* the pen that keys move, in pixels of the canvas */
    bool pen_shown;
    bool show_help, show_times, show_gallery;
    const char *folder; /* to save to */
    bool saves;         /* S was pressed: as soon as the picture shows what is on the canvas */
    int width, height;  /* of the window, in pixels */
    float scale;        /* pixels of a point: 1, more on a screen of high density */
    double frame_ms;    /* from frame to frame, smoothed */
    bool quit;
} app;

/* ---- commands.c: what keys do ---- */

/* False where no key has this name, e.g. "H" or "Ctrl+Z"; the list of keys has them all. */
bool app_key(app *a, const char *name);
/* For GLFW's key events; again: the key is held. */
void app_press(app *a, int key, int scancode, int mods, bool again);
/* Calls fn for each key with what it does; keys that do the same follow each other. */
void app_each_key(void (*fn)(void *user, const char *key, const char *help), void *user);
bool app_load(app *a, const char *path);
brush app_brush(const app *a);

/* ---- files.c ---- */

/* <prefix>-input.png, -output.png and -both.png; prefix NULL: the first number in the folder that
 * is free. */
bool app_save(app *a, const char *prefix);
/* The window as it was drawn last, before it is shown. */
bool app_screenshot(const app *a, const char *path);

/* ---- view.c ---- */

typedef struct layout {
    rect canvas, mosaic, picture; /* mosaic.w 0: there is none */
    rect bar;
} layout;
layout view_layout(const app *a);
/* Places in pixels of the window that can be clicked. PALETTE_SIZE: the eraser. */
rect view_swatch(const app *a, int i);
rect view_thumbnail(const app *a, int i);
bool rect_holds(rect r, float x, float y);
void view_draw(app *a);

/* ---- overlay.c: text over it ---- */

void overlay_draw(app *a, const layout *l);

#endif
