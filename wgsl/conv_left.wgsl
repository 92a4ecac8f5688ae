// Four channels of a convolution's input, as wgsl/gemm.wgsl wants them.
fn left(texel: i32) -> Left {
#if FORM == 0
    // Software rasterisers take longer for a branch than for the load.
    return select(X_load(max(texel, 0)), Left(), texel < 0);
#else
    if (texel < 0) {
        return Left();
    }
#if FORM == 3
    return X_data[texel];
#else
    return X_load(texel);
#endif
#endif
}
