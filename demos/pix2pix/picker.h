/* A popup to choose a colour in: a square of saturation and value, and a strip of hues. */
#ifndef PIX2PIX_PICKER_H
#define PIX2PIX_PICKER_H

#include "paint.h"

typedef struct picker {
    float hue, saturation, value;                           /* 0..1 */
    float rgb[3];                                           /* the same colour */
    enum { PICKER_FREE, PICKER_SQUARE, PICKER_STRIP } held; /* where the mouse button went down */
} picker;

/* Chooses the colour at the point (x, y); area: where the popup is. False if the point is outside.
 */
bool picker_press(picker *p, rect area, float x, float y);
/* The pointer has moved with the button down; false: it went down elsewhere. */
bool picker_drag(picker *p, rect area, float x, float y);
void picker_release(picker *p);
void picker_draw(const picker *p, painter *to, rect area, float scale);

#endif
