#define _POSIX_C_SOURCE 200809L

#include "script.h"

#include "message.h"
#include "window.h"

#include <GLFW/glfw3.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool script_open(script *s, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t size = 0, capacity = 1 << 20;
    *s = (script){.path = path, .text = malloc(capacity + 1)};
    if (file && s->text)
        size = fread(s->text, 1, capacity, file);
    bool good = file && s->text && !ferror(file) && size < capacity;
    if (!good)
        complain("%s: %s", path,
                 size == capacity ? "a script has less than 1 MiB" : strerror(errno));
    if (file)
        fclose(file);
    if (!good) {
        script_close(s);
        return false;
    }
    s->text[size] = '\0';
    s->next = s->text;
    return true;
}

void script_close(script *s) {
    free(s->text);
    *s = (script){0};
}

char *script_next_command(script *s, char **rest) {
    if (!*s->next)
        return NULL;
    char *line = s->next;
    size_t length = strcspn(line, "\n");
    s->next = line + length + (line[length] == '\n');
    s->line++;
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    *rest = line + strcspn(line, " \t");
    if (**rest)
        *(*rest)++ = '\0';
    for (*rest += strspn(*rest, " \t"); **rest && strchr(" \t", (*rest)[strlen(*rest) - 1]);)
        (*rest)[strlen(*rest) - 1] = '\0';
    return line;
}

bool script_next_point(char **text, float *x, float *y, bool *wrong) {
    char *end;
    *x = strtof(*text, &end);
    bool more = end != *text;
    char *second = end;
    *y = strtof(second, &end);
    bool pair = more && end != second;
    *wrong = !pair && (*text)[strspn(*text, " \t")] != '\0';
    *text = end;
    return pair;
}

static bool fail(const script *s, const char *problem, const char *what) {
    return complain("%s:%d: %s%s", s->path, s->line, problem, what);
}

/* ---- commands, each with the rest of its line ------------------------------------------------ */

static bool press_keys(script *s, app *a, char *rest) {
    char *left;
    for (char *name = strtok_r(rest, " \t", &left); name; name = strtok_r(NULL, " \t", &left))
        if (!app_key(a, name))
            return fail(s, "no such key: ", name);
    return true;
}

static bool go_on_drawing(script *s, app *a) {
    float x, y;
    bool wrong;
    brush b = app_brush(a);
    bool more = script_next_point(&s->arguments, &x, &y, &wrong);
    if (wrong)
        return fail(s, "a stroke is pairs of numbers", "");
    if (more && s->paper->drawing)
        canvas_extend(s->paper, &b, x, y);
    else if (more)
        canvas_begin(s->paper, &b, x, y);
    if (more) {
        s->filming = s->film && ++s->film_points % s->film_step == 0;
        s->waiting = s->filming;
        return true;
    }
    canvas_end(s->paper);
    s->arguments = NULL;
    return true;
}

static bool start_on(script *s, app *a, canvas *paper, char *rest) {
    canvas_end(paper);
    s->paper = paper;
    s->arguments = rest;
    return go_on_drawing(s, a);
}

static bool start_stroke(script *s, app *a, char *rest) {
    return start_on(s, a, &a->canvas, rest);
}

static bool start_painting(script *s, app *a, char *rest) {
    canvas *paper = teach_paper(a);
    return paper ? start_on(s, a, paper, rest) : fail(s, "nothing can be painted on now", "");
}

/* A key's button, or a pixel of the window. */
static bool point(script *s, app *a, char *rest) {
    float x, y;
    char more;
    if (!buttons_find(a, rest, &x, &y) && sscanf(rest, "%f %f %c", &x, &y, &more) != 2)
        return fail(s, "no such button, nor a pixel: ", rest);
    window_move(a, x, y);
    return true;
}

static bool click(script *s, app *a, char *rest) {
    if (!point(s, a, rest))
        return false;
    window_press(a);
    window_release(a);
    return true;
}

static bool type_text(script *s, app *a, char *rest) {
    (void)s;
    for (; *rest; rest++) /* ASCII */
        app_type(a, (unsigned char)*rest);
    return true;
}

static bool start_preparing(script *s, app *a, char *rest) {
    (void)a;
    (void)rest;
    s->preparing = true;
    return true;
}

static bool start_waiting(script *s, app *a, char *rest) {
    (void)a;
    (void)rest;
    s->waiting = true;
    return true;
}

