// As glsl/weight_scale.glsl.
#if SCALES
fn weight_blocks() -> i32 {
#if ZEROS
    return u.S_W * 2 / 3;
#else
    return u.S_W;
#endif
}
fn weight_block(channel: i32, ky: i32, kx: i32) -> i32 {
    let block = (channel * u.blocks.by_input + ky * u.blocks.by_row + kx * u.blocks.by_column) >> u32(u.blocks.log2);
    return min(block, weight_blocks() - 1);
}
fn weight_scale(t: i32, block: i32) -> vec4f { return S_fetch(t, 0, block); }
#endif
#if SCALES && ZEROS
fn weight_zero(t: i32, block: i32) -> vec4f {
    let two = vec4i(S_fetch(t, 0, weight_blocks() + (block >> 1)));
    return vec4f(((two >> vec4u(u32(8 * (block & 1)))) & vec4i(255)) - 128);
}
#elif ZEROS
fn weight_block(channel: i32, ky: i32, kx: i32) -> i32 { return 0; }
fn weight_zero(t: i32, block: i32) -> vec4f { return S_fetch(t, 0, block); }
#endif
