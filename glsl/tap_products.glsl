// Included in a loop over taps, with a tap's weights w0 to w3: adds its products to the sums of all pixels. The first pixel
// reads input column `column`, the next ones TAP_STEP columns further each.
#for j PLANES
                {
                    PRODUCT vec4 a = tap_texel(column + $j * TAP_STEP);
#include product_sum
                }
#endfor
