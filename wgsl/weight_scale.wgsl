// As glsl/weight_scale.glsl.
#if SCALES
fn weight_scale(t: i32, channel: i32, ky: i32, kx: i32) -> vec4f {
    let block = (channel * u.blocks.by_input + ky * u.blocks.by_row + kx * u.blocks.by_column) >> u32(u.blocks.log2);
    return S_fetch(t, 0, min(block, u.S_W - 1));
}
#endif
