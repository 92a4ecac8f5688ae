// Mean and 1 / standard deviation over the channels of a pixel, as channels 0 and 1.
const SHORT = 16; // tiles of a short sum: sums of those have small rounding errors

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let first = n * u.X_tiles;
    var total = vec4f();
    for (var begin = 0; begin < u.X_tiles; begin += SHORT) {
        var sum = vec4f();
        for (var i = begin; i < min(begin + SHORT, u.X_tiles); i++) {
            sum += X_fetch(first + i, y, x);
        }
        total += sum;
    }
    let mean = dot(total, vec4f(1.0)) / f32(u.X_C);
    var squares = vec4f();
    for (var begin = 0; begin < u.X_tiles; begin += SHORT) {
        var sum = vec4f();
        for (var i = begin; i < min(begin + SHORT, u.X_tiles); i++) {
            let holds = vec4i(4 * i) + vec4i(0, 1, 2, 3) < vec4i(u.X_C);
            let d = select(vec4f(), X_fetch(first + i, y, x) - mean, holds);
            sum += d * d;
        }
        squares += sum;
    }
    let variance = dot(squares, vec4f(1.0)) / f32(u.X_C);
    return vec4f(mean, 1.0 / sqrt(variance + u.epsilon), 0.0, 0.0);
}
