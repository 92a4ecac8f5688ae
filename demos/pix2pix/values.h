/* Values of command-line options that the windows have in common. False after a complaint. */
#ifndef PIX2PIX_VALUES_H
#define PIX2PIX_VALUES_H

#include <stdbool.h>
#include <tessera.h>

/* LO:HI */
bool parse_range(const char *text, float *low, float *high);
bool parse_precision(const char *text, tsr_precision *precision);
/* A number from 1 on. */
bool parse_frames(const char *text, int *frames);

#endif
