// Which channel of each pixel has the largest element.
//   LEAST 1   the least
//   LAST 1    the last of equal ones; 0: the first
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var best = 0.0;
    var best_is_nan = false;
    var index = -1;
    for (var tile = 0; tile < u.X_tiles; tile++) {
        var v = X_fetch(n * u.X_tiles + tile, y, x);
#if LEAST
        v = -v;
#endif
        let nans = tsr_nan_mask(v);
        for (var c = 0; c < 4 && 4 * tile + c < u.X_C; c++) {
            var better = v[c] > best || nans[c];
#if LAST
            better = better || v[c] == best;
            if (best_is_nan) {
                better = nans[c];
            }
#else
            better = better && !best_is_nan;
#endif
            if (better || index < 0) {
                best = v[c];
                best_is_nan = nans[c];
                index = 4 * tile + c;
            }
        }
    }
    return vec4f(f32(index), 0.0, 0.0, 0.0);
}
