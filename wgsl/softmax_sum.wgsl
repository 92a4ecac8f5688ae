// Of a pixel's channels, x: their maximum or less, by 1 at most; y: the sum of exp(a - x). Both in one go: where a
// channel exceeds what the sum counts from by more than 1, the sum is scaled to count from there.
const LOWEST = -3.402823466e38;
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var origin = vec4f(LOWEST); // of every fourth channel
    var sum = vec4f();
    for (var tile = 0; tile < u.A_grid.x; tile++) {
        let v = A_fetch(n * u.A_grid.x + tile, y, x);
        let holds = vec4i(0, 1, 2, 3) < vec4i(u.A_size.y - 4 * tile);
        let above = select(vec4f(LOWEST), v - origin, holds);
        let moves = above > vec4f(1.0);
        let e = tsr_exp(select(above, -above, moves), vec2f());
        sum = select(sum + e, sum * e + 1.0, moves);
        origin = select(origin, v, moves);
    }
    let most = max(max(origin.x, origin.y), max(origin.z, origin.w));
    sum *= tsr_exp(origin - most, vec2f());
    return vec4f(most, sum.x + sum.y + (sum.z + sum.w), 0.0, 0.0);
}
