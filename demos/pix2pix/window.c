#include "window.h"

#include "display.h"

#include <GLFW/glfw3.h>
#include <string.h>

/* Drivers without it report no loss. */
static void find_reset_status(app *a) {
    static const char *const names[] = {"glGetGraphicsResetStatusKHR",
                                        "glGetGraphicsResetStatusEXT"};
    const char *const extensions[] = {"GL_KHR_robustness", "GL_EXT_robustness"};
    a->reset_status = NULL;
    for (int i = 0; i < 2 && !a->reset_status; i++)
        if (glfwExtensionSupported(extensions[i]))
            a->reset_status = (reset_status_fn *)glfwGetProcAddress(names[i]);
}

bool window_open(app *a) {
    static const char title[] = "Tessera: pix2pix";
    if (!display_begin("no display; tools/demo.sh and xvfb-run need none"))
        return false;
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_LOSE_CONTEXT_ON_RESET);
    a->window = glfwCreateWindow(1060, 636, title, NULL, NULL);
    if (!a->window) {
        glfwWindowHint(GLFW_CONTEXT_ROBUSTNESS, GLFW_NO_ROBUSTNESS);
        a->window = glfwCreateWindow(1060, 636, title, NULL, NULL);
    }
    if (!display_use(a->window))
        return false;
    find_reset_status(a);
    glfwSetWindowSizeLimits(a->window, 360, 480, GLFW_DONT_CARE, GLFW_DONT_CARE);
    window_measure(a);
    return true;
}

bool window_is_lost(const app *a) {
    return a->lost || (a->reset_status && a->reset_status() != GL_NO_ERROR);
}

bool window_reopen(app *a) {
    int width, height;
    const double now = glfwGetTime();
    glfwGetWindowSize(a->window, &width, &height);
    window_close(a);
    if (!window_open(a))
        return false;
    glfwSetTime(now); /* which began with the library: times that are kept stay true */
    glfwSetWindowSize(a->window, width, height);
    window_listen(a);
    a->lost = false;
    return true;
}

void window_close(app *a) {
    if (a->window)
        glfwDestroyWindow(a->window);
    a->window = NULL;
    glfwTerminate();
}

