/* Hands for tests and for pictures of the demo: a file of commands, one a line, # begins a comment.
 *
 *     key NAME ...        presses keys as the list of keys (H) names them: key 2 + Ctrl+Z
 *     stroke X Y X Y ...  draws with the brush, a point a frame, in pixels of the canvas
 *     wait                until the picture shows what is on the canvas
 *     frames N            lets N frames go by
 *     load FILE           puts a picture on the canvas
 *     save PREFIX         writes PREFIX-input.png, PREFIX-output.png and PREFIX-both.png
 *     screenshot FILE     writes the window
 *     window W H          makes it so large
 *
 * The demo ends with the script, and with an error where a command fails. */
#ifndef PIX2PIX_SCRIPT_H
#define PIX2PIX_SCRIPT_H

#include "app.h"

typedef struct script {
    const char *path;
    char *text;       /* the file */
    char *next;       /* the next line of it */
    int line;         /* of the command that is under way */
    char *arguments;  /* of a command that goes on: the points of a stroke; NULL for none */
    int frames;       /* to let go by */
    bool waiting;     /* for the network */
    char *screenshot; /* to take when the frame is drawn; NULL for none */
} script;

bool script_open(script *s, const char *path);
void script_close(script *s);
/* Before a frame: what comes next, until something takes time. False after a complaint. */
bool script_step(script *s, app *a);
/* When a frame is drawn. False after a complaint. */
bool script_look(script *s, const app *a);
bool script_has_ended(const script *s);

#endif
