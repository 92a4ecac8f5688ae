// A triangle of each image: UPPER 1: the columns from the diagonal on; 0: those up to it.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let right = x - y - u.diagonal;
#if UPPER
    let inside = right >= 0;
#else
    let inside = right <= 0;
#endif
    return select(vec4f(), X_own(n, t, y, x), inside);
}
