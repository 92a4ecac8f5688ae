/* Films as y4m, from a file, the standard input, or ffmpeg for all that is something else. The
 * window never waits for them. */
#define _POSIX_C_SOURCE 200809L

#include "source.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LINE = 512, MAX_SIDE = 8192, HEADER_MS = 10000 };

extern char **environ;

static const char magic[] = "YUV4MPEG2";

static const struct colour_space {
    const char *name;
    chroma_grid grid;
} colour_spaces[] = {
    {"420jpeg", {{0.5f, 0.5f}, {0, 0}}},      {"420", {{0.5f, 0.5f}, {0, 0}}},
    {"420mpeg2", {{0.5f, 0.5f}, {0.25f, 0}}}, {"420paldv", {{0.5f, 0.5f}, {0.25f, 0.25f}}},
    {"422", {{0.5f, 1}, {0.25f, 0}}},         {"444", {{1, 1}, {0, 0}}},
    {"mono", {{0, 0}, {0.5f, 0.5f}}},
};
static const unsigned char no_chroma = 128;

typedef struct film {
    const char *path;
    int descriptor;
    pid_t ffmpeg; /* 0: none */
    int patience; /* milliseconds */
    char line[MAX_LINE];
    size_t line_used;
    frame format;
    int rate[2];               /* frames per second: numerator, denominator */
    size_t bytes, got;         /* of a frame */
    bool in_film, in_frame;    /* after their headers */
    unsigned char *buffers[2]; /* [0] is filled, [1] was delivered */
    bool said;                 /* what is wrong with the film's end */
} film;

/* ---- reading --------------------------------------------------------------------------------- */

typedef enum read_state { READ_DONE, READ_WAIT, READ_END, READ_BAD } read_state;

/* Reads on until *got is `size`. */
static read_state read_on(const film *f, void *to, size_t size, size_t *got) {
    while (*got < size) {
        struct pollfd in = {.fd = f->descriptor, .events = POLLIN};
        if (poll(&in, 1, f->patience) == 0)
            return READ_WAIT;
        ssize_t more = read(f->descriptor, (char *)to + *got, size - *got);
        if (more < 0 && errno != EINTR && errno != EAGAIN)
            return READ_BAD;
        if (more == 0)
            return READ_END;
        *got += more > 0 ? (size_t)more : 0;
    }
    return READ_DONE;
}

