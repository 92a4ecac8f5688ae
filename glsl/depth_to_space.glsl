// Channels into blocks of pixels: glsl/source.glsl. DCR 1: the block comes first in the channels, 0: last.
uniform ivec4 block; // x: size
vec4 kernel(int n, int t, int y, int x) { return A_depth_to_space(n, t, y, x, block.x, DCR); }
