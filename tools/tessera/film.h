/* Films: frames of one size, one after the other, as y4m (YUV4MPEG2) or raw rgb24. */
#ifndef TESSERA_FILM_H
#define TESSERA_FILM_H

#include "output.h"
#include "yuv.h"

#include <stdint.h>

typedef struct film_format {
    bool is_y4m; /* else rgb24, of which width and height alone are known */
    int width, height;
    int64_t rate[2]; /* frames per second: numerator, denominator */
    char aspect[32]; /* of a pixel, as y4m's A has it: "1:1"; "": unknown */
    yuv_format yuv;
} film_format;

typedef struct film_reader {
    const char *name; /* for messages */
    int descriptor;   /* negative: not open */
    film_format format;
    size_t bytes;          /* of a frame as it is stored */
    unsigned char *stored; /* the same as rgb where that is what is stored */
    unsigned char *rgb;    /* the frame that was read last */
    int64_t frames;        /* read */
} film_reader;

/* path: a file or "-". width 0: y4m, else rgb24 of that size. Refuses frames of more than
 * most_megapixels, as picture_read() does. Zeroed frame. */
tsr_status film_open(film_reader *film, const char *path, int width, int height,
                     int most_megapixels);
void film_close(film_reader *film);
/* Reads the next frame; *there is false at the end. */
tsr_status film_read(film_reader *film, bool *there);
/* Whether film_read() would block. */
bool film_waits(const film_reader *film);

typedef struct film_writer {
    const char *path; /* "-": the standard output */
    film_format format;
    output_file file;
    unsigned char *planes;
    bool begun;
} film_writer;

/* Frames of one size; the first one decides it. gray: r, g and b are equal. */
tsr_status film_write(film_writer *film, const unsigned char *rgb, int width, int height,
                      bool gray);
/* Frames that were written are kept, whatever happened since. */
tsr_status film_end(film_writer *film);

#endif
