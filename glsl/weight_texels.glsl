// Texels of a tensor W of weights that a fragment reads tap by tap. weights_tile(k): tile k, once for several taps, where
// texture coordinates take long (SAMPLE).
#if SAMPLE == 0 || W_LINEAR || W_FIRST || W_LOW < W_PLANES
#define WEIGHTS_TILE int
int weights_tile(int k) { return k; }
#define weights_texel W_fetch
#else
#define WEIGHTS_TILE vec2
vec2 weights_tile(int k) { return (vec2(W_origin(k)) + 0.5) * u.W_inverse; }
vec4 weights_texel(vec2 tile, int ky, int kx) {
    ivec2 place = W_place(kx);
    return W_read(textureLod(W_TEXTURE, vec3(tile + vec2(place.x, ky) * u.W_inverse, place.y), 0.0));
}
#endif
