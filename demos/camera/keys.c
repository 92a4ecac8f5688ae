/* Keys, mouse, and what they do. */
#include "app.h"
#include "message.h"
#include "numbered.h"
#include "picture.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- saving ---------------------------------------------------------------------------------- */

static bool save_target(const gl_target *t, const char *prefix, const char *what) {
    char path[PATH_SIZE];
    if (snprintf(path, sizeof path, "%s-%s.png", prefix, what) >= (int)sizeof path)
        return complain("%s: the name is too long", prefix);
    unsigned char *rgb = picture_read(t->framebuffer, t->width, t->height, false);
    bool good = rgb && picture_write(path, rgb, t->width, t->height);
    free(rgb);
    return good;
}

bool app_save(app *a, const char *prefix) {
    if (!a->result.texture)
        return complain("there is no picture to save yet");
    if (!save_target(&a->pictures[a->shown], prefix, "source") ||
        !save_target(&a->result, prefix, "result"))
        return false;
    announce("saved %s-source.png and -result.png", prefix);
    return true;
}

static void save(app *a) {
    char prefix[PATH_SIZE];
    if (numbered_prefix(a->folder, "-source.png", prefix))
        app_save(a, prefix);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void help(app *a) {
    a->show_help = !a->show_help;
}

static void pause_frames(app *a) {
    a->paused = !a->paused;
}

static void view(app *a) {
    a->mode = (view_mode)((a->mode + 1) % VIEW_COUNT);
}

static void edges(app *a) {
    a->edges = !a->edges;
}

static void backend(app *a) {
    settings next = a->network.wanted;
    next.backend = strcmp(next.backend, "gles") ? "gles" : "webgpu";
    network_use(&a->network, &next);
}

static void precision(app *a) {
    settings next = a->network.wanted;
    next.precision = next.precision == TSR_PRECISION_FP32 ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
    network_use(&a->network, &next);
}

/* The usual ranges, one after the other. */
static void change_range(app *a) {
    static const range ranges[] = {{0, 1}, {-1, 1}, {0, 255}};
    int i = 0;
    while (i < 2 && (a->network.in.low != ranges[i].low || a->network.in.high != ranges[i].high))
        i++;
    a->network.in = a->network.out = ranges[(i + 1) % 3];
    announce("black is %.0f, white is %.0f", (double)a->network.in.low, (double)a->network.in.high);
}

static void quit(app *a) {
    a->quit = true;
}

static const struct command {
    int key;
    const char *name, *text;
    void (*fn)(app *a);
} commands[] = {
    {GLFW_KEY_V, "V", "side by side, before and after, the result alone", view},
    {GLFW_KEY_SPACE, "Space", "pause", pause_frames},
    {GLFW_KEY_E, "E", "outlines in place of pictures", edges},
    {GLFW_KEY_S, "S", "save source and result", save},
    {GLFW_KEY_B, "B", "backend: gles, webgpu", backend},
    {GLFW_KEY_F, "F", "precision: fp32, fp16", precision},
    {GLFW_KEY_R, "R", "range: 0 to 1, -1 to 1, 0 to 255", change_range},
    {GLFW_KEY_H, "H", "these keys", help},
    {GLFW_KEY_ESCAPE, "Escape", "quit", quit},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

bool keys_text(int index, const char **key, const char **text) {
    if (index >= COMMAND_COUNT)
        return false;
    *key = commands[index].name;
    *text = commands[index].text;
    return true;
}

static void on_key(GLFWwindow *window, int key, int scancode, int action, int mods) {
    (void)scancode;
    (void)mods;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (action == GLFW_PRESS && commands[i].key == key)
            commands[i].fn(glfwGetWindowUserPointer(window));
}

/* ---- the mouse ------------------------------------------------------------------------------- */

static void move_split(app *a, double x) {
    int width = 1, height;
    glfwGetWindowSize(a->window, &width, &height);
    a->split = fminf(fmaxf((float)x / (float)(width > 0 ? width : 1), 0), 1);
}

static void on_move(GLFWwindow *window, double x, double y) {
    (void)y;
    if (glfwGetMouseButton(window, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS)
        move_split(glfwGetWindowUserPointer(window), x);
}

static void on_button(GLFWwindow *window, int button, int action, int mods) {
    double x, y;
    (void)mods;
    glfwGetCursorPos(window, &x, &y);
    if (button == GLFW_MOUSE_BUTTON_LEFT && action == GLFW_PRESS)
        move_split(glfwGetWindowUserPointer(window), x);
}

void keys_listen(app *a) {
    glfwSetWindowUserPointer(a->window, a);
    glfwSetKeyCallback(a->window, on_key);
    glfwSetCursorPosCallback(a->window, on_move);
    glfwSetMouseButtonCallback(a->window, on_button);
}
