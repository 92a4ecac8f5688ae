#include "app.h"

#include "message.h"
#include "picture.h"

#include <GLFW/glfw3.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const float palette[PALETTE_SIZE][3] = {
    {0.00f, 0.00f, 0.00f}, {0.87f, 0.18f, 0.17f}, {0.96f, 0.55f, 0.12f},
    {1.00f, 0.80f, 0.20f}, {0.30f, 0.65f, 0.26f}, {0.26f, 0.53f, 0.93f},
    {0.58f, 0.34f, 0.73f}, {0.48f, 0.30f, 0.18f}, {1.00f, 0.66f, 0.70f},
};

brush app_brush(const app *a) {
    brush b = {.radius = a->radius, .erases = a->eraser};
    memcpy(b.color, palette[a->color], sizeof b.color);
    return b;
}

bool app_is_idle(const app *a) {
    return a->network.failed ||
           (network_is_current(&a->network, &a->canvas) && !teach_is_busy(&a->teacher));
}

/* ---- drawing --------------------------------------------------------------------------------- */

void app_choose_sketch(app *a, int i) {
    const thumbnail *t = &a->gallery.thumbnails[i];
    canvas_put(&a->canvas, &a->painter, t->texture, t->width, t->height);
    teach_forget(&a->teacher);
    announce("%s", t->name);
    a->gallery.selected = i;
    a->show_gallery = false;
}

static void choose(app *a, int i) {
    if (a->show_gallery && i < a->gallery.count) {
        app_choose_sketch(a, i);
    } else if (!a->show_gallery) {
        a->color = i;
        a->eraser = false;
    }
}

static void use_eraser(app *a, int unused) {
    (void)unused;
    a->eraser = !a->eraser;
}

float brush_resized(float radius, int direction) {
    return fminf(fmaxf(radius * (direction > 0 ? 1.25f : 0.8f), 0.5f), 64);
}

static void resize_brush(app *a, int direction) {
    a->radius = brush_resized(a->radius, direction);
    announce("brush of %.1f pixels", 2 * (double)a->radius);
}

static void undo(app *a, int direction) {
    if (!(direction < 0 ? teach_undo(a) || canvas_undo(&a->canvas)
                        : teach_redo(a) || canvas_redo(&a->canvas)))
        announce("nothing to %s", direction < 0 ? "undo" : "redo");
}

static void clear(app *a, int unused) {
    (void)unused;
    canvas_clear(&a->canvas);
    teach_forget(&a->teacher);
}

static void teach(app *a, int unused) {
    (void)unused;
    if (a->show_gallery)
        app_choose_sketch(a, a->gallery.selected);
    else
        teach_ask(a);
}

/* The pen moves 4 canvas pixels per step; down and right are positive. */
enum { PEN_LEFT, PEN_RIGHT, PEN_UP, PEN_DOWN, PEN_TOUCH };

static void move_pen(app *a, int action) {
    const float step = 4;
    brush b = app_brush(a);
    const int right = (action == PEN_RIGHT) - (action == PEN_LEFT);
    const int down = (action == PEN_DOWN) - (action == PEN_UP);
    if (a->show_gallery) {
        action == PEN_TOUCH ? app_choose_sketch(a, a->gallery.selected)
                            : gallery_select(a, right, down);
        return;
    }
    float x = a->pen_x + step * (float)right, y = a->pen_y + step * (float)down;
    a->pen_x = fminf(fmaxf(x, 0), (float)a->canvas.target.width);
    a->pen_y = fminf(fmaxf(y, 0), (float)a->canvas.target.height);
    a->pen_shown = true;
    if (action != PEN_TOUCH)
        canvas_extend(&a->canvas, &b, a->pen_x, a->pen_y);
    else if (a->canvas.drawing)
        canvas_end(&a->canvas);
    else
        canvas_begin(&a->canvas, &b, a->pen_x, a->pen_y);
}

