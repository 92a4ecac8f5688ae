/* The state of the window, and the actions of keys, mouse and script. */
#ifndef PIX2PIX_APP_H
#define PIX2PIX_APP_H

#include "canvas.h"
#include "gallery.h"
#include "mosaic.h"
#include "network.h"
#include "paint.h"
#include "picker.h"
#include "pressure.h"
#include "prompt.h"
#include "restore.h"
#include "teach.h"

struct GLFWwindow;

/* The last swatch has the colour of the picker. */
enum { PALETTE_SIZE = 9, SWATCH_COUNT = PALETTE_SIZE + 1, FIRST_RADIUS = 2 };
extern const float palette[PALETTE_SIZE][3];

/* What lies over the window: one at a time. */
typedef enum overlay {
    OVERLAY_NONE,
    OVERLAY_HELP,
    OVERLAY_GALLERY,
    OVERLAY_PICKER,
    OVERLAY_PROMPT
} overlay;

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
    int color;         /* the chosen swatch */
    picker picker;
    prompt prompt;
    drawing_file kept;
    bool eraser;
    float radius;             /* of the brush, in canvas pixels */
    pressure pressure;        /* of the mouse */
    float cursor_x, cursor_y; /* of the latest mouse event, in window pixels */
    float pen_x, pen_y;       /* the pen moved by keys, in canvas pixels */
    bool pen_shown;
    overlay overlay;
    bool show_times;
    const char *folder; /* to save to */
    bool saves;         /* S was pressed: save when the output shows the current canvas */
    int width, height;  /* of the window, in pixels */
    float scale;        /* pixels per point: 1, more on high-density screens */
    float text_scale;   /* that the font was made for */
    double frame_ms;    /* from frame to frame, smoothed */
    double longest_ms;  /* of the frames since a script last asked */
    double leave_until; /* Escape leaves if it was pressed before, and this time is yet to come */
    bool quit;
} app;

/* ---- commands.c: key commands ---------------------------------------------------------------- */

/* False if no key has this name, e.g. "H" or "Ctrl+Z"; see the list of keys. */
bool app_key(app *a, const char *name);
/* What the key does, as in the list of keys; NULL: there is none of this name. */
const char *app_key_help(const char *name);
/* A character was typed. */
void app_type(app *a, unsigned character);
/* For GLFW's key events; again: a repeat of a held key. */
void app_press(app *a, int key, int scancode, int mods, bool again);
/* Calls fn for each line of the list of keys: names of keys, and what they do. */
void app_each_key(void (*fn)(void *user, const char *keys, const char *help), void *user);
bool app_load(app *a, const char *path);
/* Goes on with another model file of the command line. */
void app_choose_file(app *a, int file);
/* RGB of a swatch. */
const float *app_color(const app *a, int i);
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
    rect bar;                     /* colours, and the slider if there are several networks */
    rect status;                  /* two lines of text */
} layout;
layout view_layout(const app *a);
/* Clickable areas in window pixels. */
rect view_swatch(const app *a, int i);
rect view_picker(const app *a);
/* The choice among networks; w 0: there is one. */
rect view_slider(const app *a);
/* The network at this place of the slider. */
int view_slider_file(const app *a, float x);
/* Text that is cut, with dots, where it would be wider. */
void view_text(app *a, float x, float y, float width, color c, const char *text);
bool rect_holds(rect r, float x, float y);
/* The largest centred rectangle of this aspect ratio in the square. */
rect view_fit(rect square, int width, int height);
/* The network's latest output, each value times factor plus summand, on a target of its size. */
void view_copy_picture(app *a, const gl_target *to, float factor, float summand);
void view_draw(app *a);

/* ---- buttons.c ------------------------------------------------------------------------------- */

/* Their height in a window of this width, in rows. */
float buttons_height(const app *a);
/* The middle of the button of this key; false: there is none. */
bool buttons_find(const app *a, const char *key, float *x, float *y);
/* Does what the button's key does; false: there is no button. */
bool buttons_click(app *a, float x, float y);
void buttons_draw(app *a);
/* Of the button under the pointer: what it does, and its key. */
void buttons_draw_tooltip(app *a);

/* ---- gallery_view.c -------------------------------------------------------------------------- */

/* The selected sketch is another one, if there is one. */
void gallery_select(app *a, int right, int down);
/* The place of a thumbnail in the window. */
rect view_thumbnail(const app *a, int i);
void gallery_draw(app *a);

/* ---- overlay.c: text over the window --------------------------------------------------------- */

void overlay_draw(app *a, const layout *l);

#endif
