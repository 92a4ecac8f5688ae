// Channels to blocks of pixels: glsl/source.glsl. DCR 1: the position in the block varies slowest along channels; 0: fastest.
vec4 kernel(int n, int t, int y, int x) { return X_depth_to_space(n, t, y, x, u.blocksize, DCR); }
