#if COMPUTED
// Where input tile i begins in the weights' tensor W, whose images are output channels, whose channels inputs.
        ivec4 output_tiles = min(4 * t + ivec4(0, 1, 2, 3), u.W_N - 1) * u.W_tiles + i;
#for c 4
        WEIGHTS_TILE weights$c = weights_tile(output_tiles[$c]);
#endfor
#endif
