/* A camera, a film or a pattern through a network from pictures to pictures, in a window. A frame
 * is uploaded once; the network reads a texture and its output is drawn: on the backend gles
 * nothing is read back but to save it. */
#include "app.h"
#include "display.h"
#include "message.h"
#include "picture.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Time per frame for the network; the rest is for the window. */
static const double slice_ms = 8;

/* ---- the window ------------------------------------------------------------------------------ */

static bool open_window(app *a) {
    if (!display_begin("no display; xvfb-run needs none"))
        return false;
    a->window = glfwCreateWindow(1120, 520, "Tessera: camera", NULL, NULL);
    if (!display_use(a->window))
        return false;
    keys_listen(a);
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The place of the frame in the network's output, which is larger or smaller than its input. */
static place place_in_output(const app *a) {
    const gl_target *picture = &a->pictures[!a->shown];
    const picture_sizes *s = &a->network.model.sizes;
    place p = frame_place(picture->width, picture->height, s->in_width, s->in_height);
    double across = (double)s->out_width / s->in_width;
    double down = (double)s->out_height / s->in_height;
    return (place){(int)lround(p.x * across), (int)lround(p.y * down),
                   (int)fmax(lround(p.width * across), 1), (int)fmax(lround(p.height * down), 1)};
}

/* Cuts the bars off. False if the demo cannot continue. */
static bool take_result(app *a) {
    const place p = place_in_output(a);
    const float w = (float)a->output.width, h = (float)a->output.height;
    if (a->result.width != p.width || a->result.height != p.height) {
        gl_target_destroy(&a->result);
        if (!gl_target_create(&a->result, GL_RGBA8, p.width, p.height))
            return false;
    }
    paint_begin(&a->painter, &a->result, p.width, p.height);
    paint_image(&a->painter, a->output.texture, (rect){0, 0, (float)p.width, (float)p.height},
                (rect){(float)p.x / w, (float)p.y / h, (float)p.width / w, (float)p.height / h}, 1,
                0);
    paint_end(&a->painter);
    a->shown = !a->shown;
    a->results++;
    double now = glfwGetTime(), since = now - a->last;
    a->interval = a->results < 3 ? since : a->interval + (since - a->interval) * 0.1;
    a->last = now;
    return true;
}

static bool begin_run(app *a) {
    gl_target *picture = &a->pictures[!a->shown];
    if (!converter_draw(&a->converter, &a->source.frame, picture))
        return false;
    a->source.fresh = false;
    converter_fit(&a->converter, picture, &a->input, a->edges);
    network_begin(&a->network, &a->input);
    return true;
}

/* Before the first result, frames are shown alone. */
static bool show_source(app *a) {
    return a->result.texture || a->network.running || !a->source.fresh ||
           converter_draw(&a->converter, &a->source.frame, &a->pictures[a->shown]);
}

/* False if the demo cannot continue. */
static bool work(app *a) {
    network *n = &a->network;
    bool waits = a->source.desc.every && (n->running || a->source.fresh);
    if (!a->paused && !waits)
        source_poll(&a->source, glfwGetTime());
    if (!a->source.state || !show_source(a))
        return false;
    if (!network_prepare(n, n->now.exists ? slice_ms / 2 : slice_ms) || !n->now.exists ||
        (!n->running && !a->source.fresh))
        return true;
    if (!n->running && !begin_run(a))
        return false;
    bool done = n->running && network_step(n, slice_ms, &a->output);
    return (!done || take_result(a)) && gl_check("running the network");
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool screenshot(const app *a, const char *path) {
    unsigned char *rgb = picture_read(0, a->width, a->height, true);
    bool good = rgb && picture_write(path, rgb, a->width, a->height);
    free(rgb);
    return good;
}

/* What is asked for after the last picture. */
static bool finish(app *a, const options *o) {
    a->quit = true;
    return (!o->prefix || app_save(a, o->prefix)) &&
           (!o->screenshot || screenshot(a, o->screenshot));
}

/* The exit code; 0: goes on. */
static int draw_frame(app *a, const options *o) {
    display_measure(a->window, &a->width, &a->height, &a->scale);
    if (!work(a) || (o->frames && network_has_failed(&a->network)))
        return 3;
    if (a->width > 0 && a->height > 0) /* 0: minimized */
        view_draw(a);
    if (o->frames && a->results >= o->frames && !finish(a, o))
        return 2;
    if (!gl_check("drawing the window"))
        return 3;
    glfwSwapBuffers(a->window);
    return 0;
}

/* How long to wait for events, in seconds: longer if idle or while a thread is working. */
static double patience(const app *a) {
    const network *n = &a->network;
    return a->paused && !network_is_preparing(n) ? 0.1
           : n->now.session || n->next.session   ? 0
                                                 : 0.01;
}

/* The exit code. */
static int run_frames(app *a, const options *o) {
    int code = 0;
    while (!code && !a->quit && !glfwWindowShouldClose(a->window)) {
        const double seconds = patience(a);
        seconds > 0 ? glfwWaitEventsTimeout(seconds) : glfwPollEvents();
        double *longest = &a->longest_ms[network_is_preparing(&a->network)];
        const double start = glfwGetTime();
        const bool counts = a->network.now.exists;
        code = draw_frame(a, o);
        if (counts)
            *longest = fmax(*longest, (glfwGetTime() - start) * 1e3);
    }
    printf("%lld pictures, the latest in %.1f ms, %lld frames dropped; ", a->results, a->network.ms,
           a->source.dropped);
    printf("longest frame %.0f ms, while a session was made %.0f ms\n", a->longest_ms[0],
           a->longest_ms[1]);
    return code;
}

static bool open_app(app *a, const options *o) {
    const picture_sizes *s = &a->network.model.sizes;
    a->edges = o->edges;
    a->folder = o->folder;
    a->split = 0.5f;
    display_measure(a->window, &a->width, &a->height, &a->scale);
    return paint_create(&a->painter, 15 * a->scale) && converter_create(&a->converter) &&
           gl_target_create(&a->input, GL_RGBA8, s->in_width, s->in_height) &&
           gl_target_create(&a->output, GL_RGBA8, s->out_width, s->out_height);
}

static void close_app(app *a) {
    gl_target *const targets[] = {&a->pictures[0], &a->pictures[1], &a->input, &a->output,
                                  &a->result};
    for (int i = 0; i < 5; i++)
        gl_target_destroy(targets[i]);
    converter_destroy(&a->converter);
    paint_destroy(&a->painter);
}

static int show(app *a, const options *o) {
    int code = 3;
    if (open_app(a, o)) {
        network_use(&a->network, &o->settings); /* else the window says so, and B goes on */
        code = run_frames(a, o);
    }
    glfwHideWindow(a->window);  /* a run on a thread may still be in progress */
    network_close(&a->network); /* in its context */
    close_app(a);
    return code;
}

/* What needs no window. */
static bool prepare(app *a, const options *o) {
    network *n = &a->network;
    if (!source_open(&a->source, &o->source))
        return false;
    int width = o->sized ? o->source.width : a->source.frame.width;
    int height = o->sized ? o->source.height : a->source.frame.height;
    const picture_model *m = &n->model;
    if (!model_open(&n->model, o->model, width, height))
        return false;
    n->in = n->out = o->range;
    return o->has_range || ranges_read(m->onnx, o->model, m->input, m->output, &n->in, &n->out);
}

int main(int argc, char **argv) {
    static app a; /* large */
    options o;
    int code = 2;
    if (!options_parse(argc, argv, &o))
        return 2;
    if (o.help)
        return 0;
    if (prepare(&a, &o))
        code = open_window(&a) ? show(&a, &o) : 3;
    network_close(&a.network);
    source_close(&a.source);
    if (a.window)
        glfwDestroyWindow(a.window);
    glfwTerminate();
    return code;
}