/* Byte by byte: what follows is the frame. */
static read_state read_line(film *f) {
    for (;;) {
        char byte;
        size_t got = 0;
        read_state state = read_on(f, &byte, 1, &got);
        if (state != READ_DONE)
            return state;
        if (f->line_used == MAX_LINE - 1 || !byte)
            return READ_BAD;
        f->line[f->line_used++] = byte == '\n' ? '\0' : byte;
        if (byte == '\n')
            return READ_DONE;
    }
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool find_colours(film *f, const char *name) {
    size_t count = sizeof colour_spaces / sizeof *colour_spaces, i = 0;
    while (i < count && strcmp(colour_spaces[i].name, name))
        i++;
    if (i == count)
        return complain("%s: the colour space '%s' is not read, only 420jpeg, 420mpeg2, 420paldv, "
                        "422, 444 and mono, of 8 bits",
                        f->path, name);
    f->format.chroma = colour_spaces[i].grid;
    return true;
}

static bool parse_number(const char *text, char end, int *value, const char **rest) {
    char *after;
    long number = strtol(text, &after, 10);
    *value = (int)number;
    *rest = after + (*after != '\0');
    return after != text && *after == end && number > 0 && number <= 1000000;
}

static bool parse_field(film *f, const char *field) {
    const char *rest, *value = field + 1;
    bool good = true;
    if (field[0] == 'W' || field[0] == 'H') {
        int *side = field[0] == 'W' ? &f->format.width : &f->format.height;
        good = parse_number(value, '\0', side, &rest) && *side <= MAX_SIDE;
    } else if (field[0] == 'F') { /* F0:0 is unknown */
        if (!parse_number(value, ':', &f->rate[0], &rest) ||
            !parse_number(rest, '\0', &f->rate[1], &rest))
            f->rate[0] = 25, f->rate[1] = 1;
    } else if (field[0] == 'C') {
        return find_colours(f, value);
    } else if (!strcmp(field, "XCOLORRANGE=FULL")) {
        f->format.full_range = true;
    }
    return good ||
           complain("%s: '%s': sides of 1 to %d pixels are shown", f->path, field, MAX_SIDE);
}

static int chroma_side(int side, float step) {
    return step == 1 ? side : step == 0 ? 1 : (side + 1) / 2;
}

/* Planes without their bytes. */
static void lay_out(film *f) {
    frame *g = &f->format;
    f->bytes = 0;
    for (int i = 0; i < 3; i++) {
        int width = i ? chroma_side(g->width, g->chroma.step[0]) : g->width;
        int height = i ? chroma_side(g->height, g->chroma.step[1]) : g->height;
        g->planes[i] = (plane){NULL, width, height, 1, width};
        if (i == 0 || g->chroma.step[0] > 0)
            f->bytes += (size_t)width * (size_t)height;
    }
}

static bool parse_header(film *f) {
    char *rest, *field = strtok_r(f->line, " ", &rest);
    f->format = (frame){.kind = FRAME_YUV, .number = -1, .chroma = colour_spaces[0].grid};
    f->rate[0] = 25;
    f->rate[1] = 1;
    while ((field = strtok_r(NULL, " ", &rest)))
        if (!parse_field(f, field))
            return false;
    if (!f->format.width || !f->format.height)
        return complain("%s: the header has no size", f->path);
    lay_out(f);
    return true;
}

static bool is_header(const film *f) {
    return !strncmp(f->line, magic, sizeof magic - 1) || complain("%s is no y4m film", f->path);
}

/* ---- files and pipes ------------------------------------------------------------------------- */

static bool has_magic(int descriptor) {
    char start[sizeof magic - 1];
    return pread(descriptor, start, sizeof start, 0) == (ssize_t)sizeof start &&
           !memcmp(start, magic, sizeof start);
}

/* In place of the file, a pipe from ffmpeg. */
static bool start_ffmpeg(film *f) {
    char *const arguments[] = {"ffmpeg", "-nostdin",      "-loglevel", "error",
                               "-i",     (char *)f->path, "-pix_fmt",  "yuv420p",
                               "-f",     "yuv4mpegpipe",  "-",         NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    close(f->descriptor);
    f->descriptor = -1;
    if (pipe(ends))
        return complain("%s: %s", f->path, strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int failed = posix_spawnp(&f->ffmpeg, "ffmpeg", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    f->descriptor = ends[0];
    if (!failed)
        return true;
    f->ffmpeg = 0;
    return complain("%s is no y4m film, and ffmpeg, which reads others, cannot be started: %s",
                    f->path, strerror(failed));
}

static bool start(film *f) {
    bool pipe = !strcmp(f->path, "-");
    f->descriptor = pipe ? STDIN_FILENO : open(f->path, O_RDONLY | O_CLOEXEC);
    if (f->descriptor < 0)
        return complain("%s: %s", f->path, strerror(errno));
    return pipe || has_magic(f->descriptor) || start_ffmpeg(f);
}

static void stop(film *f) {
    if (f->descriptor > STDIN_FILENO)
        close(f->descriptor);
    if (f->ffmpeg) {
        kill(f->ffmpeg, SIGKILL);
        waitpid(f->ffmpeg, NULL, 0);
    }
    f->descriptor = -1;
    f->ffmpeg = 0;
    f->in_film = f->in_frame = false;
    f->got = f->line_used = 0;
}

static void close_film(void *state) {
    film *f = state;
    stop(f);
    free(f->buffers[0]);
    free(f->buffers[1]);
    free(f);
}

/* Waits for the header: sizes have to be known before there is a window. */
static bool begin(film *f) {
    if (!start(f))
        return false;
    f->patience = HEADER_MS;
    read_state state = read_line(f);
    f->patience = 0;
    if (state != READ_DONE)
        return complain(f->ffmpeg ? "%s: ffmpeg makes no film of it" : "%s is no y4m film",
                        f->path);
    f->line_used = 0;
    f->in_film = true;
    if (!is_header(f) || !parse_header(f))
        return false;
    for (int i = 0; i < 2; i++)
        if (!(f->buffers[i] = malloc(f->bytes)))
            return complain("%s: no memory for a frame", f->path);
    return true;
}

static void *open_film(const source_desc *desc, frame *first, double *period) {
    film *f = calloc(1, sizeof *f);
    if (!f) {
        complain("no memory for a film");
        return NULL;
    }
    f->path = desc->path;
    f->descriptor = -1;
    if (!begin(f)) {
        close_film(f);
        return NULL;
    }
    *first = f->format;
    *period = (double)f->rate[1] / f->rate[0];
    return f;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void deliver(film *f, frame *out) {
    unsigned char *bytes = f->buffers[0];
    f->buffers[0] = f->buffers[1];
    f->buffers[1] = bytes;
    f->format.number++;
    *out = f->format;
    for (int i = 0; i < 3; i++) {
        plane *p = &out->planes[i];
        p->data = i && f->format.chroma.step[0] == 0 ? &no_chroma : bytes;
        bytes += (size_t)p->width * (size_t)p->height;
    }
}

/* From the beginning again, unless it is a pipe, whose last frame stays. */
static source_news end(film *f) {
    if (f->format.number < 0 || !f->in_film) {
        complain("%s has no whole frame", f->path);
        return SOURCE_FAILED;
    }
    if ((f->in_frame || f->line_used) && !f->said)
        complain("%s ends within frame %lld", f->path, f->format.number + 1);
    f->said = true;
    if (f->descriptor == STDIN_FILENO)
        return SOURCE_NOTHING;
    stop(f);
    return start(f) ? SOURCE_NOTHING : SOURCE_FAILED;
}

static source_news fail_at_frame(const film *f, const char *what) {
    complain("%s: frame %lld %s", f->path, f->format.number + 1, what);
    return SOURCE_FAILED;
}

/* The film's header, when it begins again, or a frame's. False: see *news. */
static bool accept_line(film *f, source_news *news) {
    const size_t bytes = f->bytes;
    const frame before = f->format;
    f->line_used = 0;
    *news = SOURCE_FAILED;
    if (f->in_film) {
        f->in_frame = !strcmp(f->line, "FRAME") || !strncmp(f->line, "FRAME ", 6);
        if (!f->in_frame)
            fail_at_frame(f, "has no header");
        return f->in_frame;
    }
    f->in_film = true;
    *news = SOURCE_NOTHING;
    bool same = is_header(f) && parse_header(f) && f->bytes == bytes &&
                f->format.width == before.width && f->format.height == before.height;
    if (!same) {
        complain("%s is another film than before", f->path);
        *news = SOURCE_FAILED;
    }
    return false;
}

static source_news next_film(void *state, frame *out) {
    film *f = state;
    source_news news;
    read_state got = READ_DONE;
    if (!f->in_frame && (got = read_line(f)) == READ_DONE && !accept_line(f, &news))
        return news;
    if (f->in_frame)
        got = read_on(f, f->buffers[0], f->bytes, &f->got);
    if (got == READ_WAIT)
        return SOURCE_NOTHING;
    if (got == READ_END)
        return end(f);
    if (got == READ_BAD)
        return fail_at_frame(f, "cannot be read");
    f->in_frame = false;
    f->got = 0;
    deliver(f, out);
    return SOURCE_FRAME;
}

const source_kind film_source = {"film", open_film, next_film, close_film};
