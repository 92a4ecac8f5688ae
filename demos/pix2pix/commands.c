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

const float *app_color(const app *a, int i) {
    return i < PALETTE_SIZE ? palette[i] : a->picker.rgb;
}

brush app_brush(const app *a) {
    brush b = {.radius = a->radius, .erases = a->eraser};
    memcpy(b.color, app_color(a, a->color), sizeof b.color);
    return b;
}

bool app_is_idle(const app *a) {
    return network_has_failed(&a->network) ||
           (network_is_current(&a->network, &a->canvas) && !teach_is_busy(&a->teacher));
}

/* ---- drawing --------------------------------------------------------------------------------- */

void app_choose_sketch(app *a, int i) {
    const thumbnail *t = &a->gallery.thumbnails[i];
    canvas_put(&a->canvas, &a->painter, t->texture, t->width, t->height);
    teach_forget(&a->teacher);
    announce("%s", t->name);
    a->gallery.selected = i;
    a->overlay = OVERLAY_NONE;
}

static void choose(app *a, int i) {
    bool gallery = a->overlay == OVERLAY_GALLERY;
    if (gallery && i < a->gallery.count) {
        app_choose_sketch(a, i);
    } else if (!gallery) {
        a->color = i;
        a->eraser = false;
    }
}

static void use_brush(app *a, int unused) {
    (void)unused;
    a->eraser = false;
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

/* The pen moves 4 canvas pixels per step; down and right are positive. */
enum { PEN_LEFT, PEN_RIGHT, PEN_UP, PEN_DOWN, PEN_TOUCH };

static void move_pen(app *a, int action) {
    const float step = 4;
    brush b = app_brush(a);
    const int right = (action == PEN_RIGHT) - (action == PEN_LEFT);
    const int down = (action == PEN_DOWN) - (action == PEN_UP);
    if (a->overlay == OVERLAY_GALLERY) {
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

static bool use(app *a, const settings *wanted) {
    bool good = network_use(&a->network, wanted);
    if (good)
        announce("%s, %s%s", wanted->backend,
                 wanted->precision == TSR_PRECISION_FP16 ? "fp16" : "fp32",
                 wanted->timed ? ", timed" : "");
    return good;
}

void app_choose_file(app *a, int file) {
    const network *n = &a->network;
    const char *path = n->files[file].path, *slash = strrchr(path, '/');
    if (file == n->file)
        return;
    teach_choose(a, file);
    announce("%s", slash ? slash + 1 : path);
}

static void next_file(app *a, int unused) {
    (void)unused;
    if (a->network.file_count == 1)
        announce("name several models on the command line to choose among them");
    else
        app_choose_file(a, (a->network.file + 1) % a->network.file_count);
}

static void next_backend(app *a, int unused) {
    static const char *const backends[] = {"gles", "webgpu", "cpu"};
    settings wanted = a->network.wanted;
    int i = 0;
    (void)unused;
    while (strcmp(backends[i], wanted.backend))
        i++;
    wanted.backend = backends[(i + 1) % 3];
    use(a, &wanted);
}

static void switch_precision(app *a, int unused) {
    settings wanted = a->network.wanted;
    (void)unused;
    wanted.precision =
        wanted.precision == TSR_PRECISION_FP16 ? TSR_PRECISION_FP32 : TSR_PRECISION_FP16;
    use(a, &wanted);
}

static void switch_times(app *a, int unused) {
    settings wanted = a->network.wanted;
    (void)unused;
    a->show_times = wanted.timed = !a->show_times;
    use(a, &wanted);
}

static bool can_be_shown(const layer_info *layer) {
    return *layer->output && layer->shape.rank >= 1 && layer->shape.rank <= 4 &&
           tsr_shape_count(&layer->shape) > 0;
}

/* The next layer in this direction that can be shown, as far as is known before a run; the first if
 * none is selected. */
static void next_layer(app *a, int direction) {
    const network *n = &a->network;
    settings wanted = n->wanted;
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
        memcpy(wanted.layer, n->layers[at].output, sizeof wanted.layer);
        if (can_be_shown(&n->layers[at]) && use(a, &wanted))
            return;
    }
}

static void switch_mosaic(app *a, int unused) {
    settings wanted = a->network.wanted;
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

/* Opens it in place of another, or closes it. */
static void switch_overlay(app *a, int which) {
    a->overlay = (int)a->overlay == which ? OVERLAY_NONE : (overlay)which;
    if (a->overlay == OVERLAY_GALLERY && !a->gallery.count && !gallery_open(&a->gallery)) {
        a->overlay = OVERLAY_NONE;
        announce("the gallery is empty");
    }
    prompt_clear(&a->prompt);
}

/* Opens what was typed, takes the selected sketch, or asks for a lesson. */
static void enter(app *a, int unused) {
    (void)unused;
    if (a->overlay == OVERLAY_GALLERY)
        app_choose_sketch(a, a->gallery.selected);
    else if (a->overlay != OVERLAY_PROMPT)
        teach_ask(a);
    else if (!*a->prompt.text || app_load(a, a->prompt.text))
        a->overlay = OVERLAY_NONE;
}

static void complete(app *a, int unused) {
    (void)unused;
    if (a->overlay == OVERLAY_PROMPT)
        prompt_complete(&a->prompt);
}

static void erase(app *a, int unused) {
    (void)unused;
    if (a->overlay == OVERLAY_PROMPT)
        prompt_erase(&a->prompt);
}

void app_type(app *a, unsigned character) {
    if (a->overlay == OVERLAY_PROMPT)
        prompt_type(&a->prompt, character);
}

/* Closes what lies over the window, otherwise the window, if it is pressed twice. */
static void escape(app *a, int unused) {
    const double patience = 4;
    (void)unused;
    if (a->overlay != OVERLAY_NONE) {
        a->overlay = OVERLAY_NONE;
    } else if (glfwGetTime() < a->leave_until) {
        a->quit = true;
    } else {
        a->leave_until = glfwGetTime() + patience;
        announce("press Escape again to leave%s", *a->kept.path ? ": the drawing is kept" : "");
    }
}

enum { REPEATS = 1, TYPES = 2 };

typedef struct command {
    const char *name;
    int key, mods;
    void (*run)(app *a, int argument);
    int argument;
    const char *help; /* NULL: another command's tells it */
    const char *keys; /* in the list of keys, of several with one help text; NULL: its name */
    int when;         /* REPEATS: while the key is held; TYPES: also while text is typed */
} command;

static const command commands[] = {
    {"1", '1', 0, choose, 0, "a colour, or a picture", "1-9, 0", 0},
    {"2", '2', 0, choose, 1, NULL, NULL, 0},
    {"3", '3', 0, choose, 2, NULL, NULL, 0},
    {"4", '4', 0, choose, 3, NULL, NULL, 0},
    {"5", '5', 0, choose, 4, NULL, NULL, 0},
    {"6", '6', 0, choose, 5, NULL, NULL, 0},
    {"7", '7', 0, choose, 6, NULL, NULL, 0},
    {"8", '8', 0, choose, 7, NULL, NULL, 0},
    {"9", '9', 0, choose, 8, NULL, NULL, 0},
    {"0", '0', 0, choose, 9, NULL, NULL, 0},
    {"K", 'K', 0, switch_overlay, OVERLAY_PICKER, "mix the colour 0", NULL, 0},
    {"P", 'P', 0, use_brush, 0, "draw with the brush", NULL, 0},
    {"E", 'E', 0, use_eraser, 0, "eraser on, off", NULL, 0},
    {"-", '-', 0, resize_brush, -1, "smaller brush", "- (wheel)", REPEATS},
    {"+", '=', 0, resize_brush, 1, "larger brush", "+ (wheel)", REPEATS},
    {"Ctrl+Z", 'Z', GLFW_MOD_CONTROL, undo, -1, "undo", NULL, REPEATS},
    {"Ctrl+Y", 'Y', GLFW_MOD_CONTROL, undo, 1, "redo", NULL, REPEATS},
    {"C", 'C', 0, clear, 0, "clear the canvas", NULL, 0},
    {"Ctrl+O", 'O', GLFW_MOD_CONTROL, switch_overlay, OVERLAY_PROMPT, "open a picture", NULL,
     TYPES},
    {"Tab", GLFW_KEY_TAB, 0, complete, 0, "complete its path", NULL, TYPES},
    {"Backspace", GLFW_KEY_BACKSPACE, 0, erase, 0, NULL, NULL, REPEATS | TYPES},
    {"G", 'G', 0, switch_overlay, OVERLAY_GALLERY, "gallery of sketches", NULL, 0},
    {"S", 'S', 0, save, 0, "save input, output and both", NULL, 0},
    {"L", 'L', 0, enter, 0, "teach what was painted on it", "L, Enter", 0},
    {"Enter", GLFW_KEY_ENTER, 0, enter, 0, NULL, NULL, TYPES},
    {"Ctrl+S", 'S', GLFW_MOD_CONTROL, save_network, 0, "save what was learned", NULL, 0},
    {"M", 'M', 0, switch_mosaic, 0, "channels of a layer", NULL, 0},
    {"PageDown", GLFW_KEY_PAGE_DOWN, 0, next_layer, 1, "next layer", NULL, 0},
    {"PageUp", GLFW_KEY_PAGE_UP, 0, next_layer, -1, "previous layer", NULL, 0},
    {"T", 'T', 0, switch_times, 0, "times of frames and layers", NULL, 0},
    {"B", 'B', 0, next_backend, 0, "backend: gles, webgpu, cpu", NULL, 0},
    {"F", 'F', 0, switch_precision, 0, "precision: fp32, fp16", NULL, 0},
    {"N", 'N', 0, next_file, 0, "next network, if several", NULL, 0},
    {"Left", GLFW_KEY_LEFT, 0, move_pen, PEN_LEFT, "move the pen, choose a sketch", "arrows",
     REPEATS},
    {"Right", GLFW_KEY_RIGHT, 0, move_pen, PEN_RIGHT, NULL, NULL, REPEATS},
    {"Up", GLFW_KEY_UP, 0, move_pen, PEN_UP, NULL, NULL, REPEATS},
    {"Down", GLFW_KEY_DOWN, 0, move_pen, PEN_DOWN, NULL, NULL, REPEATS},
    {"Space", GLFW_KEY_SPACE, 0, move_pen, PEN_TOUCH, "pen down, up; take the sketch", NULL, 0},
    {"H", 'H', 0, switch_overlay, OVERLAY_HELP, "this list", NULL, 0},
    {"Escape", GLFW_KEY_ESCAPE, 0, escape, 0, "close this; twice: leave", NULL, TYPES},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void run(app *a, const command *c) {
    if (a->overlay != OVERLAY_PROMPT || c->when & TYPES)
        c->run(a, c->argument);
}

static const command *find(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

bool app_key(app *a, const char *name) {
    const command *c = find(name);
    if (c)
        run(a, c);
    return c != NULL;
}

const char *app_key_help(const char *name) {
    const command *c = find(name);
    return c ? c->help : NULL;
}

/* GLFW numbers keys by their position on a US keyboard; the character of the current layout takes
 * precedence. */
void app_press(app *a, int key, int scancode, int mods, bool again) {
    const char *sign = glfwGetKeyName(key, scancode);
    if (sign && sign[0] && !sign[1])
        key = toupper((unsigned char)sign[0]);
    key = key == '+' || key == GLFW_KEY_KP_ADD ? '=' : key == GLFW_KEY_KP_SUBTRACT ? '-' : key;
    key = key == GLFW_KEY_KP_ENTER ? GLFW_KEY_ENTER : key;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].key == key && commands[i].mods == (mods & GLFW_MOD_CONTROL) &&
            (commands[i].when & REPEATS || !again)) {
            run(a, &commands[i]);
            return;
        }
}

void app_each_key(void (*fn)(void *user, const char *keys, const char *help), void *user) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].help)
            fn(user, commands[i].keys ? commands[i].keys : commands[i].name, commands[i].help);
}
