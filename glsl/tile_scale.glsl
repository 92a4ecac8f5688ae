// Included where i is an input tile of a group: the scales and zero points of output tile t that all taps share.
#if SCALES == 1
    vec4 tile_scale = weight_scale(t, weight_block(4 * i, 0, 0));
#endif
#if ZEROS == 1
    vec4 tile_zero = weight_zero(t, weight_block(4 * i, 0, 0));
#endif
