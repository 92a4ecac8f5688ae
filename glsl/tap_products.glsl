// Included in a loop over taps, with a tap's weights w0 to w3: adds its products to the sums of all pixels. The first pixel
// reads input column `column`, the next ones TAP_STEP columns further each.
// The branch keeps compilers from holding the inputs of four pixels at once, as many as registers hold where they are halves. It
// is taken where that pixel is in the image.
#for j PLANES
#if HALF_PRODUCTS == 0 && PLANES > 2 && (j == 2 || (j == 0 && TABLE_OF_4))
                if (x + ${j * PIXEL_STRIDE} < u.O_W)
#endif
                {
                    PRODUCT vec4 a = tap_texel(column + $j * TAP_STEP);
#include product_sum
                }
#endfor
