// Four channels of a convolution's input, as wgsl/gemm.wgsl wants them.
fn left(texel: i32) -> Left {
    if (texel < 0) {
        return Left();
    }
#if FORM == 3
    return X_data[texel];
#else
    return X_load(texel);
#endif
}
