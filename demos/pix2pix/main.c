/* Draw a sketch, watch the network paint it, correct its picture and teach it that. The network
 * reads the canvas as a texture and writes a texture that the window shows: on the backend gles
 * nothing is read back except to save it and for lessons. */
#include "app.h"
#include "message.h"
#include "options.h"
#include "script.h"
#include "window.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Time per frame for the network; the rest is for strokes and the window. */
static const double slice_ms = 8;

enum { LONGEST_MS = 1000 };

/* Histogram of frame times, in milliseconds. */
typedef struct frame_times {
    int count, by_ms[LONGEST_MS + 1];
} frame_times;

static void count_frame(frame_times *t, double ms) {
    t->count++;
    t->by_ms[ms < LONGEST_MS ? (int)ms : LONGEST_MS]++;
}

/* The quantile of the frame times. */
static int time_within(const frame_times *t, double share) {
    int ms = 0;
    for (double sum = t->by_ms[0]; sum < share * t->count && ms < LONGEST_MS;)
        sum += t->by_ms[++ms];
    return ms + 1;
}

/* The font of the screen that the window is on. */
static bool fit_text(app *a) {
    if (a->text_scale == a->scale)
        return true;
    if (a->text_scale > 0)
        paint_destroy(&a->painter);
    a->text_scale = a->scale;
    return paint_create(&a->painter, 15 * a->scale);
}

/* What does not change while the window is open. */
static bool make_tools(app *a, const options *o) {
    a->gallery = (gallery){.folder = o->gallery};
    a->overlay = OVERLAY_NONE;
    a->text_scale = 0; /* none is made */
    return fit_text(a) && mosaic_create(&a->mosaic);
}

static bool open_app(app *a, const options *o) {
    a->picker = (picker){.hue = 0.5f, .saturation = 0.6f, .value = 0.8f};
    picker_drag(&a->picker, (rect){0, 0, 1, 1}, 0, 0);
    a->radius = FIRST_RADIUS;
    a->pressure.off = o->even;
    a->folder = o->folder;
    if (!make_tools(a, o) || !canvas_create(&a->canvas, network_input(&a->network)->width,
                                            network_input(&a->network)->height, false))
        return false;
    teach_open(a);
    a->pen_x = (float)a->canvas.target.width / 2;
    a->pen_y = (float)a->canvas.target.height / 2;
    if (o->keeps)
        restore_open(&a->kept, &a->canvas);
    if (o->picture)
        return app_load(a, o->picture);
    if (o->restores && restore_load(&a->kept, &a->canvas, &a->painter))
        announce("the drawing of last time; Ctrl+Z: an empty canvas");
    return true;
}

static void close_app(app *a) {
    restore_close(&a->kept, &a->canvas);
    gallery_close(&a->gallery);
    gl_target_destroy(&a->picture);
    teach_leave(&a->teacher);
    canvas_destroy(&a->canvas);
    mosaic_destroy(&a->mosaic);
    paint_destroy(&a->painter);
}

/* After the driver has reset the GPU: all that was there is made again, in a new window. */
static bool recover(app *a, const options *o) {
    const settings wanted = a->network.wanted;
    restore_write(&a->kept, &a->canvas); /* there may be no other window */
    complain("the GPU was reset: going on with what was kept of the drawing");
    network_leave(&a->network);
    a->picture = (gl_target){0};
    return window_reopen(a) && make_tools(a, o) && canvas_restore(&a->canvas) && teach_restore(a) &&
           network_use(&a->network, &wanted);
}

static bool size_picture(app *a, int width, int height) {
    if (a->picture.width == width && a->picture.height == height)
        return true;
    gl_target_destroy(&a->picture);
    return gl_target_create(&a->picture, GL_RGBA8, width, height);
}

/* The picture of a blank canvas, of the size of the latest. */
static bool whiten(app *a) {
    const gl_target *as = a->picture.texture ? &a->picture : &a->canvas.target;
    if (!size_picture(a, as->width, as->height))
        return false;
    glBindFramebuffer(GL_FRAMEBUFFER, a->picture.framebuffer);
    glClearBufferfv(GL_COLOR, 0, (const float[]){1, 1, 1, 1});
    return true;
}

