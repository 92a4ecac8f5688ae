#version 300 es
// A whole program that measures the peak rate of texel fetches: 8 x 8 texels per fragment, most of which neighbouring
// fragments fetch, too.
precision highp float;
precision highp sampler2DArray;
layout(location = 0) out highp vec4 color;
uniform highp sampler2DArray texels;
uniform vec2 texel_size; // 1 / the texture's columns, 1 / its rows
#define FETCH(x) sum += textureLod(texels, vec3(at + vec2(x, y) * texel_size, 0.0), 0.0);
void main() {
    vec2 at = gl_FragCoord.xy * texel_size;
    vec4 sum = vec4(0.0);
    for (int y = 0; y < 8; y++) {
        FETCH(0) FETCH(1) FETCH(2) FETCH(3) FETCH(4) FETCH(5) FETCH(6) FETCH(7)
    }
    color = sum;
}
