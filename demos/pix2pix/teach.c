#include "teach.h"

#include "app.h"
#include "message.h"

#include <stdlib.h>
#include <string.h>

/* ---- the correction -------------------------------------------------------------------------- */

bool teach_has_correction(const teacher *t) {
    return t->correction.target.texture && canvas_has_strokes(&t->correction);
}

canvas *teach_paper(app *a) {
    canvas *c = &a->teacher.correction;
    const gl_target *picture = &a->picture;
    if (canvas_is_blank(&a->canvas)) {
        announce("draw a sketch first");
        return NULL;
    }
    if (!picture->texture || teach_is_busy(&a->teacher) || a->teacher.learned) {
        announce(picture->texture ? "it is learning: Ctrl+Z stops it"
                                  : "there is no picture to paint on yet");
        return NULL;
    }
    if (c->target.texture &&
        (c->target.width != picture->width || c->target.height != picture->height)) {
        canvas_destroy(c);
        *c = (canvas){.clear = true};
    }
    if (!c->target.texture && !canvas_create(c, picture->width, picture->height, true))
        return NULL;
    return c;
}

void teach_forget(teacher *t) {
    t->wanted = false;
    if (t->correction.target.texture)
        canvas_forget(&t->correction);
}

/* ---- a lesson -------------------------------------------------------------------------------- */

static bool is_learning(const teacher *t) {
    return t->lesson.input != NULL;
}

bool teach_is_busy(const teacher *t) {
    return t->wanted || is_learning(t);
}

static void end_lesson(teacher *t) {
    free(t->lesson.input);
    free(t->lesson.target);
    t->lesson = (lesson){.number = t->lesson.number};
    t->wanted = false;
}

void teach_ask(app *a) {
    teacher *t = &a->teacher;
    if (teach_is_busy(t) || t->learned)
        return;
    t->wanted = teach_has_correction(t);
    announce(t->wanted ? "learning ..." : "paint on the network's picture first: what to change");
}

/* RGBA texels of the network's picture, as the model computed them; NULL on failure. */
static float *read_picture(app *a) {
    const tsr_texture *t = &a->network.picture.texture;
    gl_target target;
    float *texels = malloc((size_t)t->width * (size_t)t->height * 4 * sizeof *texels);
    if (!texels)
        complain("no memory for a lesson");
    else if (gl_target_create(&target, GL_RGBA32F, t->width, t->height)) {
        view_copy_picture(a, &target, 1, 0);
        glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
        glReadPixels(0, 0, t->width, t->height, GL_RGBA, GL_FLOAT, texels);
        gl_target_destroy(&target);
        return texels;
    }
    free(texels);
    return NULL;
}

/* Pixels that nothing was painted on are exactly as the network has them: nothing pulls at them. */
static void correct(const app *a, const float *picture, const unsigned char *correction,
                    float *target) {
    const float low = a->network.low, range = a->network.high - low;
    size_t count = (size_t)a->picture.width * (size_t)a->picture.height;
    for (size_t i = 0; i < count * 3; i++) {
        size_t from = i % count * 4;
        float kept = 1 - (float)correction[from + 3] / 255,
              painted = (float)correction[from + i / count] / 255;
        target[i] = picture[from + i / count] * kept + painted * range + low * (1 - kept);
    }
}

static float *make_target(app *a) {
    const canvas *c = &a->teacher.correction;
    size_t count = (size_t)c->target.width * (size_t)c->target.height;
    unsigned char *correction = malloc(count * 4);
    float *target = malloc(count * 3 * sizeof *target), *picture = read_picture(a);
    bool good = correction && target && picture;
    if (good) {
        gl_read_pixels(c->target.framebuffer, c->target.width, c->target.height, correction);
        correct(a, picture, correction, target);
    } else {
        if (!correction || !target)
            complain("no memory for a lesson");
        free(target);
    }
    free(correction);
    free(picture);
    return good ? target : NULL;
}

static void begin_lesson(app *a) {
    teacher *t = &a->teacher;
    const canvas *c = &a->canvas, *r = &t->correction;
    t->wanted = false;
    canvas_end(&t->correction);
    t->lesson = (lesson){.number = t->lesson.number + 1,
                         .input = network_read_canvas(&a->network, c),
                         .target = make_target(a),
                         .input_count = 3 * (size_t)c->target.width * (size_t)c->target.height,
                         .target_count = 3 * (size_t)r->target.width * (size_t)r->target.height};
    t->steps = 0;
    if (!t->lesson.input || !t->lesson.target)
        end_lesson(t);
}

/* ---- what was learned ------------------------------------------------------------------------ */

static history *lessons(teacher *t) {
    return &t->histories[t->file];
}

static knowledge *state(history *h, int i) {
    return &h->states[i % (LESSONS + 1)];
}

struct dropped_model {
    tsr_model *model;
    dropped_model *next;
};

