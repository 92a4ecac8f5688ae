/* How the elements of a tensor are stored in a texture. Nothing else depends on it: kernels address
 * texels only through glsl/source.glsl and glsl/main.glsl, the host only through the functions
 * below.
 *
 * A tensor is seen as images n of channels c of rows h and columns w: see tsr_layout_fold. Tile k =
 * n * tiles + t holds channels 4t..4t+3 of image n, one RGBA texel a pixel. A texture has `planes`
 * layers, and one draw with as many render targets writes `planes` pixels of a row per fragment, so
 * that a weight is fetched once for all of them. These pixels are `pixel_stride` columns apart: 1
 * for most tensors; a transposed convolution of stride s writes with pixel_stride s, so that all
 * pixels of a fragment have the same taps. Column x of a tile is in plane (x / pixel_stride) %
 * planes, column x % pixel_stride * (tile_w / pixel_stride) + x / (pixel_stride * planes), so that
 * neighbouring fragments have the same taps, too. Tiles form a grid with 2^columns_log2 tiles in a
 * row. Tensors whose tiles fit no grid are linear: tile after tile, row by row, wrapped at a width
 * of 2^columns_log2 texels.
 *
 * Where compute kernels read buffers instead of textures, a tensor is linear with one plane: texel
 * (k * h + y) * w + x of a buffer of texture_w texels. */
#ifndef TSR_PLAN_LAYOUT_H
#define TSR_PLAN_LAYOUT_H

#include "graph/graph.h"

enum { TSR_MAX_PLANES = 8 };

/* Every texture of a tensor ends in a row that no pass writes and that stays zero: padding pixels
 * are read there. texture_h of a layout does not count it. Buffers have none. */
enum { TSR_ZERO_ROWS = 1 };

/* llvmpipe's threads share a pass by bins, squares of this many texels a side. */
enum { TSR_BIN = 64 };

/* How a texel's four elements are stored. Kernels read and write floats. */
typedef enum tsr_texel_format {
    TSR_TEXEL_F32,
    TSR_TEXEL_F16,
    TSR_TEXEL_U8, /* integers of 8 bits */
    TSR_TEXEL_I8,
    TSR_TEXEL_BITS /* of 32-bit floats, as unsigned integers */
} tsr_texel_format;

/* Of a texel. */
int tsr_texel_bytes(tsr_texel_format format);
bool tsr_texel_holds_integers(tsr_texel_format format); /* of 8 bits */
/* Is the number an integer that a texel of such a format, of 8 bits, holds? */
bool tsr_texel_holds_number(tsr_texel_format format, float number);

enum { TSR_BINDING_ALIGNED = 256 }; /* bytes: alignment of tensors in a shared buffer */

typedef struct tsr_layout_limits {
    int max_texture_size;
    int max_planes;            /* render targets, a power of two */
    int shaded;                /* side of the squares of texels that the device shades or stores
                                  as a whole; 0: 4 */
    uint64_t max_buffer_bytes; /* of one tensor or table; 0: they are stored in textures */
    bool half_only;            /* passes write 16 bits: nothing renders to 32-bit floats */
    bool bits_only;            /* nothing renders to floats: passes write their bits */
} tsr_layout_limits;

typedef struct tsr_layout {
    int n, c, h, w;
    int tiles;        /* per image */
    int planes;       /* 1, 2, 4 or 8 */
    int pixel_stride; /* columns between the pixels of a fragment */
    int tile_w;       /* columns of a tile in one plane */
    int shaded;       /* see tsr_layout_limits */
    tsr_texel_format format;
    bool linear, buffer;
    bool bytes; /* a staging texture or buffer of four bytes a texel: src/gpu/transfer.h */
    /* Tiles before this one, counted through all images, are stored as with this pixel stride and
     * as many columns of a tile; 0: none. src/plan/inplace_concat.c makes such layouts. */
    int first_tiles, first_stride;
    int columns_log2;
    int texture_w, texture_h;
    int texture_x, texture_y; /* offset in its storage: see tsr_storage */
    /* Where scale is not 0 an element is (stored - zero_point) * scale: src/plan/quantized.c. */
    float zero_point, scale;
    float padding; /* what padding channels are stored as */
} tsr_layout;