/* Converts the network's output into a picture that can be filtered and saved. */
static bool develop(app *a) {
    const tsr_texture *t = &a->network.picture.texture;
    const float range = a->network.high - a->network.low;
    if (!size_picture(a, t->width, t->height))
        return false;
    view_copy_picture(a, &a->picture, 1 / range, -a->network.low / range);
    return true;
}

/* A run, unless the canvas is blank, else a lesson. False if the demo cannot continue. */
static bool work(app *a) {
    bool made = network_step(&a->network, &a->canvas, slice_ms);
    if (canvas_is_blank(&a->canvas) ? !whiten(a) : made && !develop(a))
        return false;
    if (made && a->network.layer.texture.id)
        mosaic_measure(&a->mosaic, &a->network.layer);
    teach_step(a, made, slice_ms);
    return true;
}

/* False if the demo cannot continue. */
static bool draw_frame(app *a, script *s) {
    window_measure(a);
    if (!fit_text(a))
        return false;
    canvas_keep(&a->canvas);
    canvas_keep(&a->teacher.correction);
    restore_step(&a->kept, &a->canvas);
    if (s && !script_step(s, a))
        return false;
    canvas_draw(&a->canvas);
    canvas_draw(&a->teacher.correction);
    if (!gl_check("drawing a stroke"))
        return false;
    if (!work(a))
        return false;
    if (a->saves && app_is_idle(a)) {
        a->saves = false;
        app_save(a, NULL);
    }
    if (a->width > 0 && a->height > 0) /* 0: minimized */
        view_draw(a);
    bool good = (!s || script_look(s, a)) && gl_check("drawing the window");
    glfwSwapBuffers(a->window);
    return good;
}

/* How long to wait for events, in seconds: longer if idle or while a thread is working. */
static double patience(const app *a, bool hurried) {
    bool idle = app_is_idle(a);
    return idle && !hurried ? 0.25 : !idle && network_is_remote(&a->network) ? 0.01 : 0;
}

static bool run_frames(app *a, script *s, const options *o, frame_times *times) {
    double before = glfwGetTime();
    for (int i = 0; (!o->frames || i < o->frames) && !a->quit && !glfwWindowShouldClose(a->window);
         i++) {
        double seconds = patience(a, s || o->frames);
        seconds > 0 ? glfwWaitEventsTimeout(seconds) : glfwPollEvents();
        double start = glfwGetTime();
        bool good = draw_frame(a, s), lost = window_is_lost(a);
        if (lost ? !recover(a, o) : !good)
            return false;
        count_frame(times, (glfwGetTime() - start) * 1e3);
        a->longest_ms = fmax(a->longest_ms, (glfwGetTime() - start) * 1e3);
        a->frame_ms += ((glfwGetTime() - before) * 1e3 - a->frame_ms) * 0.1;
        before = glfwGetTime();
        if (s && script_has_ended(s))
            break;
    }
    return true;
}

/* The exit code. */
static int show(app *a, script *s, const options *o) {
    static frame_times times;
    int code = 3;
    window_listen(a);
    if (!open_app(a, o))
        code = 2;
    else if (network_use(&a->network, &o->settings))
        code = run_frames(a, s, o, &times) ? 0 : 2;
    if (s || o->frames)
        printf("%d frames, median %d ms, 99th percentile %d ms, longest %d ms; %d runs\n",
               times.count, time_within(&times, 0.5), time_within(&times, 0.99),
               time_within(&times, 1), a->network.runs);
    if (!a->window) /* lost, and there is no other */
        return code;
    glfwHideWindow(a->window); /* a run on a thread may still be in progress */
    close_app(a);
    return code;
}

int main(int argc, char **argv) {
    static app a; /* large */
    options o;
    script s = {0};
    int code = 2;
    if (!options_parse(argc, argv, &o))
        return 2;
    if (o.help)
        return 0;
    if (network_open(&a.network, o.models, o.model_count, o.low, o.high) &&
        (!o.script || script_open(&s, o.script)))
        code = window_open(&a) ? show(&a, o.script ? &s : NULL, &o) : 3;
    network_close(&a.network);
    teach_close(&a);
    window_close(&a);
    script_close(&s);
    return code;
}
