/* The GLFW window with its OpenGL ES 3 context, and what mouse, keys and drops do to the app. */
#ifndef PIX2PIX_WINDOW_H
#define PIX2PIX_WINDOW_H

#include "app.h"

/* Its context is current afterwards. False after a complaint. */
bool window_open(app *a);
/* From here on events reach the app. */
void window_listen(app *a);
/* The window's size and scale as they are now. */
void window_measure(app *a);
void window_close(app *a);

#endif
