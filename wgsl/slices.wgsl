// Adds up the slices of a sum, each of which fills as many images as the output has.
//   u.slices    x: how many
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4f();
    for (var slice = 0; slice < u.slices.x; slice++) {
        sum += A_fetch((slice * u.O_size.x + n) * u.A_grid.x + t, y, x);
    }
    return sum;
}
