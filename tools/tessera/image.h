/* Pictures as tensors and back.
 *
 * Reading: a pixel's 0..255 becomes p in --range (0:1 unless given), then (p - mean) * scale per
 * channel. Writing: a value in --out-range (as --range unless given) becomes 0..255, clamped. */
#ifndef TESSERA_IMAGE_H
#define TESSERA_IMAGE_H

#include "options.h"
#include "picture.h"
#include "tensor.h"

typedef struct image_options {
    /* As given on the command line; image_options_parse() fills in the rest. */
    char *range_text, *out_range_text;
    char *threshold_text, *mean_text, *scale_text;
    int channel_order, layout, fit; /* indices into the choices of their options */
    int most_megapixels;            /* 0: 32 */
    bool luma;
    bool silent; /* no notes on pictures that are scaled */

    double range[2], out_range[2];
    double threshold; /* if threshold_text is given */
    double mean[4], scale[4];
    int mean_count, scale_count; /* 0: none given; 1: for all channels; else one per channel */
} image_options;

void image_add_options(option_set *set, image_options *options);
tsr_status image_options_parse(image_options *options);

/* The values of --channels, --layout and --fit, ended by NULL. */
typedef enum image_choice { IMAGE_ORDERS, IMAGE_LAYOUTS, IMAGE_FITS } image_choice;
const char *const *image_choices(image_choice which);
bool image_is_scaled(const image_options *options); /* by --fit, if of another size */

/* Is --fit auto? */
bool image_keeps_size(const image_options *options);

bool image_is_file(const char *path); /* one that is written: .png, .jpg or .jpeg, by name */

/* What was of a picture besides its tensor: needed to make a picture of the result. */
typedef struct image_side {
    int in_width, in_height; /* of the tensor; 0: it was no picture */
    int x, y, width, height; /* the picture in it, the rest are bars of a letterbox */
    picture chroma;          /* --luma: Cb and Cr of the whole tensor */
} image_side;

void image_side_free(image_side *side);

/* Which dimensions of a tensor are the picture's; -1 for open sizes. */
typedef struct image_view {
    bool channels_last;
    int64_t channels, height, width;
} image_view;

/* False if the shape is not a single picture of 1, 3 or 4 channels. Unknown channels count as 3. */
bool image_view_of(const tsr_shape *shape, const image_options *options, image_view *view);

/* Reads an image as the tensor that the model's input needs; open sizes are the image's. */
tsr_status image_load(const char *path, const tsr_tensor_info *input, const image_options *options,
                      tensor *made, image_side *side);
/* The same from the left or right half of a picture. */
tsr_status image_load_half(const char *path, bool right, const tsr_tensor_info *input,
                           const image_options *options, tensor *made, image_side *side);
/* The same from 3 bytes per pixel; name is for messages. */
tsr_status image_from_rgb(const unsigned char *rgb, int width, int height, const char *name,
                          const tsr_tensor_info *input, const image_options *options, tensor *made,
                          image_side *side);
/* Of a result that is a picture: removes the bars of a letterbox, adds colours to luma. *finished:
 * the result itself or, where that changes it, *changed, which is to be freed in any case. */
tsr_status image_finish(const image_side *side, const image_options *options, const tensor *result,
                        tensor *changed, const tensor **finished);
/* 3 bytes per pixel (malloc); view: of the tensor. */
tsr_status image_to_rgb(const tensor *t, const char *name, const image_options *options,
                        unsigned char **rgb, image_view *view);
/* Encodes into file, in the format of the path's extension. */
tsr_status image_write(FILE *file, const char *path, const tensor *t, const image_options *options);
/* rgb: 3 bytes per pixel. */
bool image_write_png(FILE *file, const unsigned char *rgb, int width, int height);

/* One line that describes how this input is read from an image by default. */
label image_describe(const tsr_tensor_info *input);

#endif
