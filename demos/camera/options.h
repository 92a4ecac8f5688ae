/* The command line. */
#ifndef CAMERA_OPTIONS_H
#define CAMERA_OPTIONS_H

#include "network.h"
#include "source.h"

typedef struct options {
    const char *model;
    source_desc source;
    settings settings;
    range range;
    bool has_range, sized, edges;
    const char *folder, *prefix, *screenshot; /* NULL: none */
    int frames;                               /* 0: until the window is closed */
    bool help;
} options;

/* False after a complaint. */
bool options_parse(int argc, char **argv, options *o);

#endif
