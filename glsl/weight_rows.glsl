// A tensor W of weights that a fragment reads tap by tap: what all taps of a tile have in common, and all tiles of a tap, is
// computed once.
//   weights_tile(k)                   tile k
//   weights_tap(kx)                   column kx of the kernel
//   weights_texel(tile, ky, tap)      its texel in row ky
#if W_LINEAR || W_FIRST || W_LOW < W_PLANES
#define WEIGHTS_TILE int
#define WEIGHTS_TAP int
int weights_tile(int k) { return k; }
int weights_tap(int kx) { return kx; }
vec4 weights_texel(int tile, int ky, int tap) { return W_fetch(tile, ky, tap); }
#elif SAMPLE
#define WEIGHTS_TILE vec2
#define WEIGHTS_TAP vec3
vec2 weights_tile(int k) { return (vec2(W_origin(k)) + 0.5) * u.W_inverse; }
vec3 weights_tap(int kx) {
    ivec2 place = W_place(kx);
    return vec3(float(place.x) * u.W_inverse.x, 0.0, place.y);
}
vec4 weights_texel(vec2 tile, int ky, vec3 tap) {
    return W_read(textureLod(W_TEXTURE, vec3(tile.x + tap.x, tile.y + float(ky) * u.W_inverse.y, tap.z), 0.0));
}
#else
#define WEIGHTS_TILE ivec2
#define WEIGHTS_TAP ivec2
ivec2 weights_tile(int k) { return W_origin(k); }
ivec2 weights_tap(int kx) { return W_place(kx); }
vec4 weights_texel(ivec2 tile, int ky, ivec2 tap) {
    return W_read(texelFetch(W_TEXTURE, ivec3(tile.x + tap.x, tile.y + ky, tap.y), 0));
}
#endif
