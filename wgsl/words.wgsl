// The caller's array or pixels, by words of 32 bits. Bytes are fractions of 255.
fn words4(i: i32) -> vec4f { return unpack4x8unorm(table[i]); }
fn word(i: i32) -> f32 { return words4(i >> 2)[i & 3]; }
