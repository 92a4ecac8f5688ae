/* What each window needs of GLFW. Failures are told on stderr, with GLFW's reason. */
#ifndef PIX2PIX_DISPLAY_H
#define PIX2PIX_DISPLAY_H

#include <stdbool.h>

struct GLFWwindow;

/* Begins GLFW, with the hints of a window with OpenGL ES 3.0; advice: what to do without a display.
 */
bool display_begin(const char *advice);
/* Makes the window's context current and loads its functions; NULL: there is no window. */
bool display_use(struct GLFWwindow *window);
/* Size in pixels, and pixels per point. */
void display_measure(struct GLFWwindow *window, int *width, int *height, float *scale);

#endif
