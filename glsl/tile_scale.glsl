// Included in a loop over the input tiles i of a group: the scales of output tile t that all taps share.
#if SCALES == 1
    vec4 tile_scale = weight_scale(t, 4 * i, 0, 0);
#endif
