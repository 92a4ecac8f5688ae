#include "display.h"

#include "gl.h"
#include "message.h"

#include <GLFW/glfw3.h>

static const char *reason;

static void on_error(int code, const char *description) {
    (void)code;
    reason = description;
}

static bool fail(const char *what) {
    return complain("%s%s%s", what, reason ? ": " : "", reason ? reason : "");
}

bool display_begin(const char *advice) {
    glfwSetErrorCallback(on_error);
    if (!glfwInit())
        return fail(advice);
    glfwWindowHint(GLFW_CLIENT_API, GLFW_OPENGL_ES_API);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    return true;
}

bool display_use(struct GLFWwindow *window) {
    if (!window)
        return fail("no window with OpenGL ES 3.0 through EGL");
    glfwMakeContextCurrent(window);
    if (!gladLoadGLES2(glfwGetProcAddress))
        return complain("the window's OpenGL ES lacks functions of 3.0");
    glfwSwapInterval(1);
    return true;
}

void display_measure(struct GLFWwindow *window, int *width, int *height, float *scale) {
    float other;
    glfwGetFramebufferSize(window, width, height);
    glfwGetWindowContentScale(window, scale, &other);
}
