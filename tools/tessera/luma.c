#include "luma.h"
#include "tool.h"
#include "yuv.h"

static double clamp_unit(double value) {
    return !(value > 0) ? 0 : value > 1 ? 1 : value;
}

static uint16_t to_pixel(double share) {
    return (uint16_t)(clamp_unit(share) * 65535 + 0.5);
}

tsr_status luma_split(picture *image, const char *name, picture *chroma) {
    picture luma;
    size_t count = (size_t)image->width * (size_t)image->height;
    TRY(picture_create(name, image->width, image->height, 1, &luma));
    tsr_status status = picture_create(name, image->width, image->height, 2, chroma);
    if (status != TSR_OK) {
        picture_free(&luma);
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        const uint16_t *rgb = image->pixels + 3 * i;
        const yuv_components c = yuv_of(rgb[0], rgb[1], rgb[2]);
        luma.pixels[i] = to_pixel(c.y / 65535);
        chroma->pixels[2 * i] = to_pixel(0.5 + c.cb / 65535);
        chroma->pixels[2 * i + 1] = to_pixel(0.5 + c.cr / 65535);
    }
    picture_free(image);
    *image = luma;
    return TSR_OK;
}

static void join_pixel(double y, const uint16_t *chroma, float *rgb, const luma_target *target) {
    double share[3];
    yuv_mix((yuv_components){y, chroma[0] / 65535.0 - 0.5, chroma[1] / 65535.0 - 0.5}, share);
    for (size_t c = 0; c < 3; c++)
        rgb[c * target->channel] =
            (float)(target->low + clamp_unit(share[c]) * (target->high - target->low));
}

tsr_status luma_join(const float *luma, const picture *chroma, int x, int y, int w, int h,
                     const luma_target *target) {
    picture scaled;
    TRY(picture_create("chroma", target->width, target->height, 2, &scaled));
    if (!picture_scale(chroma, x, y, w, h, &scaled)) {
        picture_free(&scaled);
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory to scale the chroma");
    }
    for (int row = 0; row < target->height; row++)
        for (int column = 0; column < target->width; column++) {
            size_t i = (size_t)row * (size_t)target->width + (size_t)column;
            double share = ((double)luma[i] - target->low) / (target->high - target->low);
            join_pixel(clamp_unit(share), scaled.pixels + 2 * i,
                       target->values + (size_t)row * target->y + (size_t)column * target->x,
                       target);
        }
    picture_free(&scaled);
    return TSR_OK;
}
