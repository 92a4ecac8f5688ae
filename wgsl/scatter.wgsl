// The channels of X, each combined with all updates U whose index I names it, in their order; negative ones count from the
// end, and what is none of X's is ignored.
//   REDUCTION 0: the last one stays; 1: sum; 2: product; 3: largest; 4: least; NaN stays
//   SHARED 1: I has one column for all
fn combined(a: vec4f, b: vec4f) -> vec4f {
#if REDUCTION == 0
    return b;
#elif REDUCTION == 1
    return a + b;
#elif REDUCTION == 2
    return a * b;
#elif REDUCTION == 3
    return select(b, a, tsr_larger(a, b));
#else
    return select(b, a, tsr_larger(-a, -b));
#endif
}

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let own = 4 * t + vec4i(0, 1, 2, 3);
    var v = X_fetch(n * u.X_tiles + t, y, x);
    for (var i = 0; i < u.I_tiles; i++) {
#if SHARED
        let given = vec4i(I_fetch(n * u.I_tiles + i, y, 0));
#else
        let given = vec4i(I_fetch(n * u.I_tiles + i, y, x));
#endif
        let index = select(given, given + u.X_C, given < vec4i());
        let update = U_fetch(n * u.U_tiles + i, y, x);
#for l 4
        v = select(v, combined(v, vec4f(update[$l])), own == vec4i(select(-1, index[$l], 4 * i + $l < u.I_C)));
#endfor
    }
    return v;
}
