// X with the rows of U in it, of each image from the row on that I names (STARTS 1), or from the first one on.
//   CIRCULAR 1: rows beyond the last one are the first ones
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
#if STARTS
    let start = i32(I_at(n, 0, 0, 0));
#else
    let start = 0;
#endif
#if CIRCULAR
    let row = ((y - start) % u.X_H + u.X_H) % u.X_H;
#else
    let row = y - start;
#endif
    let inside = row >= 0 && row < u.U_H;
    let update = U_fetch(n * u.U_tiles + t, select(0, row, inside), x);
    return select(X_own(n, t, y, x), update, inside);
}