bool app_load(app *a, const char *path) {
    int width, height;
    GLuint texture = picture_load(path, &width, &height);
    if (!texture)
        return false;
    canvas_put(&a->canvas, &a->painter, texture, width, height);
    teach_forget(&a->teacher);
    glDeleteTextures(1, &texture);
    announce("loaded %s", path);
    return true;
}

/* ---- the network ----------------------------------------------------------------------------- */

static void use(app *a, const settings *wanted) {
    if (network_use(&a->network, wanted))
        announce("%s, %s%s", wanted->backend,
                 wanted->precision == TSR_PRECISION_FP16 ? "fp16" : "fp32",
                 wanted->timed ? ", timed" : "");
}

static void next_backend(app *a, int unused) {
    static const char *const backends[] = {"gles", "webgpu", "cpu"};
    settings wanted = a->network.now;
    int i = 0;
    (void)unused;
    while (strcmp(backends[i], wanted.backend))
        i++;
    wanted.backend = backends[(i + 1) % 3];
    use(a, &wanted);
}

static void switch_precision(app *a, int unused) {
    settings wanted = a->network.now;
    (void)unused;
    wanted.precision =
        wanted.precision == TSR_PRECISION_FP16 ? TSR_PRECISION_FP32 : TSR_PRECISION_FP16;
    use(a, &wanted);
}

static void switch_times(app *a, int unused) {
    settings wanted = a->network.now;
    (void)unused;
    a->show_times = wanted.timed = !a->show_times;
    use(a, &wanted);
}

static bool can_be_shown(const layer_info *layer) {
    return *layer->output && layer->shape.rank >= 1 && layer->shape.rank <= 4 &&
           tsr_shape_count(&layer->shape) > 0;
}

/* The next layer in this direction whose tensor can be shown; the first if none is selected. */
static void next_layer(app *a, int direction) {
    const network *n = &a->network;
    settings wanted = n->now;
    int at = 0;
    if (!n->layer_count) {
        announce("draw first: the layers are known after the first run");
        return;
    }
    while (at < n->layer_count && strcmp(n->layers[at].output, wanted.layer))
        at++;
    if (at == n->layer_count)
        at = direction > 0 ? -1 : 0;
    for (int i = 0; i < n->layer_count; i++) {
        at = (at + direction + n->layer_count) % n->layer_count;
        if (can_be_shown(&n->layers[at]))
            break;
    }
    memcpy(wanted.layer, n->layers[at].output, sizeof wanted.layer);
    use(a, &wanted);
}

static void switch_mosaic(app *a, int unused) {
    settings wanted = a->network.now;
    (void)unused;
    if (!*wanted.layer) {
        next_layer(a, 1);
        return;
    }
    *wanted.layer = '\0';
    use(a, &wanted);
}

/* ---- the window ------------------------------------------------------------------------------ */

static void save(app *a, int unused) {
    (void)unused;
    a->saves = true;
}

static void save_network(app *a, int unused) {
    (void)unused;
    app_save_network(a);
}

static void switch_help(app *a, int unused) {
    (void)unused;
    a->show_help = !a->show_help;
}

static void switch_gallery(app *a, int unused) {
    (void)unused;
    a->show_gallery = !a->show_gallery && (a->gallery.count || gallery_open(&a->gallery));
    if (!a->gallery.count)
        announce("the gallery is empty");
}

/* Closes the open overlay, otherwise the window. */
static void escape(app *a, int unused) {
    (void)unused;
    if (a->show_help || a->show_gallery)
        a->show_help = a->show_gallery = false;
    else
        a->quit = true;
}

typedef struct command {
    const char *name;
    int key, mods;
    void (*run)(app *a, int argument);
    int argument;
    const char *help;
    bool repeats; /* while the key is held */
} command;

