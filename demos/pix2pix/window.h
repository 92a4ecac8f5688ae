/* The GLFW window with its OpenGL ES 3 context, and its mouse, key and drop events. */
#ifndef PIX2PIX_WINDOW_H
#define PIX2PIX_WINDOW_H

#include "app.h"

/* Its context is current afterwards. False on failure. */
bool window_open(app *a);
/* Connects events to the app. */
void window_listen(app *a);
/* What the left button and the pointer do, which are at a->cursor_x, cursor_y; move: in pixels. */
void window_press(app *a);
void window_release(app *a);
void window_move(app *a, float x, float y);
/* The window's current size and scale. */
void window_measure(app *a);
/* Whether its context was lost: the driver reset the GPU, and textures and programs are gone. */
bool window_is_lost(const app *a);
/* In place of one that is lost: another of its size, with a new context; GLFW's clock goes on.
 * False on failure. */
bool window_reopen(app *a);
void window_close(app *a);

#endif
