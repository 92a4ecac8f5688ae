#version 300 es
// A whole program that measures the peak rate of copying texels.
precision highp float;
precision highp sampler2DArray;
layout(location = 0) out highp vec4 color;
uniform highp sampler2DArray texels;
uniform vec2 texel_size; // 1 / the texture's columns, 1 / its rows
void main() { color = textureLod(texels, vec3(gl_FragCoord.xy * texel_size, 0.0), 0.0); }
