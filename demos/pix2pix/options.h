/* The command line. */
#ifndef PIX2PIX_OPTIONS_H
#define PIX2PIX_OPTIONS_H

#include "network.h"

typedef struct options {
    const char *models[MOST_MODELS]; /* the first is used first */
    int model_count;
    const char *gallery, *folder, *script;
    const char *picture; /* loaded first; NULL: the drawing of last time, else a white canvas */
    settings settings;
    float low, high;
    bool even;  /* strokes of the mouse have one width, whatever their speed */
    int frames; /* 0: until the window is closed */
    bool help;
    bool restores; /* bring the drawing of last time back */
    bool keeps;    /* keep the drawing for the next time */
} options;

/* False on failure. */
bool options_parse(int argc, char **argv, options *o);

#endif
