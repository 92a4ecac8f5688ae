#include "gpu/transfer.h"

#include "base/allocator.h"
#include "base/divide.h"
#include "base/error.h"

#include <limits.h>
#include <string.h>

/* ---- staging --------------------------------------------------------------------------------- */

size_t tsr_transfer_bytes(const tsr_elements *e) {
    const tsr_pixels *p = &e->pixels;
    if (!e->is_pixels)
        return tsr_elements_dense_bytes(e);
    return (size_t)(p->height - 1) * (size_t)p->stride +
           (size_t)p->width * (size_t)tsr_pixel_bytes(p->format);
}

static bool is_byte(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_U8 || dtype == TSR_DTYPE_BOOL;
}

/* Is the channel axis the second one, as in memory? */
static bool has_usual_axes(const tsr_plan *plan, int value) {
    const tsr_shape *shape = &plan->graph->values[value].shape;
    const tsr_layout *l = tsr_plan_layout(plan, plan->value_tensor[value]);
    return l->n == shape->dim[0] && l->c == shape->dim[1];
}

bool tsr_transfer_converts(const tsr_plan *plan, int value, const tsr_elements *e) {
    if (plan->value_tensor[value] == TSR_NONE)
        return false;
    if (!e->is_pixels && e->array.channels_last && !has_usual_axes(plan, value))
        return false;
    size_t units = e->is_pixels ? tsr_transfer_bytes(e) : e->array.count;
    bool halves = !e->is_pixels && e->array.dtype == TSR_DTYPE_F16,
         floats = !e->is_pixels && e->array.dtype == TSR_DTYPE_F32;
    if (!tsr_layout_staging_fits(units / (halves ? 2 : 4) + 1, floats ? 16 : 4, &plan->limits))
        return false;
    return e->is_pixels || e->array.dtype == TSR_DTYPE_F32 || e->array.dtype == TSR_DTYPE_F16 ||
           is_byte(e->array.dtype);
}

static int texel_bytes(tsr_staging_type type) {
    return type == TSR_STAGING_FLOATS ? 16 : type == TSR_STAGING_HALVES ? 8 : 4;
}

static tsr_status make_staging(const tsr_plan *plan, tsr_transfer *t, size_t texels) {
    return tsr_layout_make_staging((int64_t)texels, texel_bytes(t->type), &plan->limits,
                                   &t->staging);
}

static void set_pass(tsr_transfer *t, const tsr_kernel *kernel, const void *args, size_t size,
                     int output) {
    memcpy(t->args, args, size);
    t->pass = (tsr_pass){.kind = TSR_PASS_DRAW,
                         .node = TSR_NONE,
                         .kernel = kernel,
                         .args = t->args,
                         .output = output};
}

