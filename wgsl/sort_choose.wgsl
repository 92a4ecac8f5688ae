// Row y of the result: of each column of X the element of rank y, which R tells (wgsl/sort_rank.wgsl), or, INDEX 1, its row.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.R_tiles + t;
    var result = vec4f();
    for (var i = 0; i < u.R_H; i++) {
        let chosen = R_fetch(k, i, x) == vec4f(f32(y));
#if INDEX
        result = select(result, vec4f(f32(i)), chosen);
#else
        result = select(result, X_fetch(k, i, x), chosen);
#endif
    }
    return result;
}
