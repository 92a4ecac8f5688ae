/* The GLFW window with its OpenGL ES 3 context, and its mouse, key and drop events. */
#ifndef PIX2PIX_WINDOW_H
#define PIX2PIX_WINDOW_H

#include "app.h"

/* Its context is current afterwards. False on failure. */
bool window_open(app *a);
/* Connects events to the app. */
void window_listen(app *a);
/* The window's current size and scale. */
void window_measure(app *a);
void window_close(app *a);

#endif
