// Channels into blocks of pixels: glsl/source.glsl. DCR 1: the block comes first in the channels, 0: last.
vec4 kernel(int n, int t, int y, int x) { return X_depth_to_space(n, t, y, x, u.blocksize, DCR); }
