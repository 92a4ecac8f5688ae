// Channels to blocks of pixels: wgsl/source.wgsl.
//   DCR        1: the position in the block varies slowest along channels; 0: fastest
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f { return X_depth_to_space(n, t, y, x, u.blocksize, DCR); }
