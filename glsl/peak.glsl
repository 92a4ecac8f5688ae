#version 300 es
// A whole program that measures the peak rate of multiply-adds: 64 iterations of 8 steps on 3 vec4 per fragment, few enough
// to stay in the registers of a CPU.
precision highp float;
layout(location = 0) out highp vec4 color;
uniform vec2 line; // factor and summand, unknown to the compiler
#define STEP a = a * line.x + line.y; b = b * line.x + line.y; c = c * line.x + line.y;
void main() {
    vec4 a = vec4(gl_FragCoord.xy, gl_FragCoord.yx + 0.5) * 1e-3; // each lane a different value
    vec4 b = a + 1.0, c = a + 2.0;
    for (int i = 0; i < 64; i++) {
        STEP STEP STEP STEP STEP STEP STEP STEP
    }
    color = a + b + c;
}
