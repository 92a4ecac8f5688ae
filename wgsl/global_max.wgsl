// The largest element of each channel of an image.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = n * u.X_tiles + t;
    var largest = X_fetch(k, 0, 0);
    for (var iy = 0; iy < u.X_H; iy++) {
        for (var ix = 0; ix < u.X_W; ix++) {
            let v = X_fetch(k, iy, ix);
            largest = select(largest, v, tsr_larger(v, largest));
        }
    }
    return largest;
}
