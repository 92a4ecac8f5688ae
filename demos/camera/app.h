/* The state of the window. */
#ifndef CAMERA_APP_H
#define CAMERA_APP_H

#include "network.h"
#include "options.h"
#include "paint.h"

struct GLFWwindow;

typedef enum view_mode { VIEW_BESIDE, VIEW_SPLIT, VIEW_RESULT, VIEW_COUNT } view_mode;

typedef struct app {
    struct GLFWwindow *window;
    painter painter;
    converter converter;
    source source;
    network network;
    gl_target pictures[2]; /* frames: of the result that is shown, and of the run in progress */
    int shown;             /* of pictures */
    gl_target input;       /* the network's */
    gl_target output;      /* its picture, with the bars of its input */
    gl_target result;      /* without them; texture 0: none yet */
    long long results;
    double last, interval; /* seconds: the latest result's time, and between results, smoothed */
    double longest_ms[2];  /* frames that a network ran in, and those when another was made */
    view_mode mode;
    float split; /* of VIEW_SPLIT: 0 to 1 from the left */
    bool edges, paused, show_help, quit;
    const char *folder; /* to save to */
    int width, height;  /* of the window, in pixels */
    float scale;        /* pixels per point */
} app;

/* ---- keys.c ---------------------------------------------------------------------------------- */

void keys_listen(app *a);
/* Key and what it does, for the list; false past the last. */
bool keys_text(int index, const char **key, const char **text);
/* The frame and the network's picture of it as PREFIX-source.png and PREFIX-result.png. */
bool app_save(app *a, const char *prefix);

/* ---- view.c ---------------------------------------------------------------------------------- */

void view_draw(app *a);

#endif