static void free_dropped(teacher *t) {
    while (t->dropped) {
        dropped_model *first = t->dropped;
        t->dropped = first->next;
        tsr_model_free(first->model);
        free(first);
    }
}

/* Of one that no session is made of any more; the first is the file's. Threads that are ending, and
 * lessons of the session in use, may still read it: no frame waits for them. */
static void drop(teacher *t, history *h, int i) {
    dropped_model *d = i == 0 ? NULL : malloc(sizeof *d);
    if (d) { /* otherwise it is the file's, or memory is that short */
        *d = (dropped_model){state(h, i)->model, t->dropped};
        t->dropped = d;
    }
}

static void remember(app *a, tsr_model *model) {
    history *h = lessons(&a->teacher);
    while (h->newest > h->current)
        drop(&a->teacher, h, h->newest--);
    if (h->newest - h->oldest == LESSONS)
        drop(&a->teacher, h, h->oldest++);
    *state(h, ++h->newest) = (knowledge){model, a->canvas.current};
}

static void use(app *a, int i) {
    history *h = lessons(&a->teacher);
    h->current = i;
    network_take(&a->network, state(h, i)->model);
}

void teach_choose(app *a, int file) {
    teacher *t = &a->teacher;
    teach_forget(t);
    end_lesson(t);
    t->learned = false;
    t->file = file;
    history *h = lessons(t);
    network_choose(&a->network, file, state(h, h->current)->model);
}

static void follow(app *a, learner *l) {
    teacher *t = &a->teacher;
    if (l->state == LEARNING_FAILED) {
        complain("cannot learn: %s", l->error);
        end_lesson(t);
    } else if (l->state == LEARNED) {
        end_lesson(t);
        remember(a, l->model);
        l->model = NULL;
        t->learned = true;
        use(a, lessons(t)->newest);
        announce("learned; Ctrl+Z forgets it");
    } else if (l->steps != t->steps) {
        t->steps = l->steps;
        t->loss = l->loss;
        announce("learning %d of %d, loss %.4f", t->steps, LESSON_STEPS, (double)t->loss);
    }
}

void teach_step(app *a, bool new_picture, double ms) {
    teacher *t = &a->teacher;
    const network *n = &a->network;
    if (t->dropped && n->now.model == n->model && workers_ended())
        free_dropped(t);
    bool taken = new_picture && !network_is_preparing(&a->network);
    if (t->learned && (taken || a->network.refused)) {
        teach_forget(t);
        t->learned = false;
    }
    if (t->wanted && network_is_current(&a->network, &a->canvas))
        begin_lesson(a);
    learner *l = is_learning(t) ? network_learner(&a->network) : NULL;
    if (l && l->lesson == t->lesson.number)
        follow(a, l);
    if (is_learning(t))
        network_learn(&a->network, &a->canvas, &t->lesson, ms);
}

bool teach_has_lessons(const teacher *t) {
    return t->histories[t->file].current > 0;
}

bool teach_undo(app *a) {
    teacher *t = &a->teacher;
    if (teach_is_busy(t)) {
        end_lesson(t);
        announce("stopped learning");
        return true;
    }
    if (teach_has_correction(t) && !t->learned)
        return canvas_undo(&t->correction);
    history *h = lessons(t);
    if (h->current == h->oldest || state(h, h->current)->sketch != a->canvas.current)
        return false;
    use(a, h->current - 1);
    announce("forgot the lesson; Ctrl+Y brings it back");
    return true;
}

bool teach_redo(app *a) {
    teacher *t = &a->teacher;
    if (teach_is_busy(t))
        return false;
    if (t->correction.target.texture && canvas_redo(&t->correction))
        return true;
    history *h = lessons(t);
    if (h->current == h->newest || state(h, h->current + 1)->sketch != a->canvas.current)
        return false;
    use(a, h->current + 1);
    announce("the lesson is back");
    return true;
}

/* ---- the window's life ----------------------------------------------------------------------- */

void teach_open(app *a) {
    a->teacher.correction.clear = true;
    for (int i = 0; i < a->network.file_count; i++)
        a->teacher.histories[i].states[0].model = a->network.files[i].model;
}

bool teach_restore(app *a) {
    teacher *t = &a->teacher;
    for (int f = 0; f < MOST_MODELS; f++)
        for (int i = t->histories[f].oldest; i <= t->histories[f].newest; i++)
            state(&t->histories[f], i)->sketch = a->canvas.current;
    return !t->correction.target.texture || canvas_restore(&t->correction);
}

void teach_leave(teacher *t) {
    end_lesson(t);
    if (t->correction.target.texture)
        canvas_destroy(&t->correction);
}

void teach_close(app *a) {
    teacher *t = &a->teacher;
    for (int f = 0; f < MOST_MODELS; f++)
        for (int i = t->histories[f].oldest; i <= t->histories[f].newest; i++)
            drop(t, &t->histories[f], i);
    free_dropped(t);
}
