// Adds up split-K partial sums, each of which is stored in as many images as the output has. Eight are loaded at a time: the
// output may be so small that nothing else hides their latency.
fn partial(i: i32, n: i32, t: i32, y: i32, x: i32) -> vec4f { return X_fetch((i * u.O_N + n) * u.X_tiles + t, y, x); }

fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4f();
    var i = 0;
    for (; i + 8 <= u.partials; i += 8) {
#for j 8
        let sum$j = partial(i + $j, n, t, y, x);
#endfor
        sum += ((sum0 + sum1) + (sum2 + sum3)) + ((sum4 + sum5) + (sum6 + sum7));
    }
    for (; i < u.partials; i++) {
        sum += partial(i, n, t, y, x);
    }
    return sum;
}
