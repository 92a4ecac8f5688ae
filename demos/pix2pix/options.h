/* The command line. */
#ifndef PIX2PIX_OPTIONS_H
#define PIX2PIX_OPTIONS_H

#include "runner.h"

typedef struct options {
    const char *model, *gallery, *folder, *script;
    const char *picture; /* loaded first; NULL: a white canvas */
    settings settings;
    float low, high;
    bool even;  /* strokes of the mouse have one width, whatever their speed */
    int frames; /* 0: until the window is closed */
    bool help;
} options;

/* False on failure. */
bool options_parse(int argc, char **argv, options *o);

#endif
