/* Keeps the drawing in a file, so that it comes back at the next start: after the program has
 * ended, and after it was killed. */
#ifndef PIX2PIX_RESTORE_H
#define PIX2PIX_RESTORE_H

#include "canvas.h"

typedef struct drawing_file {
    char path[4096];  /* "": nothing is kept */
    unsigned version; /* of the canvas that is in it */
    double written;   /* when, on GLFW's clock, in seconds */
} drawing_file;

/* In $XDG_STATE_HOME/tessera/pix2pix, else in ~/.local/state/tessera/pix2pix, made if missing. */
void restore_open(drawing_file *f, const canvas *c);
/* Puts the drawing of last time on the canvas. False if there is none: a file that is damaged is
 * reported. */
bool restore_load(drawing_file *f, canvas *c, painter *p);
/* Once a frame: writes what canvas_keep() has fetched, if it is new, every few seconds at most. */
void restore_step(drawing_file *f, const canvas *c);
/* Writes what canvas_keep() has fetched, if it is new, at once. */
void restore_write(drawing_file *f, const canvas *c);
/* Writes the drawing as it is. */
void restore_close(drawing_file *f, canvas *c);

#endif
