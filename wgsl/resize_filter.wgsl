// Antialiased resampling along AXIS (2 H, 3 W) from a table made on the CPU. Column i of the table is for index i of the output:
// x of row 0 the first index of the input, then the weights of 4 * rows elements from it on.
//   OUTSIDE 1: where the first index is below 0, the output is `value`
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
#if AXIS == 2
    let i = y;
    let last = u.X_H - 1;
#else
    let i = x;
    let last = u.X_W - 1;
#endif
    let first = i32(table[i].x);
#if OUTSIDE
    if (first < 0) {
        return vec4f(u.value);
    }
#endif
    var sum = vec4f();
    for (var row = 0; row < u.rows; row++) {
        let weights = table[(row + 1) * u.table_width + i];
#for c 4
        {
            let at = min(first + 4 * row + $c, last);
#if AXIS == 2
            let v = X_fetch(k, at, x);
#else
            let v = X_fetch(k, y, at);
#endif
            sum += select(weights[$c] * v, vec4f(), weights[$c] == 0.0); // 0 times infinity is NaN
        }
#endfor
    }
    return sum;
}
