#define _POSIX_C_SOURCE 200809L
#include "film.h"
#include "picture.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINE = 512, MAX_SIDE = 32768 };

static const char magic[] = "YUV4MPEG2";

/* ---- reading --------------------------------------------------------------------------------- */

/* *got is less than `bytes` only at the end. */
static tsr_status read_bytes(const film_reader *film, unsigned char *data, size_t bytes,
                             size_t *got) {
    *got = 0;
    while (*got < bytes) {
        ssize_t more = read(film->descriptor, data + *got, bytes - *got);
        if (more < 0 && errno != EINTR)
            return fail(TSR_ERROR_IO, "%s cannot be read: %s", film->name, strerror(errno));
        if (more == 0)
            return TSR_OK;
        *got += more > 0 ? (size_t)more : 0;
    }
    return TSR_OK;
}

static tsr_status fail_kind(const film_reader *film) {
    return fail(TSR_ERROR_INVALID_ARGUMENT,
                "%s is no y4m film; raw frames need their size: --frame WxH", film->name);
}

/* Without its end; *there: not at the end of the file. Byte by byte: what follows is the frame. */
static tsr_status read_line(const film_reader *film, char line[MAX_LINE], bool *there) {
    size_t used = 0, got;
    for (;;) {
        unsigned char byte;
        TRY(read_bytes(film, &byte, 1, &got));
        if (got == 0 || byte == '\n')
            break;
        if (used == MAX_LINE - 1 || byte == 0)
            return fail_kind(film);
        line[used++] = (char)byte;
    }
    line[used] = '\0';
    *there = got || used;
    return got || !used ? TSR_OK
                        : fail(TSR_ERROR_IO, "%s ends within the header of frame %lld", film->name,
                               (long long)film->frames);
}

static bool parse_side(const char *text, int *side) {
    char *end;
    long value = strtol(text, &end, 10);
    *side = (int)value;
    return end != text && !*end && value >= 1 && value <= MAX_SIDE;
}

static bool parse_rate(const char *text, int64_t rate[2]) {
    char *end;
    rate[0] = strtoll(text, &end, 10);
    if (end == text || *end != ':')
        return false;
    text = end + 1;
    rate[1] = strtoll(text, &end, 10);
    return end != text && !*end && rate[0] >= 0 && rate[1] >= 0 && rate[0] <= INT_MAX &&
           rate[1] <= INT_MAX;
}

static tsr_status parse_field(const film_reader *film, const char *field, film_format *format) {
    bool good = true;
    const char *value = field + 1;
    if (field[0] == 'W' || field[0] == 'H')
        good = parse_side(value, field[0] == 'W' ? &format->width : &format->height);
    else if (field[0] == 'F')
        good = parse_rate(value, format->rate);
    else if (field[0] == 'A')
        good = snprintf(format->aspect, sizeof format->aspect, "%s", value) <
               (int)sizeof format->aspect;
    else if (field[0] == 'I' && (value[0] == 't' || value[0] == 'b' || value[0] == 'm'))
        note("%s is interlaced, which is ignored: frames are run as they are", film->name);
    else if (strcmp(field, "XCOLORRANGE=FULL") == 0)
        format->yuv.full_range = true;
    else if (field[0] == 'C' && !yuv_find(value, &format->yuv.chroma))
        return fail(TSR_ERROR_UNSUPPORTED,
                    "%s: the colour space '%s' is not read, only 420jpeg, 420mpeg2, 420paldv, 422, "
                    "444 and mono, of 8 bits",
                    film->name, value);
    return good ? TSR_OK
                : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: '%s' in the header is not valid y4m",
                       film->name, field);
}

/* Fields of the header, which is split in place. */
static tsr_status parse_header(const film_reader *film, char *line, film_format *format) {
    *format = (film_format){.is_y4m = true};
    char *rest, *field = strtok_r(line, " ", &rest);
    if (!field || strcmp(field, magic) != 0)
        return fail_kind(film);
    while ((field = strtok_r(NULL, " ", &rest)))
        TRY(parse_field(film, field, format));
    return format->width && format->height
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: the header has no size", film->name);
}

static tsr_status make_room(film_reader *film) {
    const film_format *f = &film->format;
    size_t pixels = (size_t)f->width * (size_t)f->height * 3;
    film->rgb = calloc(pixels, 1);
    film->bytes = f->is_y4m ? yuv_bytes(f->yuv, f->width, f->height) : pixels;
    film->stored = f->is_y4m ? malloc(film->bytes) : film->rgb;
    return film->rgb && film->stored
               ? TSR_OK
               : fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory for a frame", film->name);
}

static tsr_status begin(film_reader *film, int width, int height, int most_megapixels) {
    char line[MAX_LINE];
    bool there;
    film->format = (film_format){.width = width, .height = height};
    if (!width) {
        TRY(read_line(film, line, &there));
        TRY(parse_header(film, line, &film->format));
    }
    TRY(picture_check(film->name, film->format.width, film->format.height, most_megapixels));
    return make_room(film);
}

tsr_status film_open(film_reader *film, const char *path, int width, int height,
                     int most_megapixels) {
    bool pipe = strcmp(path, "-") == 0;
    *film = (film_reader){.name = pipe ? "the standard input" : path,
                          .descriptor = pipe ? STDIN_FILENO : open(path, O_RDONLY)};
    if (film->descriptor < 0)
        return fail(TSR_ERROR_IO, "%s: %s", path, strerror(errno));
    tsr_status status = begin(film, width, height, most_megapixels);
    if (status != TSR_OK)
        film_close(film);
    return status;
}

void film_close(film_reader *film) {
    if (film->stored != film->rgb)
        free(film->stored);
    free(film->rgb);
    if (film->descriptor > STDIN_FILENO)
        close(film->descriptor);
    *film = (film_reader){.descriptor = -1};
}

