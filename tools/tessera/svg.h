/* What the charts of several commands have in common. */
#ifndef TESSERA_SVG_H
#define TESSERA_SVG_H

#include <stdio.h>

/* A white page of this size in pixels; style: rules of CSS for what is drawn on it. */
void svg_begin(FILE *file, int width, int height, const char *style);
void svg_end(FILE *file);

/* Any text, such as a model's name. style: more attributes, or "". */
void svg_text(FILE *file, double x, double y, const char *style, const char *text);

/* Between ticks of an axis from 0 to at least `longest`, of which there are few: 1, 2 or 5 times a
 * power of ten. */
double svg_step(double longest);

#endif
