// Scales of weights of 4 bits, for each block of an output tile's weights (src/algorithm/block_weights.h).
//   SCALES    0: weights have none; 1: all taps of an input tile share one; 2: its four channels at a tap do; 3: each channel
//             has its own
#if SCALES
vec4 weight_scale(int t, int channel, int ky, int kx) {
    int block = (channel * u.blocks.by_input + ky * u.blocks.by_row + kx * u.blocks.by_column) >> u.blocks.log2;
    return S_fetch(t, 0, min(block, u.S_W - 1)); // weights of channels and taps after the last are zero
}
#endif
