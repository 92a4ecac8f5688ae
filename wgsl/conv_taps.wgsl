// The steps of a convolution's sums: step (y * taps_x + x) * input_tiles + i is tile i at the tap in row y and column x.
fn place(step: i32) -> vec3i {
    let tap = tsr_quotient(step, u.input_tiles);
    let y = tsr_quotient(tap, u.taps_x);
    return vec3i(tap - y * u.taps_x, y, step - tap * u.input_tiles);
}

// place() divides, which is slow, so it is called only for taps of few steps. (A loop here makes all convolutions slower.)
fn advance(at: vec3i, count: i32) -> vec3i {
    var p = at;
    p.z += count;
#if ONE_TAP == 0
    if (u.input_tiles < count) {
        return place((p.y * u.taps_x + p.x) * u.input_tiles + p.z);
    }
#endif
    if (p.z >= u.input_tiles) {
        p.z -= u.input_tiles;
        p.x++;
        if (p.x == u.taps_x) {
            p.x = 0;
            p.y++;
        }
    }
    return p;
}

fn stride() -> i32 { return u.X_H * u.X_W; }
