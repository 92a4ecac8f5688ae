// How elements are combined.
//   COMBINE  0: their sum; 1: product; 2: the largest; 3: the least
//   MAP      of each first: 0: itself; 1: its magnitude; 2: its square
#if COMBINE == 0
#define NOTHING vec4(0.0)
vec4 combine(vec4 a, vec4 b) { return a + b; }
#elif COMBINE == 1
#define NOTHING vec4(1.0)
vec4 combine(vec4 a, vec4 b) { return a * b; }
#elif COMBINE == 2
#define NOTHING vec4(uintBitsToFloat(0xff800000u))
vec4 combine(vec4 a, vec4 b) { return mix(a, b, tsr_larger(b, a)); }
#else
#define NOTHING vec4(uintBitsToFloat(0x7f800000u))
vec4 combine(vec4 a, vec4 b) { return mix(a, b, tsr_larger(-b, -a)); }
#endif
#if MAP == 0
vec4 mapped(vec4 v) { return v; }
#elif MAP == 1
vec4 mapped(vec4 v) { return abs(v); }
#else
vec4 mapped(vec4 v) { return v * v; }
#endif