/* A film may be followed by another one of its kind. */
static tsr_status check_next_header(const film_reader *film, char *line) {
    film_format next;
    const film_format *f = &film->format;
    TRY(parse_header(film, line, &next));
    if (next.width != f->width || next.height != f->height)
        return fail(TSR_ERROR_SHAPE, "%s: frame %lld is %d x %d, those before are %d x %d",
                    film->name, (long long)film->frames, next.width, next.height, f->width,
                    f->height);
    if (next.yuv.full_range != f->yuv.full_range)
        return fail(TSR_ERROR_INVALID_ARGUMENT,
                    "%s: frame %lld is of another XCOLORRANGE than those before", film->name,
                    (long long)film->frames);
    return next.yuv.chroma == f->yuv.chroma
               ? TSR_OK
               : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: frame %lld is %s, those before are %s",
                      film->name, (long long)film->frames, yuv_name(next.yuv.chroma),
                      yuv_name(f->yuv.chroma));
}

static tsr_status read_frame_header(const film_reader *film, bool *there) {
    char line[MAX_LINE];
    TRY(read_line(film, line, there));
    if (strncmp(line, magic, strlen(magic)) == 0) {
        TRY(check_next_header(film, line));
        TRY(read_line(film, line, there));
    }
    bool good = !*there || strcmp(line, "FRAME") == 0 || strncmp(line, "FRAME ", 6) == 0;
    return good ? TSR_OK
                : fail(TSR_ERROR_INVALID_ARGUMENT, "%s: frame %lld has no header", film->name,
                       (long long)film->frames);
}

tsr_status film_read(film_reader *film, bool *there) {
    size_t got;
    const film_format *f = &film->format;
    *there = true;
    if (f->is_y4m)
        TRY(read_frame_header(film, there));
    if (!*there)
        return film->frames ? TSR_OK
                            : fail(TSR_ERROR_INVALID_ARGUMENT, "%s has no frame", film->name);
    TRY(read_bytes(film, film->stored, film->bytes, &got));
    if (got == 0 && !f->is_y4m) {
        *there = false;
        return TSR_OK;
    }
    if (got < film->bytes)
        return fail(TSR_ERROR_IO, "%s ends within frame %lld: %zu bytes of %zu", film->name,
                    (long long)film->frames, got, film->bytes);
    if (f->is_y4m)
        yuv_to_rgb(f->yuv, f->width, f->height, film->stored, film->rgb);
    film->frames++;
    return TSR_OK;
}

bool film_waits(const film_reader *film) {
    struct pollfd in = {.fd = film->descriptor, .events = POLLIN};
    return poll(&in, 1, 0) == 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static FILE *file_of(const film_writer *film) {
    return film->file.file ? film->file.file : stdout;
}

static tsr_status fail_to_write(const film_writer *film) {
    return fail(TSR_ERROR_IO, "%s cannot be written to: %s",
                film->file.file ? film->path : "the standard output", strerror(errno));
}

/* The rate is 25 where the input has none: pictures, raw frames. */
static bool write_header(const film_writer *film) {
    const film_format *f = &film->format;
    bool known = f->rate[0] > 0 && f->rate[1] > 0;
    return fprintf(file_of(film), "%s W%d H%d F%lld:%lld Ip A%s C%s%s\n", magic, f->width,
                   f->height, known ? (long long)f->rate[0] : 25LL,
                   known ? (long long)f->rate[1] : 1LL, f->aspect[0] ? f->aspect : "0:0",
                   yuv_name(f->yuv.chroma), f->yuv.full_range ? " XCOLORRANGE=FULL" : "") > 0;
}

static tsr_status begin_writing(film_writer *film, int width, int height, bool gray) {
    film_format *f = &film->format;
    f->width = width;
    f->height = height;
    if (f->yuv.chroma == YUV_MONO && !gray)
        f->yuv.chroma = YUV_444;
    note("%s: a film of %d x %d, %s", strcmp(film->path, "-") == 0 ? "output" : film->path, width,
         height, f->is_y4m ? yuv_name(f->yuv.chroma) : "rgb24");
    if (strcmp(film->path, "-") != 0)
        TRY(output_begin(film->path, &film->file));
    film->begun = true;
    if (!f->is_y4m)
        return TSR_OK;
    film->planes = malloc(yuv_bytes(f->yuv, width, height));
    if (!film->planes)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "%s: not enough memory for a frame", film->path);
    return write_header(film) ? TSR_OK : fail_to_write(film);
}

/* Flushed at once: the reader of a pipe may be waiting for this frame. */
tsr_status film_write(film_writer *film, const unsigned char *rgb, int width, int height,
                      bool gray) {
    const film_format *f = &film->format;
    if (!film->begun)
        TRY(begin_writing(film, width, height, gray));
    if (width != f->width || height != f->height)
        return fail(TSR_ERROR_SHAPE, "%s: a result of %d x %d follows those of %d x %d", film->path,
                    width, height, f->width, f->height);
    size_t bytes = (size_t)width * (size_t)height * 3;
    const unsigned char *data = rgb;
    FILE *file = file_of(film);
    bool written = true;
    if (f->is_y4m) {
        bytes = yuv_bytes(f->yuv, width, height);
        data = film->planes;
        yuv_from_rgb(f->yuv, width, height, rgb, film->planes);
        written = fputs("FRAME\n", file) >= 0;
    }
    written = written && fwrite(data, 1, bytes, file) == bytes && fflush(file) == 0;
    return written ? TSR_OK : fail_to_write(film);
}

tsr_status film_end(film_writer *film) {
    free(film->planes);
    film->planes = NULL;
    return film->file.file ? output_end(&film->file, TSR_OK) : TSR_OK;
}
