/* For check_pix2pix_window.sh, by LD_PRELOAD: GLFW makes one window, and no other after it. */
#define _GNU_SOURCE

#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

typedef GLFWwindow *create_window_fn(int width, int height, const char *title, GLFWmonitor *monitor,
                                     GLFWwindow *share);

GLFWwindow *glfwCreateWindow(int width, int height, const char *title, GLFWmonitor *monitor,
                             GLFWwindow *share) {
    static bool made;
    union { /* ISO C has no cast from object to function pointers */
        void *object;
        create_window_fn *function;
    } next = {dlsym(RTLD_NEXT, "glfwCreateWindow")};
    GLFWwindow *window = made ? NULL : next.function(width, height, title, monitor, share);
    made = made || window;
    return window;
}
