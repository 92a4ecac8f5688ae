// A tensor from an array, in which an element's place is a sum of its coordinates times strides.
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 {
    let i = n * u.strides.n + c * u.strides.c + y * u.strides.h + x * u.strides.w;
#if ELEMENT == 0
    return bitcast<f32>(table[i]);
#elif ELEMENT == 1
    return unpack2x16float(table[i >> 1])[i & 1];
#else
    let byte = f32((table[i >> 2] >> u32(8 * (i & 3))) & 255);
#if ELEMENT == 3
    return min(byte, 1);
#else
    return byte;
#endif
#endif
}
