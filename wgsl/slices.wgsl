// Adds up the SLICES sums that wgsl/tiles.wgsl has left: image n of each of them.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4f();
    for (var slice = 0; slice < SLICES; slice++) {
        sum += A_fetch((slice * u.O_size.x + n) * u.A_grid.x + t, y, x);
    }
    return sum;
}
