// Included in a loop over tiles, with the weights w0 to w3 of a tile's one tap: adds its products to the sums of all pixels,
// which read column place$j of row `line`, the same in every tile.
#for j PLANES
                {
#if X_FIRST
                    ivec2 at$j = tile < u.X_first_tiles ? first_place$j : place$j;
                    PRODUCT vec4 a = X_cell(tile, line, at$j.x, at$j.y);
#else
                    PRODUCT vec4 a = X_cell(tile, line, place$j.x, place$j.y);
#endif
#include product_sum
                }
#endfor
