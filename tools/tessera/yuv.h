/* Frames as planes of Y, Cb and Cr: BT.601, in limited range (16 to 235) or full. */
#ifndef TESSERA_YUV_H
#define TESSERA_YUV_H

#include <stdbool.h>
#include <stddef.h>

/* By where chroma samples are: jpeg between pixels; mpeg2 and 422 on every other column; paldv on
 * every other column and row. */
typedef enum yuv_chroma {
    YUV_420JPEG,
    YUV_420MPEG2,
    YUV_420PALDV,
    YUV_422,
    YUV_444,
    YUV_MONO,
    YUV_CHROMA_COUNT
} yuv_chroma;

typedef struct yuv_format {
    yuv_chroma chroma;
    bool full_range;
} yuv_format;

/* BT.601 of numbers in any one unit; cb and cr are around 0. */
typedef struct yuv_components {
    double y, cb, cr;
} yuv_components;

yuv_components yuv_of(double r, double g, double b);
void yuv_mix(yuv_components c, double rgb[3]);

/* "420jpeg" and others, as y4m's C has them; false if there is no such one. */
bool yuv_find(const char *name, yuv_chroma *chroma);
const char *yuv_name(yuv_chroma chroma);

size_t yuv_bytes(yuv_format format, int width, int height);
void yuv_to_rgb(yuv_format format, int width, int height, const unsigned char *planes,
                unsigned char *rgb);
void yuv_from_rgb(yuv_format format, int width, int height, const unsigned char *rgb,
                  unsigned char *planes);

#endif
