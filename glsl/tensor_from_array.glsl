// A tensor from an array, in which an element's place is a sum of its coordinates times strides.
#include words
float element(int n, int c, int y, int x) {
    float v = word(n * u.strides.n + c * u.strides.c + y * u.strides.h + x * u.strides.w);
#if ELEMENT == 3
    return v > 0.0 ? 1.0 : 0.0;
#elif ELEMENT == 2
    return floor(v * 255.0 + 0.5);
#else
    return v;
#endif
}
#include element
