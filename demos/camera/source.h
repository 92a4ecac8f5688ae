/* Where frames come from: a camera, a film or a pattern, one file each. */
#ifndef CAMERA_SOURCE_H
#define CAMERA_SOURCE_H

#include "frame.h"

typedef struct source_desc {
    const struct source_kind *kind;
    const char *path;  /* of the device or the film */
    int width, height; /* wanted; films keep theirs */
    bool every;        /* the next frame, not the newest; without a clock */
} source_desc;

typedef enum source_news {
    SOURCE_NOTHING, /* no frame has arrived since */
    SOURCE_FRAME,
    SOURCE_FAILED, /* complained; it can only be closed */
} source_news;

/* One kind's functions. None waits, but open() for a device or a header. */
typedef struct source_kind {
    const char *name;
    /* Its state, and in *first the size of frames; NULL after a complaint. */
    void *(*open)(const source_desc *desc, frame *first, double *period);
    /* The frame's bytes are valid until the next call. */
    source_news (*next)(void *state, frame *f);
    void (*close)(void *state);
} source_kind;

extern const source_kind camera_source, film_source, pattern_source;

typedef struct source {
    source_desc desc;
    void *state;
    double period; /* seconds between frames; 0: they come when they come */
    double due;    /* when the next one is to be taken, by the caller's clock */
    frame frame;   /* the newest */
    bool fresh;    /* it has not been used yet */
    long long dropped;
} source;

/* A camera that cannot be used is replaced by the pattern. False after a complaint. */
bool source_open(source *s, const source_desc *desc);
/* Takes what has arrived by now, in seconds; the newest frame wins. A source that fails is replaced
 * by the pattern. */
void source_poll(source *s, double now);
void source_close(source *s);

#endif
