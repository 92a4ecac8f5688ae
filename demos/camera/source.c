#include "source.h"

#include "message.h"

#include <stdio.h>

enum { MOST_AT_ONCE = 8 };

static bool open_kind(source *s, const source_kind *kind) {
    s->desc.kind = kind;
    s->frame = (frame){0};
    s->fresh = false;
    s->period = s->due = 0;
    s->state = kind->open(&s->desc, &s->frame, &s->period);
    return s->state != NULL;
}

/* The window shows why; the complaint is on stderr, too. */
static bool fall_back(source *s) {
    char why[256];
    snprintf(why, sizeof why, "%s", latest_message());
    if (!open_kind(s, &pattern_source))
        return false;
    announce("%s; showing the test pattern", why);
    return true;
}

bool source_open(source *s, const source_desc *desc) {
    *s = (source){.desc = *desc};
    return open_kind(s, desc->kind) || (desc->kind == &camera_source && fall_back(s));
}

void source_close(source *s) {
    if (s->state)
        s->desc.kind->close(s->state);
    s->state = NULL;
}

static bool is_due(source *s, double now) {
    if (s->desc.every || !s->period)
        return true;
    if (now < s->due)
        return false;
    /* After a second without a look the clock starts again. */
    s->due = now - s->due > 1 ? now + s->period : s->due + s->period;
    return true;
}

void source_poll(source *s, double now) {
    for (int i = 0; i < (s->desc.every ? 1 : MOST_AT_ONCE) && s->state && is_due(s, now); i++) {
        source_news news = s->desc.kind->next(s->state, &s->frame);
        if (news == SOURCE_NOTHING)
            break;
        if (news == SOURCE_FAILED) {
            source_close(s);
            fall_back(s);
            break;
        }
        s->dropped += s->fresh;
        s->fresh = true;
    }
}
