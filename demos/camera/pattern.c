/* A moving pattern, which a shader draws: frames are numbers. */
#include "source.h"

#include "message.h"

#include <stdlib.h>

static void *open_pattern(const source_desc *desc, frame *first, double *period) {
    frame *f = calloc(1, sizeof *f);
    if (!f) {
        complain("no memory for a pattern");
        return NULL;
    }
    *f = (frame){.kind = FRAME_PATTERN, .width = desc->width, .height = desc->height, .number = -1};
    *first = *f;
    *period = 1 / 30.0;
    return f;
}

static source_news next_pattern(void *state, frame *f) {
    frame *latest = state;
    latest->number++;
    *f = *latest;
    return SOURCE_FRAME;
}

const source_kind pattern_source = {"test pattern", open_pattern, next_pattern, free};