#define SET_PASS(transfer, stem, to, ...)                                                          \
    do {                                                                                           \
        const struct tsr_args_##stem stem##_args = {__VA_ARGS__};                                  \
        _Static_assert(sizeof stem##_args <= sizeof(transfer)->args, "too many arguments");        \
        set_pass(transfer, &tsr_kernel_##stem, &stem##_args, sizeof stem##_args, to);              \
    } while (0)

/* ---- arrays ---------------------------------------------------------------------------------- */

/* ELEMENT of the kernels. */
static int element_of(tsr_dtype dtype) {
    return dtype == TSR_DTYPE_F16 ? 1 : dtype == TSR_DTYPE_U8 ? 2 : dtype == TSR_DTYPE_BOOL ? 3 : 0;
}

static void pass_from_array(const tsr_layout *l, int tensor, tsr_transfer *t) {
    bool last = t->elements.array.channels_last;
    int64_t pixels = (int64_t)l->h * l->w;
    SET_PASS(t, tensor_from_array, tensor, .ELEMENT = TSR_INT(element_of(t->elements.array.dtype)),
             .strides = {.n = TSR_INT(l->c * pixels),
                         .c = TSR_INT(last ? 1 : pixels),
                         .h = TSR_INT(last ? (int64_t)l->w * l->c : l->w),
                         .w = TSR_INT(last ? l->c : 1)},
             .width_log2 = TSR_INT(t->staging.columns_log2));
}

/* Are rows whole texels of the array? */
static bool has_whole_rows(const tsr_plan *plan, const tsr_layout *l, const tsr_array *a) {
    return plan->device.language == TSR_GLSL && !a->channels_last && l->w % 4 == 0;
}

static void pass_from_rows(int tensor, tsr_transfer *t) {
    SET_PASS(t, tensor_from_rows, tensor, .ELEMENT = TSR_INT(element_of(t->elements.array.dtype)),
             .width_log2 = TSR_INT(t->staging.columns_log2), .last = TSR_INT(t->staging.w - 1));
}

/* The tensor's own layout, with a fragment for four pixels of four channels; false if there is
 * none.
 */
static bool pass_to_rows(const tsr_plan *plan, const tsr_layout *l, int tensor, tsr_transfer *t) {
    bool mostly_channels = l->c * 4 >= l->tiles * 4 * 3; /* not padding, which is read, too */
    if (plan->limits.max_planes < 4 || !mostly_channels ||
        !has_whole_rows(plan, l, &t->elements.array) ||
        !tsr_layout_make_rows(l, &plan->limits, &t->staging))
        return false;
    SET_PASS(t, rows_from_tensor, TSR_STAGING_TENSOR, .X = TSR_TENSOR(tensor));
    return true;
}

static void pass_to_array(const tsr_layout *l, int tensor, tsr_transfer *t) {
    const tsr_array *a = &t->elements.array;
    SET_PASS(t, array_from_tensor, TSR_STAGING_TENSOR, .X = TSR_TENSOR(tensor),
             .ELEMENT = TSR_INT(element_of(a->dtype)), .CHANNELS_LAST = TSR_INT(a->channels_last),
             .ALIGNED = TSR_INT(!a->channels_last && l->w % 4 == 0),
             .count = TSR_INT((int64_t)a->count));
}

/* ---- pixels ---------------------------------------------------------------------------------- */

/* Are the channels of a pixel those of a texel? */
static bool is_whole(const tsr_layout *l, const tsr_picture_shape *p, bool channels_last) {
    if (l->c != p->channels)
        return false;
    return channels_last ? l->n == p->images * p->height * p->width
                         : l->n == p->images && l->h == p->height && l->w == p->width;
}

static tsr_picture_shape picture_of(const tsr_plan *plan, int value, const tsr_pixels *p) {
    tsr_picture_shape picture;
    tsr_picture_shape_of(&plan->graph->values[value].shape, p->channels_last, &picture);
    return picture;
}

#define NORMALIZATION(p)                                                                           \
    .mean_0 = TSR_FLOAT((double)(p)->mean[0]), .mean_1 = TSR_FLOAT((double)(p)->mean[1]),          \
    .mean_2 = TSR_FLOAT((double)(p)->mean[2]), .mean_3 = TSR_FLOAT((double)(p)->mean[3]),          \
    .scale_0 = TSR_FLOAT((double)(p)->scale[0]), .scale_1 = TSR_FLOAT((double)(p)->scale[1]),      \
    .scale_2 = TSR_FLOAT((double)(p)->scale[2]), .scale_3 = TSR_FLOAT((double)(p)->scale[3])

#define PICTURE_SIZES(p, s)                                                                        \
    .pixels = {.width = TSR_INT((p)->width), .height = TSR_INT((p)->height)},                      \
    .tensor = {.width = TSR_INT((s)->width), .height = TSR_INT((s)->height)}

static void pass_from_pixels(const tsr_layout *l, const tsr_picture_shape *s, int tensor,
                             tsr_transfer *t) {
    const tsr_pixels *p = &t->elements.pixels;
    int bytes = tsr_pixel_bytes(p->format);
    SET_PASS(t, tensor_from_pixels, tensor, .PIXEL_BYTES = TSR_INT(bytes),
             .ALIGNED = TSR_INT(bytes == 4 && p->stride % 4 == 0),
             .SWAP = TSR_INT(tsr_pixels_swap(p, s->channels, true)), .FILTER = TSR_INT(p->filter),
             .CHANNELS = TSR_INT(s->channels), .CHANNELS_LAST = TSR_INT(p->channels_last),
             .WHOLE = TSR_INT(is_whole(l, s, p->channels_last)), PICTURE_SIZES(p, s),
             .width_log2 = TSR_INT(t->staging.columns_log2), .stride = TSR_INT(p->stride),
             .image = TSR_INT(p->image), NORMALIZATION(p));
}

static void pass_to_pixels(const tsr_layout *l, const tsr_picture_shape *s, int tensor,
                           const tsr_drawing *drawn, tsr_transfer *t) {
    const tsr_pixels *p = &t->elements.pixels;
    SET_PASS(t, pixels_from_tensor, TSR_STAGING_TENSOR, .X = TSR_TENSOR(tensor),
             .PIXEL_BYTES = TSR_INT(tsr_pixel_bytes(p->format)),
             .SWAP = TSR_INT(tsr_pixels_swap(p, s->channels, false)), .FILTER = TSR_INT(p->filter),
             .CHANNELS = TSR_INT(s->channels), .CHANNELS_LAST = TSR_INT(p->channels_last),
             .WHOLE = TSR_INT(is_whole(l, s, p->channels_last)), .DRAWN = TSR_INT(drawn != NULL),
             .FLIP = TSR_INT(drawn && drawn->flip), PICTURE_SIZES(p, s), .image = TSR_INT(p->image),
             NORMALIZATION(p));
}

/* ---- transfers ------------------------------------------------------------------------------- */

static void forget_data(tsr_elements *e) {
    e->array.data = e->pixels.data = NULL;
}

static void read_from(tsr_transfer *t, int tensor) {
    t->pass.source_count = 1;
    t->pass.sources[0] = tensor;
}

tsr_status tsr_transfer_in(const tsr_plan *plan, int value, const tsr_elements *from,
                           tsr_transfer *t) {
    int tensor = plan->value_tensor[value];
    const tsr_layout *l = tsr_plan_layout(plan, tensor);
    tsr_dtype dtype = from->array.dtype;
    t->elements = *from;
    forget_data(&t->elements);
    t->type = from->is_pixels || is_byte(dtype) ? TSR_STAGING_BYTES
              : dtype == TSR_DTYPE_F16          ? TSR_STAGING_HALVES
                                                : TSR_STAGING_FLOATS;
    size_t count = from->is_pixels ? tsr_transfer_bytes(from) : from->array.count;
    TSR_TRY(make_staging(plan, t, count / 4 + (count % 4 != 0)));
    if (from->is_pixels) {
        const tsr_picture_shape s = picture_of(plan, value, &from->pixels);
        pass_from_pixels(l, &s, tensor, t);
    } else if (has_whole_rows(plan, l, &from->array) && l->planes % 4 == 0 &&
               l->pixel_stride == 1) {
        pass_from_rows(tensor, t);
    } else {
        pass_from_array(l, tensor, t);
    }
    t->pass.table = (tsr_table){.width = t->staging.texture_w, .height = t->staging.texture_h};
    return TSR_OK;
}

tsr_status tsr_transfer_out(const tsr_plan *plan, int value, const tsr_elements *to,
                            tsr_transfer *t) {
    int tensor = plan->value_tensor[value];
    const tsr_layout *l = tsr_plan_layout(plan, tensor);
    t->elements = *to;
    forget_data(&t->elements);
    bool floats = !to->is_pixels && to->array.dtype == TSR_DTYPE_F32;
    t->type = floats ? TSR_STAGING_FLOATS : TSR_STAGING_BYTES;
    size_t bytes = tsr_elements_dense_bytes(to), unit = floats ? 16 : 4;
    if (floats && pass_to_rows(plan, l, tensor, t)) {
        read_from(t, tensor);
        return TSR_OK;
    }
    TSR_TRY(make_staging(plan, t, bytes / unit + (bytes % unit != 0)));
    if (floats) /* it is read back as floats all the same */
        t->staging.format = tsr_layout_format(TSR_TEXEL_F32, &plan->limits);
    if (to->is_pixels) {
        const tsr_picture_shape s = picture_of(plan, value, &to->pixels);
        pass_to_pixels(l, &s, tensor, NULL, t);
    } else {
        pass_to_array(l, tensor, t);
    }
    read_from(t, tensor);
    return TSR_OK;
}

void tsr_transfer_draw(const tsr_plan *plan, int value, const tsr_pixels *pixels,
                       const tsr_drawing *drawn, tsr_transfer *t) {
    int tensor = plan->value_tensor[value];
    *t = (tsr_transfer){.elements = {.is_pixels = true, .pixels = *pixels},
                        .staging = {.n = 1,
                                    .c = 4,
                                    .h = pixels->height,
                                    .w = pixels->width,
                                    .tiles = 1,
                                    .planes = 1,
                                    .pixel_stride = 1,
                                    .tile_w = pixels->width,
                                    .texture_w = pixels->width,
                                    .texture_h = pixels->height,
                                    .texture_x = drawn->x,
                                    .texture_y = drawn->y}};
    const tsr_picture_shape s = picture_of(plan, value, pixels);
    pass_to_pixels(tsr_plan_layout(plan, tensor), &s, tensor, drawn, t);
    read_from(t, tensor);
}

tsr_status tsr_transfer_draw_staged(const tsr_plan *plan, int value, const tsr_pixels *pixels,
                                    tsr_transfer *t) {
    const int unit = TSR_DRAWN_ROW_BYTES / 4, row = (pixels->width + unit - 1) / unit * unit;
    const tsr_drawing drawn = {.flip = false};
    int tensor = plan->value_tensor[value];
    *t = (tsr_transfer){.elements = {.is_pixels = true, .pixels = *pixels},
                        .type = TSR_STAGING_BYTES};
    TSR_TRY(make_staging(plan, t, (size_t)row * (size_t)pixels->height));
    t->staging.h = pixels->height;
    t->staging.w = t->staging.tile_w = row;
    const tsr_picture_shape s = picture_of(plan, value, pixels);
    pass_to_pixels(tsr_plan_layout(plan, tensor), &s, tensor, &drawn, t);
    read_from(t, tensor);
    return TSR_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Row-major elements from the planes of rows_from_tensor. */
static void gather_planes(const tsr_layout *l, int channels, const float *planes, float *elements) {
    size_t plane = tsr_layout_floats(l) / (size_t)l->planes, pixels = (size_t)l->h * (size_t)l->w;
    for (int n = 0; n < l->n; n++)
        for (int c = 0; c < channels; c++) {
            const float *from =
                planes + (size_t)(c % 4) * plane + (size_t)(n * l->tiles + c / 4) * pixels;
            memcpy(elements + (size_t)(n * channels + c) * pixels, from, pixels * sizeof *from);
        }
}

static tsr_status fail_form(const tsr_value *value) {
    return tsr_fail(TSR_ERROR_INVALID_ARGUMENT,
                    "output '%s' of an earlier run was transferred in another form than is asked "
                    "for now",
                    value->name);
}

/* Floats, of which another form is made. */
static tsr_status read_floats(const tsr_transfer *t, const tsr_value *value, const float *staged,
                              const tsr_elements *to) {
    size_t count = t->elements.array.count;
    float *floats = tsr_malloc(count * sizeof *floats + 1);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to read '%s'", value->name);
    tsr_elements plain = tsr_elements_of_floats(floats, count);
    tsr_status status = tsr_transfer_read(t, value, staged, &plain);
    if (status == TSR_OK)
        tsr_elements_from_floats(floats, &value->shape, to);
    tsr_free(floats);
    return status;
}

tsr_status tsr_transfer_read(const tsr_transfer *t, const tsr_value *value, const void *staged,
                             const tsr_elements *to) {
    const tsr_elements *from = &t->elements;
    if (!tsr_elements_same_form(from, to)) {
        const tsr_elements plain = tsr_elements_of_floats(NULL, 0);
        return tsr_elements_same_form(from, &plain) ? read_floats(t, value, staged, to)
                                                    : fail_form(value);
    }
    int64_t channels =
        tsr_shape_count(&value->shape) / ((int64_t)t->staging.n * t->staging.h * t->staging.w);
    if (t->staging.planes > 1)
        gather_planes(&t->staging, (int)channels, staged, to->array.data);
    else
        tsr_elements_copy_dense(staged, to);
    return TSR_OK;
}

bool tsr_transfer_same_program(const tsr_transfer *a, const tsr_transfer *b) {
    const tsr_kernel *kernel = a->pass.kernel;
    if (kernel != b->pass.kernel || a->type != b->type || a->pass.output != b->pass.output)
        return false;
    for (int i = 0; i < kernel->field_count; i++)
        if (kernel->fields[i].class == TSR_FIELD_LITERAL &&
            a->args[i].i.value != b->args[i].i.value)
            return false;
    return true;
}