static const command commands[] = {
    {"1", '1', 0, choose, 0, "colour, or a picture of the gallery", false},
    {"2", '2', 0, choose, 1, NULL, false},
    {"3", '3', 0, choose, 2, NULL, false},
    {"4", '4', 0, choose, 3, NULL, false},
    {"5", '5', 0, choose, 4, NULL, false},
    {"6", '6', 0, choose, 5, NULL, false},
    {"7", '7', 0, choose, 6, NULL, false},
    {"8", '8', 0, choose, 7, NULL, false},
    {"9", '9', 0, choose, 8, NULL, false},
    {"E", 'E', 0, use_eraser, 0, "toggle the eraser", false},
    {"-", '-', 0, resize_brush, -1, "smaller brush", true},
    {"+", '=', 0, resize_brush, 1, "larger brush", true},
    {"Ctrl+Z", 'Z', GLFW_MOD_CONTROL, undo, -1, "undo", true},
    {"Ctrl+Y", 'Y', GLFW_MOD_CONTROL, undo, 1, "redo", true},
    {"C", 'C', 0, clear, 0, "clear the canvas", false},
    {"L", 'L', 0, teach, 0, "learn what is painted on the picture", false},
    {"Enter", GLFW_KEY_ENTER, 0, teach, 0, NULL, false},
    {"G", 'G', 0, switch_gallery, 0, "gallery of sketches", false},
    {"S", 'S', 0, save, 0, "save input, output and both", false},
    {"Ctrl+S", 'S', GLFW_MOD_CONTROL, save_network, 0, "save the network that has learned", false},
    {"B", 'B', 0, next_backend, 0, "next backend: gles, webgpu, cpu", false},
    {"F", 'F', 0, switch_precision, 0, "precision: fp32 or fp16", false},
    {"T", 'T', 0, switch_times, 0, "show times of frames and layers", false},
    {"M", 'M', 0, switch_mosaic, 0, "show a layer's channels as a mosaic", false},
    {"PageDown", GLFW_KEY_PAGE_DOWN, 0, next_layer, 1, "next layer", false},
    {"PageUp", GLFW_KEY_PAGE_UP, 0, next_layer, -1, "previous layer", false},
    {"Left", GLFW_KEY_LEFT, 0, move_pen, PEN_LEFT,
     "move the pen, or choose a sketch (all arrow keys)", true},
    {"Right", GLFW_KEY_RIGHT, 0, move_pen, PEN_RIGHT, NULL, true},
    {"Up", GLFW_KEY_UP, 0, move_pen, PEN_UP, NULL, true},
    {"Down", GLFW_KEY_DOWN, 0, move_pen, PEN_DOWN, NULL, true},
    {"Space", GLFW_KEY_SPACE, 0, move_pen, PEN_TOUCH, "pen down, pen up, or draw the chosen sketch",
     false},
    {"H", 'H', 0, switch_help, 0, "this list", false},
    {"Escape", GLFW_KEY_ESCAPE, 0, escape, 0, "close the overlay, or the window", false},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

bool app_key(app *a, const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name)) {
            commands[i].run(a, commands[i].argument);
            return true;
        }
    return false;
}

/* GLFW numbers keys by their position on a US keyboard; the character of the current layout takes
 * precedence. */
void app_press(app *a, int key, int scancode, int mods, bool again) {
    const char *sign = glfwGetKeyName(key, scancode);
    if (sign && sign[0] && !sign[1])
        key = toupper((unsigned char)sign[0]);
    key = key == '+' || key == GLFW_KEY_KP_ADD ? '=' : key == GLFW_KEY_KP_SUBTRACT ? '-' : key;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].key == key && commands[i].mods == (mods & GLFW_MOD_CONTROL) &&
            (commands[i].repeats || !again)) {
            commands[i].run(a, commands[i].argument);
            return;
        }
}

void app_each_key(void (*fn)(void *user, const char *key, const char *help), void *user) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        fn(user, commands[i].name, commands[i].help);
}
