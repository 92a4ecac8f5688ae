/* Sketches as scripts: those of script.h that have only the command stroke, and key with keys of
 * the brush. */
#ifndef PIX2PIX_SKETCH_H
#define PIX2PIX_SKETCH_H

#include "canvas.h"

enum { SKETCH_SIZE = 256 }; /* of the canvas that they are made for, in pixels */

/* All of it at once. False on failure, with a part of it drawn. */
bool sketch_draw(const char *path, canvas *paper);

#endif