static bool count_frames(script *s, app *a, char *rest) {
    char *end;
    long frames = strtol(rest, &end, 10);
    (void)a;
    s->frames = frames > 0 && frames <= 1000000000 && !*end ? (int)frames : 0;
    return s->frames > 0 || fail(s, "frames expects a number, not ", rest);
}

static bool load(script *s, app *a, char *rest) {
    return app_load(a, rest) || fail(s, "load failed", "");
}

static bool save(script *s, app *a, char *rest) {
    return app_save(a, rest) || fail(s, "save failed", "");
}

static bool take_screenshot(script *s, app *a, char *rest) {
    (void)a;
    s->screenshot = rest;
    return true;
}

static bool start_film(script *s, app *a, char *rest) {
    char *last = strrchr(rest, ' ');
    long points = last ? strtol(last, NULL, 10) : 0;
    (void)a;
    if (points < 1 || points > 1000000)
        return fail(s, "film expects a prefix and a number of points, not ", rest);
    *last = '\0';
    s->film = rest;
    s->film_step = (int)points;
    s->film_points = s->film_frames = 0;
    return true;
}

/* The picture of what is on the canvas is there. */
static bool take_film_frame(script *s) {
    int length =
        snprintf(s->film_path, sizeof s->film_path, "%s-%04d.png", s->film, ++s->film_frames);
    s->filming = false;
    if (length < 0 || length >= (int)sizeof s->film_path)
        return fail(s, "the name is too long: ", s->film);
    s->screenshot = s->film_path;
    return true;
}

static bool resize_window(script *s, app *a, char *rest) {
    enum { WIDEST = 16384 }; /* drivers crash on windows larger than the maximum texture */
    int width = 0, height = 0;
    if (sscanf(rest, "%5d %5d", &width, &height) != 2 || width < 1 || height < 1 ||
        width > WIDEST || height > WIDEST)
        return fail(s, "window expects two sizes of 1 to 16384, not ", rest);
    glfwSetWindowSize(a->window, width, height);
    s->frames = 3; /* until the window system has resized it */
    return true;
}

static bool lose(script *s, app *a, char *rest) {
    (void)rest;
    a->lost = true;
    s->frames = 1;
    return true;
}

static bool print_longest(script *s, app *a, char *rest) {
    (void)s;
    printf("%s: longest frame %.0f ms\n", rest, a->longest_ms);
    a->longest_ms = 0;
    return true;
}

static const struct {
    const char *name;
    bool (*run)(script *s, app *a, char *rest);
} commands[] = {
    {"key", press_keys},
    {"stroke", start_stroke},
    {"paint", start_painting},
    {"wait", start_waiting},
    {"frames", count_frames},
    {"load", load},
    {"save", save},
    {"screenshot", take_screenshot},
    {"window", resize_window},
    {"lose", lose},
    {"longest", print_longest},
    {"ready", start_preparing},
    {"click", click},
    {"hover", point},
    {"type", type_text},
    {"film", start_film},
};

static bool run_command(script *s, app *a, const char *name, char *rest) {
    if (!*name)
        return true;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].run(s, a, rest);
    return fail(s, "no such command: ", name);
}

/* Whether the current command continues. */
static bool is_busy(script *s, const app *a) {
    s->frames -= s->frames > 0;
    s->waiting = s->waiting && !a->network.refused && !(a->picture.texture && app_is_idle(a));
    s->preparing = s->preparing && network_is_preparing(&a->network);
    return s->frames > 0 || s->waiting || s->preparing || s->screenshot;
}

bool script_step(script *s, app *a) {
    bool was_waiting = s->waiting, busy = is_busy(s, a);
    if (was_waiting && a->network.refused)
        return fail(s, "what was asked for cannot run", "");
    if (s->filming && !busy)
        return take_film_frame(s);
    if (s->arguments && !busy)
        return go_on_drawing(s, a);
    for (char *name, *rest; !busy && (name = script_next_command(s, &rest));) {
        if (!run_command(s, a, name, rest))
            return false;
        busy = s->frames > 0 || s->waiting || s->preparing || s->screenshot || s->arguments;
    }
    return true;
}

bool script_look(script *s, const app *a) {
    const char *path = s->screenshot;
    s->screenshot = NULL;
    return !path || app_screenshot(a, path) || fail(s, "screenshot failed", "");
}

bool script_has_ended(const script *s) {
    return !*s->next && !s->arguments && !s->frames && !s->waiting && !s->preparing &&
           !s->screenshot;
}