void window_measure(app *a) {
    display_measure(a->window, &a->width, &a->height, &a->scale);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Window points to framebuffer pixels, of which a point may have several. */
static void to_pixels(const app *a, float *x, float *y) {
    int width = 1, height = 1;
    glfwGetWindowSize(a->window, &width, &height);
    *x *= (float)a->width / (float)(width > 0 ? width : 1);
    *y *= (float)a->height / (float)(height > 0 ? height : 1);
}

/* Pixels of the window to those of a canvas that is shown there. */
static void to_canvas(rect shown, const canvas *c, float *x, float *y) {
    *x = (*x - shown.x) * (float)c->target.width / shown.w;
    *y = (*y - shown.y) * (float)c->target.height / shown.h;
}

static void begin_stroke(app *a, rect shown, canvas *c, float x, float y) {
    brush b = app_brush(a);
    to_canvas(shown, c, &x, &y);
    a->pen_shown = false;
    pressure_begin(&a->pressure, x, y, glfwGetTime());
    canvas_begin(c, &b, x, y);
}

static void go_on(app *a, rect shown, canvas *c, float x, float y) {
    brush b = app_brush(a);
    if (!c->drawing)
        return;
    to_canvas(shown, c, &x, &y);
    b.radius *= pressure_move(&a->pressure, x, y, glfwGetTime());
    canvas_extend(c, &b, x, y);
}

static void click_bar(app *a, float x, float y) {
    char name[] = "0";
    for (int i = 0; i < SWATCH_COUNT; i++) {
        name[0] = (char)('0' + (i + 1) % 10);
        if (rect_holds(view_swatch(a, i), x, y))
            app_key(a, name);
    }
    if (rect_holds(view_slider(a), x, y))
        app_choose_file(a, view_slider_file(a, x));
}

static void click_gallery(app *a, float x, float y) {
    for (int i = 0; i < a->gallery.count; i++)
        if (rect_holds(view_thumbnail(a, i), x, y)) {
            app_choose_sketch(a, i);
            return;
        }
    a->overlay = OVERLAY_NONE;
}

/* Beside the popup: closes it. */
static void click_picker(app *a, float x, float y) {
    if (picker_press(&a->picker, view_picker(a), x, y))
        app_key(a, "0");
    else
        a->overlay = OVERLAY_NONE;
}

static void click_panels(app *a, float x, float y) {
    const layout l = view_layout(a);
    if (rect_holds(l.canvas, x, y)) {
        begin_stroke(a, l.canvas, &a->canvas, x, y);
    } else if (rect_holds(l.picture, x, y)) {
        canvas *correction = teach_paper(a);
        if (correction)
            begin_stroke(a, l.picture, correction, x, y);
    } else {
        click_bar(a, x, y);
    }
}

void window_press(app *a) {
    float x = a->cursor_x, y = a->cursor_y;
    if (buttons_click(a, x, y))
        return;
    switch (a->overlay) {
    case OVERLAY_NONE:
        click_panels(a, x, y);
        break;
    case OVERLAY_GALLERY:
        click_gallery(a, x, y);
        break;
    case OVERLAY_PICKER:
        click_picker(a, x, y);
        break;
    case OVERLAY_HELP:
    case OVERLAY_PROMPT:
        a->overlay = OVERLAY_NONE;
        break;
    }
}

void window_release(app *a) {
    picker_release(&a->picker);
    canvas_end(&a->canvas);
    canvas_end(&a->teacher.correction);
}

void window_move(app *a, float x, float y) {
    const layout l = view_layout(a);
    a->cursor_x = x;
    a->cursor_y = y;
    if (picker_drag(&a->picker, view_picker(a), x, y))
        return;
    if (!a->pen_shown) /* otherwise the keys draw */
        go_on(a, l.canvas, &a->canvas, x, y);
    go_on(a, l.picture, &a->teacher.correction, x, y);
}

static void on_button(GLFWwindow *window, int button, int action, int mods) {
    app *a = glfwGetWindowUserPointer(window);
    (void)mods;
    if (button == GLFW_MOUSE_BUTTON_LEFT)
        action == GLFW_RELEASE ? window_release(a) : window_press(a);
}

/* Every event adds a segment to the stroke, also several per frame. */
static void on_move(GLFWwindow *window, double left, double top) {
    app *a = glfwGetWindowUserPointer(window);
    float x = (float)left, y = (float)top;
    to_pixels(a, &x, &y);
    window_move(a, x, y);
}

static void on_type(GLFWwindow *window, unsigned character) {
    app_type(glfwGetWindowUserPointer(window), character);
}

static void on_key(GLFWwindow *window, int key, int scancode, int action, int mods) {
    if (action != GLFW_RELEASE)
        app_press(glfwGetWindowUserPointer(window), key, scancode, mods, action == GLFW_REPEAT);
}

static void on_scroll(GLFWwindow *window, double x, double y) {
    (void)x;
    if (y != 0) /* 0: horizontal */
        app_key(glfwGetWindowUserPointer(window), y > 0 ? "+" : "-");
}

static void on_drop(GLFWwindow *window, int count, const char **paths) {
    (void)count;
    app_load(glfwGetWindowUserPointer(window), paths[0]);
}

void window_listen(app *a) {
    glfwSetWindowUserPointer(a->window, a);
    glfwSetMouseButtonCallback(a->window, on_button);
    glfwSetCursorPosCallback(a->window, on_move);
    glfwSetKeyCallback(a->window, on_key);
    glfwSetCharCallback(a->window, on_type);
    glfwSetScrollCallback(a->window, on_scroll);
    glfwSetDropCallback(a->window, on_drop);
}
