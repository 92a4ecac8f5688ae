/* Scripts for tests and for pictures of the demo: one command per line, # begins a comment.
 *
 *     key NAME ...        press keys, named as in the list of keys (H): key 2 + Ctrl+Z
 *     stroke X Y X Y ...  draw a stroke, one point per frame, in canvas pixels
 *     paint X Y X Y ...   the same on the network's picture, in its pixels
 *     wait                wait until the output shows the current canvas, and lessons are over
 *     ready               wait until no session is being made
 *     frames N            wait for N frames
 *     longest TEXT        print the longest frame since the last one, after TEXT
 *     click NAME | X Y    click on the button of this key, or on a pixel of the window
 *     hover NAME | X Y    the same without the mouse button
 *     type TEXT           type text, of ASCII
 *     load FILE           load a picture into the canvas
 *     save PREFIX         write PREFIX-input.png, PREFIX-output.png and PREFIX-both.png
 *     screenshot FILE     save the window as a picture
 *     film PREFIX N       save the window as PREFIX-0001.png, -0002.png, ... after every N points
 *                         of strokes, with the network's picture of them
 *     window W H          resize the window
 *     lose                go on as if the driver had reset the GPU
 *
 * The demo exits at the end of the script, or with an error when a command fails. */
#ifndef PIX2PIX_SCRIPT_H
#define PIX2PIX_SCRIPT_H

#include "app.h"

typedef struct script {
    const char *path;
    char *text;                              /* the file */
    char *next;                              /* the next line */
    int line;                                /* of the current command */
    char *arguments;                         /* the remaining points of a stroke; NULL: no stroke */
    canvas *paper;                           /* that it is drawn on */
    int frames;                              /* still to wait for */
    bool waiting;                            /* for the network */
    bool preparing;                          /* the same, for a session that is being made */
    char *screenshot;                        /* path, saved when the frame is drawn; NULL: none */
    const char *film;                        /* prefix of a film's frames; NULL: no film is made */
    int film_step, film_points, film_frames; /* points of a frame, of strokes so far; so far */
    bool filming;                            /* waiting for the network, for the film */
    char film_path[1024];
} script;

/* Reads all of it. */
bool script_open(script *s, const char *path);
void script_close(script *s);
/* The command of the next line, "" if it has none, and what follows it without spaces around; both
 * within the text. NULL at the end. */
char *script_next_command(script *s, char **rest);
/* The next pair of numbers in a text, which it leaves behind; false at the end, or if it is
 * malformed: then wrong. */
bool script_next_point(char **text, float *x, float *y, bool *wrong);
/* Before a frame: executes commands until one has to wait. False on failure. */
bool script_step(script *s, app *a);
/* After a frame was drawn. False on failure. */
bool script_look(script *s, const app *a);
bool script_has_ended(const script *s);

#endif