enum { TSR_AXIS_N, TSR_AXIS_C, TSR_AXIS_H, TSR_AXIS_W };

/* Which of N, C, H, W an axis becomes where `channel_axis` is the one in the texel: those before it
 * fold into N, it is C, the last one is W, those between fold into H. Row-major order is kept. */
int tsr_layout_axis(int rank, int channel_axis, int axis);
/* The usual channel axis: ONNX's. A matrix is (N, C) and a sequence (N, C, W), so that dense layers
 * and 1-D convolutions use whole texels. */
int tsr_layout_channel_axis(int rank);
/* The shape [N, C, H, W] that a tensor with elements is seen with. */
tsr_shape tsr_layout_fold(const tsr_shape *shape, int channel_axis);

typedef struct tsr_layout_hint {
    int planes;       /* at most this many; 0: see choose_planes() */
    int pixel_stride; /* 0: 1 */
    tsr_texel_format format;
} tsr_layout_hint;

/* How the device stores what passes write; wanted: where it renders to all. */
tsr_texel_format tsr_layout_format(tsr_texel_format wanted, const tsr_layout_limits *limits);

/* With the usual channel axis; for another one, fold the shape first. TSR_ERROR_LIMIT with the
 * numbers if no arrangement fits, TSR_ERROR_UNSUPPORTED for empty tensors. */
tsr_status tsr_layout_make(const tsr_shape *shape, const tsr_layout_limits *limits,
                           tsr_layout_hint hint, tsr_layout *layout);

/* Of a staging texture or buffer of this many texels of 16, 8 or 4 bytes: linear, with one plane
 * and one image of one row. */
tsr_status tsr_layout_make_staging(int64_t texels, int texel_bytes, const tsr_layout_limits *limits,
                                   tsr_layout *layout);

/* Is there one? */
bool tsr_layout_staging_fits(uint64_t texels, int texel_bytes, const tsr_layout_limits *limits);
/* The same for a tensor's elements, four pixels of a row in a texel and four channels in four
 * planes; false if it fits no texture. The tensor's width is a multiple of 4. */
bool tsr_layout_make_rows(const tsr_layout *tensor, const tsr_layout_limits *limits,
                          tsr_layout *layout);

/* Sets the grid with 2^columns_log2 tiles in a row; false, and the layout unchanged, if it exceeds
 * max_size. Not for linear layouts. */
bool tsr_layout_regrid(tsr_layout *layout, int columns_log2, int max_size);
/* The largest columns_log2, at most `most`, of a grid of `all` tiles in which the slice of `count`
 * tiles from `tile` on is a grid, too: a single tile, or whole rows. */
int tsr_layout_slice_columns(int64_t tile, int64_t count, int64_t all, int most);
/* Squares of 4x4 texels that a draw shades, helper fragments included. */
int64_t tsr_layout_shading_cost(const tsr_layout *layout);
/* The most that another grid of the tensor may cost: hardly more. */
int64_t tsr_layout_max_shading_cost(const tsr_layout *layout);

/* Do both hold the same elements in the same texels? */
bool tsr_layout_same(const tsr_layout *a, const tsr_layout *b);
/* Of the texture, with its zero row, or of the buffer. */
uint64_t tsr_layout_bytes(const tsr_layout *layout);

/* Element [n, c, h, w] of the tensor is n * strides[0] + ... + w * strides[3] in row-major order.
 */
void tsr_layout_strides(const tsr_layout *layout, int64_t strides[4]);

/* Of the texels of all planes, without the zero rows. */
size_t tsr_layout_floats(const tsr_layout *layout);

/* Row-major elements -> RGBA texels of all planes, plane by plane; padding channels become 0, every
 * other texel that holds no element becomes `padding`. texels: planes * texture_w * texture_h * 4
 * floats. */
void tsr_layout_pack(const tsr_layout *layout, const float *elements, float padding, float *texels);
void tsr_layout_unpack(const tsr_layout *layout, const float *texels, float *elements);

#endif
