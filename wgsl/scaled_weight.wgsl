// The same for one texel w of output tile t, of a block.
#if ZEROS
    w -= weight_zero(t, block);
#endif
#if SCALES
    w *= weight_scale(t, block);
#endif
