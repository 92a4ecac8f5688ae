#include "gpu/texels.h"

#include "base/allocator.h"
#include "base/error.h"
#include "base/half.h"

#include <string.h>

/* Bytes of an element; the nearest of the range is kept, of NaN the least. */
static unsigned char to_byte(float x, float low, float high) {
    float kept = x > low ? x < high ? x : high : low;
    return (unsigned char)(int)kept;
}

void tsr_texels_narrow(tsr_texel_format format, float *texels, size_t count) {
    unsigned char *bytes = (unsigned char *)texels;
    for (size_t i = 0; i < count; i++) { /* an element goes where one was read */
        if (format == TSR_TEXEL_F16) {
            uint16_t half = tsr_float_to_half(texels[i]);
            memcpy(bytes + i * sizeof half, &half, sizeof half);
        } else if (format == TSR_TEXEL_U8) {
            bytes[i] = to_byte(texels[i], 0, 255);
        } else if (format == TSR_TEXEL_I8) {
            bytes[i] = to_byte(texels[i], -128, 127);
        }
    }
}

static float widen(tsr_texel_format format, const void *texels, bool wide, size_t i) {
    switch (format) {
    case TSR_TEXEL_F16:
        return tsr_half_to_float(((const uint16_t *)texels)[i]);
    case TSR_TEXEL_U8:
        return wide ? (float)((const uint32_t *)texels)[i] : (float)((const uint8_t *)texels)[i];
    case TSR_TEXEL_I8:
        return wide ? (float)((const int32_t *)texels)[i] : (float)((const int8_t *)texels)[i];
    default:
        return ((const float *)texels)[i];
    }
}

static bool is_floats(tsr_texel_format format, bool wide) {
    return !tsr_texel_holds_integers(format) && (format != TSR_TEXEL_F16 || wide);
}

tsr_status tsr_texels_unpack(const tsr_layout *l, const void *texels, bool wide, float *elements) {
    size_t count = tsr_layout_floats(l);
    if (is_floats(l->format, wide)) {
        tsr_layout_unpack(l, texels, elements);
        return TSR_OK;
    }
    float *floats = tsr_malloc(count * sizeof *floats);
    if (!floats)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory to read a tensor");
    for (size_t i = 0; i < count; i++)
        floats[i] = widen(l->format, texels, wide, i);
    for (size_t i = 0; l->scale != 0 && i < count; i++)
        floats[i] = (floats[i] - l->zero_point) * l->scale;
    tsr_layout_unpack(l, floats, elements);
    tsr_free(floats);
    return TSR_OK;
}
