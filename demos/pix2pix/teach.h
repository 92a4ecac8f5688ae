/* Teaching: a person paints a correction over the network's picture, the network learns to make the
 * corrected picture of the sketch, and what it has learned can be undone. */
#ifndef PIX2PIX_TEACH_H
#define PIX2PIX_TEACH_H

#include "canvas.h"
#include "network.h"

enum { LESSONS = 8 }; /* that can be undone */

/* A model before or after a lesson. */
typedef struct knowledge {
    tsr_model *model;
    int sketch; /* the canvas's state at the end of the lesson */
} knowledge;

/* Of one model file: states, counted up. */
typedef struct history {
    knowledge states[LESSONS + 1]; /* state i is at i % (LESSONS + 1) */
    int oldest, current, newest;
} history;

typedef struct dropped_model dropped_model;

typedef struct teacher {
    canvas correction; /* over the picture; target.texture 0: nothing was painted yet */
    lesson lesson;     /* in progress; input NULL: none */
    bool wanted;       /* begin one when the picture shows the current canvas */
    bool learned;      /* the next picture is by what was learned: the correction goes */
    int steps;         /* of the lesson: complete ones */
    float loss;
    history histories[MOST_MODELS];
    int file;               /* whose lessons these are */
    dropped_model *dropped; /* to be freed when no thread reads them any more */
} teacher;

struct app;

void teach_open(struct app *a);
/* The correction, to be painted on, in pixels of the picture; NULL if that cannot be now. */
canvas *teach_paper(struct app *a);
/* Asks for a lesson. */
void teach_ask(struct app *a);
/* Once a frame, after network_step(): works on the lesson for about this many milliseconds. */
void teach_step(struct app *a, bool new_picture, double ms);
/* Whether a lesson is asked for or in progress. */
bool teach_is_busy(const teacher *t);
/* Whether the network in use has learned anything. */
bool teach_has_lessons(const teacher *t);
/* Whether strokes of a correction are there. */
bool teach_has_correction(const teacher *t);
/* False if there is nothing to undo or redo before the sketch's latest stroke. Undoing stops a
 * lesson. */
bool teach_undo(struct app *a);
bool teach_redo(struct app *a);
/* The network goes on with another file, and what was learned from there. */
void teach_choose(struct app *a, int file);
/* Drops the correction: it was of another sketch. */
void teach_forget(teacher *t);
/* In a new context, see canvas_restore(). */
bool teach_restore(struct app *a);
/* Objects of the window's context, and then, when no session is left, what was learned. */
void teach_leave(teacher *t);
void teach_close(struct app *a);

#endif
