// For each element of a column how many others come before it when the column is sorted: NaN first, then larger ones (LARGEST
// 1) or smaller ones, of equal ones those above.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    let v = X_fetch(k, y, x);
    let own_nan = tsr_nan_mask(v);
    var rank = vec4f();
    for (var i = 0; i < u.X_H; i++) {
        let other = X_fetch(k, i, x);
        let nan = tsr_nan_mask(other);
        let numbers = !(nan | own_nan);
        let same = (numbers & (other == v)) | (nan & own_nan);
#if LARGEST
        let better = (numbers & (other > v)) | (nan & !own_nan);
#else
        let better = (numbers & (other < v)) | (nan & !own_nan);
#endif
        rank += select(vec4f(), vec4f(1.0), better | (same & vec4<bool>(i < y)));
    }
    return rank;
}
