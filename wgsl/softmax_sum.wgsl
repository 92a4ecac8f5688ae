// Of a pixel's channels, x: the maximum; y: the sum of exp(a - maximum).
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var most = vec4f(-3.402823466e38);
    var sum = vec4f();
    for (var tile = 0; tile < u.A_grid.x; tile++) {
        let holds = vec4i(0, 1, 2, 3) < vec4i(u.A_size.y - 4 * tile);
        most = select(most, max(most, A_fetch(n * u.A_grid.x + tile, y, x)), holds);
    }
    let maximum = max(max(most.x, most.y), max(most.z, most.w));
    for (var tile = 0; tile < u.A_grid.x; tile++) {
        let holds = vec4i(0, 1, 2, 3) < vec4i(u.A_size.y - 4 * tile);
        sum = select(sum, sum + tsr_exp(A_fetch(n * u.A_grid.x + tile, y, x) - maximum, vec2f()), holds);
    }
    return vec4f(maximum, sum.x + sum.y + (sum.z + sum.w), 0.0, 0.0);
}
