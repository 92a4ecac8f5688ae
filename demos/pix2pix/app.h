/* The state of the window, and the actions of keys, mouse and script. */
#ifndef PIX2PIX_APP_H
#define PIX2PIX_APP_H

#include "canvas.h"
#include "gallery.h"
#include "mosaic.h"
#include "network.h"
#include "paint.h"
#include "pressure.h"
#include "teach.h"

struct GLFWwindow;

enum { PALETTE_SIZE = 9, FIRST_RADIUS = 2 };
extern const float palette[PALETTE_SIZE][3];

typedef GLenum reset_status_fn(void);

typedef struct app {
    struct GLFWwindow *window;
    reset_status_fn *reset_status; /* the driver's, of the window's context; NULL: it has none */
    bool lost;                     /* a script says that the context was lost */
    painter painter;
    canvas canvas;
    network network;
    mosaic mosaic;
    gallery gallery;
    teacher teacher;
    gl_target picture; /* the network's latest output, 0..1; texture 0 before the first */
    int color;         /* of the palette */
    bool eraser;
    float radius;             /* of the brush, in canvas pixels */
    pressure pressure;        /* of the mouse */
    float cursor_x, cursor_y; /* of the latest mouse event, in window pixels */
    float pen_x, pen_y;       /* the pen moved by keys, in canvas pixels */
    bool pen_shown;
    bool show_help, show_times, show_gallery;
    const char *folder; /* to save to */
    bool saves;         /* S was pressed: save when the output shows the current canvas */
    int width, height;  /* of the window, in pixels */
    float scale;        /* pixels per point: 1, more on high-density screens */
    double frame_ms;    /* from frame to frame, smoothed */
    bool quit;
} app;

/* ---- commands.c: key commands ---------------------------------------------------------------- */

/* False if no key has this name, e.g. "H" or "Ctrl+Z"; see the list of keys. */
bool app_key(app *a, const char *name);
/* For GLFW's key events; again: a repeat of a held key. */
void app_press(app *a, int key, int scancode, int mods, bool again);
/* Calls fn for each key with its help text; keys of the same command are adjacent. */
void app_each_key(void (*fn)(void *user, const char *key, const char *help), void *user);
bool app_load(app *a, const char *path);
/* Draws a sketch of the gallery, which is open, and closes it. */
void app_choose_sketch(app *a, int i);
/* The next radius of a brush that becomes larger, or smaller: direction -1. */
float brush_resized(float radius, int direction);
brush app_brush(const app *a);
/* Whether the picture shows the current canvas, and no lesson is in progress. */
bool app_is_idle(const app *a);

/* ---- files.c --------------------------------------------------------------------------------- */

/* <prefix>-input.png, -output.png and -both.png; prefix NULL: the first free number in the
 * folder. */
bool app_save(app *a, const char *prefix);
/* The network with what it has learned as <first free number>.onnx in the folder. */
bool app_save_network(app *a);
/* Saves the frame that was just drawn, before it is shown. */
bool app_screenshot(const app *a, const char *path);

/* ---- view.c ---------------------------------------------------------------------------------- */

typedef struct layout {
    rect canvas, mosaic, picture; /* mosaic.w 0: no mosaic */
    rect bar;
} layout;
layout view_layout(const app *a);
/* Clickable areas in window pixels. PALETTE_SIZE: the eraser. */
rect view_swatch(const app *a, int i);
bool rect_holds(rect r, float x, float y);
/* The largest centred rectangle of this aspect ratio in the square. */
rect view_fit(rect square, int width, int height);
/* The network's latest output, each value times factor plus summand, on a target of its size. */
void view_copy_picture(app *a, const gl_target *to, float factor, float summand);
void view_draw(app *a);

/* ---- gallery_view.c -------------------------------------------------------------------------- */

/* The selected sketch is another one, if there is one. */
void gallery_select(app *a, int right, int down);
/* The place of a thumbnail in the window. */
rect view_thumbnail(const app *a, int i);
void gallery_draw(app *a);

/* ---- overlay.c: text over the window --------------------------------------------------------- */

void overlay_draw(app *a, const layout *l);

#endif
