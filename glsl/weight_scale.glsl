// Scales of weights in blocks, for each block of an output tile's weights, and zero points (src/algorithm/block_weights.h).
//   SCALES, ZEROS    0: weights have none; 1: all taps of an input tile share one; 2: its four channels at a tap do; 3: each
//                    channel has its own
//   S                a row of scales, then of zero points, those of two blocks in a number; without SCALES one zero point
#if SCALES
int weight_blocks() {
#if ZEROS
    return u.S_W * 2 / 3;
#else
    return u.S_W;
#endif
}
int weight_block(int channel, int ky, int kx) {
    int block = (channel * u.blocks.by_input + ky * u.blocks.by_row + kx * u.blocks.by_column) >> u.blocks.log2;
    return min(block, weight_blocks() - 1); // weights of channels and taps after the last are zero
}
vec4 weight_scale(int t, int block) { return S_fetch(t, 0, block); }
#endif
#if SCALES && ZEROS
vec4 weight_zero(int t, int block) {
    ivec4 two = ivec4(S_fetch(t, 0, weight_blocks() + (block >> 1)));
    return vec4(((two >> (8 * (block & 1))) & 255) - 128);
}
#elif ZEROS
int weight_block(int channel, int ky, int kx) { return 0; }
vec4 weight_zero(int t, int block) { return S_fetch(t, 0, block); }
#endif
