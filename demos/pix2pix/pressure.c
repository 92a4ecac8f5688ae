#include "pressure.h"

#include <math.h>

/* Pixels of the canvas in a second at which a stroke is as broad as the brush. */
static const float usual_speed = 250;
/* How fast the width follows, in seconds. */
static const double delay = 0.06;
/* Several events come at once, and all have the time of the frame then. */
static const double least_time = 0.004;

void pressure_begin(pressure *p, float x, float y, double time) {
    *p = (pressure){.off = p->off, .x = x, .y = y, .time = time, .width = 1};
}

float pressure_move(pressure *p, float x, float y, double time) {
    double passed = time - p->time;
    p->way += hypotf(x - p->x, y - p->y);
    p->x = x;
    p->y = y;
    if (p->off || passed < least_time)
        return p->width;
    float speed = p->way / (float)passed;
    float width = 0.75f + 0.5f / (1 + speed / usual_speed); /* 1 at the usual speed */
    p->width += (width - p->width) * (float)(1 - exp(-passed / delay));
    p->way = 0;
    p->time = time;
    return p->width;
}
