// Included before a loop over tiles: the columns of the pixels of a kernel with one tap, for glsl/point_products.glsl. Pixels
// after the last column read that one.
#for j PLANES
#if STRIDE == 1 && X_STRIDE == 1 && X_PLANES == PLANES && X_FIRST == 0
    ivec2 place$j = ivec2(x / PLANES, $j); // as the output is stored
#else
    ivec2 place$j = X_place(min(x * STRIDE + ${j * STRIDE}, u.X_W - 1));
#endif
#if X_FIRST
    ivec2 first_place$j = X_place_first(min(x * STRIDE + ${j * STRIDE}, u.X_W - 1));
#endif
#endfor
